//! The smallest and the largest value, of all so far or of a window.

use super::lookback::{Lookback, Parts, Summary};
use crate::{Span, Time};

/// Smallest and largest relative trip time (rott_min, rott_max), stored as the smallest and its
/// distance to the largest, because only distances have a meaning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extremes {
    seen: Option<Seen>,
    parts: Option<Parts<Seen>>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    min: Span,
    /// Largest minus smallest.
    range: Span,
}

/// The position of a value among those seen, including itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Distance above the smallest value.
    pub above_min: Span,
    /// Whether one of the extremes has moved.
    pub new_extreme: bool,
}

impl Extremes {
    /// Extremes of the values within `window`, which must be valid. The default is all values.
    pub fn over(window: Lookback) -> Self {
        Self { seen: None, parts: Parts::of(window) }
    }

    /// Observes a value that arrived at `now`.
    #[inline]
    pub fn observe(&mut self, value: Span, now: Time) -> Position {
        let turned = self.parts.is_some() && self.turn(value, now);
        let position = observe(&mut self.seen, value);
        Position { new_extreme: position.new_extreme || turned, ..position }
    }

    /// Adds a value to the present part and drops what left the window. Returns whether anything
    /// was dropped. Not inlined: the published algorithms have no window, and their path stays
    /// short.
    #[cold]
    #[inline(never)]
    fn turn(&mut self, value: Span, now: Time) -> bool {
        let Some(parts) = &mut self.parts else { return false };
        let turned = parts.turned(now);
        parts.observe(Seen { min: value, range: Span::ZERO });
        if let Some(left) = turned {
            self.seen = left;
        }
        turned.is_some()
    }

    /// Distance of a value above the smallest one; negative if the value is smaller.
    #[inline]
    pub fn above_min(&self, value: Span) -> Option<Span> {
        self.seen.map(|seen| value - seen.min)
    }

    /// Largest minus smallest; `None` before the first value.
    #[inline]
    pub fn range(&self) -> Option<Span> {
        self.seen.map(|seen| seen.range)
    }
}

#[inline]
fn observe(seen: &mut Option<Seen>, value: Span) -> Position {
    let Some(seen) = seen else {
        *seen = Some(Seen { min: value, range: Span::ZERO });
        return Position { above_min: Span::ZERO, new_extreme: true };
    };
    let above_min = value - seen.min;
    if above_min < Span::ZERO {
        *seen = Seen { min: value, range: seen.range - above_min };
        return Position { above_min: Span::ZERO, new_extreme: true };
    }
    let new_extreme = above_min > seen.range;
    if new_extreme {
        seen.range = above_min;
    }
    Position { above_min, new_extreme }
}

impl Summary for Seen {
    #[inline]
    fn with(self, other: Self) -> Self {
        let above = other.min - self.min;
        if above < Span::ZERO {
            return Self { min: other.min, range: other.range.max(self.range - above) };
        }
        Self { min: self.min, range: self.range.max(other.range + above) }
    }
}

/// Smallest positive span (T_min).
#[derive(Clone, Copy, Debug, Default)]
pub struct Minimum {
    min: Option<Span>,
    parts: Option<Parts<Smallest>>,
}

#[derive(Clone, Copy, Debug)]
struct Smallest(Span);

impl Minimum {
    /// The minimum of the spans within `window`, which must be valid. The default is all spans.
    pub fn over(window: Lookback) -> Self {
        Self { min: None, parts: Parts::of(window) }
    }

    /// Drops what left the window at `now`. Call it before each arrival that may add a span.
    #[inline]
    pub fn forget(&mut self, now: Time) {
        if let Some(parts) = &mut self.parts
            && let Some(left) = parts.turned(now)
        {
            self.min = left.map(|Smallest(span)| span);
        }
    }

    /// Observes a span. Ignores a span that is not positive: no link delivers two packets at one
    /// instant, so the clock was too coarse, and a minimum of zero would hold for ever.
    #[inline]
    pub fn observe(&mut self, span: Span) {
        match self.min {
            Some(min) if span >= min => {}
            _ if span > Span::ZERO => self.min = Some(span),
            _ => {}
        }
        if let Some(parts) = &mut self.parts
            && span > Span::ZERO
        {
            parts.observe(Smallest(span));
        }
    }

