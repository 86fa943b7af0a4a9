//! The allowed rate by RFC 5348, sections 4.2 to 4.5.
//!
//! With p > 0 the rate is the equation's; without loss it doubles once per round-trip time. Both
//! are at most twice the largest receive rate reported in the last two round-trip times (less after
//! a loss in a data-limited interval), and at least one packet in 64 s.
//!
//! Readings:
//! - The receive rates begin with infinity, as of the start of sending. So the limit does not hold
//!   in "the first two round-trip times of the connection": for the first report, which answers the
//!   first packet, and for the second.
//! - The initial rate W_init/R takes the current R, not the first one.
//! - A report carries no mark for a new loss event, so a loss in a data-limited interval is
//!   recognised by a rise of p.
//! - An idle sender that never had a report keeps its rate. The pseudocode of section 4.4 uses
//!   rates that are not known yet.

use losscause::{Span, Time};

use super::{Next, Report, Silence};
use crate::tfrc::Config;

/// The longest time between two packets (t_mbi), seconds.
const MAX_BACKOFF_SECS: f64 = 64.0;

#[derive(Clone, Debug)]
pub(crate) struct Rate {
    /// s, bytes.
    packet: f64,
    /// W_init, bytes.
    initial_window: f64,
    /// X.
    allowed: f64,
    /// p of the last report.
    loss_event_rate: f64,
    /// X_Bps at the last report.
    equation: f64,
    /// When slow start last doubled the rate (tld); none before the first report.
    doubled: Option<Time>,
    receive_rates: ReceiveRates,
}

impl Rate {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            packet: f64::from(config.payload_bytes),
            initial_window: config.quirks.initial_rate.window_bytes(config.payload_bytes),
            allowed: config.quirks.initial_rate.bytes_per_second(config.payload_bytes),
            loss_event_rate: 0.0,
            equation: f64::INFINITY,
            doubled: None,
            receive_rates: ReceiveRates::default(),
        }
    }

    /// Section 4.3, step 4.
    pub(super) fn on_report(&mut self, report: &Report) -> Next {
        let &Report {
            now,
            started,
            rtt,
            equation,
            loss_event_rate,
            receive_rate,
            data_limited,
            ..
        } = report;
        let more_loss = loss_event_rate > self.loss_event_rate;
        self.loss_event_rate = loss_event_rate;
        self.equation = equation;
        if self.doubled.is_none() {
            // Section 4.2: the first report brings the round-trip time, and all else it says is
            // left for the next.
            self.doubled = Some(now);
            self.allowed = self.initial_window / rtt;
            self.receive_rates.keep_only(f64::INFINITY, started);
            return Next::Reschedule;
        }
        let limit = if !data_limited {
            self.receive_rates.add(receive_rate, now, rtt);
            2.0 * self.receive_rates.largest()
        } else if more_loss {
            self.receive_rates.halve();
            self.receive_rates.maximize(0.85 * receive_rate, now);
            self.receive_rates.largest()
        } else {
            self.receive_rates.maximize(receive_rate, now);
            2.0 * self.receive_rates.largest()
        };
        self.follow(limit, now, rtt);
        Next::Reschedule
    }

    /// The second part of step 4: the rate under the limit `limit`.
    fn follow(&mut self, limit: f64, now: Time, rtt: f64) {
        if self.loss_event_rate > 0.0 {
            self.allowed = self.equation.min(limit).max(self.least());
        } else if self.doubled.is_none_or(|at| (now - at).as_secs_f64() >= rtt) {
            self.allowed = (2.0 * self.allowed).min(limit).max(self.initial_window / rtt);
            self.doubled = Some(now);
        }
    }

    /// Section 4.4.
    pub(super) fn on_silence(&mut self, silence: &Silence) -> Next {
        let &Silence { now, rtt, idle, .. } = silence;
        let Some(rtt) = rtt else {
            if !idle {
                self.allowed = (self.allowed / 2.0).max(self.least());
            }
            return Next::Reschedule;
        };
        let receive_rate = self.receive_rates.largest();
        let recover = self.initial_window / rtt;
        let lossless = self.loss_event_rate == 0.0;
        let small = if lossless { self.allowed < 2.0 * recover } else { receive_rate < recover };
        if idle && small {
            // An idle sender does not fall below the initial rate.
        } else if lossless {
            self.allowed = (self.allowed / 2.0).max(self.least());
        } else {
            // Half of whichever of the two limits the rate.
            let limit = receive_rate.min(self.equation / 2.0).max(self.least());
            self.receive_rates.keep_only(limit / 2.0, now);
            self.follow(limit, now, rtt);
        }
        Next::Reschedule
    }

    pub(super) fn allowed(&self) -> f64 {
        self.allowed
    }

    /// X_inst (section 4.5).
    pub(super) fn spacing(&self, sqrt_ratio: f64) -> f64 {
        (self.allowed * sqrt_ratio).max(self.least())
    }

    /// One packet in 64 s.
    fn least(&self) -> f64 {
        self.packet / MAX_BACKOFF_SECS
    }
}

