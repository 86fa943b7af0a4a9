//! Additive increase, multiplicative decrease (RFC 5681, sections 3.1 and 3.2).
//!
//! ```text
//! ACK of new data:   cwnd += 1 below ssthresh, else increase/cwnd     (equations 2, 3; increase = 1)
//! fast retransmit:   ssthresh = max(FlightSize/2, 2), cwnd = ssthresh (equation 4)
//! timeout:           the same ssthresh, cwnd = 1
//! ```
//!
//! A loss judged wireless leaves the window unchanged.
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `increase` ([`Config::additive_increase_pkts`]) | packets per round trip | 1 | above 0 |
//!
//! Barman & Matta (2002, section 6.2) use an increase below 1: a flow that keeps its window on some
//! losses can stay as aggressive as one that halves it on all of them, by growing more slowly. It
//! is TCP-friendly if increase = 3 beta / (2 - beta), where beta is the average fraction of the
//! window lost per loss (Jin et al. 2001).
//!
//! With [`Halving::FlightSize`] a window counts only as far as it is used. A loss halves what may
//! still be in the network: FlightSize, but at most cwnd, because a stalled cumulative ACK leaves
//! packets in FlightSize that arrived long ago. The window does not grow while the receiver's
//! window or the end of the data limits the sender (RFC 9438, section 5.8; RFC 7661 for Reno).
//!
//! Deviations: none with [`Halving::FlightSize`]; the other two are ns-2's.

use super::{AckEvent, CongestionControl, TimeoutEvent};
use crate::tcp::config::Config;
use crate::tcp::loss_event::{Answer, LossEvent};
use crate::tcp::quirks::Halving;
use crate::tcp::window::Window;

#[derive(Clone, Debug)]
pub(super) struct Aimd {
    halving: Halving,
    increase_pkts: f64,
}

impl Aimd {
    pub(super) fn new(config: &Config) -> Self {
        Self { halving: config.quirks.halving, increase_pkts: config.additive_increase_pkts }
    }
}

impl CongestionControl for Aimd {
    fn name(&self) -> &'static str {
        "AIMD"
    }

    fn on_ack(&mut self, window: &mut Window, acked: &AckEvent) {
        if acked.growth.is_due() {
            window.grow_by(self.increase_pkts);
        }
    }

    fn on_loss(&mut self, window: &mut Window, loss: &LossEvent) -> Answer {
        if loss.verdict.is_wireless() {
            return Answer::Kept;
        }
        let half = self.halving.half(window, loss.flight_pkts);
        window.ssthresh = self.halving.threshold(half);
        window.cwnd = match self.halving {
            Halving::FlightSize => window.ssthresh,
            Halving::Window | Halving::WholeWindow => half.max(1.0),
        };
        Answer::Cut
    }

    fn on_timeout(&mut self, window: &mut Window, timeout: &TimeoutEvent) {
        self.halving.on_timeout(window, timeout);
    }
}

impl Halving {
    /// ssthresh becomes half of what was in flight (or of the window), and cwnd becomes 1.
    pub(super) fn on_timeout(self, window: &mut Window, timeout: &TimeoutEvent) {
        let held = timeout.again && self == Halving::FlightSize;
        if !held {
            window.ssthresh = self.threshold(self.half(window, timeout.flight_pkts));
        }
        window.cwnd = 1.0;
    }

    fn half(self, window: &Window, flight_pkts: u64) -> f64 {
        match self {
            Halving::FlightSize => window.in_network(flight_pkts) as f64 / 2.0,
            Halving::Window => window.usable() / 2.0,
            Halving::WholeWindow => (window.usable().floor() / 2.0).floor(),
        }
    }

