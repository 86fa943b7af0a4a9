//! What only a simulator or a link emulator knows: why a packet was really lost.
//!
//! An endpoint never needs this module. A simulator uses it to score verdicts and to run oracles: it hands in the
//! truth with each loss, and takes the verdicts down. `()` is the witness of a live path; it does neither.

use core::fmt;
use core::ops::Range;

use crate::{Arrival, DeclaredLoss, Judgement, Loss};

/// Why a packet was really lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Cause {
    /// A queue overflowed, or its management dropped the packet.
    Congestion,
    /// The packet was transmitted and the air corrupted it.
    Wireless,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Cause::Congestion => "congestion",
            Cause::Wireless => "wireless",
        })
    }
}

/// What a simulator hands to oracles with a loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// The true cause. If an event lost several packets: congestion if any of them was lost to it.
    pub cause: Cause,
    /// The true cause of the event's first packet.
    pub first: Cause,
    /// A uniform draw from [0, 1), for oracles of limited accuracy.
    pub draw: f64,
}

/// Watches a receiver that differentiates losses. A simulator tells it the truth and counts its verdicts.
pub trait Witness {
    /// The truth about a lost packet, if known.
    fn truth(&mut self, seq: u64) -> Option<Truth> {
        let _ = seq;
        None
    }

    /// A packet arrived in order and the LDA has taken it in. `scheme` is the base scheme now in force
    /// ([`Lda::scheme`](crate::Lda::scheme)). Called before the losses that this arrival reveals are judged.
    fn arrived(&mut self, arrival: &Arrival, scheme: &'static str) {
        let _ = (arrival, scheme);
    }

    /// A lost packet was judged.
    fn judged(&mut self, loss: &Loss, judgement: &Judgement) {
        let _ = (loss, judgement);
    }
}

impl Witness for () {}

/// Watches a sender that differentiates losses, as [`Witness`] does at receivers.
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

    /// The retransmission timer expired. What is lost by now is sent again and never judged.
    fn timed_out(&mut self) {}
}

impl SenderWitness for () {}
