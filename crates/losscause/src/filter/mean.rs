//! Exponential means, with and without a deviation.

use crate::Span;
use crate::registry::choice;
use crate::time::Nanos;

/// An exponential mean: mean <- (1 - gain) mean + gain value.
#[derive(Clone, Copy, Debug)]
pub struct Mean {
    keep: f64,
    gain: f64,
    value: Option<Nanos>,
}

impl Mean {
    /// A mean with gain 0 < `gain` <= 1 that starts at its first value.
    pub fn new(gain: f64) -> Self {
        Self { keep: 1.0 - gain, gain, value: None }
    }

    /// A mean with gain 0 < `gain` <= 1 that starts at zero.
    pub fn from_zero(gain: f64) -> Self {
        Self { value: Some(Span::ZERO.as_nanos_f64()), ..Self::new(gain) }
    }

    /// Observes a value.
    #[inline]
    pub fn observe(&mut self, value: Nanos) {
        self.value = Some(match self.value {
            Some(mean) => self.keep * mean + self.gain * value,
            None => value,
        });
    }

    /// The mean; `None` before the first value.
    #[inline]
    pub fn get(&self) -> Option<Nanos> {
        self.value
    }
}

choice! {
    /// The mean used for the deviation. The papers do not say.
    pub enum DeviationFrom {
        /// The mean after the same value: the equations in their printed order.
        #[default]
        NewMean = "new-mean",
        /// The mean before the value, as in TCP's round-trip time variation (RFC 6298, 2.3).
        OldMean = "old-mean",
    }
}

choice! {
    /// The deviation after the first value. The papers do not say.
    pub enum FirstDeviation {
        /// Zero: no spread was observed.
        #[default]
        Zero = "zero",
        /// None until the second value; then its distance from the first.
        FirstDistance = "first-distance",
    }
}

/// Exponential mean and deviation of relative trip times (rott_mean, rott_dev):
/// mean <- (1 - a) mean + a value; dev <- (1 - 2a) dev + 2a |value - mean|.
///
/// The mean starts at the first value; values are stored relative to it.
#[derive(Clone, Copy, Debug)]
pub struct MeanDeviation {
    keep_mean: f64,
    gain_mean: f64,
    keep_deviation: f64,
    gain_deviation: f64,
    from: DeviationFrom,
    first: FirstDeviation,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Empty,
    /// One value so far; its distance from the next becomes the deviation.
    One {
        origin: Span,
    },
    Running {
        origin: Span,
        mean: Nanos,
        deviation: Nanos,
    },
}

/// A value with the mean and deviation, all relative to the first value ever.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The value.
    pub value: Span,
    /// The mean.
    pub mean: Nanos,
    /// The mean deviation, not negative.
    pub deviation: Nanos,
}

impl MeanDeviation {
    /// A filter with gain 0 < `gain` <= 1/2 for the mean and twice that for the deviation.
    pub fn new(gain: f64, from: DeviationFrom, first: FirstDeviation) -> Self {
        Self {
            keep_mean: 1.0 - gain,
            gain_mean: gain,
            keep_deviation: 1.0 - 2.0 * gain,
            gain_deviation: 2.0 * gain,
            from,
            first,
            state: State::Empty,
        }
    }

    /// Observes a value.
    #[inline]
    pub fn observe(&mut self, value: Span) {
        match &mut self.state {
            State::Running { origin, mean, deviation } => {
                let value = (value - *origin).as_nanos_f64();
                let old_mean = *mean;
                // Cen III-C: rott_mean <- (1 - a) rott_mean + a rott.
                *mean = self.keep_mean * old_mean + self.gain_mean * value;
                let from = match self.from {
                    DeviationFrom::NewMean => *mean,
                    DeviationFrom::OldMean => old_mean,
                };
                // Cen III-C: rott_dev <- (1 - 2a) rott_dev + 2a |rott - rott_mean|.
                *deviation =
                    self.keep_deviation * *deviation + self.gain_deviation * (value - from).abs();
            }
            State::One { origin } => {
                let origin = *origin;
                let value = (value - origin).as_nanos_f64();
                self.state =
                    State::Running { origin, mean: self.gain_mean * value, deviation: value.abs() };
            }
            State::Empty => {
                self.state = match self.first {
                    FirstDeviation::Zero => {
                        let zero = Span::ZERO.as_nanos_f64();
                        State::Running { origin: value, mean: zero, deviation: zero }
                    }
                    FirstDeviation::FirstDistance => State::One { origin: value },
                };
            }
        }
    }

    /// A value with the current mean and deviation; `None` until both exist.
    #[inline]
    pub fn spread(&self, value: Span) -> Option<Spread> {
        match self.state {
            State::Running { origin, mean, deviation } => {
                Some(Spread { value: value - origin, mean, deviation })
            }
            State::Empty | State::One { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and deviation.
    fn fed(values: &[i64], from: DeviationFrom, first: FirstDeviation) -> [Nanos; 2] {
        let mut filter = MeanDeviation::new(0.25, from, first);
        for &v in values {
            filter.observe(Span::from_nanos(v));
        }
        let s = filter.spread(Span::ZERO).expect("fed");
        [s.mean, s.deviation]
    }

    #[test]
    fn mean_and_deviation_match_hand_worked_numbers() {
        // Gain 1/4, values 100, 116, 100, relative 0, 16, 0:
        // means 0, 4, 3; deviations from the new mean 0, 6, 4.5; from the old mean 0, 8, 6.
        use DeviationFrom::{NewMean, OldMean};
        let values = [100, 116, 100];
        assert_eq!(fed(&values, NewMean, FirstDeviation::Zero), [3.0, 4.5]);
        assert_eq!(fed(&values, OldMean, FirstDeviation::Zero), [3.0, 6.0]);
        // The first distance is 16: deviations 16, then 8 + 3/2 = 9.5 from the new mean.
        assert_eq!(fed(&values, NewMean, FirstDeviation::FirstDistance), [3.0, 9.5]);
    }

    #[test]
    fn the_previous_deviation_is_kept_with_its_weight() {
        // A constant input after one jump: the deviation must decay towards zero, whatever the
        // unit.
        for unit in [1, 1_000, 1_000_000] {
            let mut filter =
                MeanDeviation::new(1.0 / 32.0, DeviationFrom::NewMean, FirstDeviation::Zero);
            filter.observe(Span::from_nanos(50 * unit));
            for _ in 0..2_000 {
                filter.observe(Span::from_nanos(90 * unit));
            }
            let dev = filter.spread(Span::ZERO).expect("fed").deviation;
            assert!(dev < 1e-6 * unit as f64, "{dev:?}");
        }
    }

    #[test]
    fn a_mean_from_zero_differs_from_one_from_its_first_value() {
        let eight = Span::from_nanos(8).as_nanos_f64();
        let mut first = Mean::new(0.125);
        first.observe(eight);
        assert_eq!(first.get(), Some(eight));
        let mut zero = Mean::from_zero(0.125);
        zero.observe(eight);
        assert_eq!(zero.get().map(Span::floor), Some(Span::from_nanos(1)));
    }
}
