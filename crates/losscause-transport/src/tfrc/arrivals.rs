//! Arrival times of the last round-trip time, for the receive rate.

use losscause::{Span, Time};

/// Arrival times, newest last. It grows to two round-trip times' packets, at most [`CAPACITY`], and
/// allocates nothing per packet.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    times: Vec<Time>,
}

/// As many as ns-2.35 keeps (`InitHistorySize_`), or a few more.
const CAPACITY: usize = 1 << 17;

impl Arrivals {
    pub(crate) fn new() -> Self {
        Self { times: Vec::with_capacity(32) }
    }

    /// A packet arrived, when the round-trip time was `rtt`.
    #[inline]
    pub(crate) fn push(&mut self, now: Time, rtt: impl FnOnce() -> Span) {
        if self.times.len() == self.times.capacity() {
            self.make_room(now - rtt() * 2);
        }
        self.times.push(now);
    }

    /// Drops what came before `keep_from`, if that is more than half, so that few entries are moved
    /// per packet.
    #[cold]
    fn make_room(&mut self, keep_from: Time) {
        let old = self.times.partition_point(|at| *at < keep_from);
        let half = self.times.len() / 2;
        if old > half {
            self.times.drain(..old);
        } else if self.times.len() >= CAPACITY {
            self.times.drain(..half);
        }
    }

    /// Packets that arrived after `start`.
    pub(crate) fn after(&self, start: Time) -> u64 {
        self.times.iter().rev().take_while(|at| **at > start).count() as u64
    }

    /// Packets that arrived less than `span` before the newest, that one included.
    pub(crate) fn within(&self, span: Span) -> u64 {
        let Some(newest) = self.times.last() else { return 0 };
        self.times.iter().rev().take_while(|at| **at + span > *newest).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    #[test]
    fn only_packets_of_the_last_round_trip_count() {
        let mut arrivals = Arrivals::new();
        for ms in [0, 10, 20, 100, 110] {
            arrivals.push(at(ms), || Span::from_millis(100));
        }
        assert_eq!(arrivals.within(Span::from_millis(100)), 3);
        assert_eq!(arrivals.within(Span::from_millis(101)), 4);
        assert_eq!(arrivals.after(at(20)), 2);
        assert_eq!(arrivals.after(at(19)), 3);
        assert_eq!(arrivals.after(at(110)), 0);
    }

    #[test]
    fn memory_follows_packets_per_round_trip_not_the_flows_length() {
        let mut arrivals = Arrivals::new();
        for i in 0..100_000 {
            arrivals.push(Time::from_nanos(i * 1_000_000), || Span::from_millis(100));
            assert!(arrivals.within(Span::from_millis(100)) <= 100);
        }
        assert_eq!(arrivals.within(Span::from_millis(100)), 100);
        assert!(arrivals.times.capacity() <= 1024, "{}", arrivals.times.capacity());
    }
}
