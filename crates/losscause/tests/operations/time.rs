//! The crate's times, with operators that count. A comparison counts as an addition and a division
//! as a multiplication, which is how Table V of Cen 2003 can be understood.

use std::cell::Cell;
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};
use std::time::Duration;

#[path = "../../src/time.rs"]
mod plain;

thread_local! {
    static COUNT: Cell<Count> = const { Cell::new(Count { additions: 0, multiplications: 0 }) };
}

/// Arithmetic done since the count began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub additions: u32,
    pub multiplications: u32,
}

/// The arithmetic that `work` does on this thread.
pub fn count(work: impl FnOnce()) -> Count {
    COUNT.set(Count::default());
    work();
    COUNT.get()
}

/// An instant moved by a span: bookkeeping, of which the paper's table has none.
fn uncounted() {}

fn addition() {
    let count = COUNT.get();
    COUNT.set(Count { additions: count.additions + 1, ..count });
}

fn multiplication() {
    let count = COUNT.get();
    COUNT.set(Count { multiplications: count.multiplications + 1, ..count });
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Time(plain::Time);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Span(plain::Span);

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nanos(plain::Nanos);

impl Time {
    pub const ZERO: Self = Self(plain::Time::ZERO);
    pub const MAX: Self = Self(plain::Time::MAX);

    pub const fn from_nanos(nanos: i64) -> Self {
        Self(plain::Time::from_nanos(nanos))
    }

    pub const fn as_nanos(self) -> i64 {
        self.0.as_nanos()
    }

    pub fn as_secs_f64(self) -> f64 {
        self.0.as_secs_f64()
    }
}

impl Span {
    pub const ZERO: Self = Self(plain::Span::ZERO);
    pub const MAX: Self = Self(plain::Span::MAX);

    pub const fn from_nanos(nanos: i64) -> Self {
        Self(plain::Span::from_nanos(nanos))
    }

    pub const fn from_micros(micros: i64) -> Self {
        Self(plain::Span::from_micros(micros))
    }

    pub const fn from_millis(millis: i64) -> Self {
        Self(plain::Span::from_millis(millis))
    }

    pub const fn from_secs(secs: i64) -> Self {
        Self(plain::Span::from_secs(secs))
    }

    pub fn from_secs_f64_rounded(secs: f64) -> Self {
        Self(plain::Span::from_secs_f64_rounded(secs))
    }

    pub fn floor(nanos: Nanos) -> Self {
        Self(plain::Span::floor(nanos.0))
    }

    pub fn ceil(nanos: Nanos) -> Self {
        Self(plain::Span::ceil(nanos.0))
    }

    pub const fn as_nanos(self) -> i64 {
        self.0.as_nanos()
    }

    pub const fn as_nanos_f64(self) -> Nanos {
        Nanos(self.0.as_nanos_f64())
    }

    pub fn as_millis_f64(self) -> f64 {
        self.0.as_millis_f64()
    }

    pub fn as_secs_f64(self) -> f64 {
        self.0.as_secs_f64()
    }

    pub const fn abs(self) -> Self {
        Self(self.0.abs())
    }
}

impl Nanos {
    pub fn abs(self) -> Self {
        Self(self.0.abs())
    }
}

/// An operator of the plain types, with what it counts as.
macro_rules! operators {
    ($($operator:ident::$method:ident($left:ty, $right:ty) -> $result:ty: $count:expr, $plain:expr;)*) => {
        $(impl $operator<$right> for $left {
            type Output = $result;
            fn $method(self, other: $right) -> $result {
                $count;
                let plain: fn($left, $right) -> $result = $plain;
                plain(self, other)
            }
        })*
    };
}

operators! {
    Add::add(Time, Span) -> Time: uncounted(), |at, span| Time(at.0 + span.0);
    Sub::sub(Time, Span) -> Time: uncounted(), |at, span| Time(at.0 - span.0);
    Sub::sub(Time, Time) -> Span: addition(), |at, earlier| Span(at.0 - earlier.0);
    Add::add(Span, Span) -> Span: addition(), |a, b| Span(a.0 + b.0);
    Sub::sub(Span, Span) -> Span: addition(), |a, b| Span(a.0 - b.0);
    Mul::mul(Span, i64) -> Span: multiplication(), |span, factor| Span(span.0 * factor);
    Div::div(Span, i64) -> Span: multiplication(), |span, divisor| Span(span.0 / divisor);
    Add::add(Nanos, Nanos) -> Nanos: addition(), |a, b| Nanos(a.0 + b.0);
    Sub::sub(Nanos, Nanos) -> Nanos: addition(), |a, b| Nanos(a.0 - b.0);
    Mul::mul(f64, Nanos) -> Nanos: multiplication(), |factor, nanos| Nanos(factor * nanos.0);
    Mul::mul(Nanos, f64) -> Nanos: multiplication(), |nanos, factor| Nanos(nanos.0 * factor);
    Div::div(Nanos, f64) -> Nanos: multiplication(), |nanos, divisor| Nanos(nanos.0 / divisor);
    Div::div(Nanos, Nanos) -> f64: multiplication(), |a, b| a.0 / b.0;
}

impl Neg for Span {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl PartialOrd for Span {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Span {
    fn cmp(&self, other: &Self) -> Ordering {
        addition();
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Nanos {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        addition();
        self.0.partial_cmp(&other.0)
    }
}

impl PartialEq<f64> for Nanos {
    fn eq(&self, other: &f64) -> bool {
        self.0 == *other
    }
}

impl PartialOrd<f64> for Nanos {
    fn partial_cmp(&self, other: &f64) -> Option<Ordering> {
        addition();
        self.0.partial_cmp(other)
    }
}

impl From<Duration> for Span {
    fn from(duration: Duration) -> Self {
        Self(duration.into())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
