//! Westwood: after a loss the window becomes the estimated bandwidth-delay product (Mascolo,
//! Casetti, Gerla, Sanadidi and Wang, "TCP Westwood: Bandwidth Estimation for Enhanced Transport
//! over Wireless Links", MobiCom 2001).
//!
//! The ACK at t_k reports that d_k packets arrived since the previous ACK at t_(k-1) = t_k - D:
//!
//! ```text
//! b_k   = d_k / D
//! bwe_k = [(2 tau/D - 1) bwe_(k-1) + b_k + b_(k-1)] / (2 tau/D + 1)      low-pass filter, Tustin's approximation
//! fast retransmit:   ssthresh = bwe RTTmin, at least 2;  cwnd = ssthresh if it was more
//! timeout:           ssthresh = bwe RTTmin, at least 2;  cwnd = 1
//! ```
//!
//! If no ACK arrives for tau/m, the filter takes in a sample b = 0, once per tau/m. d is counted in
//! `delivered.rs`. Growth is Reno's. Over NewReno this is WestwoodNR. A loss judged wireless leaves
//! the window unchanged.
//!
//! Deviations: the paper does not fix tau and m for all paths; here tau is 500 ms and m is 2, the
//! smallest value that it allows. ACKs at the same instant form one sample. Everything is counted
//! in packets.
//!
//! `westwood_ns2.rs` has the rules of the authors' ns-2 agents, which differ.

use losscause::{Span, Time};

use super::delivered::Delivered;
use super::{AckEvent, CongestionControl, TimeoutEvent, westwood_ns2};
use crate::tcp::config::Config;
use crate::tcp::loss_event::{Answer, LossEvent};
use crate::tcp::quirks::WestwoodRules;
use crate::tcp::window::Window;

/// What the paper and the ns-2 agents do differently.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) filter: Filter,
    /// The largest number of packets that one ACK can report.
    pub(super) most_pkts: u64,
    /// Whether RTTmin is in whole ticks of the sender's clock.
    pub(super) rtt_min_in_ticks: bool,
    /// Whether ssthresh is rounded down.
    pub(super) whole_ssthresh: bool,
    /// Whether a fast retransmit leaves a cwnd that is rounded down.
    pub(super) whole_cwnd: bool,
    /// Whether losses in slow start divide ssthresh after a timeout.
    pub(super) divides_by_losses: bool,
    /// cwnd after a timeout, packets.
    pub(super) restart_pkts: f64,
}

impl Rules {
    /// The paper's.
    pub(super) const PUBLISHED: Self = Self {
        filter: Filter::OverTime { tau: Span::from_millis(500) },
        most_pkts: u64::MAX,
        rtt_min_in_ticks: false,
        whole_ssthresh: false,
        whole_cwnd: false,
        divides_by_losses: false,
        restart_pkts: 1.0,
    };

