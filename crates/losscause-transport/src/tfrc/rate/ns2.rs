//! The allowed rate by ns-2.35's `Agent/TFRC` with its default settings (`idleFix_`, not
//! `oldCode_`, not `conservative_`, `maxHeavyRounds_` 0).
//!
//! How it differs from RFC 5348:
//! - slow start: after the first report the initial window per round-trip time, then at most one
//!   doubling per round-trip time, held to twice the last report's receive rate; above that it
//!   falls back to the receive rate. Every report sends a packet at once. The doubling is spread
//!   over a round-trip time, packet by packet.
//! - the first loss takes the equation's rate as it is; the receive rate limits from the next
//!   report on.
//! - afterwards the rate rises by one packet per round-trip time per round-trip time passed (at
//!   most two), and never above the equation's rate or twice the last receive rate, but one packet
//!   per round-trip time is always allowed.
//! - silence halves the rate and sends a packet at once.

use losscause::{Span, Time};

use super::{Next, Report, Silence};
use crate::tfrc::Config;

/// Rates in bytes per second. What every packet reads comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Rate {
    /// `rate_`.
    allowed: f64,
    phase: Phase,
    /// Reports and silences so far.
    round: u32,
    /// `oldrate_`: the rate in use while a doubling is being spread.
    ramp: f64,
    /// `delta_`: what each packet adds to it.
    ramp_step: f64,
    /// Payload of a packet, bytes.
    packet: f64,
    /// The initial window, bytes.
    initial_window: f64,
    /// `last_change_`.
    last_change: Time,
    /// `lastlimited_`: when the application last had something to send after having had nothing.
    last_limited: Option<Time>,
    /// `datalimited_`, as of the last call that says.
    data_limited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Before the first report.
    Waiting,
    SlowStart,
    AfterLoss,
}

impl Rate {
    pub(super) fn new(config: &Config) -> Self {
        let allowed = config.quirks.initial_rate.bytes_per_second(config.payload_bytes);
        Self {
            packet: f64::from(config.payload_bytes),
            initial_window: config.quirks.initial_rate.window_bytes(config.payload_bytes),
            phase: Phase::Waiting,
            allowed,
            ramp: allowed,
            ramp_step: 0.0,
            last_change: Time::ZERO,
            round: 0,
            last_limited: None,
            data_limited: false,
        }
    }

    pub(super) fn on_report(&mut self, report: &Report) -> Next {
        self.round = self.round.saturating_add(1);
        self.data_limited = report.nothing_to_send;
        // The first report's receive rate says nothing yet.
        let limit = if self.round > 1 { 2.0 * report.receive_rate } else { 0.0 };
        match self.phase {
            Phase::Waiting => {
                self.phase = Phase::SlowStart;
                self.slow_start(report, limit);
                Next::SendNow
            }
            Phase::SlowStart if report.loss_event_rate > 0.0 => {
                self.phase = Phase::AfterLoss;
                self.allowed = report.equation;
                self.ramp = self.allowed;
                Next::Keep
            }
            Phase::SlowStart => {
                self.slow_start(report, limit);
                Next::SendNow
            }
            Phase::AfterLoss => {
                if report.equation > self.allowed {
                    self.increase(report, limit);
                } else {
                    self.allowed = report.equation.min(limit.max(self.packet / report.rtt));
                }
                self.last_change = report.now;
                Next::Keep
            }
        }
    }