    fn threshold(self, half: f64) -> f64 {
        match self {
            Halving::FlightSize => half.max(2.0),
            Halving::Window | Halving::WholeWindow => half.floor().max(2.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use losscause::{Time, Verdict};

    use super::*;
    use crate::tcp::control::Growth;
    use crate::tcp::control::tests::{ack, timeout};
    use crate::tcp::quirks::Quirks;

    fn aimd(halving: Halving, cwnd: f64) -> (Aimd, Window) {
        let quirks = Quirks { halving, ..Quirks::RFC };
        let config = Config { quirks, max_window_pkts: 20, ..Config::rfc() };
        (Aimd::new(&config), Window { cwnd, ..Window::new(&config) })
    }

    fn after_fast_retransmit(
        halving: Halving,
        cwnd: f64,
        flight_pkts: u64,
        verdict: Verdict,
    ) -> (f64, f64) {
        let (mut aimd, mut window) = aimd(halving, cwnd);
        aimd.on_loss(
            &mut window,
            &LossEvent { at: Time::ZERO, flight_pkts, verdict, sending: None },
        );
        (window.cwnd, window.ssthresh)
    }

    #[test]
    fn a_fast_retransmit_halves_what_each_rule_says() {
        let after = |halving, cwnd, flight| {
            after_fast_retransmit(halving, cwnd, flight, Verdict::Congestion)
        };
        assert_eq!(after(Halving::FlightSize, 9.7, 9), (4.5, 4.5));
        assert_eq!(after(Halving::Window, 9.5, 9), (4.75, 4.0));
        assert_eq!(after(Halving::WholeWindow, 9.5, 9), (4.0, 4.0));
        // The receiver's window of 20 packets counts, not cwnd.
        assert_eq!(after(Halving::FlightSize, 50.0, 20), (10.0, 10.0));
        assert_eq!(after(Halving::Window, 50.0, 20), (10.0, 10.0));
        // Limited transmit sent two packets beyond the window; then 600 packets were sent above an
        // unrepaired hole.
        assert_eq!(after(Halving::FlightSize, 9.7, 11), (4.5, 4.5));
        assert_eq!(after(Halving::FlightSize, 9.0, 600), (4.5, 4.5));
        // RFC 5681, equation 4: at least 2; ns-2 leaves cwnd below ssthresh.
        assert_eq!(after(Halving::FlightSize, 3.0, 3), (2.0, 2.0));
        assert_eq!(after(Halving::Window, 3.0, 3), (1.5, 2.0));
        assert_eq!(after(Halving::WholeWindow, 3.0, 3), (1.0, 2.0));
        assert_eq!(after(Halving::Window, 1.0, 1), (1.0, 2.0));
    }

    #[test]
    fn a_wireless_loss_keeps_the_window_an_undecided_one_halves_it() {
        let after = |verdict| after_fast_retransmit(Halving::FlightSize, 9.0, 9, verdict);
        assert_eq!(after(Verdict::Wireless), (9.0, 20.0));
        assert_eq!(after(Verdict::Undecided), (4.5, 4.5));
    }

    #[test]
    fn an_increase_of_its_own_holds_in_congestion_avoidance_only() {
        let config = Config { additive_increase_pkts: 0.8, ..Config::rfc() };
        let mut aimd = Aimd::new(&config);
        let mut window = Window { cwnd: 3.0, ssthresh: 4.0, max_pkts: 44 };
        aimd.on_ack(&mut window, &ack(0, 1, None, Growth::Due));
        assert_eq!(window.cwnd, 4.0);
        aimd.on_ack(&mut window, &ack(0, 1, None, Growth::Due));
        assert_eq!(window.cwnd, 4.2);
        aimd.on_ack(&mut window, &ack(0, 1, None, Growth::Repairing));
        assert_eq!(window.cwnd, 4.2);
    }

    #[test]
    fn a_timeout_leaves_one_packet_and_half_the_threshold() {
        let after = |halving, again| {
            let (mut aimd, mut window) = aimd(halving, 12.0);
            aimd.on_timeout(&mut window, &timeout(0, 12, false));
            assert_eq!((window.cwnd, window.ssthresh), (1.0, 6.0));
            aimd.on_timeout(&mut window, &timeout(0, 12, again));
            (window.cwnd, window.ssthresh)
        };
        assert_eq!(
            after(Halving::FlightSize, false),
            (1.0, 2.0),
            "a window of 1 was in the network"
        );
        assert_eq!(
            after(Halving::FlightSize, true),
            (1.0, 6.0),
            "held when the same packet times out again"
        );
        assert_eq!(after(Halving::Window, true), (1.0, 2.0), "ns-2 halves the window of 1");
    }
}
