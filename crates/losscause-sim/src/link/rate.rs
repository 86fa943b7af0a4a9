//! How long a transmission takes.
//!
//! - [`ConstantRate`]: the size over the rate.
//! - [`Steps`]: at a rate that changes at given instants, also during a transmission.
//! - [`Opportunities`]: at given instants a number of bytes is delivered at once (mahimahi's
//!   traces). A transmission ends with the opportunity that delivers its last byte. What an
//!   opportunity has left goes to the packets that wait by then; the rest is lost.
//!
//! Deviation from mahimahi: the packet at the head, which waits for its opportunity, does not count
//! against the queue's limit, as the packet in transmission never does here.

use std::sync::Arc;

use losscause::{Span, Time};

use crate::topology::{AtEnd, RatePoint, RateSpec};

/// A rate that never changes.
#[derive(Clone, Debug)]
pub(super) struct ConstantRate {
    /// The last packet's size and transmission time: most packets are alike.
    last: (u32, Span),
    rate_bps: u64,
}

impl ConstantRate {
    pub(super) fn new(rate_bps: u64) -> Self {
        Self { last: (0, Span::ZERO), rate_bps }
    }

    /// Of a packet of this size.
    #[inline]
    pub(super) fn transmission_time(&mut self, wire_bytes: u32) -> Span {
        if self.last.0 != wire_bytes {
            self.last = (wire_bytes, transmission_time_rounded(wire_bytes, self.rate_bps));
        }
        self.last.1
    }
}

/// Of a packet of this size at this rate, rounded to the nearest nanosecond.
pub(super) fn transmission_time_rounded(wire_bytes: u32, rate_bps: u64) -> Span {
    let rate = u128::from(rate_bps);
    let nanos = (u128::from(wire_bytes) * BIT_NANOS_PER_BYTE + rate / 2) / rate;
    Span::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
}

/// A byte at one bit per second takes so many nanoseconds.
const BIT_NANOS_PER_BYTE: u128 = 8 * 1_000_000_000;

/// A rate that varies.
#[derive(Clone, Debug)]
pub(super) enum VaryingRate {
    Steps(Steps),
    Opportunities(Opportunities),
}

impl VaryingRate {
    /// None if the rate is constant. `rate_bps` is the link's.
    pub(super) fn new(spec: &RateSpec, rate_bps: u64) -> Option<Self> {
        match spec {
            RateSpec::Constant => None,
            RateSpec::Steps { points, at_end } => {
                Some(Self::Steps(Steps::new(points, *at_end, rate_bps)))
            }
            RateSpec::Opportunities { at, bytes } => {
                Some(Self::Opportunities(Opportunities::new(at, *bytes)))
            }
        }
    }

