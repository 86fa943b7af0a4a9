//! New Jersey: on router warnings the window follows the available bandwidth, and a loss without a
//! warning is wireless (Xu, Tian and Ansari, "TCP-Jersey for Wireless IP Communications", IEEE JSAC
//! 22(4), 2004, and "Improving TCP Performance in Integrated Wireless Communications Networks",
//! Computer Networks 47, 2005; as described by Koo, Mun and Choo 2007, sections 2.4 and 4.1).
//!
//! ```text
//! R_n  = (RTT R_(n-1) + L_n) / ((t_n - t_(n-1)) + RTT)      available bandwidth; the ACK at t_n reports L_n packets
//! ownd = RTT R_n, at least 2
//! ACK with a warning:   ssthresh = ownd;  cwnd = ownd (in slow start, only if cwnd was larger)
//! fast retransmit:      without a warning the loss is wireless: cwnd and ssthresh unchanged
//! timeout:              ssthresh = ownd,  cwnd = 1
//! ```
//!
//! RTT is TCP's smoothed one (gain 1/8). A warning is an ECN mark (RFC 3168), which a queue sets on
//! packets that find it at least three quarters full. An ACK with a warning never opens the window;
//! other growth is Reno's.
//!
//! What the papers leave open, or Koo does not say:
//!
//! - *A loss in a window that a warning has cut* costs nothing more, whether or not its duplicate
//!   ACKs carry a warning (RFC 3168, section 6.1.2).
//! - *A warning counts once per window of data*, as in RFC 3168, and is echoed until the sender has
//!   responded.
//! - *R starts* at zero with the first ACK. Packets reported by duplicate ACKs are counted once
//!   (`delivered.rs`).
//!
//! Deviations: New Jersey takes t_n from the receiver's timestamps, so that ACK delays do not
//! matter; here t_n is the ACK's arrival, as in TCP-Jersey, whose name for the estimator (ABE) Koo
//! uses.

use losscause::{Span, Time};

use super::delivered::Delivered;
use super::{AckEvent, CongestionControl, TimeoutEvent};
use crate::tcp::config::Config;
use crate::tcp::loss_event::{Answer, LossEvent};
use crate::tcp::window::Window;

#[derive(Clone, Debug, Default)]
pub(super) struct NewJersey {
    /// Packets per second.
    bandwidth: f64,
    last_at: Option<Time>,
    /// Smoothed round-trip time, seconds.
    rtt: Option<f64>,
    delivered: Delivered,
}

const RTT_GAIN: f64 = 0.125;

impl NewJersey {
    /// Nothing of it can be set.
    pub(super) fn new(_: &Config) -> Self {
        Self::default()
    }

    fn estimate(&mut self, now: Time, pkts: u64) {
        let last = self.last_at.replace(now);
        if let (Some(last), Some(rtt)) = (last, self.rtt) {
            self.bandwidth =
                (rtt * self.bandwidth + pkts as f64) / ((now - last).as_secs_f64() + rtt);
        }
    }

    /// ownd: the bandwidth-delay product, packets.
    fn path_pkts(&self) -> f64 {
        (self.bandwidth * self.rtt.unwrap_or(0.0)).max(2.0)
    }
}

impl CongestionControl for NewJersey {
    fn name(&self) -> &'static str {
        "New Jersey"
    }

    fn on_ack(&mut self, window: &mut Window, acked: &AckEvent) {
        if let Some(rtt) = acked.rtt.filter(|&rtt| rtt > Span::ZERO) {
            let rtt = rtt.as_secs_f64();
            self.rtt = Some(self.rtt.map_or(rtt, |mean| mean + RTT_GAIN * (rtt - mean)));
        }
        let pkts = self.delivered.on_ack(acked.newly_acked_pkts);
        self.estimate(acked.at, pkts);
        if acked.growth.is_due() {
            window.grow();
        }
    }

    fn on_dup_ack(&mut self, now: Time) {
        let pkts = self.delivered.on_dup_ack();
        self.estimate(now, pkts);
    }

    /// A mark is the router's warning of congestion.
    fn on_mark(&mut self, window: &mut Window, _: &LossEvent) -> Answer {
        let slow_start = window.in_slow_start();
        window.ssthresh = self.path_pkts();
        window.cwnd = if slow_start { window.cwnd.min(window.ssthresh) } else { window.ssthresh };
        Answer::Cut
    }

    /// Called only for losses whose window no warning has cut.
    fn on_loss(&mut self, _: &mut Window, _: &LossEvent) -> Answer {
        Answer::Kept
    }

    fn on_timeout(&mut self, window: &mut Window, _: &TimeoutEvent) {
        window.ssthresh = self.path_pkts();
        window.cwnd = 1.0;
        self.delivered.on_timeout();
    }
}

