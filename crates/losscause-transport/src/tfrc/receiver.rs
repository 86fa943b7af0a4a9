//! The receiver: how many losses count, and when to report (RFC 5348, sections 5 and 6).

use losscause::observe::Differentiator;
use losscause::{Lda, Time, Witness};

use super::{Config, Data, Feedback};

/// A TFRC receiver that asks an LDA about every lost packet. A loss called wireless is treated as received in the
/// loss history, not in the receive rate.
#[derive(Clone, Debug)]
pub struct Receiver<L> {
    config: Config,
    differentiator: Differentiator<L>,
}

impl<L: Lda> Receiver<L> {
    /// A receiver that puts every lost packet to `lda`; one that always answers congestion gives plain TFRC.
    pub fn new(config: &Config, lda: L) -> Self {
        Self { config: config.clone(), differentiator: Differentiator::new(lda) }
    }

    /// A data packet arrived.
    pub fn on_data(&mut self, now: Time, data: &Data, witness: &mut impl Witness) {
        let _ = (now, data, witness);
    }

    /// The instant that [`Self::poll_timeout`] named has come.
    pub fn on_timeout(&mut self, now: Time) {
        let _ = now;
    }

    /// When to call [`Self::on_timeout`] next.
    pub fn poll_timeout(&self) -> Option<Time> {
        None
    }

    /// The report to send now, if one is due; call until none.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Feedback> {
        let _ = now;
        None
    }

    /// The loss event rate (p), 0 to 1, as of the last report.
    pub fn loss_event_rate(&self) -> f64 {
        0.0
    }

    /// Distinct packets received.
    pub fn delivered_packets(&self) -> u64 {
        0
    }

    /// The loss differentiation algorithm.
    pub fn lda(&self) -> &L {
        self.differentiator.lda()
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }
}
