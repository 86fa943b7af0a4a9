//! Vegas: the window is controlled by the number of its packets in queues (Brakmo and Peterson
//! 1995, sections III-B and III-C; full title in `recovery/vegas.rs`).
//!
//! Once per round trip, with R the mean round-trip time measured in it, BaseRTT the smallest ever,
//! and n the packets sent in it:
//!
//! ```text
//! expected = packets in flight / BaseRTT,  actual = n / R,  diff = (expected - actual) BaseRTT    (packets in queues)
//! slow start, every other round trip:  diff > gamma: cwnd -= cwnd/8 and slow start ends,  else cwnd += 1 per ACK
//! congestion avoidance:                diff < alpha: cwnd += 1/cwnd per ACK;  diff > beta: cwnd -= 1;  else unchanged
//! loss found by duplicate ACKs:        cwnd -= cwnd/4, or cwnd/2 if the packet had been retransmitted before
//! timeout:                             ssthresh = cwnd/2, cwnd = 2
//! ```
//!
//! The loss of a packet sent before the last cut does not cut again, and a loss judged wireless
//! leaves the window unchanged. The window grows only while cwnd is within two packets of what is
//! in flight. A cut leaves at least 2.
//!
//! Deviations: the paper specifies neither the rounding of the window at a loss nor the in-flight
//! condition; both are ns-2's. With [`VegasRules::Ns2`], as in ns-2.35, diff is rounded to whole
//! packets, and the initial window opens with the first ACK of data instead of the SYN's. In ns-2 a
//! lost SYN makes the losses of the first seconds look like old ones; here it does not.

use losscause::Time;

use super::{AckEvent, CongestionControl, TimeoutEvent};
use crate::tcp::config::Config;
use crate::tcp::loss_event::{Answer, LossEvent};
use crate::tcp::quirks::{Halving, VegasRules};
use crate::tcp::window::Window;

/// Thresholds of Vegas, packets in queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VegasParameters {
    /// Below it the window grows (ns-2 `v_alpha_`).
    pub alpha_pkts: u32,
    /// Above it the window shrinks (ns-2 `v_beta_`). At least [`VegasParameters::alpha_pkts`].
    pub beta_pkts: u32,
    /// Above it slow start ends (ns-2 `v_gamma_`).
    pub gamma_pkts: u32,
}

impl VegasParameters {
    /// The thresholds of the paper's Vegas-1,3 and of ns-2.35.
    pub const PUBLISHED: Self = Self { alpha_pkts: 1, beta_pkts: 3, gamma_pkts: 1 };
}

#[derive(Clone, Debug)]
pub(super) struct Vegas {
    parameters: VegasParameters,
    rules: VegasRules,
    halving: Halving,
    initial_window_pkts: u32,
    /// Whether the initial window opens with the next ACK.
    opens_next: bool,
    /// Smallest round-trip time, seconds.
    base_rtt: Option<f64>,
    /// Sum and number of the round-trip times of this round, seconds.
    sum: f64,
    samples: u32,
    /// The round ends when this packet is acknowledged.
    round_end: u64,
    round_began: Time,
    /// The increase of cwnd per ACK, packets.
    increment: f64,
    /// Whether slow start grows in this round.
    grows: bool,
    /// When the window was last cut.
    cut_at: Time,
}

impl Vegas {
    pub(super) fn new(config: &Config, parameters: VegasParameters) -> Self {
        Self {
            parameters,
            rules: config.quirks.vegas,
            halving: config.quirks.halving,
            initial_window_pkts: config.initial_window_pkts,
            opens_next: false,
            base_rtt: None,
            sum: 0.0,
            samples: 0,
            round_end: 0,
            round_began: Time::ZERO,
            increment: 0.0,
            grows: true,
            cut_at: Time::ZERO,
        }
    }

