//! A random walk: each step changes the delay by a uniform draw from -step to step, and reflects it
//! at the bounds 0 and most. Between two steps the delay is constant.
//!
//! Parameters: `most`, `step` (at most `most`) and `every`, no defaults; it begins at a uniform
//! draw from 0 to most. The long-run distribution is uniform. Deviations: none.

use losscause::{Span, Time};

use crate::rng::Stream;

#[derive(Clone, Debug)]
pub(crate) struct Walk {
    most: i64,
    step: i64,
    every: Span,
    stream: Stream,
    value: i64,
    next_step: Time,
}

impl Walk {
    pub(super) fn new(most: Span, step: Span, every: Span, mut stream: Stream) -> Self {
        let most = most.as_nanos();
        let step = step.as_nanos();
        let value = stream.below(most as u64 + 1) as i64;
        Self { most, step, every, stream, value, next_step: Time::ZERO + every }
    }

    pub(super) fn at(&mut self, now: Time) -> Span {
        while self.next_step <= now && self.next_step < Time::MAX {
            let to = self.value + self.stream.below(2 * self.step as u64 + 1) as i64 - self.step;
            let bounced = to.abs();
            self.value = if bounced > self.most { 2 * self.most - bounced } else { bounced };
            self.next_step += self.every;
        }
        Span::from_nanos(self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_keeps_its_bounds_and_takes_no_step_too_long() {
        let most = Span::from_millis(30);
        let step = Span::from_millis(4);
        let mut walk = Walk::new(most, step, Span::from_millis(100), Stream::new(1, "walk"));
        let values: Vec<Span> =
            (0..20_000).map(|i| walk.at(Time::ZERO + Span::from_millis(100 * i))).collect();
        assert!(values.iter().all(|value| (Span::ZERO..=most).contains(value)));
        assert!(
            values.windows(2).all(|pair| (pair[1] - pair[0]).abs() <= step && pair[0] != pair[1])
        );
        // It visits all of the range: about a tenth of the time in each tenth.
        for tenth in 0..10 {
            let within = |value: &&Span| value.as_nanos() * 10 / (most.as_nanos() + 1) == tenth;
            let share = values.iter().filter(within).count() as f64 / 20_000.0;
            assert!((0.06..0.14).contains(&share), "{share} in tenth {tenth}");
        }
    }

    #[test]
    fn whoever_asks_seldom_hears_the_same_walk() {
        let walk = || {
            Walk::new(
                Span::from_millis(30),
                Span::from_millis(4),
                Span::from_millis(100),
                Stream::new(1, "walk"),
            )
        };
        let mut often = walk();
        let mut seldom = walk();
        for i in 0..1_000 {
            let now = Time::ZERO + Span::from_millis(37 * i);
            let value = often.at(now);
            if i % 50 == 0 {
                assert_eq!(seldom.at(now), value);
            }
        }
    }
}
