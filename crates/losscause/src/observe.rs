//! What a receiver sees: packets that arrive, and the gaps between them.
//!
//! Observations at the receiver ([`Arrival`]) and at the sender ([`crate::AckSample`]) are kept apart in types: they
//! mean different things even where the numbers look alike.

use crate::lda::Lda;
use crate::truth::{Truth, Witness};
use crate::{Judgement, Span, Time, tally};

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
#[non_exhaustive]
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
#[non_exhaustive]
pub struct Interval {
    /// Time between the two arrivals (the papers' T_i, T_g, inter_arr_time). Never negative: if the receiver's clock
    /// was set back, it is zero.
    pub span: Span,
    /// Packets spanned: 1 if the two packets were sent one after the other, n + 1 after a gap of n packets. An
    /// acknowledgement of several packets spans all of them.
    pub packets: u32,
    /// How many of the spanned packets are missing (the papers' n). Less than [`Interval::packets`].
    pub missing: u32,
    /// Relative trip time of the packet at the start of the interval, if known: after a gap, of the last packet before
    /// it.
    pub rott_before: Option<Span>,
}

impl Interval {
    /// The interval between two packets that were sent one after the other.
    pub const fn consecutive(span: Span) -> Self {
        Self::across_gap(span, 0)
    }

    /// The interval across a gap of `missing` packets.
    pub const fn across_gap(span: Span, missing: u32) -> Self {
        Self { span, packets: missing.saturating_add(1), missing, rott_before: None }
    }

    /// Packets that arrived in it, at least 1. More than 1 if one acknowledgement tells of several.
    #[inline]
    pub const fn arrived(&self) -> u32 {
        let arrived = self.packets.saturating_sub(self.missing);
        if arrived == 0 { 1 } else { arrived }
    }
}

impl Arrival {
    /// An arrival from its parts.
    pub const fn new(seq: u64, at: Time, rott: Option<Span>, since_last: Option<Interval>) -> Self {
        Self { seq, at, rott, since_last }
    }

    /// Packets missing between this arrival and the one before it.
    #[inline]
    pub fn lost(&self) -> u32 {
        // The tracker subtracts to find it; the count of operations books that here.
        tally::addition();
        self.since_last.map_or(0, |i| i.missing)
    }

    /// Whether packets are missing before it.
    #[inline]
    pub fn reveals_gap(&self) -> bool {
        self.since_last.is_some_and(|i| i.missing > 0)
    }
}

/// One lost packet, put to an LDA at the first arrival after the gap.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Loss {
    /// The lost packet's sequence number.
    pub seq: u64,
    /// The arrival that revealed the gap; the LDA has taken it in already.
    pub revealed_by: Arrival,
    /// The true cause: simulators only. See [`crate::truth`].
    pub truth: Option<Truth>,
}

impl Loss {
    /// The loss of packet `seq`, in the gap before `revealed_by`.
    pub const fn new(seq: u64, revealed_by: Arrival) -> Self {
        Self { seq, revealed_by, truth: None }
    }

    /// Packets lost in the same gap, this one included (the papers' n).
    pub fn lost_in_gap(&self) -> u32 {
        self.revealed_by.lost()
    }
}

/// What a received packet turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)] // A tag that is read at once, for every packet.
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
    rott: Option<Span>,
    /// Bit i is set if packet `seq - i` was received.
    received: u64,
}

impl ArrivalTracker {
    /// Takes in one received packet.
    #[inline]
    pub fn observe(&mut self, packet: Packet) -> Observed {
        let Packet { seq, at, sent } = packet;
        let rott = sent.map(|sent| at - sent);
        let Some(last) = &mut self.last else { return self.begin(seq, at, rott) };
        if seq <= last.seq || seq - last.seq > MAX_JUMP_PKTS {
            return self.observe_out_of_order(seq, at, rott);
        }
        // At most MAX_JUMP_PKTS, so it fits.
        let packets = (seq - last.seq) as u32;
        let span = (at - last.at).max(Span::ZERO);
        let since_last = Some(Interval { span, packets, missing: packets - 1, rott_before: last.rott });
        *last = Last { seq, at, rott, received: last.received.checked_shl(packets).unwrap_or(0) | 1 };
        Observed::InOrder(Arrival { seq, at, rott, since_last })
    }

    #[cold]
    fn begin(&mut self, seq: u64, at: Time, rott: Option<Span>) -> Observed {
        self.last = Some(Last { seq, at, rott, received: 1 });
        Observed::InOrder(Arrival { seq, at, rott, since_last: None })
    }