    const fn of(rules: WestwoodRules) -> Self {
        match rules {
            WestwoodRules::Published => Self::PUBLISHED,
            WestwoodRules::Ns2 => westwood_ns2::NS2,
            WestwoodRules::Ns2In2001 => westwood_ns2::NS2_2001,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Westwood {
    rules: Rules,
    /// Granularity of RTTmin.
    tick: Span,
    bandwidth: Bandwidth,
    rtt_min: Option<Span>,
    delivered: Delivered,
    /// a: the weighted count of losses in slow start.
    slow_start_losses: f64,
}

/// The largest a.
const MOST_SLOW_START_LOSSES: f64 = 4.0;

impl Westwood {
    pub(super) fn new(config: &Config) -> Self {
        let rules = Rules::of(config.quirks.westwood);
        Self {
            rules,
            tick: if rules.rtt_min_in_ticks { config.quirks.tick } else { Span::from_nanos(1) },
            bandwidth: Bandwidth::new(rules.filter),
            rtt_min: None,
            delivered: Delivered::default(),
            slow_start_losses: 0.0,
        }
    }

    fn count_slow_start_loss(&mut self, window: &Window, weight: f64) {
        self.slow_start_losses = if window.in_slow_start() {
            (self.slow_start_losses + weight).min(MOST_SLOW_START_LOSSES)
        } else {
            1.0
        };
    }

    /// The bandwidth-delay product, packets.
    fn pipe_pkts(&mut self, now: Time) -> f64 {
        self.bandwidth.idle_until(now);
        let rtt_min = self.rtt_min.unwrap_or(Span::ZERO).as_secs_f64();
        (self.bandwidth.estimate * rtt_min).max(2.0)
    }
}

impl CongestionControl for Westwood {
    fn name(&self) -> &'static str {
        "Westwood"
    }

    fn on_ack(&mut self, window: &mut Window, acked: &AckEvent) {
        if let Some(rtt) = acked.rtt.filter(|&rtt| rtt > Span::ZERO) {
            // The shortest of many round trips that start anywhere in a tick spans no more than its
            // whole ticks.
            let rtt = self.tick * (rtt.as_nanos() / self.tick.as_nanos()).max(1);
            self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        }
        let pkts = self.delivered.on_ack(acked.newly_acked_pkts);
        self.bandwidth.on_ack(acked.at, pkts.min(self.rules.most_pkts));
        if acked.growth.is_due() {
            window.grow();
        }
    }

    fn on_dup_ack(&mut self, now: Time) {
        self.bandwidth.on_ack(now, self.delivered.on_dup_ack());
    }

    fn on_loss(&mut self, window: &mut Window, loss: &LossEvent) -> Answer {
        if loss.verdict.is_wireless() {
            return Answer::Kept;
        }
        let pipe = self.pipe_pkts(loss.at);
        self.count_slow_start_loss(window, 0.25);
        window.ssthresh = if self.rules.whole_ssthresh { pipe.floor() } else { pipe };
        window.cwnd = window.cwnd.min(if self.rules.whole_cwnd { pipe.floor() } else { pipe });
        Answer::Cut
    }

    fn on_timeout(&mut self, window: &mut Window, timeout: &TimeoutEvent) {
        let pipe = self.pipe_pkts(timeout.at);
        self.count_slow_start_loss(window, 1.0);
        // a is at least 1.
        let pipe = if self.rules.divides_by_losses {
            (pipe / self.slow_start_losses).max(2.0)
        } else {
            pipe
        };
        window.ssthresh = if self.rules.whole_ssthresh { pipe.floor() } else { pipe };
        window.cwnd = self.rules.restart_pkts;
        self.delivered.on_timeout();
    }
}

/// How bandwidth samples are smoothed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    /// Weighted by the time since the previous sample.
    OverTime { tau: Span },
    /// Every sample has the same weight.
    PerAck,
}

/// The bandwidth filter, packets per second.
#[derive(Clone, Debug)]
struct Bandwidth {
    filter: Filter,
    estimate: f64,
    last_sample: f64,
    last_at: Option<Time>,
    /// Packets reported at the newest instant, which is not a complete sample yet.
    pending: u64,
}

/// m: silence is filtered in steps of tau/m.
const M: i64 = 2;

impl Bandwidth {
    fn new(filter: Filter) -> Self {
        Self { filter, estimate: 0.0, last_sample: 0.0, last_at: None, pending: 0 }
    }

    fn on_ack(&mut self, now: Time, pkts: u64) {
        let Some(last) = self.last_at else {
            self.last_at = Some(now);
            return;
        };
        if now <= last {
            self.pending += pkts;
            return;
        }
        self.idle_until(now);
        let since = now - self.last_at.unwrap_or(last);
        self.pending += pkts;
        if since > Span::ZERO {
            let sample = self.pending as f64 / since.as_secs_f64();
            self.pending = 0;
            self.take_in(sample, since);
            self.last_at = Some(now);
        }
    }

    /// Filters the silence before `now` in steps of tau/m; the remainder stays for the next sample.
    fn idle_until(&mut self, now: Time) {
        let (Some(last), Filter::OverTime { tau }) = (self.last_at, self.filter) else { return };
        let pieces = (now - last).as_nanos().max(1) - 1;
        let longest = tau / M;
        let pieces = pieces / longest.as_nanos();
        // After this many steps the estimate is practically zero.
        for _ in 0..pieces.min(1000) {
            self.take_in(0.0, longest);
        }
        self.last_at = Some(last + longest * pieces);
    }

