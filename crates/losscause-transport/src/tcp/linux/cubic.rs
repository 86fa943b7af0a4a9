//! CUBIC as Linux has it (RFC 9438; net/ipv4/tcp_cubic.c).
//!
//! ```text
//! target = W_cubic(t + min_rtt),  per = cwnd/(target - cwnd), at least 2;  100 cwnd if target <= cwnd
//! W_est += 1 for every 15/8 cwnd packets delivered;  W_est > cwnd: per <= cwnd/(W_est - cwnd)
//! cwnd += 1 for every `per` packets delivered
//! loss:  W_max = cwnd, or (1 + beta)/2 cwnd if it was below W_max already;  ssthresh = beta cwnd, at least 2
//! ```
//!
//! W_cubic and K are those of `control/cubic.rs`, with its cube root; beta = 717/1024. Linux
//! differs from RFC 9438:
//!
//! - Windows are whole packets, times of the cubic whole 1/1024 s, and C is 410/1024. K is rounded
//!   down, and W_cubic towards W_max.
//! - It reads its clock in ticks, and computes `per` anew when cwnd has changed or 1/32 s has
//!   passed, once per tick.
//! - It looks ahead by the smallest round-trip time, not by SRTT; a loss cuts cwnd, not FlightSize.
//! - W_est starts at cwnd of the epoch and always grows by 8/15 of a packet per round trip: alpha =
//!   9/17 = 0.529 is 0.533 here, and never becomes 1.
//! - Before the first loss `per` is at most 20. A timeout forgets W_max.
//! - Round-trip times of the first second after a cut do not count as the smallest.
//!
//! Slow start is that of `steps.rs` with `hystart.rs`.
//!
//! Deviations: the cube root is exact; Linux's is off by 0.2 % on average.

use losscause::safeguard::Watch;
use losscause::{Span, Time};

use super::clock::Clock;
use super::hystart::{HyStart, SlowStartAck};
use super::steps::Steps;
use crate::tcp::control::cubic::cube_root;
use crate::tcp::control::{AckEvent, CongestionControl, RttSample, TimeoutEvent};
use crate::tcp::loss_event::{Answer, LossEvent};
use crate::tcp::window::Window;

#[derive(Clone, Debug)]
pub(super) struct Cubic {
    steps: Steps,
    curve: Curve,
}

/// The cubic, and what ends slow start.
#[derive(Clone, Debug)]
struct Curve {
    clock: Clock,
    hystart: HyStart,
    min_rtt: Option<Span>,
    /// 0 before the first loss and after a timeout.
    w_max: u32,
    epoch: Option<Epoch>,
    /// Packets delivered for one packet more.
    per: u32,
    /// cwnd and tick when `per` was computed.
    computed: (u32, i64),
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// The tick at which it began.
    began: i64,
    /// 1/1024 s.
    k: i64,
    origin: u32,
    w_est: u32,
    /// Packets delivered towards the next packet of W_est.
    count: u32,
}

/// C, 1/1024.
const C_1024: i128 = 410;

/// Longest time that the cubic is followed for, 1/1024 s: eight years. Longer ones come from forged
/// echoes.
const LONGEST: i128 = 1 << 38;

/// beta, and its denominator.
const BETA: (u64, u64) = (Watch::CUBIC as u64, 1_024);

impl Cubic {
    /// `paced` if the sender is.
    pub(super) fn new(clock: Clock, paced: bool) -> Self {
        Self { steps: Steps::default(), curve: Curve::new(clock, paced) }
    }

    fn cut(&mut self, window: &mut Window) {
        window.ssthresh = f64::from(self.curve.on_loss(window.whole_pkts()));
    }
}

impl CongestionControl for Cubic {
    fn name(&self) -> &'static str {
        "CUBIC"
    }

    fn kept_1024(&self) -> Option<u32> {
        Some(Watch::CUBIC)
    }

    fn on_rtt(&mut self, window: &mut Window, sample: &RttSample) {
        self.curve.on_rtt(window, sample);
    }

    fn on_ack(&mut self, window: &mut Window, acked: &AckEvent) {
        let Self { steps, curve } = self;
        steps.grow(window, acked, |cwnd_pkts, delivered| curve.per(acked.at, cwnd_pkts, delivered));
    }

    fn on_loss(&mut self, window: &mut Window, loss: &LossEvent) -> Answer {
        self.steps.restart();
        if loss.verdict.is_wireless() {
            return Answer::Kept;
        }
        self.cut(window);
        window.cwnd = window.ssthresh;
        Answer::Cut
    }

    fn on_timeout(&mut self, window: &mut Window, timeout: &TimeoutEvent) {
        if !timeout.again {
            self.cut(window);
        }
        *self = Self::new(self.curve.clock, self.curve.hystart.is_paced());
        window.cwnd = 1.0;
    }

    fn on_idle(&mut self, idle: Span) {
        // net/ipv4/tcp_cubic.c, cubictcp_cwnd_event: the curve does not rise while nothing is sent.
        if let Some(epoch) = &mut self.curve.epoch {
            epoch.began += idle.as_nanos() / self.curve.clock.tick().as_nanos();
        }
    }
}

