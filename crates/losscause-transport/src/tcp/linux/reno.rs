//! Reno as Linux has it (RFC 5681; net/ipv4/tcp_cong.c).
//!
//! ```text
//! slow start:            cwnd += packets delivered, up to ssthresh
//! congestion avoidance:  cwnd += 1 for every cwnd packets delivered
//! loss, timeout:         ssthresh = cwnd/2 in whole packets, at least 2
//! ```
//!
//! Deviations: none.

use losscause::safeguard::Watch;

use super::steps::Steps;
use crate::tcp::control::{AckEvent, CongestionControl, TimeoutEvent};
use crate::tcp::loss_event::{Answer, LossEvent};
use crate::tcp::window::Window;

#[derive(Clone, Debug, Default)]
pub(super) struct Reno {
    steps: Steps,
}

impl Reno {
    fn cut(window: &mut Window) {
        window.ssthresh = f64::from((window.whole_pkts() / 2).max(2));
    }
}

impl CongestionControl for Reno {
    fn name(&self) -> &'static str {
        "Reno"
    }

    fn kept_1024(&self) -> Option<u32> {
        Some(Watch::HALF)
    }

    fn on_ack(&mut self, window: &mut Window, acked: &AckEvent) {
        self.steps.grow(window, acked, |cwnd_pkts, _| cwnd_pkts);
    }

    fn on_loss(&mut self, window: &mut Window, loss: &LossEvent) -> Answer {
        self.steps.restart();
        if loss.verdict.is_wireless() {
            return Answer::Kept;
        }
        Self::cut(window);
        window.cwnd = window.ssthresh;
        Answer::Cut
    }

    fn on_timeout(&mut self, window: &mut Window, timeout: &TimeoutEvent) {
        self.steps.restart();
        if !timeout.again {
            Self::cut(window);
        }
        window.cwnd = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use losscause::{Time, Verdict};

    use super::*;
    use crate::tcp::control::Growth;
    use crate::tcp::control::tests::{ack, timeout};

    fn window(cwnd: f64, ssthresh: f64) -> Window {
        Window { cwnd, ssthresh, max_pkts: 1_000 }
    }

    #[test]
    fn a_loss_halves_to_two_at_least() {
        let after = |cwnd| {
            let mut window = window(cwnd, 1e9);
            let loss = LossEvent {
                at: Time::ZERO,
                flight_pkts: 900,
                verdict: Verdict::Congestion,
                sending: None,
            };
            assert_eq!(Reno::default().on_loss(&mut window, &loss), Answer::Cut);
            (window.cwnd, window.ssthresh)
        };
        assert_eq!([21.0, 3.0].map(after), [(10.0, 10.0), (2.0, 2.0)]);
    }

    #[test]
    fn a_second_timeout_of_the_same_data_leaves_ssthresh() {
        let mut reno = Reno::default();
        let mut window = window(21.0, 1e9);
        reno.on_timeout(&mut window, &timeout(0, 21, false));
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 10.0));
        reno.on_timeout(&mut window, &timeout(0, 1, true));
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 10.0));
    }

    #[test]
    fn the_window_opens_by_one_for_every_window_delivered() {
        let mut reno = Reno::default();
        let mut window = window(10.0, 5.0);
        (0..4).for_each(|_| reno.on_ack(&mut window, &ack(0, 2, None, Growth::Due)));
        assert_eq!(window.cwnd, 10.0);
        reno.on_ack(&mut window, &ack(0, 2, None, Growth::Due));
        assert_eq!(window.cwnd, 11.0);
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut reno = Reno::default();
        let mut window = window(10.0, 5.0);
        reno.on_ack(&mut window, &ack(0, 100, None, Growth::Unused));
        assert_eq!(window.cwnd, 10.0);
    }
}
