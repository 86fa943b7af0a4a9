//! An axis of a drawing: round ends around the values, positions, ticks.

use losscause_laboratory::papers::record::is_tiny;
use losscause_study::statistics::Interval;

/// An axis between two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    /// The value at its beginning.
    pub(super) least: f64,
    /// The value at its end; below `least` if the axis of a list goes down.
    pub(super) most: f64,
    /// Whether equal distances are equal factors; both ends are then positive.
    pub(super) logarithmic: bool,
}

/// Of the largest value: if the smallest is above this, the axis does not begin at zero.
const FAR_FROM_ZERO: f64 = 0.6;

impl Axis {
    /// A linear axis with exactly these ends.
    pub(super) fn linear(least: f64, most: f64) -> Self {
        Self { least, most, logarithmic: false }
    }

    /// From 0 to a round number that is at least `most`, which is positive.
    pub(super) fn from_zero(most: f64) -> Self {
        Self::linear(0.0, nice_ceiling(most))
    }

    /// Round ends around the values: from 0, or from the smallest value, rounded down, if that is
    /// far from 0. None without a value.
    pub(super) fn around(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let ends = values.into_iter().fold(None, |ends: Option<(f64, f64)>, value| {
            let (least, most) = ends.unwrap_or((value, 0.0));
            Some((least.min(value), most.max(value)))
        });
        let (least, most) = ends.filter(|(least, most)| least.is_finite() && most.is_finite())?;
        if least < 0.0 {
            let step = round_step(most - least, 6.0);
            return Some(Self::linear((least / step).floor() * step, (most / step).ceil() * step));
        }
        let is_far = least > FAR_FROM_ZERO * most;
        let least = if is_far { nice_floor(least, (most - least).max(most * 1e-6)) } else { 0.0 };
        let span = if most > least { nice_ceiling(most - least) } else { 1.0 };
        Some(Self::linear(least, least + span))
    }

    /// As [`Axis::around`] the values and their intervals. Where no value is negative, or none
    /// above 100 % of a whole, no interval makes the axis longer than that.
    pub(super) fn around_intervals(values: &[(f64, Option<Interval>)], unit: &str) -> Option<Self> {
        let is_positive = values.iter().all(|(value, _)| *value >= 0.0);
        let is_share = unit == "percent" && values.iter().all(|(value, _)| *value <= 100.0);
        let ends = values.iter().flat_map(|(value, interval)| {
            interval.map_or([*value, *value], |Interval { low, high }| [low, high])
        });
        let least = if is_positive { 0.0 } else { f64::NEG_INFINITY };
        let most = if is_share { 100.0 } else { f64::INFINITY };
        let axis = Self::around(ends.map(|end| end.clamp(least, most)))?;
        Some(if is_share { Self { most: axis.most.min(100.0), ..axis } } else { axis })
    }

    /// Where a value stands, from 0 at the beginning to 1 at the end; a value beyond an end stands
    /// there.
    pub(super) fn share(&self, value: f64) -> f64 {
        self.place(value).clamp(0.0, 1.0)
    }

    /// As [`Axis::share`], also beyond the ends. In the middle if the axis has no length.
    pub(super) fn place(&self, value: f64) -> f64 {
        let at =
            |value: f64| if self.logarithmic { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let span = at(self.most) - at(self.least);
        if span == 0.0 { 0.5 } else { (at(value) - at(self.least)) / span }
    }

    /// Values to write at it: quarters, or powers of ten.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if !self.logarithmic && self.least < 0.0 {
            let is_whole = |value: f64| (value - value.round()).abs() < 1e-6;
            let divides = |step: &f64| is_whole(self.least / step) && is_whole(self.most / step);
            let step =
                round_steps(self.most - self.least, 8.0).find(divides).unwrap_or(-self.least);
            let first = (self.least / step).round() as i64;
            let last = (self.most / step).round() as i64;
            return (first..=last).map(|k| k as f64 * step).collect();
        }
        if !self.logarithmic {
            return [0.0, 0.25, 0.5, 0.75, 1.0]
                .map(|share| self.least + share * (self.most - self.least))
                .to_vec();
        }
        let power = |value: f64| value.log10();
        let first = (power(self.least) - 1e-9).ceil() as i32;
        let last = (power(self.most) + 1e-9).floor() as i32;
        let decades = (first..=last).map(|power| 10f64.powi(power));
        let factors: &[f64] = if last - first < 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let within =
            |value: &f64| *value >= self.least * (1.0 - 1e-9) && *value <= self.most * (1.0 + 1e-9);
        let before = 10f64.powi(first - 1);
        [before]
            .into_iter()
            .chain(decades)
            .flat_map(|decade| factors.iter().map(move |f| f * decade))
            .filter(within)
            .collect()
    }

    /// Round values, from five to a dozen of them, for a long linear axis.
    pub(super) fn round_ticks(&self) -> Vec<f64> {
        let step = round_step(self.most - self.least, 12.0);
        let first = (self.least / step - 1e-9).ceil() as i64;
        let last = (self.most / step + 1e-9).floor() as i64;
        (first..=last).map(|k| k as f64 * step).collect()
    }
}

/// A round step that divides `span` (positive) into at most `most` parts.
fn round_step(span: f64, most: f64) -> f64 {
    round_steps(span, most).next().unwrap_or(span)
}