impl Curve {
    fn new(clock: Clock, paced: bool) -> Self {
        let hystart = HyStart::new(paced);
        let computed = (0, i64::MIN);
        Self { clock, hystart, min_rtt: None, w_max: 0, epoch: None, per: 1, computed }
    }

    /// ssthresh after a loss.
    fn on_loss(&mut self, cwnd_pkts: u32) -> u32 {
        let (beta, one) = BETA;
        let share =
            |numerator, denominator| (u64::from(cwnd_pkts) * numerator / denominator) as u32;
        self.epoch = None;
        self.w_max = if cwnd_pkts < self.w_max { share(one + beta, 2 * one) } else { cwnd_pkts };
        share(beta, one).max(2)
    }

    fn on_rtt(&mut self, window: &mut Window, sample: &RttSample) {
        let &RttSample { at: now, rtt, una, next } = sample;
        let second = Span::from_secs(1).as_nanos() / self.clock.tick().as_nanos();
        if self.epoch.is_some_and(|epoch| self.clock.ticks(now) - epoch.began < second) {
            return;
        }
        let min_rtt = self.min_rtt.map_or(rtt, |min| min.min(rtt));
        self.min_rtt = Some(min_rtt);
        let ack = SlowStartAck { at: now, rtt, min_rtt, una, next, cwnd_pkts: window.whole_pkts() };
        if window.in_slow_start() && self.hystart.on_ack(&ack) {
            window.ssthresh = f64::from(window.whole_pkts());
        }
    }

    /// Packets to be delivered for one packet more, when `delivered` have been.
    fn per(&mut self, now: Time, cwnd_pkts: u32, delivered: u32) -> u32 {
        let tick = self.clock.ticks(now);
        if let Some(epoch) = &mut self.epoch {
            epoch.count = epoch.count.saturating_add(delivered);
        }
        let (cwnd, computed) = self.computed;
        let thirty_second = Span::from_secs(1).as_nanos() / self.clock.tick().as_nanos() / 32;
        if self.epoch.is_some() && cwnd == cwnd_pkts && tick - computed <= thirty_second {
            return self.per;
        }
        if self.epoch.is_none() || tick != computed {
            self.computed = (cwnd_pkts, tick);
            self.follow_cubic(tick, cwnd_pkts, delivered);
        }
        self.follow_estimate(cwnd_pkts);
        self.per = self.per.max(2);
        self.per
    }

    fn follow_cubic(&mut self, tick: i64, cwnd_pkts: u32, delivered: u32) {
        let w_max = self.w_max;
        let epoch = *self.epoch.get_or_insert_with(|| {
            let k =
                (cube_root(f64::from(w_max.saturating_sub(cwnd_pkts)) * 1_024.0 / C_1024 as f64)
                    * 1_024.0) as i64;
            Epoch {
                began: tick,
                k,
                origin: w_max.max(cwnd_pkts),
                w_est: cwnd_pkts,
                count: delivered,
            }
        });
        let ahead = self.min_rtt.map_or(0, |rtt| self.clock.waits(rtt));
        let t = i128::from((self.clock.tick() * (tick - epoch.began + ahead)).as_nanos()) * 1_024
            / 1_000_000_000;
        let offset = (t - i128::from(epoch.k)).min(LONGEST);
        // C offset^3, with C in 1/1024 and the offset in 1/1024 s.
        let distance = u32::try_from((C_1024 * offset.pow(3).abs()) >> 40).unwrap_or(u32::MAX);
        let target = if offset < 0 {
            epoch.origin.saturating_sub(distance)
        } else {
            epoch.origin.saturating_add(distance)
        };
        self.per = if target > cwnd_pkts {
            cwnd_pkts / (target - cwnd_pkts)
        } else {
            cwnd_pkts.saturating_mul(100)
        };
        if self.w_max == 0 {
            self.per = self.per.min(20);
        }
    }

