//! Packets of a flow in queues, as its sender estimates them (Brakmo and Peterson, "TCP Vegas: New
//! Techniques for Congestion Detection and Avoidance", SIGCOMM 1994).
//!
//! ```text
//! expected = W/BaseRTT,  actual = W/RTT
//! backlog  = (expected - actual) BaseRTT = W (RTT - BaseRTT)/RTT
//! ```
//!
//! W is the window in packets, RTT the newest round-trip time, BaseRTT the smallest one: the path
//! without a queue.

use crate::Span;

/// The two round-trip times from which a backlog is computed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlog {
    rtt: Option<Span>,
    base_rtt: Option<Span>,
}

impl Backlog {
    /// Observes a round-trip time, which must be above zero.
    #[inline]
    pub fn observe(&mut self, rtt: Span) {
        self.rtt = Some(rtt);
        self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
    }

    /// Restarts the search for the smallest round-trip time.
    pub fn forget_base(&mut self) {
        self.base_rtt = None;
    }

    /// The smallest round-trip time; `None` if none was observed.
    pub fn base_rtt(&self) -> Option<Span> {
        self.base_rtt
    }

    /// Packets in queues for a window of `window_pkts`; `None` before the first round-trip time.
    #[inline]
    pub fn pkts(&self, window_pkts: f64) -> Option<f64> {
        self.pkts_at(self.rtt?, window_pkts)
    }

    /// The same for another round-trip time than the newest, above zero.
    #[inline]
    pub fn pkts_at(&self, rtt: Span, window_pkts: f64) -> Option<f64> {
        let base = self.base_rtt?;
        Some(window_pkts * (rtt - base).as_nanos_f64() / rtt.as_nanos_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_the_window_waits_at_one_and_a_half_round_trips() {
        let mut backlog = Backlog::default();
        assert_eq!(backlog.pkts(40.0), None);
        backlog.observe(Span::from_millis(60));
        assert_eq!(backlog.pkts(40.0), Some(0.0));
        backlog.observe(Span::from_millis(90));
        assert_eq!(backlog.pkts(60.0), Some(20.0));
        assert_eq!(backlog.pkts(45.0), Some(15.0));
        assert_eq!(backlog.pkts_at(Span::from_millis(80), 40.0), Some(10.0));
        backlog.forget_base();
        assert_eq!((backlog.pkts(45.0), backlog.base_rtt()), (None, None));
        backlog.observe(Span::from_millis(80));
        assert_eq!(backlog.pkts(45.0), Some(0.0));
    }
}
