//! One metric of several variants: every run as a tick, the mean as a dot with its interval.

use super::chart::{escape, line, nice_ceiling, short};

const WIDTH: f64 = 430.0;
const LEFT: f64 = 110.0;
const RIGHT: f64 = 14.0;
const ROW: f64 = 26.0;
const TOP: f64 = 6.0;
const BOTTOM: f64 = 22.0;

/// A variant's runs.
pub(super) struct Strip<'a> {
    pub(super) name: &'a str,
    /// One per run that has a value.
    pub(super) values: Vec<f64>,
    pub(super) mean: Option<f64>,
    pub(super) ci95: Option<f64>,
}

/// Draws the strips below each other over one axis; empty if no run has a value.
pub(super) fn svg(title: &str, strips: &[Strip<'_>]) -> String {
    let Some(axis) = Axis::of(strips) else { return String::new() };
    let bottom = TOP + ROW * strips.len() as f64;
    let mut svg = String::new();
    let out = &mut svg;
    let (height, label) = (bottom + BOTTOM, escape(&format!("{title}, per variant")));
    line(out, &format!(r#"<svg class="chart strips" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">"#));
    for tick in axis.ticks() {
        let x = axis.x(tick);
        line(out, &format!(r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{bottom}"/>"#));
        let y = bottom + 15.0;
        line(out, &format!(r#"<text class="name" x="{x:.1}" y="{y:.1}">{}</text>"#, short(tick)));
    }
    for (place, strip) in strips.iter().enumerate() {
        let (y, style) = (TOP + ROW * (place as f64 + 0.5), place % STYLES);
        let name = escape(&shortened(strip.name));
        line(out, &format!(r#"<text class="tick" x="{}" y="{:.1}">{name}</text>"#, LEFT - 8.0, y + 4.0));
        for value in &strip.values {
            let x = axis.x(*value);
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
            let (from, to) = (axis.x(mean - ci95), axis.x(mean + ci95));
            line(
                out,
                &format!(r#"<line class="interval s{style}" x1="{from:.1}" x2="{to:.1}" y1="{y:.1}" y2="{y:.1}"/>"#),
            );
        }
        line(out, &format!(r#"<circle class="mean s{style}" cx="{:.1}" cy="{y:.1}" r="4.5"/>"#, axis.x(mean)));
    }
    line(out, "</svg>");
    svg
}

/// Number of colours of the page.
const STYLES: usize = 10;

/// A name in at most 16 characters.
fn shortened(name: &str) -> String {
    if name.chars().count() <= 16 { name.to_owned() } else { name.chars().take(15).chain(['…']).collect() }
}

/// The horizontal axis.
struct Axis {
    least: f64,
    most: f64,
}

impl Axis {
    /// From 0, or from the smallest value if all are positive and far from 0.
    fn of(strips: &[Strip<'_>]) -> Option<Self> {
        let ends = |strip: &Strip<'_>| {
            let interval = strip.mean.map(|mean| (mean, strip.ci95.unwrap_or(0.0)));
            interval.into_iter().flat_map(|(mean, ci95)| [mean - ci95, mean + ci95]).collect::<Vec<_>>()
        };
        let all: Vec<f64> = strips.iter().flat_map(|strip| strip.values.iter().copied().chain(ends(strip))).collect();
        let (least, most) =
            (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(0.0, f64::max));
        if all.is_empty() || !least.is_finite() {
            return None;
        }
        let floor = if least > 0.6 * most {
            let unit = 10f64.powf((most - least).max(most * 1e-6).log10().floor());
            (least / unit).floor() * unit
        } else if least < 0.0 {
            -nice_ceiling(-least)
        } else {
            0.0
        };
        let span = if most > floor { nice_ceiling(most - floor) } else { 1.0 };
        Some(Self { least: floor, most: floor + span })
    }

    fn x(&self, value: f64) -> f64 {
        let share = ((value - self.least) / (self.most - self.least)).clamp(0.0, 1.0);
        LEFT + share * (WIDTH - LEFT - RIGHT)
    }

    fn ticks(&self) -> [f64; 5] {
        [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| self.least + share * (self.most - self.least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(name: &str, values: &[f64]) -> Strip<'static> {
        let name = Box::leak(name.to_owned().into_boxed_str());
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Strip { name, values: values.to_vec(), mean: Some(mean), ci95: Some(0.0) }
    }

    #[test]
    fn an_axis_begins_at_zero_unless_all_values_are_far_from_it() {
        let ends = |values: &[f64]| {
            let Axis { least, most } = Axis::of(&[strip("a", values)]).unwrap();
            (least, most)
        };
        assert_eq!(ends(&[20.0, 75.0]), (0.0, 80.0));
        assert_eq!(ends(&[40.5, 47.0]), (40.0, 48.0));
        assert_eq!(ends(&[-3.0, 10.0]).0, -3.2);
        assert!(ends(&[7.0, 7.0]).1 > 7.0);
        assert!(Axis::of(&[Strip { name: "a", values: vec![], mean: None, ci95: None }]).is_none());
    }

    #[test]
    fn every_run_is_drawn_and_a_long_name_is_shortened() {
        let drawn =
            svg("goodput", &[strip("none", &[1.0, 2.0]), strip("a variant with a long name", &[3.0, 4.0, 5.0])]);
        assert_eq!(drawn.matches("class=\"run ").count(), 5);
        assert_eq!(drawn.matches("class=\"mean ").count(), 2);
        assert!(drawn.contains("a variant with …") && !drawn.contains("NaN"));
    }
}