    #[cold]
    fn observe_out_of_order(&mut self, seq: u64, at: Time, rott: Option<Span>) -> Observed {
        let Some(last) = &mut self.last else { return self.begin(seq, at, rott) };
        if seq.abs_diff(last.seq) > MAX_JUMP_PKTS {
            return self.begin(seq, at, rott);
        }
        let back = last.seq - seq;
        if back >= u64::from(u64::BITS) {
            return Observed::Late;
        }
        let bit = 1 << back;
        let seen = last.received & bit != 0;
        last.received |= bit;
        if seen { Observed::Duplicate } else { Observed::Late }
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

    /// Takes in one received packet. If it reveals a gap, every missing packet is judged, in order; `on_loss` receives
    /// sequence number and judgement. The caller applies the answer when it declares the loss, and drops it if the
    /// packet was only reordered.
    #[inline]
    pub fn on_packet(&mut self, packet: Packet, on_loss: impl FnMut(u64, Judgement)) -> Observed {
        self.on_packet_watched(packet, &mut (), on_loss)
    }

    /// [`Self::on_packet`] beside a [`Witness`], in a simulator.
    #[inline]
    pub fn on_packet_watched(
        &mut self,
        packet: Packet,
        witness: &mut impl Witness,
        on_loss: impl FnMut(u64, Judgement),
    ) -> Observed {
        let observed = self.observe(packet, witness);
        if let Observed::InOrder(arrival) = &observed
            && arrival.reveals_gap()
        {
            self.judge_gap(arrival, witness, on_loss);
        }
        observed
    }

    /// The first half of [`Self::on_packet_watched`]: takes in one received packet. If it reveals a gap,
    /// [`Self::judge_gap`] must follow.
    #[inline(always)]
    pub fn observe(&mut self, packet: Packet, witness: &mut impl Witness) -> Observed {
        let observed = self.tracker.observe(packet);
        if let Observed::InOrder(arrival) = &observed {
            self.lda.on_arrival(arrival);
            witness.arrived(arrival, self.lda.scheme());
        }
        observed
    }

    /// The second half of [`Self::on_packet_watched`]: judges every packet missing before `arrival`, the last one
    /// observed.
    pub fn judge_gap(&self, arrival: &Arrival, witness: &mut impl Witness, mut on_loss: impl FnMut(u64, Judgement)) {
        for seq in arrival.seq - u64::from(arrival.lost())..arrival.seq {
            let loss = Loss { seq, revealed_by: *arrival, truth: witness.truth(seq) };
            let judgement = self.lda.judge(&loss);
            witness.judged(&loss, &judgement);
            on_loss(seq, judgement);
        }
    }

    /// The algorithm.
    pub fn lda(&self) -> &L {
        &self.lda
    }
}

/// A [`Differentiator`], or `()`, which judges nothing at no cost. Transports that differentiate only on request take
/// either.
pub trait Differentiate {
    /// Whether it judges losses.
    fn judges(&self) -> bool;

    /// As [`Differentiator::on_packet_watched`].
    fn on_packet_watched(&mut self, packet: Packet, witness: &mut impl Witness, on_loss: impl FnMut(u64, Judgement));
}

impl Differentiate for () {
    #[inline]
    fn judges(&self) -> bool {
        false
    }

    #[inline]
    fn on_packet_watched(&mut self, _: Packet, _: &mut impl Witness, _: impl FnMut(u64, Judgement)) {}
}

impl<L: Lda> Differentiate for Differentiator<L> {
    #[inline]
    fn judges(&self) -> bool {
        true
    }

