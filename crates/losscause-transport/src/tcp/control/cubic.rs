//! CUBIC (RFC 9438): the window is a cubic function of the time since the last cut.
//!
//! ```text
//! K = cbrt((W_max - cwnd_epoch)/C),  W_cubic(t) = C (t - K)^3 + W_max                       (equations 1, 2)
//! W_est += alpha pkts/cwnd,  alpha = 3 (1 - beta)/(1 + beta), 1 from cwnd_prior on          (equation 4, section 4.3)
//! ACK of new data:   W_cubic(t) < W_est: cwnd = W_est, else cwnd += (target - cwnd)/cwnd,
//!                    target = W_cubic(t + SRTT) within cwnd .. 1.5 cwnd                     (sections 4.2 to 4.5)
//! loss:              ssthresh = beta FlightSize, at least 2;  cwnd = ssthresh, 1 after a timeout   (sections 4.6, 4.8)
//!                    W_max = cwnd, or (1 + beta)/2 cwnd if it was below W_max already       (section 4.7)
//! ```
//!
//! C = 0.4, beta = 0.7, windows in packets, times in seconds. K is negative if an epoch begins
//! above W_max, so W_cubic(0) is always the window at which the epoch begins. While the receiver's
//! window or the end of the data limits the sender, t stops and the window does not grow (sections
//! 4.2, 5.8). FlightSize is at most cwnd (`window.rs`). Slow start is Reno's. A loss judged
//! wireless leaves the window unchanged.
//!
//! Not implemented:
//!
//! - *HyStart++* (RFC 9406; "SHOULD" in section 4.10): slow start ends with a loss or at ssthresh,
//!   as in every other TCP here, so they differ only in the response. As section 4.6 says, losses
//!   may then continue for more than a round trip.
//! - *Undoing a cut after a spurious loss* (section 4.9, "MAY"): links here never reorder packets.
//! - *A window below 2 after an echoed mark* (section 4.6): a mark leaves at least 2, like a loss.
//! - *Proportional rate reduction* (RFC 6937; "can be used", section 4.6): pipe limits recovery
//!   (RFC 6675).
//! - *Lowering cwnd to W_est*: cwnd may exceed W_est, because the target lies one round trip ahead.
//!
//! No other deviations.

use losscause::{Span, Time};

use super::{AckEvent, CongestionControl, Growth, TimeoutEvent};
use crate::tcp::config::Config;
use crate::tcp::loss_event::{Answer, LossEvent};
use crate::tcp::window::Window;

#[derive(Clone, Debug, Default)]
pub(super) struct Cubic {
    w_max: f64,
    /// The window before the last cut.
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    /// Whether the next epoch starts at its own W_max, with K = 0.
    afresh: bool,
    srtt: Span,
    last_ack: Option<Time>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// When it began, shifted by the time during which the window was not used.
    began: Time,
    k: f64,
    w_est: f64,
}

const C: f64 = 0.4;
const BETA: f64 = 0.7;

impl Cubic {
    /// Nothing of it can be set.
    pub(super) fn new(_: &Config) -> Self {
        Self { afresh: true, ..Self::default() }
    }

    fn avoid_congestion(&mut self, window: &mut Window, now: Time, acked_pkts: u64) {
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin(now, window.cwnd),
        };
        let alpha =
            if epoch.w_est < self.cwnd_prior { 3.0 * (1.0 - BETA) / (1.0 + BETA) } else { 1.0 };
        let w_est = epoch.w_est + alpha * acked_pkts as f64 / window.cwnd;
        self.epoch = Some(Epoch { w_est, ..epoch });
        let t = (now - epoch.began).as_secs_f64();
        if w_cubic(t, epoch.k, self.w_max) < w_est {
            window.cwnd = window.cwnd.max(w_est);
        } else {
            let target = w_cubic(t + self.srtt.as_secs_f64(), epoch.k, self.w_max);
            let target = target.clamp(window.cwnd, 1.5 * window.cwnd);
            window.cwnd += (target - window.cwnd) / window.cwnd;
        }
    }

    fn begin(&mut self, now: Time, cwnd: f64) -> Epoch {
        if self.afresh {
            self.w_max = cwnd;
        }
        Epoch { began: now, k: cube_root((self.w_max - cwnd) / C), w_est: cwnd }
    }

    fn cut(&mut self, window: &mut Window, flight_pkts: u64) {
        let cwnd = window.usable();
        self.w_max = if cwnd < self.w_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        self.cwnd_prior = cwnd;
        self.epoch = None;
        window.ssthresh = (window.in_network(flight_pkts) as f64 * BETA).max(2.0);
    }
}