    fn take_in(&mut self, sample: f64, since: Span) {
        let both = sample + self.last_sample;
        self.estimate = match self.filter {
            Filter::OverTime { tau } => {
                let ratio = 2.0 * tau.as_secs_f64() / since.as_secs_f64();
                ((ratio - 1.0) * self.estimate + both) / (ratio + 1.0)
            }
            Filter::PerAck => 0.9047 * self.estimate + 0.0476 * both,
        };
        self.last_sample = sample;
    }
}

#[cfg(test)]
mod tests {
    use losscause::Verdict;

    use super::*;
    use crate::at;
    use crate::tcp::control::Growth;
    use crate::tcp::control::tests::{ack, timeout};
    use crate::tcp::quirks::Quirks;

    #[test]
    fn the_filter_follows_its_equation() {
        let mut bandwidth = Bandwidth::new(Rules::PUBLISHED.filter);
        bandwidth.on_ack(at(0), 1);
        bandwidth.on_ack(at(100), 1);
        // 10 packets/s; 2 tau/D = 10: (9 * 0 + 10 + 0)/11.
        assert!((bandwidth.estimate - 10.0 / 11.0).abs() < 1e-12);
        bandwidth.on_ack(at(300), 4);
        // 20 packets/s; 2 tau/D = 5: (4 * 10/11 + 20 + 10)/6.
        assert!((bandwidth.estimate - (40.0 / 11.0 + 30.0) / 6.0).abs() < 1e-12);
    }

    #[test]
    fn a_steady_stream_of_acks_is_estimated_right_at_any_spacing() {
        for (step_ms, pkts) in [(10, 1), (20, 2), (50, 5), (200, 20)] {
            let mut bandwidth = Bandwidth::new(Rules::PUBLISHED.filter);
            for i in 0..2_000 {
                bandwidth.on_ack(at(i * step_ms), pkts);
            }
            assert!(
                (bandwidth.estimate - 100.0).abs() < 0.5,
                "{} every {step_ms} ms",
                bandwidth.estimate
            );
        }
    }

    #[test]
    fn silence_lowers_the_estimate() {
        let mut bandwidth = Bandwidth {
            estimate: 90.0,
            last_at: Some(at(0)),
            ..Bandwidth::new(Rules::PUBLISHED.filter)
        };
        bandwidth.idle_until(at(600));
        // Twice 250 ms with 2 tau/D = 4: times 3/5 each.
        assert!((bandwidth.estimate - 32.4).abs() < 1e-9);
        assert_eq!(bandwidth.last_at, Some(at(500)));
    }

    fn config(westwood: WestwoodRules, base: Config) -> Config {
        Config { quirks: Quirks { westwood, ..base.quirks }, ..base }
    }

    /// A state in which the bandwidth-delay product is 8.4 packets.
    fn settled(rules: WestwoodRules) -> Westwood {
        let bandwidth = Bandwidth {
            estimate: 84.0,
            last_sample: 84.0,
            last_at: Some(at(0)),
            ..Bandwidth::new(Rules::of(rules).filter)
        };
        Westwood {
            bandwidth,
            rtt_min: Some(Span::from_millis(100)),
            ..Westwood::new(&config(rules, Config::rfc()))
        }
    }

    #[test]
    fn a_loss_leaves_what_fills_the_path() {
        let after = |rules, cwnd, verdict| {
            let mut window = Window { cwnd, ssthresh: 50.0, max_pkts: 100 };
            let loss = LossEvent { at: at(10), flight_pkts: 20, verdict, sending: None };
            settled(rules).on_loss(&mut window, &loss);
            (window.cwnd, window.ssthresh)
        };
        assert_eq!(after(WestwoodRules::Published, 20.0, Verdict::Congestion), (8.4, 8.4));
        assert_eq!(
            after(WestwoodRules::Published, 6.0, Verdict::Congestion),
            (6.0, 8.4),
            "no more than it was"
        );
        assert_eq!(after(WestwoodRules::Published, 20.0, Verdict::Wireless), (20.0, 50.0));
        assert_eq!(after(WestwoodRules::Ns2, 20.0, Verdict::Congestion), (8.4, 8.0));
        assert_eq!(after(WestwoodRules::Ns2In2001, 20.0, Verdict::Congestion), (8.0, 8.0));
    }

