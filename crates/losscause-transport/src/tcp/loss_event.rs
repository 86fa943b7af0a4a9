//! What recovery and response say to each other about a loss.
//!
//! ```text
//! recovery   on_dup_ack          -> Found        a packet was lost, so much was in flight
//! sender     asks the LDA        -> LossEvent    the same with the verdict
//! response   on_fast_retransmit  -> Answer       whether the window was cut
//! recovery   on_answer                           goes on from the window that is left
//! ```

use losscause::{Time, Verdict};

/// A loss that duplicate ACKs revealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Packets in flight; [`super::window::Window::in_network`] says how many of them count.
    pub(super) flight_pkts: u64,
    /// How the packet was sent, where recovery keeps that.
    pub(super) sending: Option<Sending>,
    /// Whether the retransmission timer backs off.
    pub(super) back_off: bool,
}

/// How a packet was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sending {
    /// When last.
    pub(super) at: Option<Time>,
    /// How often.
    pub(super) times: u32,
}

/// Congestion, or a loss that may be congestion: everything that a response may look at.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossEvent {
    /// When it was found.
    pub(super) at: Time,
    /// Packets in flight, as in [`Found`].
    pub(super) flight_pkts: u64,
    /// Why the packet was lost, as far as the sender can tell.
    pub(super) verdict: Verdict,
    /// How the packet was sent, where recovery keeps that.
    pub(super) sending: Option<Sending>,
}

/// What the response did about a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The window was not cut: the loss is not taken for congestion, or was answered before.
    Kept,
    /// The window was cut.
    Cut,
}

impl Found {
    pub(super) fn with(flight_pkts: u64) -> Self {
        Self { flight_pkts, sending: None, back_off: false }
    }
}

impl Sending {
    pub(super) const NEVER: Self = Self { at: None, times: 0 };
}

impl LossEvent {
    pub(super) fn new(at: Time, found: &Found, verdict: Verdict) -> Self {
        Self { at, flight_pkts: found.flight_pkts, verdict, sending: found.sending }
    }
}
