//! The Flip Flop filter: two exponential means in one, switched by control limits.
//!
//! ```text
//! x > mean + 3 MR / d2:   an outlier        mean <- 9/10 mean + 1/10 x      (stable)
//! else:                                     mean <- 1/10 mean + 9/10 x      (agile)
//!     x >= mean - 3 MR / d2:                MR   <- 7/8 MR + 1/8 |x - neighbour|
//! ```
//!
//! MR is the moving range: the mean distance between adjacent values within the limits. d2 = 1.128
//! is the mean range of two values of a normal distribution over its standard deviation, so the
//! limits are at three standard deviations.
//!
//! Source: Barman & Matta 2002, section 2.2, equation 1 and figure 1; the filter is Kim & Noble's
//! (2001).
//!
//! Deviations: none. A mean moves by a fraction of its distance to the value. In real numbers this
//! is the published formula, and a mean that equals the value stays exactly where it is. Otherwise,
//! once MR has decayed below the rounding error, rounding would make outliers of a constant input.
//! [`FlipFlopReadings`] decides what figure 1 leaves open; in addition:
//!
//! - *The first value* becomes the mean, MR is half of it, and it is not an outlier: the
//!   initialisation comes last in the figure, so it overwrites the results of the lines above.
//! - *A value at the upper limit* is not an outlier ("exceeds"). So with MR = 0 a value equal to
//!   the mean is not one, but the slightest larger value is. MR reaches 0 only by rounding.

use crate::Span;
use crate::registry::choice;
use crate::time::Nanos;

/// A Flip Flop filter.
#[derive(Clone, Copy, Debug)]
pub struct FlipFlop {
    readings: FlipFlopReadings,
    state: Option<State>,
}

/// What figure 1 leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlipFlopReadings {
    /// The mean used for the lower limit.
    pub lower_limit: LowerLimit,
    /// The value from which distances are measured.
    pub neighbour: Neighbour,
}

choice! {
    /// The mean used for the lower limit. Equation 1 defines both limits by one mean; figure 1
    /// compares the upper limit with the mean before the value, and the lower limit with the mean
    /// after it.
    pub enum LowerLimit {
        /// The mean that already includes the value, as figure 1 prints it. The mean has then moved
        /// nine tenths of the way, so even a value far below often counts as within the limits.
        #[default]
        NewMean = "new-mean",
        /// The mean before the value, as for the upper limit: equation 1.
        OldMean = "old-mean",
    }
}

choice! {
    /// The value from which distances are measured. Figure 1 never sets last_rtt.
    pub enum Neighbour {
        /// The previous value, outlier or not: "the differences between adjacent RTT samples".
        #[default]
        PreviousValue = "previous-value",
        /// The previous value within the limits: the moving range is estimated "from the samples
        /// within the control limits".
        PreviousWithin = "previous-within",
    }
}

#[derive(Clone, Copy, Debug)]
struct State {
    mean: Nanos,
    moving_range: Nanos,
    neighbour: Span,
}

impl FlipFlop {
    /// A filter that has seen no values.
    pub fn new(readings: FlipFlopReadings) -> Self {
        Self { readings, state: None }
    }

    /// Observes a value. Returns whether it is an outlier: above the upper limit as it was before.
    #[inline]
    pub fn observe(&mut self, value: Span) -> bool {
        let x = value.as_nanos_f64();
        // Barman & Matta, figure 1: the first value is the mean, half of it the moving range.
        let Some(state) = &mut self.state else {
            self.state = Some(State { mean: x, moving_range: x / 2.0, neighbour: value });
            return false;
        };
        // Equation 1: the upper control limit, by the values before this one.
        let margin = LIMIT * state.moving_range;
        let old_mean = state.mean;
        let outlier = old_mean + margin < x;
        // Figure 1: stable for an outlier, agile for any other value.
        let gain = if outlier { STABLE } else { AGILE };
        state.mean = old_mean + gain * (x - old_mean);
        let lower_mean = match self.readings.lower_limit {
            LowerLimit::NewMean => state.mean,
            LowerLimit::OldMean => old_mean,
        };
        // Figure 1: the moving range follows values within both limits.
        let within = !outlier && x >= lower_mean - margin;
        if within {
            let distance = (value - state.neighbour).abs().as_nanos_f64();
            state.moving_range = KEEP * state.moving_range + GAIN * distance;
        }
        if within || self.readings.neighbour == Neighbour::PreviousValue {
            state.neighbour = value;
        }
        outlier
    }