    /// The smallest span; `None` before the first.
    #[inline]
    pub fn get(&self) -> Option<Span> {
        self.min
    }
}

impl Summary for Smallest {
    #[inline]
    fn with(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    #[test]
    fn extremes_of_negative_values_are_found_though_clocks_wrap() {
        let mut extremes = Extremes::default();
        let base = i64::MIN + 3;
        let mut positions = [0, 10, -5, 2]
            .map(|d: i64| extremes.observe(Span::from_nanos(base.wrapping_add(d)), Time::ZERO));
        positions.reverse();
        assert_eq!(positions[0], Position { above_min: Span::from_nanos(7), new_extreme: false });
        assert_eq!(positions[1], Position { above_min: Span::ZERO, new_extreme: true });
        assert_eq!(extremes.range(), Some(Span::from_nanos(15)));
    }

    #[test]
    fn two_packets_with_one_time_stamp_do_not_make_the_minimum_zero() {
        let mut minimum = Minimum::default();
        for nanos in [0, 40, 0, 30, -7, 50] {
            minimum.observe(Span::from_nanos(nanos));
        }
        assert_eq!(minimum.get(), Some(Span::from_nanos(30)));
    }

    fn window_of(time_ms: i64, pkts: u32) -> Lookback {
        Lookback { time: Span::from_millis(time_ms), pkts }
    }

    /// Smallest value and range after each of the values, given with their times, all in
    /// milliseconds.
    fn extremes_over(window: Lookback, values: &[(i64, i64)]) -> Vec<(i64, i64)> {
        let mut extremes = Extremes::over(window);
        let after = |&(at, value): &(i64, i64)| {
            let value = Span::from_millis(value);
            let position = extremes.observe(value, Time::ZERO + Span::from_millis(at));
            let millis = |span: Span| span.as_nanos() / 1_000_000;
            (millis(value - position.above_min), millis(extremes.range().expect("fed")))
        };
        values.iter().map(after).collect()
    }

    #[test]
    fn a_value_is_forgotten_after_three_quarters_to_all_of_a_window() {
        // Parts of 10 ms. The smallest value, at 5 ms, holds until the part of 30 to 40 ms is over;
        // the largest, at 39 ms, until the part of 60 to 70 ms is over.
        let values = [(0, 50), (5, 10), (15, 30), (39, 90), (40, 40), (69, 45), (70, 60)];
        let expected = [(50, 0), (10, 40), (10, 40), (10, 80), (30, 60), (40, 50), (40, 20)];
        assert_eq!(extremes_over(window_of(40, 0), &values), expected);
    }

    #[test]
    fn a_window_of_packets_counts_packets_whenever_they_come() {
        // Parts of two packets: the first two are dropped when the ninth arrives.
        let values: Vec<(i64, i64)> = (0..12).map(|i| (i * i, 100 + i)).collect();
        let smallest: Vec<i64> =
            extremes_over(window_of(0, 8), &values).iter().map(|(min, _)| *min).collect();
        assert_eq!(smallest, [100, 100, 100, 100, 100, 100, 100, 100, 102, 102, 104, 104]);
    }

    #[test]
    fn after_a_silence_longer_than_the_window_extremes_begin_anew() {
        let values = [(0, 10), (5, 20), (1_000, 15), (1_001, 30)];
        assert_eq!(
            extremes_over(window_of(40, 0), &values),
            [(10, 0), (10, 10), (15, 0), (15, 15)]
        );
        let mut minimum = Minimum::over(window_of(40, 0));
        minimum.observe(Span::from_millis(3));
        minimum.forget(Time::ZERO);
        minimum.forget(Time::ZERO + Span::from_millis(1_000));
        assert_eq!(minimum.get(), None);
    }

    #[test]
    fn a_clock_that_is_set_back_forgets_nothing_and_stops_nothing() {
        let values = [(1_000, 10), (0, 20), (10, 15), (20, 30), (30, 25), (40, 28)];
        // The part that began at 1000 ms begins again at 0.
        let expected = [(10, 0), (10, 10), (10, 10), (10, 20), (10, 20), (15, 15)];
        assert_eq!(extremes_over(window_of(40, 0), &values), expected);
    }
}
