//! The floating-point type of the estimates.

use core::ops::{Add, Mul, Sub};

use crate::{Span, tally};

/// A number of nanoseconds or a plain factor, as `f64`. Tests count its operators, so the cost stated in
/// `docs/algorithms/complexity.md` is the cost of the code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Real(f64);

impl Real {
    /// Zero.
    pub const ZERO: Self = Self(0.0);

    /// A plain factor.
    pub const fn new(value: f64) -> Self {
        Self(value)
    }

    /// A span in nanoseconds; exact up to 2^53 ns (104 days).
    pub const fn from_span(span: Span) -> Self {
        Self(span.as_nanos_f64())
    }

    /// The same without its sign.
    #[must_use]
    pub const fn abs(self) -> Self {
        Self(self.0.abs())
    }

    /// Half of it.
    #[must_use]
    pub fn half(self) -> Self {
        self * Self(0.5)
    }

    /// Divided by a number of packets.
    #[must_use]
    pub fn per(self, packets: u32) -> Self {
        tally::multiplication();
        Self(self.0 / f64::from(packets))
    }

    /// Rounded down to whole nanoseconds: for an integer x, `x > r` is `x > r.floor_span()`.
    pub fn floor_span(self) -> Span {
        let toward_zero = self.0 as i64;
        Span::from_nanos(if (toward_zero as f64) > self.0 { toward_zero - 1 } else { toward_zero })
    }

    /// Rounded up to whole nanoseconds: for an integer x, `x < r` is `x < r.ceil_span()`.
    pub fn ceil_span(self) -> Span {
        let toward_zero = self.0 as i64;
        Span::from_nanos(if (toward_zero as f64) < self.0 { toward_zero + 1 } else { toward_zero })
    }
}

impl Add for Real {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        tally::addition();
        Self(self.0 + other.0)
    }
}

impl Sub for Real {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        tally::addition();
        Self(self.0 - other.0)
    }
}

impl Mul for Real {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: Self) -> Self {
        tally::multiplication();
        Self(self.0 * factor.0)
    }
}

impl PartialOrd for Real {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        tally::addition();
        self.0.partial_cmp(&other.0)
    }
    // The provided methods go through `Ordering`, which for floats is not compiled to one comparison.
    #[inline(always)]
    fn lt(&self, other: &Self) -> bool {
        tally::addition();
        self.0 < other.0
    }
    #[inline(always)]
    fn ge(&self, other: &Self) -> bool {
        tally::addition();
        self.0 >= other.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_to_a_span_keeps_every_comparison_with_an_integer() {
        for (value, floor, ceil) in
            [(2.5, 2, 3), (-2.5, -3, -2), (4.0, 4, 4), (-4.0, -4, -4), (0.1, 0, 1), (-0.1, -1, 0)]
        {
            assert_eq!(Real::new(value).floor_span().as_nanos(), floor);
            assert_eq!(Real::new(value).ceil_span().as_nanos(), ceil);
            for x in -6_i64..6 {
                let span = Span::from_nanos(x);
                assert_eq!(span > Real::new(value).floor_span(), x as f64 > value);
                assert_eq!(span < Real::new(value).ceil_span(), (x as f64) < value);
            }
        }
    }
}