    /// The mean; `None` before the first value.
    pub fn mean(&self) -> Option<Nanos> {
        self.state.map(|state| state.mean)
    }

    /// The moving range; `None` before the first value.
    pub fn moving_range(&self) -> Option<Nanos> {
        self.state.map(|state| state.moving_range)
    }
}

/// Three standard deviations, in moving ranges.
const LIMIT: f64 = 3.0 / 1.128;
const STABLE: f64 = 0.1;
const AGILE: f64 = 0.9;
const KEEP: f64 = 0.875;
const GAIN: f64 = 0.125;

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and moving range, both in microseconds, after values in milliseconds; and which were
    /// outliers.
    fn fed<const N: usize>(
        readings: FlipFlopReadings,
        values_ms: [i64; N],
    ) -> (i64, i64, [bool; N]) {
        let mut filter = FlipFlop::new(readings);
        let outliers = values_ms.map(|ms| filter.observe(Span::from_millis(ms)));
        let micros =
            |nanos: Option<Nanos>| (Span::floor(nanos.expect("fed")).as_nanos() + 500) / 1_000;
        (micros(filter.mean()), micros(filter.moving_range()), outliers)
    }

    const PRINTED: FlipFlopReadings =
        FlipFlopReadings { lower_limit: LowerLimit::NewMean, neighbour: Neighbour::PreviousValue };

    #[test]
    fn the_first_value_is_the_mean_and_half_of_it_the_moving_range() {
        assert_eq!(fed(PRINTED, [100]), (100_000, 50_000, [false]));
    }

    #[test]
    fn a_value_within_limits_moves_mean_by_0_9_and_range_by_0_125() {
        // 140: limit 100 + 2.6596 * 50 = 232.98. Mean 100 + 0.9 * 40 = 136; MR 0.875 * 50 + 40 / 8
        // = 48.75.
        assert_eq!(fed(PRINTED, [100, 140]), (136_000, 48_750, [false, false]));
    }

    #[test]
    fn an_outlier_moves_the_mean_by_a_tenth_and_leaves_the_range() {
        // 240 > 232.98. Mean 100 + 0.1 * 140 = 114; MR stays 50.
        assert_eq!(fed(PRINTED, [100, 240]), (114_000, 50_000, [false, true]));
    }

    #[test]
    fn a_value_at_the_upper_limit_is_no_outlier() {
        let mut filter = FlipFlop::new(PRINTED);
        assert!(!filter.observe(Span::ZERO));
        assert!(!filter.observe(Span::ZERO), "the limit is zero, and zero does not exceed it");
        assert!(filter.observe(Span::from_nanos(1)));
    }

    #[test]
    fn a_constant_input_has_no_outliers_however_long_it_lasts() {
        for nanos in [104_230_001, 333_333_333, 7] {
            let mut filter = FlipFlop::new(PRINTED);
            filter.observe(Span::from_nanos(nanos + nanos / 3));
            assert!((0..20_000).all(|_| !filter.observe(Span::from_nanos(nanos))));
        }
    }

    #[test]
    fn the_lower_limit_moves_with_the_mean_but_not_by_equation_1() {
        // 100 times 16 brings MR to 50 * 0.875^16 = 5.903; then 80: 20 below the old mean, 2 below
        // the new one (82). The lower margin is 2.6596 * 5.903 = 15.70.
        let mut values = [100; 18];
        values[17] = 80;
        // 0.875 * 5.903 + 20 / 8 = 7.665.
        assert_eq!(fed(PRINTED, values).1, 7_665);
        assert_eq!(
            fed(FlipFlopReadings { lower_limit: LowerLimit::OldMean, ..PRINTED }, values).1,
            5_903
        );
    }

    #[test]
    fn the_distance_after_an_outlier_depends_on_adjacency() {
        // 240 is an outlier (mean 114, limit 114 + 132.98 = 246.98); 140 is none, 100 away from 240
        // and 40 from 100.
        let values = [100, 240, 140];
        assert_eq!(fed(PRINTED, values).1, 56_250, "0.875 * 50 + 100 / 8");
        let within = FlipFlopReadings { neighbour: Neighbour::PreviousWithin, ..PRINTED };
        assert_eq!(fed(within, values).1, 48_750, "0.875 * 50 + 40 / 8");
    }
}