/// The receive rates of the last two round-trip times (X_recv_set). Only those that can still
/// become the largest are kept: newest last, each smaller than the one before.
#[derive(Clone, Debug, Default)]
struct ReceiveRates {
    entries: [(Time, f64); 8],
    len: usize,
}

impl ReceiveRates {
    fn largest(&self) -> f64 {
        if self.len == 0 { f64::INFINITY } else { self.entries[0].1 }
    }

    fn add(&mut self, rate: f64, now: Time, rtt: f64) {
        let horizon = Span::from_secs_f64_rounded(2.0 * rtt);
        let old = self.entries[..self.len].iter().take_while(|(at, _)| now - *at > horizon).count();
        self.entries.copy_within(old..self.len, 0);
        self.len -= old;
        while self.len > 0 && self.entries[self.len - 1].1 <= rate {
            self.len -= 1;
        }
        // Nine falling reports within two round-trip times: the smallest but one gives way.
        self.len = self.len.min(self.entries.len() - 1);
        self.entries[self.len] = (now, rate);
        self.len += 1;
    }

    fn halve(&mut self) {
        for (_, rate) in &mut self.entries[..self.len] {
            *rate /= 2.0;
        }
    }

    /// Keeps the largest, with infinity gone, as of now.
    fn maximize(&mut self, rate: f64, now: Time) {
        let known = self.entries[..self.len].iter().map(|e| e.1).filter(|r| r.is_finite());
        let largest = known.fold(rate, f64::max);
        self.keep_only(largest, now);
    }

