//! The smallest and the largest value so far.

use crate::Span;

/// Smallest and largest relative trip time so far (rott_min, rott_max), kept as the smallest and the distance to the
/// largest: only distances mean anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extremes {
    seen: Option<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    min: Span,
    /// Largest minus smallest.
    range: Span,
}

/// Where a value lies among those seen so far, itself included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Distance above the smallest value.
    pub above_min: Span,
    /// Whether the value moved one of the extremes.
    pub new_extreme: bool,
}

impl Extremes {
    /// Takes in a value.
    #[inline]
    pub fn observe(&mut self, value: Span) -> Position {
        let Some(seen) = &mut self.seen else {
            self.seen = Some(Seen { min: value, range: Span::ZERO });
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

    /// Distance of a value above the smallest one seen; negative if it is smaller.
    #[inline]
    pub fn above_min(&self, value: Span) -> Option<Span> {
        self.seen.map(|seen| value - seen.min)
    }

    /// Largest minus smallest; none before the first value.
    #[inline]
    pub fn range(&self) -> Option<Span> {
        self.seen.map(|seen| seen.range)
    }
}

/// Smallest positive span so far (T_min).
#[derive(Clone, Copy, Debug, Default)]
pub struct Minimum {
    min: Option<Span>,
}

impl Minimum {
    /// Takes in a span. One that is not positive is passed over: no link delivers two packets at one instant, so the
    /// clock was too coarse, and a minimum of zero would never be left again.
    #[inline]
    pub fn observe(&mut self, span: Span) {
        match self.min {
            Some(min) if span >= min => {}
            _ if span > Span::ZERO => self.min = Some(span),
            _ => {}
        }
    }

    /// The smallest span; none before the first.
    #[inline]
    pub fn get(&self) -> Option<Span> {
        self.min
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_of_negative_values_are_found_although_the_clocks_wrap_around() {
        let mut extremes = Extremes::default();
        let base = i64::MIN + 3;
        let mut positions = [0, 10, -5, 2].map(|d: i64| extremes.observe(Span::from_nanos(base.wrapping_add(d))));
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
}
