//! Gentle: grows as Reno does, and gives up a third of its window for a loss instead of half.
use losscause_transport::tcp::{
    AckEvent, Answer, CongestionControl, LossEvent, OwnControl, TimeoutEvent, Window,
};

/// The name in scenarios, and what makes one for each connection.
pub const GENTLE: OwnControl =
    OwnControl::new("gentle", "Reno that gives up a third of its window for a loss.", &|_| Gentle);

/// The response has no state but the window.
#[derive(Clone, Debug)]
struct Gentle;

impl Gentle {
    fn threshold(window: &Window, flight_pkts: u64) -> f64 {
        (window.in_network(flight_pkts) as f64 * 2.0 / 3.0).max(2.0)
    }
}

impl CongestionControl for Gentle {
    fn name(&self) -> &'static str {
        GENTLE.name()
    }

    fn on_ack(&mut self, window: &mut Window, acked: &AckEvent) {
        if acked.growth.is_due() {
            // RFC 5681, equations 2 and 3, by packets rather than ACKs (RFC 3465).
            let pkts = acked.newly_acked_pkts as f64;
            window.cwnd += if window.in_slow_start() { pkts.min(2.0) } else { pkts / window.cwnd };
        }
    }

    fn on_loss(&mut self, window: &mut Window, loss: &LossEvent) -> Answer {
        if loss.verdict.is_wireless() {
            return Answer::Kept;
        }
        window.ssthresh = Self::threshold(window, loss.flight_pkts);
        window.cwnd = window.ssthresh;
        Answer::Cut
    }

    fn on_timeout(&mut self, window: &mut Window, timeout: &TimeoutEvent) {
        if !timeout.again {
            window.ssthresh = Self::threshold(window, timeout.flight_pkts);
        }
        window.cwnd = 1.0;
    }
}