impl CongestionControl for Cubic {
    fn name(&self) -> &'static str {
        "CUBIC"
    }

    fn on_ack(&mut self, window: &mut Window, acked: &AckEvent) {
        let before = self.last_ack.replace(acked.at).unwrap_or(acked.at);
        self.srtt = acked.srtt.unwrap_or(self.srtt);
        match acked.growth {
            Growth::Due if window.in_slow_start() => window.grow(),
            Growth::Due => self.avoid_congestion(window, acked.at, acked.newly_acked_pkts),
            Growth::Repairing => {}
            Growth::Unused => {
                if let Some(epoch) = &mut self.epoch {
                    epoch.began += acked.at - before;
                }
            }
        }
    }

    fn on_loss(&mut self, window: &mut Window, loss: &LossEvent) -> Answer {
        if loss.verdict.is_wireless() {
            return Answer::Kept;
        }
        self.cut(window, loss.flight_pkts);
        self.afresh = false;
        window.cwnd = window.ssthresh;
        Answer::Cut
    }

    fn on_timeout(&mut self, window: &mut Window, timeout: &TimeoutEvent) {
        if !timeout.again {
            self.cut(window, timeout.flight_pkts);
        }
        self.epoch = None;
        self.afresh = true;
        window.cwnd = 1.0;
    }
}

fn w_cubic(t: f64, k: f64, w_max: f64) -> f64 {
    C * (t - k) * (t - k) * (t - k) + w_max
}

/// Cube root by Newton's method; uses only operations that round alike on every machine.
pub(crate) fn cube_root(x: f64) -> f64 {
    if x == 0.0 {
        return 0.0;
    }
    if x < 0.0 {
        return -cube_root(-x);
    }
    let mut root = x.sqrt().max(1.0);
    for _ in 0..64 {
        let next = (2.0 * root + x / (root * root)) / 3.0;
        if (next - root).abs() <= root * 1e-15 {
            break;
        }
        root = next;
    }
    root
}

#[cfg(test)]
mod tests {
    use losscause::Verdict;

    use super::*;
    use crate::at;
    use crate::tcp::control::tests::{ack as ack_event, timeout};

    fn cut_at(cwnd: f64) -> (Cubic, Window) {
        let mut cubic = Cubic::new(&Config::rfc());
        let mut window = Window { cwnd, ssthresh: 50.0, max_pkts: 1_000_000 };
        let loss = LossEvent {
            at: at(0),
            flight_pkts: cwnd as u64,
            verdict: Verdict::Congestion,
            sending: None,
        };
        assert_eq!(cubic.on_loss(&mut window, &loss), Answer::Cut);
        (cubic, window)
    }

    fn ack(cubic: &mut Cubic, window: &mut Window, ms: i64, srtt_ms: i64, growth: Growth) {
        // Deliberately far from `srtt`: CUBIC must not use this ACK's own round-trip time.
        let acked = ack_event(ms, 1, Some(9_000), growth);
        cubic.on_ack(window, &AckEvent { srtt: Some(Span::from_millis(srtt_ms)), ..acked });
    }

    #[test]
    fn cube_roots_are_right() {
        for x in [0.0, 1e-9, 0.5, 1.0, 75.0, 1e12, -75.0_f64] {
            let root = cube_root(x);
            assert!((root * root * root - x).abs() <= x.abs() * 1e-14, "{x}: {root}");
        }
    }

    #[test]
    fn the_window_is_back_at_w_max_after_k_seconds() {
        // 100 cut to 70: K = cbrt(30/0.4) = 4.217 s; W(0) = 70, W(K) = 100, W(2K) = 130.
        let (mut cubic, window) = cut_at(100.0);
        assert_eq!((window.cwnd, window.ssthresh), (70.0, 70.0));
        let epoch = cubic.begin(at(0), 70.0);
        assert!((epoch.k - 4.217_163).abs() < 1e-6);
        for (t, expected) in [(0.0, 70.0), (1.0, 86.681), (epoch.k, 100.0), (2.0 * epoch.k, 130.0)]
        {
            assert!((w_cubic(t, epoch.k, 100.0) - expected).abs() < 1e-3, "{t}");
        }
    }

