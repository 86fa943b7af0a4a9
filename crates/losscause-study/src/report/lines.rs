//! One panel of a figure as a drawing: a curve per system, with published values as rings.

use std::fmt::Write;

use super::chart::{escape, line, nice_ceiling, short};
use crate::papers::record::Item;
use crate::papers::record::{Number, Published};
use crate::papers::score::{lookup_number, tolerance};
use crate::report::curves::{Curve, Panel};

const WIDTH: f64 = 430.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 40.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 34.0;

/// Draws a panel; empty if it has no value. `labels` are those of the whole figure.
pub(super) fn svg(published: &Published, panel: &Panel<'_>, labels: &[String]) -> String {
    let Some(axes) = Axes::of(published, panel) else { return String::new() };
    let mut svg = String::new();
    let out = &mut svg;
    let label = escape(&format!("{} over {}, per system", panel.metric, panel.x));
    line(out, &format!(r#"<svg class="chart lines" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">"#));
    axes.draw(out, panel.x);
    for curve in &panel.curves {
        draw(out, published, curve, style(published, curve, labels), &axes);
    }
    line(out, "</svg>");
    svg
}

/// A short stroke with the curve's mark, for the legend.
pub(super) fn sample(published: &Published, curve: &Curve<'_>, labels: &[String]) -> String {
    let mut svg = String::new();
    let style = style(published, curve, labels);
    line(&mut svg, r#"<svg class="lines sample" width="34" height="14" viewBox="0 0 34 14" aria-hidden="true">"#);
    line(&mut svg, &format!(r#"<path class="curve s{style}" d="M1 7 H33"/>"#));
    mark(&mut svg, style, 17.0, 7.0, "");
    line(&mut svg, "</svg>");
    svg
}

/// Index of a curve's colour, dashes and mark. A system has the same index in every figure of the paper; curves that
/// differ in a parameter use their index in the legend.
fn style(published: &Published, curve: &Curve<'_>, labels: &[String]) -> usize {
    let place = match curve.value {
        None => published.system.iter().position(|s| s.name == curve.system),
        Some(_) => labels.iter().position(|label| *label == curve.label()),
    };
    place.unwrap_or(0) % STYLES
}

/// Number of colours of the page.
const STYLES: usize = 10;

fn draw(out: &mut String, published: &Published, curve: &Curve<'_>, style: usize, axes: &Axes) {
    let mut path = String::new();
    let mut pen_down = false;
    for (x, item) in &curve.points {
        // A missing value is a gap in the curve.
        let Some(value) = item.measured else {
            pen_down = false;
            continue;
        };
        let step = if pen_down { 'L' } else { 'M' };
        write!(path, "{step}{:.1} {:.1} ", axes.x(*x), axes.y(value)).expect("a string takes every text");
        pen_down = true;
    }
    line(out, &format!(r#"<path class="curve s{style}" d="{}"/>"#, path.trim_end()));
    for (x, item) in &curve.points {
        let x = axes.x(*x);
        if let Some(value) = item.measured {
            let ci95 = item.ci95.unwrap_or(0.0);
            let (upper, lower) = (axes.y(value + ci95), axes.y(value - ci95));
            line(
                out,
                &format!(r#"<line class="whisker s{style}" x1="{x:.1}" x2="{x:.1}" y1="{upper:.1}" y2="{lower:.1}"/>"#),
            );
            let label = curve.label();
            let title = format!("{label}, {}: {} ± {}", item.metric, item.measured_text(), item.ci95_text());
            mark(out, style, x, axes.y(value), &title);
        }
        if let Some(number) = printed(published, item) {
            let (upper, lower) = (axes.y(number.value + tolerance(number)), axes.y(number.value - tolerance(number)));
            line(
                out,
                &format!(r#"<line class="allowed s{style}" x1="{x:.1}" x2="{x:.1}" y1="{upper:.1}" y2="{lower:.1}"/>"#),
            );
            let title = format!("{} published: {}", item.system, number.value);
            let y = axes.y(number.value);
            line(
                out,
                &format!(
                    r#"<circle class="ring s{style}" cx="{x:.1}" cy="{y:.1}" r="6"><title>{}</title></circle>"#,
                    escape(&title)
                ),
            );
        }
    }
}

/// The published number that the item measures.
fn printed<'a>(published: &'a Published, item: &Item) -> Option<&'a Number> {
    published.number.iter().find(|n| n.counts() && lookup_number(std::slice::from_ref(item), n).is_some())
}

/// Marks differ in shape, so that a print in grey is legible.
fn mark(out: &mut String, style: usize, x: f64, y: f64, title: &str) {
    let r = 3.2;
    let d = match style % 5 {
        0 => format!("M{:.1} {:.1}h{w:.1}v{w:.1}h-{w:.1}z", x - r, y - r, w = 2.0 * r),
        1 => format!("M{x:.1} {:.1}l{r:.1} {h:.1}h-{w:.1}z", y - r, h = 1.8 * r, w = 2.0 * r),
        2 => format!("M{x:.1} {:.1}l{r:.1} {r:.1}l-{r:.1} {r:.1}l-{r:.1} -{r:.1}z", y - r),
        3 => format!("M{x:.1} {:.1}l{r:.1} -{h:.1}h-{w:.1}z", y + r, h = 1.8 * r, w = 2.0 * r),
        _ => format!("M{:.1} {y:.1}a{r:.1} {r:.1} 0 1 0 {w:.1} 0a{r:.1} {r:.1} 0 1 0 -{w:.1} 0z", x - r, w = 2.0 * r),
    };
    line(out, &format!(r#"<path class="mark s{style}" d="{d}"><title>{}</title></path>"#, escape(title)));
}

/// Positions of values in the drawing. The vertical axis begins at zero.
struct Axes {
    left: f64,
    right: f64,
    /// Whether the horizontal axis is logarithmic.
    logarithmic: bool,
    top: f64,
    ticks: Vec<f64>,
}

impl Axes {
    fn of(published: &Published, panel: &Panel<'_>) -> Option<Self> {
        let points = || panel.curves.iter().flat_map(|curve| &curve.points);
        let ticks = panel.places();
        let (left, right) = (*ticks.first()?, *ticks.last()?);
        let printed = |item: &Item| printed(published, item).map_or(0.0, |n| n.value + tolerance(n));
        // Intervals may exceed the drawing, so that a wide one does not flatten the curves.
        let measured = points().filter_map(|(_, item)| item.measured).fold(0.0, f64::max);
        let top = points().map(|(_, item)| printed(item)).fold(measured, f64::max);
        // Percentages end at 100, fractions at 1, whatever the tolerance.
        let whole = panel.unit == "percent" && measured <= 101.0;
        let top = if whole { nice_ceiling(top).min(100.0) } else { nice_ceiling(top) };
        let logarithmic = left > 0.0 && right / left > 20.0;
        (top > 0.0).then_some(Self { left, right, logarithmic, top, ticks })
    }

    fn x(&self, value: f64) -> f64 {
        let at = |v: f64| if self.logarithmic { v.ln() } else { v };
        let span = at(self.right) - at(self.left);
        let share = if span > 0.0 { (at(value) - at(self.left)) / span } else { 0.5 };
        LEFT + 10.0 + share * (WIDTH - LEFT - RIGHT - 20.0)
    }

    fn y(&self, value: f64) -> f64 {
        TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - (value / self.top).clamp(0.0, 1.0))
    }

    fn draw(&self, out: &mut String, name: &str) {
        let (end, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for step in 0..=4 {
            let value = self.top * f64::from(step) / 4.0;
            let y = self.y(value);
            line(out, &format!(r#"<line class="grid" x1="{LEFT}" x2="{end}" y1="{y:.1}" y2="{y:.1}"/>"#));
            let (x, y) = (LEFT - 6.0, y + 4.0);
            line(out, &format!(r#"<text class="tick" x="{x}" y="{y:.1}">{}</text>"#, short(value)));
        }
        for (&tick, text) in self.ticks.iter().zip(tick_texts(&self.ticks)) {
            let (x, y) = (self.x(tick), bottom + 15.0);
            line(out, &format!(r#"<text class="name" x="{x:.1}" y="{y:.1}">{text}</text>"#));
        }
        let (x, y) = ((LEFT + end) / 2.0, HEIGHT - 4.0);
        line(out, &format!(r#"<text class="name" x="{x:.1}" y="{y:.1}">{}</text>"#, escape(name)));
    }
}

/// Writes powers of two below one as fractions, if all values below one are such.
fn tick_texts(ticks: &[f64]) -> Vec<String> {
    let below = |tick: &f64| *tick > 0.0 && *tick < 1.0;
    let is_power = |tick: &f64| tick.recip().log2().fract() == 0.0;
    let fractions = ticks.iter().filter(|tick| below(tick)).all(is_power);
    let text = |tick: &f64| if fractions && below(tick) { format!("1/{}", tick.recip()) } else { short(*tick) };
    ticks.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXES: Axes = Axes { left: 1.0, right: 16.0, logarithmic: false, top: 100.0, ticks: Vec::new() };

    #[test]
    fn places_grow_to_the_right_and_upwards_and_stay_inside() {
        assert_eq!(AXES.x(1.0), LEFT + 10.0);
        assert_eq!(AXES.x(16.0), WIDTH - RIGHT - 10.0);
        assert!(AXES.x(2.0) < AXES.x(4.0));
        assert_eq!(AXES.y(0.0), HEIGHT - BOTTOM);
        assert_eq!(AXES.y(130.0), TOP);
    }

    #[test]
    fn a_wide_axis_is_divided_by_factors() {
        let axes = Axes { left: 0.25, right: 64.0, logarithmic: true, ..AXES };
        let step = axes.x(0.5) - axes.x(0.25);
        assert!((axes.x(64.0) - axes.x(32.0) - step).abs() < 1e-9);
        assert_eq!(tick_texts(&[0.03125, 0.5, 1.25]), ["1/32", "1/2", "1.25"]);
        assert_eq!(tick_texts(&[0.0, 0.1, 0.5, 1.0]), ["0", "0.1", "0.5", "1"]);
    }
}
