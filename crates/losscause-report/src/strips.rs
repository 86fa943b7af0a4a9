//! One metric of several variants: every run as a tick, the mean as a dot with its interval.

use super::axis::Axis;
use super::chart::{Chart, Form, Scale, shortened};
use super::lines::COLOURS;
use losscause_study::statistics::Interval;

const FORM: Form = Form {
    width: 430.0,
    height: 28.0,
    left: 110.0,
    right: 14.0,
    top: 6.0,
    bottom: 22.0,
    inset: 0.0,
};
/// The height of a variant.
const ROW: f64 = 26.0;
/// Half the length of a run's tick, of a variant's height.
const TICK: f64 = 0.3;

/// A variant's runs.
pub(super) struct Strip<'a> {
    pub(super) name: &'a str,
    /// The variant's number, which gives its colour.
    pub(super) number: usize,
    /// One per run that has a value.
    pub(super) values: Vec<f64>,
    pub(super) mean: Option<f64>,
    pub(super) ci95: Option<f64>,
}

/// Draws the strips below each other over one axis; empty if no run has a value.
pub(super) fn svg(title: &str, unit: &str, strips: &[Strip<'_>]) -> String {
    let values: Vec<(f64, Option<Interval>)> = strips.iter().flat_map(extent).collect();
    let Some(axis) = Axis::around_intervals(&values, unit) else { return String::new() };
    let form = Form { height: FORM.height + ROW * strips.len() as f64, ..FORM };
    let names = strips.iter().map(|strip| shortened(strip.name, 16));
    let rows = Scale::of_names(names).downwards();
    let label = format!("{title}, per variant");
    let mut chart = Chart::new("strips", &label, form, &Scale::of("", axis), &rows);
    for (strip, (y, _)) in strips.iter().zip(&rows.ticks) {
        let style = format!("s{}", strip.number % COLOURS);
        for value in &strip.values {
            chart.stroke(&format!("run {style}"), (*value, y - TICK), (*value, y + TICK));
        }
        let Some(mean) = strip.mean else { continue };
        if let Some(ci95) = strip.ci95 {
            let end = |value: f64| (value.clamp(axis.least, axis.most), *y);
            chart.stroke(&format!("interval {style}"), end(mean - ci95), end(mean + ci95));
        }
        chart.circle(&format!("mean {style}"), (mean, *y), 4.5, "");
    }
    chart.finish()
}

/// All values of a strip, and its mean with its interval.
fn extent(strip: &Strip<'_>) -> Vec<(f64, Option<Interval>)> {
    let mean = strip.mean.map(|mean| (mean, strip.ci95.map(|ci95| Interval::around(mean, ci95))));
    strip.values.iter().map(|value| (*value, None)).chain(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(name: &str, values: &[f64]) -> Strip<'static> {
        let name = Box::leak(name.to_owned().into_boxed_str());
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Strip { name, number: 0, values: values.to_vec(), mean: Some(mean), ci95: Some(0.0) }
    }

    #[test]
    fn every_run_is_drawn_and_a_long_name_is_shortened() {
        let drawn = svg(
            "goodput",
            "kb/s",
            &[strip("none", &[1.0, 2.0]), strip("a variant with a long name", &[3.0, 4.0, 5.0])],
        );
        assert_eq!(drawn.matches("class=\"run ").count(), 5);
        assert_eq!(drawn.matches("class=\"mean ").count(), 2);
        assert!(drawn.contains("a variant with …") && !drawn.contains("NaN"));
    }
}
