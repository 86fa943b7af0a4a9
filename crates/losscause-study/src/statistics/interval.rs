//! Confidence intervals.

use serde::{Deserialize, Serialize};

/// A confidence interval, in the unit of what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

impl Interval {
    /// The interval of this half-width around `middle`.
    pub fn around(middle: f64, half_width: f64) -> Self {
        Self { low: middle - half_width, high: middle + half_width }
    }

    /// Whether it has a length.
    pub fn is_wide(self) -> bool {
        self.high > self.low
    }
}