/// All such steps, the smallest first.
fn round_steps(span: f64, most: f64) -> impl Iterator<Item = f64> {
    let unit = 10f64.powf(span.log10().floor());
    [0.1, 0.2, 0.5, 1.0].into_iter().map(move |m| m * unit).filter(move |step| span / step <= most)
}

/// The smallest value of at least `value` (positive) whose quarters are round.
pub(super) fn nice_ceiling(value: f64) -> f64 {
    let unit = 10f64.powf(value.log10().floor());
    [1.0, 1.2, 1.6, 2.0, 2.4, 3.2, 4.0, 6.0, 8.0, 10.0]
        .into_iter()
        .map(|m| m * unit)
        .find(|&v| v >= value)
        .unwrap_or(value)
}

/// The largest multiple of a power of ten near `span` (positive) that is not above `value`.
fn nice_floor(value: f64, span: f64) -> f64 {
    let unit = 10f64.powf(span.log10().floor());
    (value / unit).floor() * unit
}

/// A value at an axis or beside one: at most three decimals, none from 1000 on.
pub(super) fn short(value: f64) -> String {
    if is_tiny(value) {
        return format!("{value:.1e}");
    }
    let decimals = if value.abs() >= 1000.0 { 0 } else { 3 };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_ends_at_a_round_number_above_all_values() {
        assert_eq!(nice_ceiling(113.9), 120.0);
        assert_eq!(nice_ceiling(2.6), 3.2);
        assert_eq!(nice_ceiling(0.1), 0.1);
    }

    #[test]
    fn an_axis_begins_at_zero_unless_all_values_are_far_from_it() {
        let ends = |values: &[f64]| {
            let Axis { least, most, .. } = Axis::around(values.iter().copied()).unwrap();
            (least, most)
        };
        assert_eq!(ends(&[20.0, 75.0]), (0.0, 80.0));
        assert_eq!(ends(&[40.5, 47.0]), (40.0, 48.0));
        assert_eq!(ends(&[104.0, 117.0]), (100.0, 120.0));
        assert_eq!(ends(&[-3.0, 10.0]), (-5.0, 10.0));
        let around = |values: [(f64, f64); 2], unit: &str| {
            let values = values.map(|(value, ci95)| (value, Some(Interval::around(value, ci95))));
            Axis::around_intervals(&values, unit).unwrap()
        };
        assert_eq!(around([(1.9, 2.4), (67.0, 34.0)], "percent"), Axis::linear(0.0, 100.0));
        assert_eq!(around([(1.0, 2.0), (99.0, 2.0)], "kb/s"), Axis::linear(0.0, 120.0));
        assert_eq!(
            Axis::around_intervals(&[(20.0, None), (75.0, None)], "kb/s").unwrap(),
            Axis::linear(0.0, 80.0)
        );
        let ticks = Axis::around([-4.0, 113.0]).unwrap().ticks();
        assert_eq!(ticks, [-20.0, 0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0]);
        assert_eq!(ends(&[0.0]), (0.0, 1.0));
        assert!(ends(&[7.0, 7.0]).1 > 7.0);
        assert!(Axis::around([]).is_none());
    }

    #[test]
    fn an_axis_of_shares_ends_at_all() {
        let axis = |unit| Axis::around_intervals(&[(70.0, None), (99.5, None)], unit).unwrap();
        assert_eq!(axis("percent"), Axis::linear(70.0, 100.0));
        assert_eq!(axis("kb/s"), Axis::linear(70.0, 102.0));
    }

    #[test]
    fn small_numbers_on_an_axis_are_not_all_zero() {
        assert_eq!(
            [0.0, 2.5e-5, 0.001, 0.25, 30.0, 12000.0].map(short),
            ["0", "2.5e-5", "0.001", "0.25", "30", "12000"]
        );
    }

    #[test]
    fn values_grow_along_the_axis_and_stay_inside() {
        let axis = Axis::from_zero(100.0);
        assert_eq!([0.0, 50.0, 100.0, 250.0].map(|value| axis.share(value)), [0.0, 0.5, 1.0, 1.0]);
        let decades = Axis { least: 0.001, most: 1.0, logarithmic: true };
        assert!((decades.share(0.1) - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(decades.ticks().len(), 4);
        let short = Axis { least: 1.0, most: 20.0, logarithmic: true };
        assert_eq!(short.ticks(), [1.0, 2.0, 5.0, 10.0, 20.0]);
    }

    #[test]
    fn instants_on_the_axis_are_round_and_not_too_many() {
        let ticks = |from, to| Axis::linear(from, to).round_ticks();
        assert_eq!(ticks(40.0, 80.0), [40.0, 45.0, 50.0, 55.0, 60.0, 65.0, 70.0, 75.0, 80.0]);
        assert_eq!(ticks(0.0, 10.0).len(), 11);
        for (from, to) in [(0.0, 1.2), (145.5, 147.0), (0.0, 200.0), (3.3, 3.9)] {
            let found = ticks(from, to);
            let inside = found.iter().all(|t| *t >= from - 1e-6 && *t <= to + 1e-6);
            assert!((3..=13).contains(&found.len()) && inside, "{found:?}");
        }
    }
}