    #[test]
    fn an_ack_moves_the_window_to_its_place_a_round_trip_later() {
        let (mut cubic, mut window) = cut_at(100.0);
        ack(&mut cubic, &mut window, 0, 1_000, Growth::Due);
        // W(0) = 70 is below W_est = 70 + 0.529/70: Reno's.
        assert!((window.cwnd - (70.0 + 9.0 / 17.0 / 70.0)).abs() < 1e-9);
        let before = window.cwnd;
        ack(&mut cubic, &mut window, 1_000, 1_000, Growth::Due);
        // W(2 s) = 0.4 (2 - 4.217)^3 + 100 = 95.641.
        assert!((window.cwnd - (before + (95.641 - before) / before)).abs() < 1e-4);
        let before = window.cwnd;
        ack(&mut cubic, &mut window, 60_000, 1_000, Growth::Due);
        assert!((window.cwnd - before - 0.5).abs() < 1e-9, "at most 1.5 cwnd is aimed at");
    }

    #[test]
    fn an_epoch_that_begins_above_w_max_begins_at_its_own_window() {
        // K = cbrt((70 - 100)/0.4) = -4.217 s: W(0) = 100 and W(1 s) = 0.4 5.217^3 + 70 = 126.8.
        let (mut cubic, _) = cut_at(70.0);
        let epoch = cubic.begin(at(0), 100.0);
        assert!((epoch.k + 4.217_163).abs() < 1e-6);
        for (t, expected) in [(0.0, 100.0), (1.0, 126.802)] {
            assert!((w_cubic(t, epoch.k, 70.0) - expected).abs() < 1e-3, "{t}");
        }
    }

    #[test]
    fn an_unused_window_does_not_grow_and_its_time_does_not_count() {
        let after = |growth| {
            let (mut cubic, mut window) = cut_at(100.0);
            ack(&mut cubic, &mut window, 0, 100, Growth::Due);
            let before = window.cwnd;
            for second in 1..=60 {
                ack(&mut cubic, &mut window, 1_000 * second, 100, growth);
            }
            assert!(growth == Growth::Due || window.cwnd == before);
            let began = cubic.epoch.unwrap().began;
            ack(&mut cubic, &mut window, 60_100, 100, Growth::Due);
            (began, window.cwnd - before)
        };
        let (began, grown) = after(Growth::Unused);
        assert_eq!(began, at(60_000));
        // W(0.2 s) = 0.4 (0.2 - 4.217)^3 + 100 = 74.1 is aimed at from 70.008.
        assert!((grown - 4.06 / 70.0).abs() < 0.01, "{grown}");
        assert_eq!(after(Growth::Repairing).0, at(0), "a wireless loss does not stop the clock");
    }

    #[test]
    fn what_lies_above_a_stalled_cumulative_ack_does_not_count() {
        let (mut cubic, mut window) = cut_at(100.0);
        let loss =
            LossEvent { at: at(0), flight_pkts: 900, verdict: Verdict::Congestion, sending: None };
        cubic.on_loss(&mut window, &loss);
        assert_eq!(window.ssthresh, 49.0, "of a window of 70");
    }

    #[test]
    fn a_second_loss_below_w_max_gives_way_to_others() {
        let (mut cubic, mut window) = cut_at(100.0);
        window.cwnd = 80.0;
        let loss =
            LossEvent { at: at(0), flight_pkts: 80, verdict: Verdict::Congestion, sending: None };
        cubic.on_loss(&mut window, &loss);
        assert!((cubic.w_max - 68.0).abs() < 1e-9);
        window.cwnd = 90.0;
        cubic.on_loss(&mut window, &LossEvent { flight_pkts: 90, ..loss });
        assert_eq!(cubic.w_max, 90.0);
    }

    #[test]
    fn after_a_timeout_the_cubic_starts_from_the_window_of_then() {
        let (mut cubic, mut window) = cut_at(100.0);
        cubic.on_timeout(&mut window, &timeout(0, 70, false));
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 49.0));
        window.cwnd = 49.0;
        ack(&mut cubic, &mut window, 100, 100, Growth::Due);
        assert_eq!((cubic.w_max, cubic.epoch.unwrap().k), (49.0, 0.0));
    }

    #[test]
    fn a_wireless_loss_changes_nothing() {
        let (mut cubic, mut window) = cut_at(100.0);
        let loss =
            LossEvent { at: at(0), flight_pkts: 80, verdict: Verdict::Wireless, sending: None };
        assert_eq!(cubic.on_loss(&mut window, &loss), Answer::Kept);
        assert_eq!((window.cwnd, cubic.w_max), (70.0, 100.0));
    }
}