    fn on_round(&mut self, window: &mut Window, acked: &AckEvent) {
        let rtt = if self.samples > 0 {
            self.sum / f64::from(self.samples)
        } else {
            (acked.at - self.round_began).as_secs_f64()
        };
        (self.sum, self.samples) = (0.0, 0);
        let sent = acked.next - self.round_end;
        if let (true, Some(base)) = (rtt > 0.0, &mut self.base_rtt) {
            if rtt < *base || sent <= 1 {
                *base = rtt;
            }
            let base = *base;
            self.adjust(window, diff_pkts(acked.flight_pkts() + 1, sent, rtt, base));
        }
        self.round_end = acked.next;
        self.round_began = acked.at;
    }

    fn adjust(&mut self, window: &mut Window, diff: f64) {
        let VegasParameters { alpha_pkts, beta_pkts, gamma_pkts } = self.parameters;
        let diff = if self.rules == VegasRules::Ns2 { (diff + 0.5).trunc() } else { diff };
        self.increment = 0.0;
        if window.in_slow_start() {
            self.grows = !self.grows;
            if self.grows && diff > f64::from(gamma_pkts) {
                window.ssthresh = 2.0;
                window.cwnd = (window.cwnd - window.cwnd / 8.0).max(2.0);
            } else if self.grows {
                self.increment = 1.0;
            }
        } else if diff > f64::from(beta_pkts) {
            window.cwnd = (window.cwnd - 1.0).max(2.0);
        } else if diff < f64::from(alpha_pkts) {
            self.increment = 1.0 / window.cwnd;
        }
    }
}

impl CongestionControl for Vegas {
    fn name(&self) -> &'static str {
        "Vegas"
    }

    fn on_open(&mut self, window: &mut Window, initial_pkts: u32) {
        match self.rules {
            VegasRules::Ns2 => self.opens_next = true,
            VegasRules::Published => window.restart(initial_pkts),
        }
    }

    fn on_ack(&mut self, window: &mut Window, acked: &AckEvent) {
        if std::mem::take(&mut self.opens_next) {
            window.restart(self.initial_window_pkts);
        }
        let first = self.base_rtt.is_none();
        if let (true, Some(rtt)) = (first, acked.rtt) {
            self.base_rtt = Some(rtt.as_secs_f64());
            (self.round_began, self.cut_at) = (acked.at - rtt, acked.at - rtt);
        }
        if acked.una > self.round_end {
            self.on_round(window, acked);
        }
        if self.increment == 1.0 && !window.in_slow_start() {
            self.increment = 0.0;
        }
        // Packets in flight, and the next one.
        let flight = (acked.flight_pkts() + 1) as f64;
        if acked.growth.is_due() && self.increment > 0.0 && window.cwnd - flight <= 2.0 {
            window.cwnd += self.increment;
        }
        if let (false, Some(rtt)) = (first, acked.rtt) {
            let rtt = rtt.as_secs_f64();
            self.sum += rtt;
            self.samples += 1;
            self.base_rtt =
                self.base_rtt.map(|base| if rtt > 0.0 && rtt < base { rtt } else { base });
        }
    }

    fn on_loss(&mut self, window: &mut Window, loss: &LossEvent) -> Answer {
        let sent_since_cut =
            loss.sending.is_none_or(|sending| sending.at.is_some_and(|at| self.cut_at < at));
        if loss.verdict.is_wireless() || !sent_since_cut {
            return Answer::Kept;
        }
        let again = loss.sending.is_some_and(|sending| sending.times > 1);
        window.cwnd = match window.pkts(0) {
            0..=3 => 2.0,
            pkts if again => f64::from(pkts / 2),
            pkts => f64::from(pkts - pkts / 4),
        };
        self.cut_at = loss.at;
        Answer::Cut
    }

    fn on_timeout(&mut self, window: &mut Window, timeout: &TimeoutEvent) {
        self.halving.on_timeout(window, &TimeoutEvent { again: false, ..*timeout });
        window.cwnd = 2.0;
        self.cut_at = timeout.at;
    }
}

/// Packets of this connection in queues.
fn diff_pkts(in_flight_pkts: u64, sent_pkts: u64, rtt: f64, base_rtt: f64) -> f64 {
    let expected = in_flight_pkts as f64 / base_rtt;
    let actual = sent_pkts as f64 / rtt;
    (expected - actual) * base_rtt
}

