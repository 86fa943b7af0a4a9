//! CUBIC as Linux has it (RFC 9438; net/ipv4/tcp_cubic.c).
//!
//! ```text
//! target = W_cubic(t + min_rtt),  per = cwnd/(target - cwnd), at least 2;  100 cwnd if target <= cwnd
//! W_est += 1 for every 15/8 cwnd packets delivered;  W_est > cwnd: per <= cwnd/(W_est - cwnd)
//! cwnd += 1 for every `per` packets delivered
//! loss:  W_max = cwnd, or (1 + beta)/2 cwnd if it was below W_max already;  ssthresh = beta cwnd, at least 2
//! ```
//!
//! W_cubic, C, beta and K are those of `response/cubic.rs`. Linux differs from RFC 9438:
//!
//! - It reads its clock in ticks, and computes `per` anew when cwnd has changed or 1/32 s has passed, once per tick.
//! - It looks ahead by the smallest round-trip time, not by SRTT; a loss cuts cwnd, not FlightSize.
//! - W_est starts at cwnd of the epoch and always grows by 8/15 of a packet per round trip: alpha = 9/17 = 0.529 is
//!   0.533 here, and never becomes 1.
//! - Before the first loss `per` is at most 20. A timeout forgets W_max.
//! - Round-trip times of the first second after a cut do not count as the smallest.
//!
//! Slow start is that of `cwnd.rs` with `hystart.rs`.
//!
//! Deviations: floating point, where Linux has integers scaled by 2^10; beta = 0.7, where it has 717/1024.

use losscause::{Span, Time};

use super::super::response::cubic::{BETA, C, cube_root, w_cubic};
use super::clock::Clock;
use super::cwnd::Cwnd;
use super::hystart::{HyStart, SlowStartAck};

#[derive(Clone, Debug)]
pub(super) struct Cubic {
    clock: Clock,
    hystart: HyStart,
    min_rtt: Option<Span>,
    /// 0 before the first loss and after a timeout.
    w_max: f64,
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
    k: f64,
    origin: f64,
    w_est: u32,
    /// Packets delivered towards the next packet of W_est.
    count: u32,
}

impl Cubic {
    pub(super) fn new(clock: Clock) -> Self {
        let (hystart, computed) = (HyStart::new(), (0, i64::MIN));
        Self { clock, hystart, min_rtt: None, w_max: 0.0, epoch: None, per: 1, computed }
    }

    /// ssthresh after a loss.
    pub(super) fn on_loss(&mut self, cwnd_pkts: u32) -> u32 {
        let cwnd = f64::from(cwnd_pkts);
        self.epoch = None;
        self.w_max = if cwnd < self.w_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        ((cwnd * BETA) as u32).max(2)
    }

    /// The retransmission timer expired.
    pub(super) fn on_timeout(&mut self) {
        *self = Self::new(self.clock);
    }

    /// Handles an ACK that measures a round-trip time, before the window grows.
    pub(super) fn on_rtt(&mut self, now: Time, rtt: Span, una: u64, next: u64, cwnd: &mut Cwnd) {
        let second = Span::from_secs(1).as_nanos() / self.clock.tick().as_nanos();
        if self.epoch.is_some_and(|epoch| self.clock.ticks(now) - epoch.began < second) {
            return;
        }
        let min_rtt = self.min_rtt.map_or(rtt, |min| min.min(rtt));
        self.min_rtt = Some(min_rtt);
        let ack = SlowStartAck { at: now, rtt, min_rtt, una, next, cwnd_pkts: cwnd.pkts };
        if cwnd.in_slow_start() && self.hystart.on_ack(&ack) {
            cwnd.ssthresh = cwnd.pkts;
        }
    }

    /// Packets to be delivered for one packet more, when `delivered` have been.
    pub(super) fn per(&mut self, now: Time, cwnd_pkts: u32, delivered: u32) -> u32 {
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
        let cwnd = f64::from(cwnd_pkts);
        let w_max = self.w_max;
        let epoch = *self.epoch.get_or_insert_with(|| {
            let k = if w_max > cwnd { cube_root((w_max - cwnd) / C) } else { 0.0 };
            Epoch { began: tick, k, origin: w_max.max(cwnd), w_est: cwnd_pkts, count: delivered }
        });
        let t = (self.clock.tick() * (tick - epoch.began)).as_secs_f64();
        let ahead = self.min_rtt.unwrap_or(Span::ZERO).as_secs_f64();
        let target = w_cubic(t + ahead, epoch.k, epoch.origin) as u32;
        self.per = if target > cwnd_pkts { cwnd_pkts / (target - cwnd_pkts) } else { cwnd_pkts.saturating_mul(100) };
        if self.w_max == 0.0 {
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

    fn at(ms: i64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn cubic() -> Cubic {
        Cubic::new(Clock::new(Span::from_millis(4), Span::ZERO))
    }

    #[test]
    fn a_loss_cuts_to_seven_tenths_and_a_second_one_gives_way_to_others() {
        let mut cubic = cubic();
        assert_eq!((cubic.on_loss(100), cubic.w_max), (70, 100.0));
        assert_eq!(cubic.on_loss(80), 56);
        assert!((cubic.w_max - 68.0).abs() < 1e-9);
        assert_eq!(cubic.on_loss(2), 2);
    }

    #[test]
    fn the_window_aims_where_the_cubic_is_a_round_trip_later() {
        let mut cubic = cubic();
        cubic.on_loss(100);
        // K = cbrt(30/0.4) = 4.217 s.
        assert_eq!(cubic.per(at(0), 70, 2), 7_000, "W_cubic(0) = 70");
        // W_cubic(1 s) = 0.4 (1 - 4.217)^3 + 100 = 86.68: 70/16.
        assert_eq!(cubic.per(at(1_000), 70, 2), 4);
    }

    #[test]
    fn the_step_is_kept_for_a_thirty_second_of_a_second() {
        let mut cubic = cubic();
        cubic.on_loss(100);
        cubic.per(at(0), 70, 2);
        cubic.per(at(1_000), 70, 2);
        assert_eq!(cubic.per(at(1_028), 70, 2), 4, "7 ticks later");
        // W_cubic(1.4 s) = 0.4 (1.4 - 4.217)^3 + 100 = 91.06: 70/21.
        assert_eq!(cubic.per(at(1_400), 70, 2), 3);
    }

    #[test]
    fn a_small_window_grows_as_renos_would() {
        let mut cubic = cubic();
        cubic.on_loss(12);
        // cwnd 8, W_max 12: K = 2.15 s. W_est gains one for each 15 packets delivered after the first.
        cubic.per(at(0), 8, 1);
        assert_eq!(cubic.per(at(40), 8, 14), 800, "15 are not more than 15");
        assert_eq!(cubic.per(at(80), 8, 1), 8, "W_est = 9");
    }

    #[test]
    fn before_the_first_loss_the_window_grows_by_a_twentieth_at_least() {
        let mut cubic = cubic();
        assert_eq!(cubic.per(at(0), 50, 1), 20);
        cubic.on_loss(50);
        cubic.on_timeout();
        assert_eq!(cubic.per(at(9), 50, 1), 20);
    }

    #[test]
    fn hystart_sets_the_threshold_to_the_window_it_finds() {
        let (mut cubic, mut cwnd) = (cubic(), Cwnd::new(30, None));
        cubic.on_rtt(at(0), Span::from_millis(40), 1, 30, &mut cwnd);
        for i in 0..9 {
            cubic.on_rtt(at(50 + 3 * i), Span::from_millis(60), 31, 60, &mut cwnd);
        }
        assert_eq!(cwnd.ssthresh, 30);
    }
}
