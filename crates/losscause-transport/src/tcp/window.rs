//! The congestion window's response to acknowledgements and losses (RFC 5681, sections 3.1 and 3.2).

use super::config::{Config, Halving};

/// cwnd and ssthresh, in packets; fast recovery's inflation is kept elsewhere.
#[derive(Clone, Debug)]
pub(super) struct Window {
    cwnd: f64,
    ssthresh: f64,
    /// The receiver's window.
    max: f64,
    halving: Halving,
}

impl Window {
    pub(super) fn new(config: &Config) -> Self {
        let max = config.max_window_pkts;
        Self {
            cwnd: f64::from(config.initial_window_pkts),
            ssthresh: f64::from(config.initial_ssthresh_pkts.unwrap_or(max)),
            max: f64::from(max),
            halving: config.halving,
        }
    }

    /// Data is about to flow (again).
    pub(super) fn restart(&mut self, cwnd_pkts: u32) {
        self.cwnd = f64::from(cwnd_pkts);
    }

    /// One ACK of new data: slow start by one packet, congestion avoidance by 1/cwnd (RFC 5681, equations 2, 3).
    pub(super) fn on_new_ack(&mut self) {
        self.cwnd += if self.cwnd < self.ssthresh { 1.0 } else { 1.0 / self.cwnd };
    }

    /// A loss was found by duplicate ACKs, with so many packets in flight.
    pub(super) fn on_fast_retransmit(&mut self, flight_pkts: u64) {
        let half = self.half(flight_pkts);
        self.ssthresh = self.threshold(half);
        self.cwnd = match self.halving {
            Halving::FlightSize => self.ssthresh,
            Halving::Window | Halving::WholeWindow => half.max(1.0),
        };
    }

    /// A loss was found by the retransmission timer; `again` if the same packet timed out before.
    pub(super) fn on_timeout(&mut self, flight_pkts: u64, again: bool) {
        let held = again && self.halving == Halving::FlightSize;
        if !held {
            self.ssthresh = self.threshold(self.half(flight_pkts));
        }
        self.cwnd = 1.0;
    }

    pub(super) fn cwnd(&self) -> f64 {
        self.cwnd
    }

    pub(super) fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn half(&self, flight_pkts: u64) -> f64 {
        match self.halving {
            Halving::FlightSize => flight_pkts as f64 / 2.0,
            Halving::Window => self.cwnd.min(self.max) / 2.0,
            Halving::WholeWindow => (self.cwnd.min(self.max).floor() / 2.0).floor(),
        }
    }

    fn threshold(&self, half: f64) -> f64 {
        match self.halving {
            Halving::FlightSize => half.max(2.0),
            Halving::Window | Halving::WholeWindow => half.floor().max(2.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(halving: Halving, cwnd: f64, max_window_pkts: u32) -> Window {
        let config = Config { halving, max_window_pkts, ..Config::rfc() };
        Window { cwnd, ..Window::new(&config) }
    }

    #[test]
    fn slow_start_adds_one_packet_per_ack_up_to_ssthresh() {
        let mut window = window(Halving::FlightSize, 2.0, 4);
        let series: Vec<f64> = std::iter::repeat_with(|| {
            window.on_new_ack();
            window.cwnd()
        })
        .take(4)
        .collect();
        // 4 is ssthresh: from there on 1/4, then 1/4.25.
        assert_eq!(series, [3.0, 4.0, 4.25, 4.25 + 1.0 / 4.25]);
    }

    #[test]
    fn congestion_avoidance_adds_about_one_packet_per_round_trip() {
        let mut window = window(Halving::FlightSize, 10.0, 10);
        for _ in 0..10 {
            window.on_new_ack();
        }
        // 10 + 1/10 + 1/10.1 + … stays a little below 11.
        assert!((10.95..11.0).contains(&window.cwnd()), "{}", window.cwnd());
    }

    #[test]
    fn a_fast_retransmit_halves_what_each_rule_says() {
        let after = |halving, cwnd, flight| {
            let mut window = window(halving, cwnd, 20);
            window.on_fast_retransmit(flight);
            (window.cwnd(), window.ssthresh())
        };
        assert_eq!(after(Halving::FlightSize, 9.7, 9), (4.5, 4.5));
        assert_eq!(after(Halving::Window, 9.5, 9), (4.75, 4.0));
        assert_eq!(after(Halving::WholeWindow, 9.5, 9), (4.0, 4.0));
        // The receiver's window of 20 packets counts, not cwnd.
        assert_eq!(after(Halving::FlightSize, 50.0, 20), (10.0, 10.0));
        assert_eq!(after(Halving::Window, 50.0, 20), (10.0, 10.0));
        // RFC 5681, equation 4: at least 2; ns-2 leaves cwnd below ssthresh.
        assert_eq!(after(Halving::FlightSize, 3.0, 3), (2.0, 2.0));
        assert_eq!(after(Halving::Window, 3.0, 3), (1.5, 2.0));
        assert_eq!(after(Halving::WholeWindow, 3.0, 3), (1.0, 2.0));
        assert_eq!(after(Halving::Window, 1.0, 1), (1.0, 2.0));
    }

    #[test]
    fn a_timeout_leaves_one_packet_and_half_the_threshold() {
        let after = |halving, again| {
            let mut window = window(halving, 12.0, 20);
            window.on_timeout(12, false);
            assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 6.0));
            window.on_timeout(12, again);
            (window.cwnd(), window.ssthresh())
        };
        assert_eq!(after(Halving::FlightSize, false), (1.0, 6.0));
        assert_eq!(after(Halving::FlightSize, true), (1.0, 6.0), "held when the same packet times out again");
        assert_eq!(after(Halving::Window, true), (1.0, 2.0), "ns-2 halves the window of 1");
    }
}
