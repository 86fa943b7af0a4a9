//! A recorded delay, point by point.
//!
//! Before the first point the delay is that of the first point. After the last point the delay
//! stays, or the trace repeats and the last point's time is the length of a round. Between two
//! points the delay is that of the earlier one (as on a route) or is interpolated.
//!
//! Parameters: the points, and the two readings above (see [`Between`] and [`AtEnd`]). Deviations:
//! none.

use std::sync::Arc;

use losscause::{Span, Time};

use crate::topology::{AtEnd, Between, DelayPoint};

#[derive(Clone, Debug)]
pub(crate) struct Trace {
    points: Arc<[DelayPoint]>,
    between: Between,
    at_end: AtEnd,
    /// Number of points passed in this round.
    passed: usize,
    round_began: Time,
}

impl Trace {
    pub(super) fn new(points: &Arc<[DelayPoint]>, between: Between, at_end: AtEnd) -> Self {
        Self { points: Arc::clone(points), between, at_end, passed: 0, round_began: Time::ZERO }
    }

    pub(super) fn at(&mut self, now: Time) -> Span {
        let round = self.points.last().map_or(Span::ZERO, |last| last.at);
        if self.at_end == AtEnd::Repeat && now - self.round_began >= round {
            let rounds = (now - self.round_began).as_nanos() / round.as_nanos();
            self.round_began += Span::from_nanos(rounds * round.as_nanos());
            self.passed = 0;
        }
        let now = now - self.round_began;
        while self.points.get(self.passed).is_some_and(|point| point.at <= now) {
            self.passed += 1;
        }
        let earlier = self.passed.checked_sub(1).map(|earlier| self.points[earlier]);
        match (earlier, self.points.get(self.passed)) {
            (Some(earlier), Some(&later)) if self.between == Between::Linear => {
                between(earlier, later, now)
            }
            (Some(point), _) => point.delay,
            (None, first) => first.map_or(Span::ZERO, |first| first.delay),
        }
    }
}

/// On the straight line between two points, rounded to the nearest nanosecond.
fn between(earlier: DelayPoint, later: DelayPoint, now: Span) -> Span {
    let share = (now - earlier.at).as_nanos_f64() / (later.at - earlier.at).as_nanos_f64();
    let rise = (later.delay - earlier.delay).as_nanos_f64();
    earlier.delay + Span::from_nanos(libm::rint(rise * share) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 ms until 2 s, 30 ms until 4 s, then 20 ms; the delays in milliseconds at the given
    /// milliseconds.
    fn delays(between: Between, at_end: AtEnd, times: [i64; 8]) -> [f64; 8] {
        let point = |secs, millis| DelayPoint {
            at: Span::from_secs(secs),
            delay: Span::from_millis(millis),
        };
        let points: Arc<[DelayPoint]> = [point(1, 10), point(2, 30), point(4, 20)].into();
        let mut trace = Trace::new(&points, between, at_end);
        times.map(|millis| trace.at(Time::ZERO + Span::from_millis(millis)).as_millis_f64())
    }

    const TIMES: [i64; 8] = [0, 1_000, 1_500, 1_999, 2_000, 3_000, 4_000, 5_500];

    #[test]
    fn a_trace_of_steps_stands_still_between_them_and_after_its_end() {
        let expected = [10.0, 10.0, 10.0, 10.0, 30.0, 30.0, 20.0, 20.0];
        assert_eq!(delays(Between::Steps, AtEnd::Hold, TIMES), expected);
    }

    #[test]
    fn a_linear_trace_moves_evenly_from_point_to_point() {
        let expected = [10.0, 10.0, 20.0, 29.98, 30.0, 25.0, 20.0, 20.0];
        assert_eq!(delays(Between::Linear, AtEnd::Hold, TIMES), expected);
    }

    #[test]
    fn a_repeated_trace_begins_again_at_its_last_point() {
        // Rounds of 4 s: 5.5 s is 1.5 s in the second one, and 42 s is 2 s in the eleventh.
        let expected = [10.0, 10.0, 30.0, 10.0, 10.0, 30.0, 30.0, 10.0];
        let times = [0, 1_000, 3_999, 4_000, 5_500, 6_000, 42_000, 44_000];
        assert_eq!(delays(Between::Steps, AtEnd::Repeat, times), expected);
    }
}
