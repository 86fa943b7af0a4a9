//! What a sender sees: acknowledgements, and the losses that it declares because of them.
//!
//! The counterpart of [`crate::observe`], which is about receivers. The two are kept apart in types, as the same number
//! means different things at the two ends.

use core::ops::Range;

use crate::{Judgement, Reason, Span, Time, Truth, Verdict};

/// An acknowledgement, as it reached the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AckSample {
    /// When it arrived, by the sender's clock.
    pub at: Time,
    /// Round-trip time of the segment that caused it, if that is known beyond doubt.
    pub rtt: Option<Span>,
    /// Packets that it acknowledges for the first time; none for a duplicate acknowledgement, which says that a packet
    /// arrived, but not the one that is expected next.
    pub newly_acked_pkts: u64,
    /// Packets still unacknowledged after it.
    pub in_flight_pkts: u64,
    /// The congestion window before it, packets.
    pub cwnd_pkts: f64,
}

impl AckSample {
    /// Whether it acknowledges nothing new.
    pub fn is_duplicate(&self) -> bool {
        self.newly_acked_pkts == 0
    }
}

/// A loss that a sender declares because of duplicate acknowledgements: one event, whatever else was lost of the packets in
/// flight. Timeouts are always taken for congestion, and no algorithm is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeclaredLoss {
    /// When it was declared, by the sender's clock.
    pub at: Time,
    /// The lost packet's sequence number.
    pub seq: u64,
    /// Packets unacknowledged at that time, the lost one included.
    pub in_flight_pkts: u64,
    /// The congestion window at that time, packets.
    pub cwnd_pkts: f64,
    /// Whether the receiver, which was asked why it is missing, said that the air corrupted it.
    pub told_wireless: bool,
    /// What only a simulator can know. If packets were lost for both causes, the cause is congestion.
    pub truth: Option<Truth>,
}

/// A loss differentiation algorithm at the sender.
///
/// It is fed **every** acknowledgement, and asked when the transport declares a loss. `()` differentiates nothing, at no
/// cost: every loss is congestion.
pub trait SenderLda {
    /// The published name.
    fn name(&self) -> &'static str;

    /// Takes in an acknowledgement.
    fn on_ack(&mut self, sample: &AckSample);

    /// Judges a loss. Asking again gives the same answer.
    fn judge(&self, loss: &DeclaredLoss) -> Judgement;

    /// Whether it is asked about losses that only the retransmission timer finds, too. They are congestion otherwise, as all
    /// published algorithms have it.
    fn judges_timeouts(&self) -> bool {
        false
    }
}

impl SenderLda for () {
    fn name(&self) -> &'static str {
        "always congestion"
    }

    #[inline]
    fn on_ack(&mut self, _: &AckSample) {}

    #[inline]
    fn judge(&self, _: &DeclaredLoss) -> Judgement {
        Judgement { verdict: Verdict::Congestion, reason: Reason::Unconditional }
    }
}

/// Looks over the shoulder of a sender that differentiates losses, as [`crate::Witness`] does at receivers. `()` does not.
pub trait SenderWitness {
    /// The truth about a loss event: `packets` are in flight, the first of them is lost.
    fn truth(&mut self, packets: Range<u64>) -> Option<Truth> {
        let _ = packets;
        None
    }

    /// A loss event was judged.
    fn judged(&mut self, loss: &DeclaredLoss, judgement: &Judgement) {
        let _ = (loss, judgement);
    }

    /// The retransmission timer expired: what is lost by now is sent again without anybody being asked.
    fn timed_out(&mut self) {}
}

impl SenderWitness for () {}