    #[test]
    fn a_timeout_leaves_one_packet_and_in_later_ns2_two() {
        let after = |rules| {
            let mut window = Window { cwnd: 20.0, ssthresh: 50.0, max_pkts: 100 };
            settled(rules).on_timeout(&mut window, &timeout(10, 20, false));
            (window.cwnd, window.ssthresh)
        };
        assert_eq!(after(WestwoodRules::Published), (1.0, 8.4));
        assert_eq!(after(WestwoodRules::Ns2), (2.0, 8.0));
        assert_eq!(after(WestwoodRules::Ns2In2001), (1.0, 8.0));
    }

    /// 8.4 packets over a: 8.4 after the first timeout, 4.2 after the second, 2.8, 2.1, and never
    /// more than four times.
    #[test]
    fn in_2001_each_slow_start_timeout_divides_the_threshold_again() {
        let mut westwood = settled(WestwoodRules::Ns2In2001);
        let mut window = Window { cwnd: 2.0, ssthresh: 50.0, max_pkts: 100 };
        let mut thresholds = Vec::new();
        for _ in 0..5 {
            westwood.on_timeout(&mut window, &timeout(10, 20, false));
            thresholds.push(window.ssthresh);
        }
        assert_eq!(thresholds, [8.0, 4.0, 2.0, 2.0, 2.0]);
        window.cwnd = 9.0;
        westwood.on_timeout(&mut window, &timeout(10, 20, false));
        assert_eq!(window.ssthresh, 8.0, "outside slow start a is 1 again");
    }

    #[test]
    fn in_2001_acks_weigh_alike_and_silence_goes_unnoticed() {
        let mut bandwidth = Bandwidth::new(westwood_ns2::NS2_2001.filter);
        for ms in [0, 100, 2100] {
            bandwidth.on_ack(at(ms), 1);
        }
        // 10 packets/s, then 0.5: 0.476, then 0.9047 * 0.476 + 0.0476 * 10.5.
        assert!((bandwidth.estimate - (0.9047 * 0.476 + 0.0476 * 10.5)).abs() < 1e-12);
        let before = bandwidth.estimate;
        bandwidth.idle_until(at(60_000));
        assert_eq!(bandwidth.estimate, before);
    }

    #[test]
    fn rtt_min_in_ticks_leaves_their_fraction_out() {
        let rtt_min = |rules, rtt_ms| {
            let mut westwood = Westwood::new(&config(rules, Config::ns2_2001()));
            let mut window = Window { cwnd: 10.0, ssthresh: 5.0, max_pkts: 100 };
            westwood.on_ack(&mut window, &ack(500, 1, Some(rtt_ms), Growth::Repairing));
            westwood.rtt_min
        };
        assert_eq!(rtt_min(WestwoodRules::Ns2In2001, 199), Some(Span::from_millis(100)));
        assert_eq!(
            rtt_min(WestwoodRules::Ns2In2001, 99),
            Some(Span::from_millis(100)),
            "no tick counts as one"
        );
        assert_eq!(rtt_min(WestwoodRules::Ns2, 199), Some(Span::from_millis(199)));
    }

    #[test]
    fn in_ns2_an_ack_reports_two_packets_at_most_and_filters_slower() {
        let estimate = |rules| {
            let mut westwood = Westwood::new(&config(rules, Config::rfc()));
            let mut window = Window { cwnd: 10.0, ssthresh: 5.0, max_pkts: 100 };
            for (ms, newly_acked_pkts) in [(0, 1), (100, 5)] {
                westwood.on_ack(&mut window, &ack(ms, newly_acked_pkts, None, Growth::Repairing));
            }
            westwood.bandwidth.estimate
        };
        // 50 packets/s and 2 tau/D = 10, or 20 packets/s and 20: 50/11 and 20/21.
        assert!((estimate(WestwoodRules::Published) - 50.0 / 11.0).abs() < 1e-9);
        assert!((estimate(WestwoodRules::Ns2) - 20.0 / 21.0).abs() < 1e-9);
    }
}