    /// When a transmission that begins at `begins` ends. Ask in order of time.
    pub(super) fn end_of(&mut self, begins: Time, wire_bytes: u32) -> Time {
        match self {
            Self::Steps(steps) => steps.end_of(begins, wire_bytes),
            Self::Opportunities(opportunities) => opportunities.end_of(begins, wire_bytes),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Steps {
    points: Arc<[RatePoint]>,
    at_end: AtEnd,
    first_bps: u64,
    /// Points of this round that have come.
    passed: usize,
    round_began: Time,
}

impl Steps {
    fn new(points: &Arc<[RatePoint]>, at_end: AtEnd, first_bps: u64) -> Self {
        Self { points: Arc::clone(points), at_end, first_bps, passed: 0, round_began: Time::ZERO }
    }

    fn end_of(&mut self, begins: Time, wire_bytes: u32) -> Time {
        // What is left, in nanoseconds at one bit per second.
        let mut left = u128::from(wire_bytes) * BIT_NANOS_PER_BYTE;
        let mut now = begins;
        loop {
            self.pass_points(now);
            let rate = u128::from(self.rate_bps());
            let until = self.next_point();
            let whole = (left + rate / 2).checked_div(rate).unwrap_or(u128::MAX);
            let stretch = (until - now).as_nanos() as u128;
            if until == Time::MAX || whole <= stretch {
                return now + Span::from_nanos(i64::try_from(whole).unwrap_or(i64::MAX));
            }
            left -= rate * stretch;
            now = until;
        }
    }

    /// Moves on to the last point at or before `now`.
    fn pass_points(&mut self, now: Time) {
        while self.next_point() <= now {
            self.passed += 1;
            if self.at_end == AtEnd::Repeat && self.passed == self.points.len() {
                self.round_began += self.points[self.passed - 1].at;
                self.passed = 0;
            }
        }
    }

    /// When the rate changes next, or never.
    fn next_point(&self) -> Time {
        self.points.get(self.passed).map_or(Time::MAX, |point| self.round_began + point.at)
    }

    fn rate_bps(&self) -> u64 {
        self.passed.checked_sub(1).map_or(self.first_bps, |passed| self.points[passed].rate_bps)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Opportunities {
    at: Arc<[Span]>,
    bytes: u32,
    /// The opportunity in use, its round, and what it has left.
    place: usize,
    round_began: Time,
    left_bytes: u32,
}

impl Opportunities {
    fn new(at: &Arc<[Span]>, bytes: u32) -> Self {
        Self { at: Arc::clone(at), bytes, place: 0, round_began: Time::ZERO, left_bytes: bytes }
    }

    fn end_of(&mut self, begins: Time, wire_bytes: u32) -> Time {
        while self.now() < begins || self.left_bytes == 0 {
            self.advance();
        }
        let mut needed = wire_bytes;
        while needed > self.left_bytes {
            needed -= self.left_bytes;
            self.advance();
        }
        self.left_bytes -= needed;
        self.now()
    }

    fn now(&self) -> Time {
        self.round_began + self.at[self.place]
    }

    fn advance(&mut self) {
        self.place += 1;
        if self.place == self.at.len() {
            self.round_began += self.at[self.place - 1];
            self.place = 0;
        }
        self.left_bytes = self.bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at as at_ms;

    #[test]
    fn transmission_takes_size_over_rate() {
        assert_eq!(transmission_time_rounded(762, 150_000), Span::from_micros(40_640));
        assert_eq!(transmission_time_rounded(1040, 1_600_000), Span::from_micros(5_200));
        // 2,666,666.67 ns.
        assert_eq!(transmission_time_rounded(1000, 3_000_000), Span::from_nanos(2_666_667));
        assert_eq!(transmission_time_rounded(u32::MAX, 1), Span::MAX);
    }

    /// 8 Mb/s until 10 ms, then these rates.
    fn steps(points: &[(i64, u64)], at_end: AtEnd) -> Steps {
        let points =
            points.iter().map(|&(ms, rate_bps)| RatePoint { at: Span::from_millis(ms), rate_bps });
        Steps::new(&points.collect(), at_end, 8_000_000)
    }

    #[test]
    fn a_transmission_goes_on_at_the_new_rate_when_the_rate_changes() {
        let mut steps = steps(&[(10, 1_000_000), (30, 0), (40, 2_000_000)], AtEnd::Hold);
        // 1000 bytes at 8 Mb/s.
        assert_eq!(steps.end_of(at_ms(5), 1000), at_ms(6));
        // 4 ms at 8 Mb/s are 4000 bytes; the other 1000 take 8 ms at 1 Mb/s.
        assert_eq!(steps.end_of(at_ms(6), 5000), at_ms(18));
        // 12 ms at 1 Mb/s are 1500 bytes, then there is an outage of 10 ms, then 500 bytes take 2
        // ms.
        assert_eq!(steps.end_of(at_ms(18), 2000), at_ms(42));
        assert_eq!(steps.end_of(at_ms(100), 1000), at_ms(104));
    }

    #[test]
    fn a_rate_that_steps_rounds_to_the_nearest_nanosecond_too() {
        let mut steps = steps(&[(10, 3_000_000), (20, 7_000_000)], AtEnd::Hold);
        // 1000 bytes take 2,666,666.67 ns at 3 Mb/s and 1,142,857.14 ns at 7 Mb/s.
        assert_eq!(steps.end_of(at_ms(11), 1000), at_ms(11) + Span::from_nanos(2_666_667));
        assert_eq!(steps.end_of(at_ms(30), 1000), at_ms(30) + Span::from_nanos(1_142_857));
    }

    #[test]
    fn steps_that_repeat_begin_again_at_the_time_of_the_last_point() {
        // 8 Mb/s for 10 ms, then 1 Mb/s for 10 ms, again and again.
        let mut steps = steps(&[(10, 1_000_000), (20, 5)], AtEnd::Repeat);
        assert_eq!(steps.end_of(at_ms(12), 1000), at_ms(20));
        assert_eq!(steps.end_of(at_ms(20), 1000), at_ms(21));
        assert_eq!(steps.end_of(at_ms(51), 1000), at_ms(59));
        // 10,000 and 1250 bytes per round.
        assert_eq!(steps.end_of(at_ms(60), 11_250 * 3), at_ms(120));
    }

    #[test]
    fn an_opportunity_delivers_what_waits_and_its_rest_is_lost() {
        let at = [5, 5, 10, 20].map(Span::from_millis);
        let mut link = Opportunities::new(&Arc::from(at), 1500);
        // Two share the first opportunity at 5 ms; the third does not fit, and takes 200 bytes of
        // the second as well.
        assert_eq!([1000, 400, 300].map(|bytes| link.end_of(at_ms(1), bytes)), [at_ms(5); 3]);
        // One that comes after 5 ms cannot use what is left of it.
        assert_eq!(link.end_of(at_ms(6), 1500), at_ms(10));
        // A packet of 3000 bytes takes the one at 20 ms, and the first one of the next round, which
        // is 20 + 5 ms.
        assert_eq!(link.end_of(at_ms(12), 3000), at_ms(25));
        assert_eq!(link.end_of(at_ms(25), 1), at_ms(25), "there are two at 25 ms");
        assert_eq!(link.end_of(at_ms(25), 1500), at_ms(30));
    }
}