    fn keep_only(&mut self, rate: f64, now: Time) {
        self.entries[0] = (now, rate);
        self.len = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    const RTT: f64 = 0.1;

    fn report(ms: i64, loss_event_rate: f64, equation: f64, receive_rate: f64) -> Report {
        Report {
            now: at(ms),
            started: at(-100),
            rtt: RTT,
            equation,
            loss_event_rate,
            receive_rate,
            data_limited: false,
            nothing_to_send: false,
        }
    }

    fn lossless(ms: i64, receive_rate: f64) -> Report {
        report(ms, 0.0, f64::INFINITY, receive_rate)
    }

    fn silence(ms: i64, idle: bool) -> Silence {
        Silence { now: at(ms), rtt: Some(RTT), idle, nothing_to_send: idle }
    }

    /// 1000-byte packets: four per round-trip time to begin with, 40 kB/s. The first was sent at
    /// -100 ms.
    fn started() -> Rate {
        let mut rate = Rate::new(&Config { payload_bytes: 1000, ..Config::rfc5348() });
        assert_eq!(rate.allowed(), 1000.0);
        rate.on_report(&lossless(0, 1000.0));
        assert_eq!(rate.allowed(), 40e3);
        rate
    }

    #[test]
    fn slow_start_doubles_per_round_trip_to_twice_the_receive_rate() {
        let mut rate = started();
        rate.on_report(&lossless(50, 30e3));
        assert_eq!(rate.allowed(), 40e3, "half a round-trip time is too early");
        rate.on_report(&lossless(100, 30e3));
        assert_eq!(rate.allowed(), 80e3, "no limit by the receive rate yet");
        rate.on_report(&lossless(250, 50e3));
        assert_eq!(rate.allowed(), 100e3, "infinity has left the set");
    }

    #[test]
    fn the_receive_rate_limits_only_after_two_round_trips() {
        let mut rate = started();
        rate.on_report(&lossless(100, 30e3));
        assert_eq!(
            rate.allowed(),
            80e3,
            "200 ms after the start are two round-trip times, not more"
        );
        let mut rate = started();
        rate.on_report(&lossless(101, 30e3));
        assert_eq!(rate.allowed(), 60e3);
    }

    #[test]
    fn the_first_report_sets_the_initial_rate_whatever_was_lost() {
        let mut rate = Rate::new(&Config { payload_bytes: 1000, ..Config::rfc5348() });
        rate.on_report(&report(0, 0.01, 5e3, 1000.0));
        assert_eq!(rate.allowed(), 40e3);
        rate.on_silence(&silence(400, false));
        assert_eq!(rate.allowed(), 2.5e3, "but half the equation's rate if no other comes");
    }

    #[test]
    fn with_loss_the_equation_or_twice_the_receive_rate_limits() {
        let mut rate = started();
        rate.on_report(&report(250, 0.01, 50e3, 20e3));
        assert_eq!(rate.allowed(), 40e3);
        rate.on_report(&report(350, 0.01, 30e3, 20e3));
        assert_eq!(rate.allowed(), 30e3);
        rate.on_report(&report(450, 0.01, 50e3, 1e3));
        assert_eq!(rate.allowed(), 40e3, "20 kB/s was 200 ms ago");
        rate.on_report(&report(560, 0.01, 50e3, 1e3));
        assert_eq!(rate.allowed(), 2e3, "now it is older");
    }

    #[test]
    fn the_rate_never_falls_below_a_packet_in_64_seconds() {
        let mut rate = started();
        rate.on_report(&report(250, 1.0, 0.0, 0.0));
        assert_eq!(rate.allowed(), 1000.0 / 64.0);
    }

    #[test]
    fn a_data_limited_loss_halves_receive_rates_and_drops_the_two() {
        let mut rate = started();
        rate.on_report(&report(250, 0.01, 1e9, 20e3));
        assert_eq!(rate.allowed(), 40e3);
        let limited =
            |ms, p, receive_rate| Report { data_limited: true, ..report(ms, p, 1e9, receive_rate) };
        rate.on_report(&limited(350, 0.01, 4e3));
        assert_eq!(rate.allowed(), 40e3, "no new loss: the old receive rate stays in force");
        rate.on_report(&limited(450, 0.02, 10e3));
        assert_eq!(rate.allowed(), 10e3, "the larger of 20/2 and 0.85 * 10");
    }

    #[test]
    fn silence_halves_the_slow_start_rate_unless_it_is_idle_and_low() {
        let mut rate = started();
        rate.on_silence(&silence(500, true));
        assert_eq!(rate.allowed(), 40e3);
        rate.on_silence(&silence(900, false));
        assert_eq!(rate.allowed(), 20e3);
    }

    #[test]
    fn silence_after_loss_halves_the_limit_that_was_in_force() {
        let mut rate = started();
        rate.on_report(&report(250, 0.01, 60e3, 100e3));
        rate.on_silence(&silence(650, false));
        assert_eq!(rate.allowed(), 30e3, "the equation was the limit: 60/2");

        let mut rate = started();
        rate.on_report(&report(250, 0.01, 500e3, 100e3));
        assert_eq!(rate.allowed(), 200e3);
        rate.on_silence(&silence(650, false));
        assert_eq!(rate.allowed(), 100e3, "twice the receive rate was the limit");
        rate.on_silence(&silence(1050, false));
        assert_eq!(rate.allowed(), 50e3, "and again");
    }

    #[test]
    fn an_idle_sender_below_the_recover_rate_keeps_it_after_loss() {
        let mut rate = started();
        rate.on_report(&report(250, 0.01, 60e3, 30e3));
        rate.on_silence(&silence(650, true));
        assert_eq!(rate.allowed(), 60e3);
    }

    #[test]
    fn before_any_report_silence_halves_one_packet_per_second() {
        let mut rate = Rate::new(&Config { payload_bytes: 1000, ..Config::rfc5348() });
        let silence = |idle| Silence { now: at(0), rtt: None, idle, nothing_to_send: idle };
        rate.on_silence(&silence(true));
        assert_eq!(rate.allowed(), 1000.0);
        rate.on_silence(&silence(false));
        assert_eq!(rate.allowed(), 500.0);
    }

    #[test]
    fn the_largest_receive_rate_is_of_the_last_two_round_trips() {
        let mut rates = ReceiveRates::default();
        for i in 0..20 {
            rates.add(100.0 - f64::from(i), at(i64::from(i)), RTT);
        }
        assert_eq!(rates.largest(), 100.0);
        rates.add(1.0, at(201), RTT);
        assert_eq!(rates.largest(), 99.0);
    }
}