#[cfg(test)]
mod tests {
    use losscause::Verdict;

    use super::*;
    use crate::at;
    use crate::tcp::control::Growth;
    use crate::tcp::control::tests::{ack as ack_event, timeout};

    fn ack(jersey: &mut NewJersey, window: &mut Window, ms: i64, newly_acked_pkts: u64) {
        jersey.on_ack(window, &ack_event(ms, newly_acked_pkts, Some(100), Growth::Due));
    }

    #[test]
    fn the_estimate_follows_its_equation() {
        let mut jersey = NewJersey::default();
        let mut window = Window { cwnd: 10.0, ssthresh: 5.0, max_pkts: 100 };
        ack(&mut jersey, &mut window, 0, 1);
        assert_eq!(jersey.bandwidth, 0.0, "one ACK tells no rate");
        // (0.1 * 0 + 1) / (0.1 + 0.1), then (0.1 * 5 + 3) / (0.05 + 0.1).
        ack(&mut jersey, &mut window, 100, 1);
        assert!((jersey.bandwidth - 5.0).abs() < 1e-9);
        ack(&mut jersey, &mut window, 150, 3);
        assert!((jersey.bandwidth - 3.5 / 0.15).abs() < 1e-9);
        jersey.on_dup_ack(at(200));
        assert!((jersey.bandwidth - (0.35 / 0.15 + 1.0) / 0.15).abs() < 1e-9);
    }

    #[test]
    fn the_round_trip_time_is_smoothed_by_an_eighth() {
        let mut jersey = NewJersey::default();
        let mut window = Window { cwnd: 10.0, ssthresh: 5.0, max_pkts: 100 };
        ack(&mut jersey, &mut window, 0, 1);
        jersey.on_ack(&mut window, &ack_event(10, 1, Some(180), Growth::Due));
        assert!((jersey.rtt.unwrap() - 0.11).abs() < 1e-12);
    }

    #[test]
    fn a_warning_sets_the_window_to_what_the_path_carries() {
        let after = |cwnd, ssthresh| {
            let mut jersey = NewJersey { bandwidth: 80.0, rtt: Some(0.1), ..NewJersey::default() };
            let mut window = Window { cwnd, ssthresh, max_pkts: 100 };
            let mark = LossEvent {
                at: at(10),
                flight_pkts: 20,
                verdict: Verdict::Congestion,
                sending: None,
            };
            assert_eq!(jersey.on_mark(&mut window, &mark), Answer::Cut);
            (window.cwnd, window.ssthresh)
        };
        assert_eq!(after(20.0, 10.0), (8.0, 8.0));
        assert_eq!(after(6.0, 5.0), (8.0, 8.0), "more than it was, too");
        assert_eq!(after(20.0, 50.0), (8.0, 8.0));
        assert_eq!(after(6.0, 50.0), (6.0, 8.0), "in slow start it only falls");
    }

    #[test]
    fn an_unwarned_loss_leaves_the_window_whatever_an_lda_says() {
        for verdict in [Verdict::Congestion, Verdict::Undecided, Verdict::Wireless] {
            let mut jersey = NewJersey { bandwidth: 80.0, rtt: Some(0.1), ..NewJersey::default() };
            let mut window = Window { cwnd: 20.0, ssthresh: 10.0, max_pkts: 100 };
            let loss = LossEvent { at: at(10), flight_pkts: 20, verdict, sending: None };
            assert_eq!(jersey.on_loss(&mut window, &loss), Answer::Kept);
            assert_eq!((window.cwnd, window.ssthresh), (20.0, 10.0));
        }
    }

    #[test]
    fn a_timeout_remembers_what_the_path_carried() {
        let mut jersey = NewJersey { bandwidth: 80.0, rtt: Some(0.1), ..NewJersey::default() };
        let mut window = Window { cwnd: 20.0, ssthresh: 10.0, max_pkts: 100 };
        jersey.on_timeout(&mut window, &timeout(10, 20, false));
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 8.0));
        NewJersey::default().on_timeout(&mut window, &timeout(10, 20, false));
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 2.0), "at least 2");
    }
}
