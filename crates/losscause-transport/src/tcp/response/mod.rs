//! What the congestion window does on acknowledgements and losses. One file per response.

mod aimd;
mod window;

use losscause::{AckSample, Verdict};

use super::config::Config;
use aimd::Aimd;
pub(super) use window::Window;

/// The response of a connection.
#[derive(Clone, Debug)]
pub(super) enum Response {
    Aimd(Aimd),
}

/// A loss that was declared because of duplicate ACKs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss {
    /// Packets in flight, without what limited transmit sent.
    pub(super) flight_pkts: u64,
    /// Why it was lost, as far as the sender can tell.
    pub(super) verdict: Verdict,
}

impl Response {
    pub(super) fn new(config: &Config) -> Self {
        Self::Aimd(Aimd::new(config))
    }

    /// New data was acknowledged while nothing was being repaired.
    #[inline]
    pub(super) fn on_ack(&mut self, window: &mut Window, _sample: &AckSample) {
        match self {
            Self::Aimd(_) => window.grow(),
        }
    }

    /// A loss was declared because of duplicate ACKs.
    pub(super) fn on_fast_retransmit(&mut self, window: &mut Window, loss: &Loss) {
        match self {
            Self::Aimd(aimd) => aimd.on_fast_retransmit(window, loss),
        }
    }

    /// The retransmission timer expired with so many packets in flight; `again` if for the same packet as before.
    pub(super) fn on_timeout(&mut self, window: &mut Window, flight_pkts: u64, again: bool) {
        match self {
            Self::Aimd(aimd) => aimd.on_timeout(window, flight_pkts, again),
        }
    }
}
