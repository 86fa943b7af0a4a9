//! Integer nanoseconds, as instants and as spans between them.
//!
//! Both are signed: the sender's clock has an arbitrary offset, so a relative one-way trip time
//! (arrival by the receiver's clock minus departure by the sender's) may be negative.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};
use core::time::Duration;

/// An instant on some clock, in nanoseconds from that clock's own zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Time(i64);

/// The signed distance between two instants, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Span(i64);

/// Nanoseconds as the running estimates hold them: with a fraction.
pub type Nanos = f64;

impl Time {
    /// The clock's zero.
    pub const ZERO: Self = Self(0);
    /// Later than every instant that occurs.
    pub const MAX: Self = Self(i64::MAX);

    /// The instant `nanos` nanoseconds after the clock's zero.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the clock's zero.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Seconds since the clock's zero, for printing.
    pub fn as_secs_f64(self) -> f64 {
        Span(self.0).as_secs_f64()
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than every span that occurs.
    pub const MAX: Self = Self(i64::MAX);

    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// A span of `micros` microseconds; saturates at the ends of the range.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// A span of `millis` milliseconds; saturates at the ends of the range.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A span of `secs` whole seconds; saturates at the ends of the range.
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// A span of `secs` seconds, rounded to the nearest nanosecond; saturates at the ends of the
    /// range, and a NaN becomes zero.
    pub fn from_secs_f64_rounded(secs: f64) -> Self {
        let nanos = secs * 1e9;
        // `f64::round` needs std; half away from zero is the same rounding.
        Self(if nanos < 0.0 { nanos - 0.5 } else { nanos + 0.5 } as i64)
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// `nanos` rounded down: for an integer x, `x > nanos` is `x > Span::floor(nanos)`.
    pub fn floor(nanos: Nanos) -> Self {
        let toward_zero = nanos as i64;
        Self(if (toward_zero as f64) > nanos { toward_zero - 1 } else { toward_zero })
    }

    /// `nanos` rounded up: for an integer x, `x < nanos` is `x < Span::ceil(nanos)`.
    pub fn ceil(nanos: Nanos) -> Self {
        let toward_zero = nanos as i64;
        Self(if (toward_zero as f64) < nanos { toward_zero + 1 } else { toward_zero })
    }

    /// Nanoseconds as a float, exact up to 2^53 (104 days).
    pub const fn as_nanos_f64(self) -> Nanos {
        self.0 as f64
    }

    /// Milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span without its sign.
    #[must_use]
    pub const fn abs(self) -> Self {
        Self(self.0.saturating_abs())
    }
}

impl From<Duration> for Span {
    /// Saturates at [`Span::MAX`], 292 years.
    #[inline]
    fn from(duration: Duration) -> Self {
        let secs = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        Self(secs.saturating_mul(1_000_000_000).saturating_add(duration.subsec_nanos().into()))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Sub for Time {
    type Output = Span;
    /// Wraps around, so that two clocks at opposite ends of the range still give a usable
    /// difference.
    fn sub(self, earlier: Time) -> Span {
        Span(self.0.wrapping_sub(earlier.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Span;
    /// Wraps around, so that differences of relative trip times do not depend on the sender's clock
    /// offset.
    fn sub(self, other: Span) -> Span {
        Span(self.0.wrapping_sub(other.0))
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Span) {
        *self = *self - other;
    }
}

impl Neg for Span {
    type Output = Span;
    fn neg(self) -> Span {
        Span(self.0.saturating_neg())
    }
}

impl Mul<i64> for Span {
    type Output = Span;
    fn mul(self, factor: i64) -> Span {
        Span(self.0.saturating_mul(factor))
    }
}

impl Div<i64> for Span {
    type Output = Span;
    /// Rounds towards zero. Division by zero gives the end of the range, zero divided by it zero.
    fn div(self, divisor: i64) -> Span {
        Span(self.0.checked_div(divisor).unwrap_or(self.0.signum().saturating_mul(i64::MAX)))
    }
}

impl fmt::Display for Span {
    /// In milliseconds with microseconds, `40.640 ms`; with nanoseconds where they are not zero,
    /// `40.640001 ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let nanos = self.0.unsigned_abs();
        let millis = nanos / 1_000_000;
        let rest = nanos % 1_000_000;
        if rest.is_multiple_of(1_000) {
            write!(f, "{sign}{millis}.{:03} ms", rest / 1_000)
        } else {
            write!(f, "{sign}{millis}.{rest:06} ms")
        }
    }
}

impl fmt::Display for Time {
    /// In seconds with microseconds: `12.345678 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6} s", self.0 as f64 / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_nanosecond() {
        assert_eq!(Span::from_secs_f64_rounded(0.04064).as_nanos(), 40_640_000);
        assert_eq!(Span::from_secs_f64_rounded(-1.5e-9).as_nanos(), -2);
    }

    #[test]
    fn rounding_to_a_span_keeps_every_comparison_with_an_integer() {
        for (value, floor, ceil) in
            [(2.5, 2, 3), (-2.5, -3, -2), (4.0, 4, 4), (-4.0, -4, -4), (0.1, 0, 1), (-0.1, -1, 0)]
        {
            assert_eq!(Span::floor(value).as_nanos(), floor);
            assert_eq!(Span::ceil(value).as_nanos(), ceil);
            for x in -6_i64..6 {
                let span = Span::from_nanos(x);
                assert_eq!(span > Span::floor(value), x as f64 > value);
                assert_eq!(span < Span::ceil(value), (x as f64) < value);
            }
        }
    }

    #[test]
    fn a_duration_beyond_the_range_and_a_division_by_zero_saturate() {
        assert_eq!(Span::from(Duration::from_millis(40)), Span::from_millis(40));
        assert_eq!(Span::from(Duration::MAX), Span::MAX);
        assert_eq!(
            [5, -5, 0].map(|nanos| (Span::from_nanos(nanos) / 0).as_nanos()),
            [i64::MAX, -i64::MAX, 0]
        );
        assert_eq!(Span::from_secs(i64::MAX), Span::MAX);
    }

    #[test]
    fn a_span_is_printed_to_the_nanosecond_where_needed() {
        extern crate std;
        use std::string::ToString;
        assert_eq!(Span::from_nanos(40_640_000).to_string(), "40.640 ms");
        assert_eq!(Span::from_nanos(-40_640_001).to_string(), "-40.640001 ms");
        assert_eq!(Span::from_nanos(i64::MIN).to_string(), "-9223372036854.775808 ms");
    }

    #[test]
    fn a_difference_of_far_apart_clocks_wraps_instead_of_saturating() {
        let sent = [Time::from_nanos(i64::MAX - 5), Time::from_nanos(i64::MAX - 1)];
        let received = [Time::from_nanos(-10), Time::from_nanos(-3)];
        let rott = [received[0] - sent[0], received[1] - sent[1]];
        assert_eq!(rott[1] - rott[0], Span::from_nanos(3));
    }
}
