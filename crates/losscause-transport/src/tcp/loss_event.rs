//! The types that recovery and congestion control exchange about a loss.
//!
//! ```text
//! recovery   on_dup_ack   -> Found        a packet was lost, with the packets in flight
//! sender     asks the LDA -> LossEvent    the same with the verdict
//! control    on_loss      -> Answer       whether the window was cut
//! recovery   on_answer                    continues with the resulting window
//! ```

use losscause::{Numbers, Time, Verdict};

/// A loss that duplicate ACKs revealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Packets in flight; [`super::window::Window::in_network`] limits how many count.
    pub(super) flight_pkts: u64,
    /// How the packet was sent, if recovery records that.
    pub(super) sending: Option<Sending>,
    /// Whether the retransmission timer backs off.
    pub(super) back_off: bool,
}

/// Packets that count as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lost {
    /// The first and the last of them.
    pub(super) numbers: Numbers,
    /// How many they are.
    pub(super) pkts: u32,
}

/// How a packet was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// Time of the last transmission; `None` if it was never sent.
    pub at: Option<Time>,
    /// Number of transmissions.
    pub times: u32,
}

/// A loss that a congestion control answers.
#[derive(Clone, Copy, Debug)]
pub struct LossEvent {
    /// When the loss was detected.
    pub at: Time,
    /// Packets sent and not acknowledged (RFC 5681's FlightSize);
    /// [`Window::in_network`](super::Window::in_network) limits how many count.
    pub flight_pkts: u64,
    /// Why the packet was lost, by the sender's algorithm. Without one, or for a mark, congestion.
    pub verdict: Verdict,
    /// How the packet was sent, if the recovery records that (Vegas').
    pub sending: Option<Sending>,
}

/// What a congestion control did about a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The window is no smaller: the loss is not congestion, or was already answered.
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