#[cfg(test)]
mod tests {
    use losscause::{Span, Verdict};

    use super::*;
    use crate::tcp::loss_event::Sending;
    use crate::tcp::quirks::Quirks;

    fn vegas(rules: VegasRules) -> Vegas {
        let quirks = Quirks { vegas: rules, ..Quirks::NS2_2_35 };
        Vegas::new(&Config { quirks, ..Config::ns2() }, VegasParameters::PUBLISHED)
    }

    fn window(cwnd: f64, ssthresh: f64) -> Window {
        Window { cwnd, ssthresh, max_pkts: 100 }
    }

    #[test]
    fn diff_is_what_waits_in_queues() {
        // 12 packets in 120 ms on a path of 100 ms: two of them were queued.
        assert!((diff_pkts(12, 12, 0.12, 0.1) - 2.0).abs() < 1e-12);
        assert_eq!(diff_pkts(12, 12, 0.1, 0.1), 0.0);
    }

    #[test]
    fn between_alpha_and_beta_the_window_stays() {
        let after = |rules, diff| {
            let mut vegas = vegas(rules);
            let mut window = window(10.0, 2.0);
            vegas.adjust(&mut window, diff);
            (window.cwnd, vegas.increment)
        };
        let published = |diff| after(VegasRules::Published, diff);
        assert_eq!(
            [0.9, 1.0, 3.0, 3.1].map(published),
            [(10.0, 0.1), (10.0, 0.0), (10.0, 0.0), (9.0, 0.0)]
        );
        // In whole packets: 0.5 is one, 3.4 is three.
        let ns2 = |diff| after(VegasRules::Ns2, diff);
        assert_eq!(
            [0.4, 0.5, 3.4, 3.5].map(ns2),
            [(10.0, 0.1), (10.0, 0.0), (10.0, 0.0), (9.0, 0.0)]
        );
    }

    #[test]
    fn slow_start_grows_every_other_round_until_gamma_is_exceeded() {
        let mut vegas = vegas(VegasRules::Published);
        let mut window = window(16.0, 100.0);
        let mut increments = vec![];
        for _ in 0..4 {
            vegas.adjust(&mut window, 1.0);
            increments.push(vegas.increment);
        }
        assert_eq!(increments, [0.0, 1.0, 0.0, 1.0]);
        vegas.adjust(&mut window, 1.1);
        assert_eq!((window.cwnd, window.ssthresh), (16.0, 100.0), "not in this round");
        vegas.adjust(&mut window, 1.1);
        assert_eq!((window.cwnd, window.ssthresh), (14.0, 2.0));
    }

    #[test]
    fn a_loss_costs_a_quarter_and_a_second_of_one_packet_half() {
        let after = |cwnd, sent_ms, times, verdict| {
            let mut vegas = vegas(VegasRules::Published);
            let mut window = window(cwnd, 2.0);
            vegas.cut_at = Time::ZERO + Span::from_millis(100);
            let at = Some(Time::ZERO + Span::from_millis(sent_ms));
            let sending = Some(Sending { at, times });
            let loss = LossEvent {
                at: Time::ZERO + Span::from_millis(500),
                flight_pkts: 10,
                verdict,
                sending,
            };
            (vegas.on_loss(&mut window, &loss), window.cwnd)
        };
        use Verdict::{Congestion, Wireless};
        assert_eq!(after(10.5, 200, 1, Congestion), (Answer::Cut, 8.0));
        assert_eq!(after(10.5, 200, 2, Congestion), (Answer::Cut, 5.0));
        assert_eq!(after(3.9, 200, 2, Congestion), (Answer::Cut, 2.0));
        assert_eq!(
            after(10.5, 100, 1, Congestion),
            (Answer::Kept, 10.5),
            "sent no later than the last cut"
        );
        assert_eq!(after(10.5, 200, 1, Wireless), (Answer::Kept, 10.5));
    }
}
