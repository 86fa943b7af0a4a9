//! One metric of several variants: every run as a tick, the mean as a dot with its interval.

use super::axis::{Axis, short};
use super::svg::{escape, line};
use losscause_study::statistics::Interval;

const WIDTH: f64 = 430.0;
const LEFT: f64 = 110.0;
const RIGHT: f64 = 14.0;
const ROW: f64 = 26.0;
const TOP: f64 = 6.0;
const BOTTOM: f64 = 22.0;

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
    let bottom = TOP + ROW * strips.len() as f64;
    let mut svg = String::new();
    let out = &mut svg;
    let height = bottom + BOTTOM;
    let label = escape(&format!("{title}, per variant"));
    line(
        out,
        &format!(
            r#"<svg class="chart strips" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">"#
        ),
    );
    for tick in axis.ticks() {
        let x = x(&axis, tick);
        line(
            out,
            &format!(r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{bottom}"/>"#),
        );
        let y = bottom + 15.0;
        line(out, &format!(r#"<text class="name" x="{x:.1}" y="{y:.1}">{}</text>"#, short(tick)));
    }
    for (place, strip) in strips.iter().enumerate() {
        let y = TOP + ROW * (place as f64 + 0.5);
        let style = strip.number % STYLES;
        let name = escape(&shortened(strip.name));
        line(
            out,
            &format!(r#"<text class="tick" x="{}" y="{:.1}">{name}</text>"#, LEFT - 8.0, y + 4.0),
        );
        for value in &strip.values {
            let x = x(&axis, *value);
            line(
                out,
                &format!(
                    r#"<line class="run s{style}" x1="{x:.1}" x2="{x:.1}" y1="{:.1}" y2="{:.1}"/>"#,
                    y - 8.0,
                    y + 8.0
                ),
            );
        }
        let Some(mean) = strip.mean else { continue };
        if let Some(ci95) = strip.ci95 {
            let from = x(&axis, mean - ci95);
            let to = x(&axis, mean + ci95);
            line(
                out,
                &format!(
                    r#"<line class="interval s{style}" x1="{from:.1}" x2="{to:.1}" y1="{y:.1}" y2="{y:.1}"/>"#
                ),
            );
        }
        line(
            out,
            &format!(
                r#"<circle class="mean s{style}" cx="{:.1}" cy="{y:.1}" r="4.5"/>"#,
                x(&axis, mean)
            ),
        );
    }
    line(out, "</svg>");
    svg
}

/// Number of colours of the page.
const STYLES: usize = 10;

/// A name in at most 16 characters.
fn shortened(name: &str) -> String {
    if name.chars().count() <= 16 {
        name.to_owned()
    } else {
        name.chars().take(15).chain(['…']).collect()
    }
}

/// All values of a strip, and its mean with its interval.
fn extent(strip: &Strip<'_>) -> Vec<(f64, Option<Interval>)> {
    let mean = strip.mean.map(|mean| (mean, strip.ci95.map(|ci95| Interval::around(mean, ci95))));
    strip.values.iter().map(|value| (*value, None)).chain(mean).collect()
}

/// Where a value stands on the horizontal axis.
fn x(axis: &Axis, value: f64) -> f64 {
    LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT)
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
