//! What an endpoint sees: packets that arrive, and the gaps between them.
//!
//! Observations at the receiver ([`Arrival`]) and at the sender (acknowledgements, from a later release on) are
//! kept apart in types: they mean different things even where the numbers look alike.

use crate::lda::Lda;
use crate::{Cause, Judgement, Span, Time};

/// A packet as it reached the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Sequence number, one per packet sent, unwrapped to 64 bits.
    pub seq: u64,
    /// When it arrived, by the receiver's clock.
    pub at: Time,
    /// When it was sent, by the sender's clock, if the packet says so.
    pub sent: Option<Time>,
}

/// A packet that arrived in order, with what it tells about the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its sequence number.
    pub seq: u64,
    /// When it arrived, by the receiver's clock.
    pub at: Time,
    /// Relative one-way trip time: arrival by the receiver's clock minus departure by the sender's. Its zero is
    /// arbitrary and it may be negative.
    pub rott: Option<Span>,
    /// Since the arrival before it; none for the first packet of a stream.
    pub since_last: Option<Interval>,
}

/// The distance between two packets that arrived in order, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Time between the two arrivals (the papers' T_i, T_g, inter_arr_time). Never negative: if the receiver's clock
    /// was set back, it is zero.
    pub span: Span,
    /// Sequence numbers spanned: 1 if nothing is missing, n + 1 after a gap of n packets.
    pub packets: u32,
}

impl Arrival {
    /// Packets missing between this arrival and the one before it.
    pub fn lost(&self) -> u32 {
        self.since_last.map_or(0, |i| i.packets - 1)
    }
}

/// One lost packet, put to an LDA at the first arrival after the gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// The lost packet's sequence number.
    pub seq: u64,
    /// The arrival that revealed the gap; the LDA has taken it in already.
    pub revealed_by: Arrival,
    /// What only a simulator can know.
    pub truth: Option<Truth>,
}

impl Loss {
    /// Packets lost in the same gap, this one included (the papers' n).
    pub fn lost_in_gap(&self) -> u32 {
        self.revealed_by.lost()
    }
}

/// What a simulator hands to oracles along with a loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// The true cause.
    pub cause: Cause,
    /// A uniform draw from [0, 1), for oracles of limited accuracy.
    pub draw: f64,
}

/// Looks over the shoulder of an endpoint that differentiates losses: a simulator tells it the truth and takes
/// down the verdicts, an analyser writes a report. `()` does neither.
pub trait Witness {
    /// The truth about a lost packet, where it is known.
    fn truth(&mut self, seq: u64) -> Option<Truth> {
        let _ = seq;
        None
    }

    /// A packet arrived in order and the LDA has taken it in; `scheme` is the base scheme now in force
    /// ([`Lda::scheme`]). Called before the losses that this arrival reveals are judged.
    fn arrived(&mut self, arrival: &Arrival, scheme: &'static str) {
        let _ = (arrival, scheme);
    }

    /// A lost packet was judged.
    fn judged(&mut self, loss: &Loss, judgement: &Judgement) {
        let _ = (loss, judgement);
    }
}

impl Witness for () {}

/// What a received packet turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// The next packet, or the first after a gap (then [`Arrival::lost`] is not zero), or the first of a stream, which
    /// may also begin anew (see [`MAX_JUMP_PKTS`]).
    InOrder(Arrival),
    /// A packet that filled an earlier gap: it was reordered, not lost.
    Late,
    /// A packet seen before.
    Duplicate,
}

/// The farthest that a packet's sequence number may lie from the highest one seen, in packets.
///
/// A packet farther ahead or behind starts the stream anew: it becomes an arrival without an interval before it, and
/// nothing between is judged lost. So a forged or garbled sequence number costs one interval instead of billions of
/// judgements, and the next honest packet leads back the same way.
pub const MAX_JUMP_PKTS: u64 = 65_536;

/// Turns received packets into arrivals; late packets and duplicates do not become arrivals, so no LDA can be
/// confused by them.
#[derive(Clone, Copy, Debug, Default)]
pub struct ArrivalTracker {
    last: Option<Last>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    seq: u64,
    at: Time,
    /// Bit i is set if packet `seq - i` was received.
    received: u64,
}

impl ArrivalTracker {
    /// Takes in one received packet.
    pub fn observe(&mut self, packet: Packet) -> Observed {
        let Packet { seq, at, sent } = packet;
        let rott = sent.map(|sent| at - sent);
        let Some(last) = &mut self.last else {
            self.last = Some(Last { seq, at, received: 1 });
            return Observed::InOrder(Arrival { seq, at, rott, since_last: None });
        };
        if seq.abs_diff(last.seq) > MAX_JUMP_PKTS {
            *last = Last { seq, at, received: 1 };
            return Observed::InOrder(Arrival { seq, at, rott, since_last: None });
        }
        if seq <= last.seq {
            let back = last.seq - seq;
            if back >= u64::from(u64::BITS) {
                return Observed::Late;
            }
            let bit = 1 << back;
            let seen = last.received & bit != 0;
            last.received |= bit;
            return if seen { Observed::Duplicate } else { Observed::Late };
        }
        // At most MAX_JUMP_PKTS, so it fits.
        let packets = (seq - last.seq) as u32;
        let span = (at - last.at).max(Span::ZERO);
        *last = Last { seq, at, received: last.received.checked_shl(packets).unwrap_or(0) | 1 };
        Observed::InOrder(Arrival { seq, at, rott, since_last: Some(Interval { span, packets }) })
    }

    /// The highest sequence number seen in the stream.
    pub fn highest(&self) -> Option<u64> {
        self.last.map(|l| l.seq)
    }
}

/// An LDA at a receiver: fed with every packet, asked about every gap.
#[derive(Clone, Copy, Debug, Default)]
pub struct Differentiator<L> {
    tracker: ArrivalTracker,
    lda: L,
}

impl<L: Lda> Differentiator<L> {
    /// Puts `lda` behind a fresh tracker.
    pub fn new(lda: L) -> Self {
        Self { tracker: ArrivalTracker::default(), lda }
    }

    /// Takes in one received packet. Where it reveals a gap, every missing packet is judged, in order, with the
    /// arrival's own state; `on_loss` receives sequence number and judgement. The caller applies the answer when
    /// it declares the loss, and drops it if the packet was only reordered.
    pub fn on_packet(
        &mut self,
        packet: Packet,
        witness: &mut impl Witness,
        mut on_loss: impl FnMut(u64, Judgement),
    ) -> Observed {
        let observed = self.tracker.observe(packet);
        if let Observed::InOrder(arrival) = observed {
            self.lda.on_arrival(&arrival);
            witness.arrived(&arrival, self.lda.scheme());
            let lost = u64::from(arrival.lost());
            for seq in arrival.seq - lost..arrival.seq {
                let loss = Loss { seq, revealed_by: arrival, truth: witness.truth(seq) };
                let judgement = self.lda.judge(&loss);
                witness.judged(&loss, &judgement);
                on_loss(seq, judgement);
            }
        }
        observed
    }

    /// The algorithm.
    pub fn lda(&self) -> &L {
        &self.lda
    }
}
