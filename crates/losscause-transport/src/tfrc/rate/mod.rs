//! How the allowed rate follows the receiver's reports, and their absence: one file per rule.

mod ns2;
mod rfc5348;

use losscause::Time;

use super::Config;
use super::quirks::RateRule;

/// What a rule is told with a report. Rates in bytes per second, times in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report {
    pub(crate) now: Time,
    /// When sending began.
    pub(crate) started: Time,
    /// R.
    pub(crate) rtt: f64,
    /// The equation's rate at the reported loss event rate (X_Bps).
    pub(crate) equation: f64,
    /// The reported loss event rate (p).
    pub(crate) loss_event_rate: f64,
    /// The reported receive rate (X_recv).
    pub(crate) receive_rate: f64,
    /// The application had too little to send during the whole time that the report covers.
    pub(crate) data_limited: bool,
    /// The application has nothing to send now.
    pub(crate) nothing_to_send: bool,
}

/// What a rule is told when the no-feedback timer expires.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silence {
    pub(crate) now: Time,
    /// R in seconds; none before the first report.
    pub(crate) rtt: Option<f64>,
    /// Nothing was sent since the timer was set.
    pub(crate) idle: bool,
    /// The application has nothing to send now.
    pub(crate) nothing_to_send: bool,
}

/// What the sender does after it has told a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Send at once, and count the spacing from now.
    SendNow,
    /// Move the next packet to where the new rate puts it.
    Reschedule,
    /// Keep the time of the next packet.
    Keep,
}

/// The rule in force, with its state.
#[derive(Clone, Debug)]
#[repr(u8)] // A tag beside what every packet reads.
pub(crate) enum Rate {
    Rfc5348(rfc5348::Rate),
    Ns2(ns2::Rate),
}

impl Rate {
    pub(crate) fn new(config: &Config) -> Self {
        match config.quirks.rate {
            RateRule::Rfc5348 => Rate::Rfc5348(rfc5348::Rate::new(config)),
            RateRule::Ns2 => Rate::Ns2(ns2::Rate::new(config)),
        }
    }

    pub(crate) fn on_report(&mut self, report: &Report) -> Next {
        match self {
            Rate::Rfc5348(rate) => rate.on_report(report),
            Rate::Ns2(rate) => rate.on_report(report),
        }
    }

    pub(crate) fn on_silence(&mut self, silence: &Silence) -> Next {
        match self {
            Rate::Rfc5348(rate) => rate.on_silence(silence),
            Rate::Ns2(rate) => rate.on_silence(silence),
        }
    }

    /// The application had nothing to send and now has.
    pub(crate) fn on_data_after_none(&mut self, now: Time) {
        match self {
            Rate::Rfc5348(_) => {}
            Rate::Ns2(rate) => rate.on_data_after_none(now),
        }
    }

    /// The allowed rate (X).
    pub(crate) fn allowed(&self) -> f64 {
        match self {
            Rate::Rfc5348(rate) => rate.allowed(),
            Rate::Ns2(rate) => rate.allowed(),
        }
    }

    /// The rate that spaces the next packet, told `sqrt_ratio` (1 unless packets are spaced by the
    /// round-trip time's square root). Call once per packet.
    pub(crate) fn spacing(&mut self, sqrt_ratio: f64) -> f64 {
        match self {
            Rate::Rfc5348(rate) => rate.spacing(sqrt_ratio),
            Rate::Ns2(rate) => rate.spacing(sqrt_ratio),
        }
    }
}