    fn slow_start(&mut self, report: &Report, limit: f64) {
        let &Report { now, rtt, .. } = report;
        let one_packet = self.packet / rtt;
        let initial = self.initial_window / rtt;
        if self.round <= 2 {
            // No good receive rate yet.
            self.ramp_to(self.allowed.max(initial), one_packet);
        } else if limit <= 0.0 {
            self.ramp = self.allowed;
            self.ramp_step = 0.0;
            self.allowed = one_packet;
        } else if limit < initial && self.limited_recently(now, rtt) {
            self.ramp_to(self.allowed.max(initial), one_packet);
        } else if self.allowed < limit {
            // On an empty path the two are equal. ns-2.35's rounding errors decide then; here they
            // stay equal.
            if now - self.last_change <= Span::from_secs_f64_rounded(rtt) {
                return;
            }
            self.ramp_to((2.0 * self.allowed).min(limit).max(one_packet), one_packet);
        } else if self.allowed > limit {
            self.allowed = limit / 2.0;
            self.ramp = self.allowed;
            self.ramp_step = 0.0;
        } else {
            return;
        }
        self.last_change = now;
    }

    /// Takes `rate`, spread over the packets of a round-trip time at that rate.
    fn ramp_to(&mut self, rate: f64, one_packet: f64) {
        self.ramp = self.allowed;
        self.allowed = rate;
        self.ramp_step = (rate - self.ramp) / (rate / one_packet);
    }

    fn increase(&mut self, report: &Report, limit: f64) {
        let &Report { now, rtt, equation, .. } = report;
        let one_packet = self.packet / rtt;
        let passed = ((now - self.last_change).as_secs_f64() / rtt).min(2.0);
        let least =
            if self.limited_recently(now, rtt) { self.initial_window / rtt } else { one_packet };
        self.allowed = (self.allowed + one_packet * passed).min(limit.max(least).min(equation));
    }

    fn limited_recently(&self, now: Time, rtt: f64) -> bool {
        self.data_limited
            || self.last_limited.is_some_and(|at| (now - at).as_secs_f64() < 1.5 * rtt)
    }

    pub(super) fn on_silence(&mut self, silence: &Silence) -> Next {
        self.round = self.round.saturating_add(1);
        self.data_limited = silence.nothing_to_send;
        if !silence.nothing_to_send {
            self.allowed *= 0.5;
        } else if let Some(rtt) = silence.rtt {
            // Not below the initial window per round-trip time.
            self.allowed = (self.allowed * 0.5).max(self.allowed.min(self.initial_window / rtt));
        }
        Next::SendNow
    }

    pub(super) fn on_data_after_none(&mut self, now: Time) {
        self.data_limited = false;
        self.last_limited = Some(now);
    }

    pub(super) fn allowed(&self) -> f64 {
        self.allowed
    }

