//! cwnd in whole packets, and whether it is used (RFC 7661; net/ipv4/tcp_output.c,
//! `tcp_cwnd_validate`).
//!
//! ```text
//! used    cwnd stopped the sender in this round trip; in slow start also if more than half of it was outstanding
//! ```
//!
//! An unused window does not grow. It is halved for each retransmission timeout of an idle time, to
//! the initial window at least (net/ipv4/tcp_output.c, `tcp_cwnd_restart`).
//!
//! Deviations: a sender that its application holds back keeps its window while it is not idle (the
//! kernel's `tcp_cwnd_application_limited`).

use losscause::Span;

use crate::tcp::window::Window;

/// cwnd and ssthresh, and how much of cwnd is used.
#[derive(Clone, Debug)]
pub(super) struct Cwnd {
    /// What the congestion control sets.
    pub(super) window: Window,
    usage: Usage,
}

/// How much of cwnd was used in this round trip.
#[derive(Clone, Debug, Default)]
struct Usage {
    /// Whether cwnd stopped the sender.
    limited: bool,
    /// Most packets outstanding.
    most_pkts: u64,
    /// The round trip ends when this is acknowledged.
    end: u64,
}

/// ssthresh before the first loss.
pub(super) const UNLIMITED: u32 = i32::MAX as u32;

impl Cwnd {
    pub(super) fn new(pkts: u32, ssthresh: Option<u32>, max_pkts: u32) -> Self {
        let ssthresh = f64::from(ssthresh.unwrap_or(UNLIMITED));
        Self {
            window: Window { cwnd: f64::from(pkts), ssthresh, max_pkts },
            usage: Usage::default(),
        }
    }

    /// cwnd, whole packets.
    pub(super) fn pkts(&self) -> u32 {
        self.window.whole_pkts()
    }

    /// The sender sets cwnd, whatever the control left.
    pub(super) fn set(&mut self, pkts: u32) {
        self.window.cwnd = f64::from(pkts);
    }

    /// The sender has data again after it was `idle` for longer than `rto`.
    pub(super) fn restart(&mut self, initial_pkts: u32, idle: Span, rto: Span) {
        self.window.ssthresh = f64::from(self.current_ssthresh(false));
        let mut pkts = self.pkts();
        let least = initial_pkts.min(pkts);
        let mut left = idle - rto;
        while left > Span::ZERO && pkts > least {
            pkts /= 2;
            left -= rto;
        }
        self.set(pkts.max(least));
    }

    /// A cut is undone: cwnd and ssthresh are at least these again.
    pub(super) fn restore(&mut self, cwnd_pkts: f64, ssthresh_pkts: f64) {
        self.window.cwnd = self.window.cwnd.max(cwnd_pkts);
        self.window.ssthresh = self.window.ssthresh.max(ssthresh_pkts);
    }

    /// ssthresh to return to if a cut is undone: during a reduction itself, else at least 3/4 of
    /// cwnd.
    pub(super) fn current_ssthresh(&self, reducing: bool) -> u32 {
        let ssthresh = self.window.ssthresh as u32;
        if reducing { ssthresh } else { ssthresh.max(self.pkts() / 2 + self.pkts() / 4) }
    }

    /// The sender stopped sending with `outstanding` packets; `limited` if cwnd stopped it.
    pub(super) fn on_stop(&mut self, limited: bool, outstanding: u64, una: u64, next: u64) {
        let more = !self.usage.limited && outstanding > self.usage.most_pkts;
        if limited || more || una >= self.usage.end {
            self.usage = Usage { limited, most_pkts: outstanding, end: next };
        }
    }

    /// Whether the window is used, so that it may grow.
    pub(super) fn is_used(&self) -> bool {
        self.usage.limited
            || self.window.in_slow_start() && u64::from(self.pkts()) < 2 * self.usage.most_pkts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_used_if_it_stopped_the_sender_in_this_round_trip() {
        let mut cwnd = Cwnd::new(10, Some(5), 1_000);
        cwnd.on_stop(true, 10, 0, 10);
        cwnd.on_stop(false, 9, 1, 10);
        assert!(cwnd.is_used(), "earlier in the round trip");
        cwnd.on_stop(false, 9, 10, 19);
        assert!(!cwnd.is_used());
    }

    #[test]
    fn in_slow_start_more_than_half_of_the_window_is_enough() {
        let mut cwnd = Cwnd::new(10, None, 1_000);
        cwnd.on_stop(false, 5, 0, 5);
        assert!(!cwnd.is_used());
        cwnd.on_stop(false, 6, 0, 6);
        assert!(cwnd.is_used());
    }

    #[test]
    fn an_idle_window_is_halved_per_timeout_down_to_the_initial_one() {
        let ms = Span::from_millis;
        let after = |idle: Span| {
            let mut cwnd = Cwnd::new(100, Some(50), 1_000);
            cwnd.restart(10, idle, ms(200));
            (cwnd.pkts(), cwnd.window.ssthresh)
        };
        // ssthresh becomes 3/4 of the window: 100 / 2 + 100 / 4.
        assert_eq!(after(ms(201)), (50, 75.0));
        assert_eq!(after(ms(401)), (25, 75.0));
        assert_eq!(after(ms(801)), (10, 75.0), "6, but at least the initial window");
        let mut small = Cwnd::new(4, Some(50), 1_000);
        small.restart(10, ms(800), ms(200));
        assert_eq!(small.pkts(), 4, "it does not grow");
    }

    #[test]
    fn an_undone_cut_returns_to_at_least_three_quarters() {
        let cwnd = Cwnd::new(21, Some(12), 1_000);
        assert_eq!((cwnd.current_ssthresh(false), cwnd.current_ssthresh(true)), (15, 12));
    }
}
