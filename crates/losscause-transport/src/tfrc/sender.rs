//! The sender: how fast (RFC 5348, section 4).

use losscause::{Span, Time};

use super::{Config, Data, Feedback};

/// What the application has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Backlog {
    /// More than can ever be sent.
    #[default]
    Unlimited,
    /// This many packets; sending takes from it.
    Packets(u64),
}

/// A TFRC sender.
#[derive(Clone, Debug)]
pub struct Sender {
    config: Config,
    backlog: Backlog,
}

impl Sender {
    /// A sender that has not started. See [`Config::validate`] for the range of the settings.
    pub fn new(config: &Config) -> Self {
        Self { config: config.clone(), backlog: Backlog::Unlimited }
    }

    /// Starts sending.
    pub fn start(&mut self, now: Time) {
        let _ = now;
    }

    /// Stops sending for good.
    pub fn stop(&mut self, now: Time) {
        let _ = now;
    }

    /// Says what the application has to send from now on; unlimited unless said otherwise.
    pub fn set_backlog(&mut self, now: Time, backlog: Backlog) {
        let _ = now;
        self.backlog = backlog;
    }

    /// A report arrived.
    pub fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        let _ = (now, feedback);
    }

    /// The instant that [`Self::poll_timeout`] named has come.
    pub fn on_timeout(&mut self, now: Time) {
        let _ = now;
    }

    /// When to call [`Self::on_timeout`] next.
    pub fn poll_timeout(&self) -> Option<Time> {
        None
    }

    /// The next packet to send now; call until none.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Data> {
        let _ = now;
        None
    }

    /// The allowed sending rate (X), payload bytes per second.
    pub fn rate(&self) -> f64 {
        0.0
    }

    /// The round-trip time estimate (R); none before the first feedback.
    pub fn rtt(&self) -> Option<Span> {
        None
    }

    /// Packets sent.
    pub fn sent(&self) -> u64 {
        0
    }

    /// How often the no-feedback timer expired.
    pub fn no_feedback_expirations(&self) -> u64 {
        0
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }
}