    #[inline]
    fn on_packet_watched(&mut self, packet: Packet, witness: &mut impl Witness, on_loss: impl FnMut(u64, Judgement)) {
        Differentiator::on_packet_watched(self, packet, witness, on_loss);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::lda::Constant;
    use crate::truth::Cause;
    use crate::{Reason, Verdict};
    use std::vec::Vec;

    fn packet(seq: u64, at_ms: i64) -> Packet {
        let at = Time::ZERO + Span::from_millis(at_ms);
        Packet { seq, at, sent: Some(at - Span::from_millis(7)) }
    }

    fn interval(observed: Observed) -> Option<(i64, u32)> {
        let Observed::InOrder(arrival) = observed else { panic!("{observed:?}") };
        arrival.since_last.map(|i| (i.span.as_nanos() / 1_000_000, i.packets))
    }

    #[test]
    fn a_gap_spans_the_missing_packets_and_the_one_after_it() {
        let mut tracker = ArrivalTracker::default();
        assert_eq!(interval(tracker.observe(packet(5, 0))), None);
        assert_eq!(interval(tracker.observe(packet(6, 40))), Some((40, 1)));
        assert_eq!(interval(tracker.observe(packet(9, 160))), Some((120, 3)));
        assert_eq!(tracker.highest(), Some(9));
    }

    #[test]
    fn late_packets_and_duplicates_are_told_apart_within_the_last_64_and_never_become_arrivals() {
        let mut tracker = ArrivalTracker::default();
        for (seq, expected) in [(0, None), (2, None), (1, Some(Observed::Late)), (1, Some(Observed::Duplicate))] {
            let observed = tracker.observe(packet(seq, 1));
            assert!(expected.is_none_or(|e| e == observed), "{seq}: {observed:?}");
        }
        assert_eq!(tracker.observe(packet(2, 1)), Observed::Duplicate);
        assert_eq!(interval(tracker.observe(packet(66, 10))), Some((9, 64)));
        assert_eq!(tracker.observe(packet(2, 11)), Observed::Late, "farther back than can be remembered");
        assert_eq!(tracker.observe(packet(3, 11)), Observed::Late);
        assert_eq!(tracker.observe(packet(3, 11)), Observed::Duplicate);
    }

    #[test]
    fn a_clock_that_is_set_back_gives_an_interval_of_zero() {
        let mut tracker = ArrivalTracker::default();
        tracker.observe(packet(0, 100));
        assert_eq!(interval(tracker.observe(packet(1, 40))), Some((0, 1)));
        assert_eq!(interval(tracker.observe(packet(2, 50))), Some((10, 1)));
    }

    #[derive(Default)]
    struct Log {
        arrivals: Vec<(u64, &'static str)>,
        judged: Vec<u64>,
    }

    fn truth_about(seq: u64) -> Truth {
        Truth { cause: Cause::Wireless, first: Cause::Wireless, draw: seq as f64 / 100.0 }
    }

    impl Witness for Log {
        fn truth(&mut self, seq: u64) -> Option<Truth> {
            Some(truth_about(seq))
        }
        fn arrived(&mut self, arrival: &Arrival, scheme: &'static str) {
            self.arrivals.push((arrival.seq, scheme));
        }
        fn judged(&mut self, loss: &Loss, _: &Judgement) {
            assert_eq!(self.arrivals.last().map(|a| a.0), Some(loss.revealed_by.seq), "the arrival is told first");
            assert_eq!(loss.truth, Some(truth_about(loss.seq)), "each packet has its own truth");
            self.judged.push(loss.seq);
        }
    }

    fn run(seqs: &[u64]) -> (Log, Vec<u64>) {
        let (mut log, mut losses) = (Log::default(), Vec::new());
        let mut differentiator = Differentiator::new(Constant::new(Verdict::Wireless));
        for (i, &seq) in seqs.iter().enumerate() {
            differentiator.on_packet_watched(packet(seq, i as i64), &mut log, |seq, judgement| {
                assert!(matches!(judgement.reason, Reason::Stated { .. }));
                losses.push(seq);
            });
        }
        (log, losses)
    }

    #[test]
    fn every_missing_packet_is_judged_once_and_the_witness_sees_every_arrival_in_order() {
        let (log, losses) = run(&[3, 4, 8, 6, 6, 9, 11]);
        assert_eq!(losses, [5, 6, 7, 10]);
        assert_eq!(log.judged, losses);
        assert_eq!(log.arrivals, [3, 4, 8, 9, 11].map(|seq| (seq, "always wireless")));
    }

    #[test]
    fn an_absurd_jump_starts_the_stream_anew_and_the_next_honest_packet_leads_back() {
        let far = 11 + MAX_JUMP_PKTS + 1;
        let (log, losses) = run(&[9, 10, far, 11, 13, u64::MAX, 1, 3]);
        assert_eq!(losses, [12, 2]);
        assert_eq!(log.arrivals.len(), 8);
        let (_, losses) = run(&[10, 10 + MAX_JUMP_PKTS]);
        assert_eq!(losses.len() as u64, MAX_JUMP_PKTS - 1, "the largest jump that still counts as losses");
        let (_, losses) = run(&[10, 11 + MAX_JUMP_PKTS]);
        assert!(losses.is_empty());
    }
}
