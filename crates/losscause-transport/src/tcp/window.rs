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