    /// The window that Reno would have.
    fn follow_estimate(&mut self, cwnd_pkts: u32) {
        let Some(epoch) = &mut self.epoch else { return };
        let step = (u64::from(cwnd_pkts) * 15 / 8) as u32;
        while step > 0 && epoch.count > step {
            epoch.count -= step;
            epoch.w_est += 1;
        }
        if epoch.w_est > cwnd_pkts {
            self.per = self.per.min(cwnd_pkts / (epoch.w_est - cwnd_pkts));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;
    use crate::tcp::control::tests::timeout;

    fn cubic() -> Curve {
        Curve::new(Clock::new(Span::from_millis(4), Span::ZERO), false)
    }

    #[test]
    fn a_loss_cuts_to_seven_tenths_and_a_second_yields_to_others() {
        let mut cubic = cubic();
        assert_eq!((cubic.on_loss(100), cubic.w_max), (70, 100));
        // 80 * 717/1024 = 56.02, 80 * 1741/2048 = 68.01.
        assert_eq!((cubic.on_loss(80), cubic.w_max), (56, 68));
        assert_eq!(cubic.on_loss(2), 2);
    }

    #[test]
    fn the_window_aims_where_the_cubic_is_a_round_trip_later() {
        let mut cubic = cubic();
        cubic.on_loss(100);
        // K = cbrt(30/0.4004) = 4.215 s.
        assert_eq!(cubic.per(at(0), 70, 2), 70, "W_cubic(0) = 70, rounded up to 71");
        // W_cubic(1 s) = 100 - 0.4004 3.215^3 = 100 - 13.3, rounded up to 87: 70/17.
        assert_eq!(cubic.per(at(1_000), 70, 2), 4);
    }

    #[test]
    fn the_step_is_kept_for_a_thirty_second_of_a_second() {
        let mut cubic = cubic();
        cubic.on_loss(100);
        cubic.per(at(0), 70, 2);
        cubic.per(at(1_000), 70, 2);
        assert_eq!(cubic.per(at(1_028), 70, 2), 4, "7 ticks later");
        // W_cubic(1.4 s) = 100 - 0.4004 2.815^3 = 100 - 8.9, rounded up to 92: 70/22.
        assert_eq!(cubic.per(at(1_400), 70, 2), 3);
    }

    #[test]
    fn a_small_window_grows_as_renos_would() {
        let mut cubic = cubic();
        cubic.on_loss(30);
        // W_max 30: K = 2.822 s. W_cubic(0) = 21, rounded up to 22: one packet for 21.
        assert_eq!(cubic.per(at(0), 21, 1), 21);
        // W_est gains one for each 21 * 15/8 = 39 packets, 79 being more than twice that: 21/2.
        assert_eq!(cubic.per(at(40), 21, 77), 21, "78 are not");
        assert_eq!(cubic.per(at(80), 21, 1), 10);
    }

    #[test]
    fn before_a_loss_the_window_grows_by_at_least_a_twentieth() {
        let mut cubic = cubic();
        assert_eq!(cubic.per(at(0), 50, 1), 20);
        let mut control = Cubic {
            curve: cubic,
            ..Cubic::new(Clock::new(Span::from_millis(4), Span::ZERO), false)
        };
        let mut window = Window { cwnd: 50.0, ssthresh: 50.0, max_pkts: 1_000 };
        control.on_timeout(&mut window, &timeout(5, 50, false));
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 35.0));
        assert_eq!(control.curve.per(at(9), 50, 1), 20);
    }

    #[test]
    fn hystart_sets_the_threshold_to_the_window_it_finds() {
        let mut window = Window { cwnd: 30.0, ssthresh: 1e9, max_pkts: 1_000 };
        let mut cubic = Cubic::new(Clock::new(Span::from_millis(4), Span::ZERO), false);
        let sample = |ms, rtt_ms, una, next| RttSample {
            at: at(ms),
            rtt: Span::from_millis(rtt_ms),
            una,
            next,
        };
        cubic.on_rtt(&mut window, &sample(0, 40, 1, 30));
        for i in 0..9 {
            cubic.on_rtt(&mut window, &sample(50 + 3 * i, 60, 31, 60));
        }
        assert_eq!(window.ssthresh, 30.0);
    }
}