    pub(super) fn spacing(&mut self, sqrt_ratio: f64) -> f64 {
        let slow_start = matches!(self.phase, Phase::Waiting | Phase::SlowStart);
        if slow_start && self.round > 2 && self.ramp + 1e-7 < self.allowed {
            self.ramp += self.ramp_step;
            self.ramp
        } else {
            self.allowed * sqrt_ratio
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    const RTT: f64 = 0.1;

    fn report(ms: i64, loss_event_rate: f64, equation: f64, receive_rate: f64) -> Report {
        Report {
            started: Time::ZERO,
            now: at(ms),
            rtt: RTT,
            equation,
            loss_event_rate,
            receive_rate,
            data_limited: false,
            nothing_to_send: false,
        }
    }

    /// 1000-byte packets, 0.1 s: one packet per round-trip time is 10 kB/s.
    fn after_reports(receive_rates: &[f64]) -> Rate {
        let mut rate = Rate::new(&Config::ns2());
        for (i, receive_rate) in receive_rates.iter().enumerate() {
            rate.on_report(&report((i as i64 + 1) * 101, 0.0, 25e6, *receive_rate));
        }
        rate
    }

    #[test]
    fn it_starts_at_300_bytes_per_second_then_four_packets_per_trip() {
        let mut rate = after_reports(&[]);
        assert_eq!(rate.allowed(), 300.0);
        assert_eq!(rate.on_report(&report(0, 0.0, 25e6, 1000.0)), Next::SendNow);
        assert_eq!(rate.allowed(), 40e3);
        assert_eq!(rate.on_report(&report(101, 0.0, 25e6, 5e3)), Next::SendNow);
        assert_eq!(rate.allowed(), 40e3, "the second report does not limit yet");
    }

    #[test]
    fn slow_start_doubles_to_twice_the_receive_rate_or_falls_to_it() {
        assert_eq!(after_reports(&[1e3, 40e3, 40e3]).allowed(), 80e3);
        assert_eq!(after_reports(&[1e3, 40e3, 35e3]).allowed(), 70e3);
        assert_eq!(after_reports(&[1e3, 40e3, 40e3, 30e3]).allowed(), 30e3);
    }

    #[test]
    fn a_doubling_is_spread_over_the_packets_of_a_round_trip() {
        let mut rate = after_reports(&[1e3, 40e3, 40e3]);
        // From 40 to 80 kB/s in eight packets: 5 kB/s each.
        assert_eq!(rate.spacing(1.0), 45e3);
        assert_eq!(rate.spacing(1.0), 50e3);
        for _ in 0..6 {
            rate.spacing(1.0);
        }
        assert_eq!(
            rate.spacing(0.5),
            40e3,
            "then at the full rate, with the spacing by the round-trip time"
        );
    }

    #[test]
    fn the_first_loss_takes_the_equations_rate_at_any_receive_rate() {
        let mut rate = after_reports(&[1e3, 40e3, 40e3]);
        assert_eq!(rate.on_report(&report(400, 0.01, 60e3, 10e3)), Next::Keep);
        assert_eq!(rate.allowed(), 60e3);
        rate.on_report(&report(500, 0.01, 60e3, 10e3));
        assert_eq!(rate.allowed(), 20e3);
    }

    #[test]
    fn the_rate_rises_a_packet_per_round_trip_but_at_most_two() {
        let mut rate = after_reports(&[1e3, 40e3, 40e3]);
        rate.on_report(&report(1000, 0.01, 60e3, 50e3));
        rate.on_report(&report(1100, 0.01, 50e3, 50e3));
        assert_eq!(rate.allowed(), 50e3, "down at once");
        rate.on_report(&report(1200, 0.01, 100e3, 50e3));
        assert_eq!(rate.allowed(), 60e3);
        rate.on_report(&report(2200, 0.01, 100e3, 50e3));
        assert_eq!(rate.allowed(), 80e3);
        rate.on_report(&report(2300, 0.01, 85e3, 50e3));
        assert_eq!(rate.allowed(), 85e3, "not above the equation");
        rate.on_report(&report(2400, 0.01, 95e3, 30e3));
        assert_eq!(rate.allowed(), 60e3, "not above twice the receive rate");
        rate.on_report(&report(2500, 0.01, 50e3, 1e3));
        assert_eq!(rate.allowed(), 10e3, "one packet per round-trip time is always allowed");
    }

    #[test]
    fn silence_halves_but_when_idle_not_below_the_initial_window() {
        let silence = |idle| Silence { now: at(900), rtt: Some(RTT), idle, nothing_to_send: idle };
        let mut rate = after_reports(&[1e3, 40e3, 40e3]);
        assert_eq!(rate.on_silence(&silence(false)), Next::SendNow);
        assert_eq!(rate.allowed(), 40e3);
        let mut rate = after_reports(&[1e3, 40e3, 30e3]);
        rate.on_silence(&silence(true));
        assert_eq!(rate.allowed(), 40e3);
        rate.on_silence(&silence(true));
        assert_eq!(rate.allowed(), 40e3);
        rate.on_silence(&silence(false));
        rate.on_silence(&silence(true));
        assert_eq!(rate.allowed(), 20e3, "and does not rise either");
    }

    #[test]
    fn a_data_limited_time_allows_the_initial_window_again() {
        let mut rate = after_reports(&[1e3, 40e3, 40e3]);
        rate.on_report(&report(1000, 0.01, 20e3, 50e3));
        rate.on_data_after_none(at(2000));
        rate.on_report(&report(2100, 0.01, 100e3, 1e3));
        assert_eq!(rate.allowed(), 40e3);
    }
}
