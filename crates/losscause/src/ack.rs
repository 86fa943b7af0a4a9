//! What a sender sees: acknowledgements, and the losses that it declares because of them.
//!
//! The counterpart of [`crate::observe`], which is about receivers. The two are kept apart in types, as the same number
//! means different things at the two ends.

use crate::{Span, Time, Verdict};

/// An acknowledgement of new data, as it reached the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AckSample {
    /// When it arrived, by the sender's clock.
    pub at: Time,
    /// Round-trip time of the segment that caused it, if that is known beyond doubt.
    pub rtt: Option<Span>,
    /// Packets that it acknowledges for the first time.
    pub newly_acked_pkts: u64,
    /// Packets still unacknowledged after it.
    pub in_flight_pkts: u64,
    /// The congestion window before it, packets.
    pub cwnd_pkts: f64,
}

/// A loss that a sender declares because of duplicate acknowledgements. Timeouts are always taken for congestion, and no
/// algorithm is asked.
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
}

/// A loss differentiation algorithm at the sender.
///
/// It is fed **every** acknowledgement of new data, and asked when the transport declares a loss. `()` differentiates
/// nothing, at no cost: every loss is congestion.
pub trait SenderLda {
    /// Takes in an acknowledgement.
    fn on_ack(&mut self, sample: &AckSample);

    /// Judges a loss.
    fn judge(&mut self, loss: &DeclaredLoss) -> Verdict;
}

impl SenderLda for () {
    #[inline]
    fn on_ack(&mut self, _: &AckSample) {}

    #[inline]
    fn judge(&mut self, _: &DeclaredLoss) -> Verdict {
        Verdict::Congestion
    }
}
