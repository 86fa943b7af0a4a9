//! Curves over a horizontal axis, each with its intervals, its marks, and its name at its end;
//! published values as rings over them.

use std::fmt::{self, Write};

use super::axis::{Axis, short};
use super::svg::{escape, line};
use losscause_study::statistics::Interval;

const WIDTH: f64 = 470.0;
const HEIGHT: f64 = 244.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 92.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 38.0;

/// Number of colours of the page.
pub(super) const COLOURS: usize = 10;

/// How often a colour is used, each time with another mark and other dashes.
const VARIANTS: usize = 4;

/// Number of shapes of marks.
const SHAPES: usize = 5;

/// Colour, dashes and mark of a curve, as classes of the page: `s3`, or `s3 v1` where a colour is
/// used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    colour: usize,
    variant: usize,
}

impl Style {
    /// The style of the curve at this place; they repeat after 40.
    pub(super) fn nth(place: usize) -> Self {
        Self { colour: place % COLOURS, variant: place / COLOURS % VARIANTS }
    }

    fn shape(self) -> usize {
        (self.colour + self.variant) % SHAPES
    }
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.colour)?;
        if self.variant > 0 { write!(f, " v{}", self.variant) } else { Ok(()) }
    }
}

/// Most curves whose names stand at their ends.
const MOST_NAMED: usize = 10;

/// Most curves with bands.
const MOST_BANDS: usize = 4;

/// A drawing.
pub(super) struct Lines {
    /// What it shows, for those who cannot see it.
    pub(super) label: String,
    pub(super) across: Across,
    pub(super) up: Axis,
    /// What stands above the vertical axis, if anything.
    pub(super) up_name: String,
    pub(super) curves: Vec<Curve>,
}

/// The horizontal axis.
pub(super) struct Across {
    pub(super) name: String,
    pub(super) axis: Axis,
    /// Values to write at it.
    pub(super) ticks: Vec<(f64, String)>,
}

/// A curve.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) style: Style,
    pub(super) points: Vec<Point>,
}

/// A value of a curve.
#[derive(Clone)]
pub(super) struct Point {
    pub(super) x: f64,
    /// None is a gap in the curve.
    pub(super) value: Option<f64>,
    pub(super) interval: Option<Interval>,
    /// What it is, for hover.
    pub(super) title: String,
    pub(super) ring: Option<Ring>,
}

/// A published value with its tolerance.
#[derive(Clone)]
pub(super) struct Ring {
    pub(super) value: f64,
    pub(super) by: f64,
    pub(super) title: String,
}

impl Point {
    /// The point's interval, if that has a length to draw.
    fn wide_interval(&self) -> Option<Interval> {
        self.interval.filter(|interval| interval.is_wide())
    }
}

impl Across {
    /// An axis for these values, in rising order; logarithmic if they span more than a factor of
    /// 20.
    pub(super) fn of(name: &str, values: &[f64]) -> Option<Self> {
        let least = *values.first()?;
        let most = *values.last()?;
        let logarithmic = least > 0.0 && most / least > 20.0;
        let ticks = values.iter().copied().zip(tick_texts(values)).collect();
        Some(Self { name: name.to_owned(), axis: Axis { least, most, logarithmic }, ticks })
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + 10.0 + self.axis.place(value) * (WIDTH - LEFT - RIGHT - 20.0)
    }
}

impl Lines {
    /// The drawing; empty without a value.
    pub(super) fn svg(&self) -> String {
        let mut points = self.curves.iter().flat_map(|curve| &curve.points);
        if !points.any(|point| point.value.is_some() || point.ring.is_some()) {
            return String::new();
        }
        let mut svg = String::new();
        let out = &mut svg;
        let label = escape(&self.label);
        line(
            out,
            &format!(
                r#"<svg class="chart lines" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">"#
            ),
        );
        self.draw_axes(out);
        if self.has_bands() {
            self.curves.iter().for_each(|curve| self.draw_band(out, curve));
        }
        for curve in &self.curves {
            self.draw_curve(out, curve);
        }
        for curve in &self.curves {
            self.draw_rings(out, curve);
        }
        self.draw_names(out);
        line(out, "</svg>");
        svg
    }

    /// Whether intervals are bands. Many bands cover each other; then each value has a stroke
    /// instead.
    fn has_bands(&self) -> bool {
        self.curves.len() <= MOST_BANDS
    }

    fn y(&self, value: f64) -> f64 {
        TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - self.up.share(value))
    }

    fn draw_axes(&self, out: &mut String) {
        let end = WIDTH - RIGHT;
        let bottom = HEIGHT - BOTTOM;
        for value in self.up.ticks() {
            let y = self.y(value);
            line(
                out,
                &format!(r#"<line class="grid" x1="{LEFT}" x2="{end}" y1="{y:.1}" y2="{y:.1}"/>"#),
            );
            let x = LEFT - 6.0;
            let y = y + 4.0;
            line(out, &format!(r#"<text class="tick" x="{x}" y="{y:.1}">{}</text>"#, short(value)));
        }
        if !self.up_name.is_empty() {
            let name = escape(&self.up_name);
            line(out, &format!(r#"<text class="at" x="6" y="{:.1}">{name}</text>"#, TOP - 12.0));
        }
        let mut free_from = f64::NEG_INFINITY;
        for (tick, text) in &self.across.ticks {
            let x = self.across.x(*tick);
            let y = bottom + 15.0;
            let half = 3.3 * text.chars().count() as f64;
            // A tick that would run into the one before it has no text.
            if x - half < free_from {
                continue;
            }
            free_from = x + half + 4.0;
            line(
                out,
                &format!(r#"<text class="name" x="{x:.1}" y="{y:.1}">{}</text>"#, escape(text)),
            );
        }
        let x = (LEFT + end) / 2.0;
        let y = HEIGHT - 6.0;
        line(
            out,
            &format!(
                r#"<text class="name" x="{x:.1}" y="{y:.1}">{}</text>"#,
                escape(&self.across.name)
            ),
        );
    }

    /// The intervals as a band; a gap in the curve is a gap in it.
    fn draw_band(&self, out: &mut String, curve: &Curve) {
        let has_band = |point: &&Point| point.value.is_some() && point.wide_interval().is_some();
        for part in curve.points.split(|point| !has_band(&point)).filter(|part| part.len() > 1) {
            let mut path = String::new();
            let ends = |end: fn(Interval) -> f64| {
                part.iter().filter_map(move |p| Some((p.x, end(p.interval?))))
            };
            let below: Vec<(f64, f64)> = ends(|interval| interval.low).collect();
            for (k, (x, value)) in
                ends(|interval| interval.high).chain(below.into_iter().rev()).enumerate()
            {
                let step = if k == 0 { 'M' } else { 'L' };
                write!(path, "{step}{:.1} {:.1}", self.across.x(x), self.y(value))
                    .expect("a string takes every text");
            }
            line(out, &format!(r#"<path class="interval {}" d="{path}z"/>"#, curve.style));
        }
    }

    fn draw_curve(&self, out: &mut String, curve: &Curve) {
        let style = curve.style;
        let mut path = String::new();
        let mut pen_down = false;
        for point in &curve.points {
            let Some(value) = point.value else {
                pen_down = false;
                continue;
            };
            let step = if pen_down { 'L' } else { 'M' };
            write!(path, "{step}{:.1} {:.1} ", self.across.x(point.x), self.y(value))
                .expect("a string takes every text");
            pen_down = true;
        }
        if !path.is_empty() {
            line(out, &format!(r#"<path class="curve {style}" d="{}"/>"#, path.trim_end()));
        }
        for point in &curve.points {
            let Some(value) = point.value else { continue };
            let x = self.across.x(point.x);
            if let Some(interval) = point.wide_interval().filter(|_| !self.has_bands()) {
                let upper = self.y(interval.high);
                let lower = self.y(interval.low);
                line(
                    out,
                    &format!(
                        r#"<line class="whisker {style}" x1="{x:.1}" x2="{x:.1}" y1="{upper:.1}" y2="{lower:.1}"/>"#
                    ),
                );
            }
            let clipped = if self.up.place(value) > 1.0 + 1e-9 { " (above the axis)" } else { "" };
            mark(out, style, x, self.y(value), &format!("{}{clipped}", point.title));
        }
    }

    fn draw_rings(&self, out: &mut String, curve: &Curve) {
        let style = curve.style;
        for (x, ring) in
            curve.points.iter().filter_map(|point| Some((point.x, point.ring.as_ref()?)))
        {
            let x = self.across.x(x);
            let upper = self.y(ring.value + ring.by);
            let lower = self.y(ring.value - ring.by);
            line(
                out,
                &format!(
                    r#"<line class="allowed {style}" x1="{x:.1}" x2="{x:.1}" y1="{upper:.1}" y2="{lower:.1}"/>"#
                ),
            );
            let y = self.y(ring.value);
            let title = escape(&ring.title);
            line(
                out,
                &format!(
                    r#"<circle class="ring {style}" cx="{x:.1}" cy="{y:.1}" r="6"><title>{title}</title></circle>"#
                ),
            );
        }
    }

    /// The names of few curves at their ends, pushed apart where they would collide.
    fn draw_names(&self, out: &mut String) {
        if self.curves.len() < 2 || self.curves.len() > MOST_NAMED {
            return;
        }
        let end = |curve: &Curve| {
            curve.points.iter().rev().find_map(|point| Some((point.x, point.value?)))
        };
        let mut names: Vec<(f64, f64, &Curve)> = self
            .curves
            .iter()
            .filter_map(|curve| {
                end(curve).map(|(x, value)| (self.y(value), self.across.x(x), curve))
            })
            .collect();
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        let lines = names.iter().map(|(.., curve)| wrapped(&curve.name).len()).max().unwrap_or(1);
        let places = apart(
            &names.iter().map(|(y, ..)| *y).collect::<Vec<_>>(),
            NAME_LINE * lines as f64,
            (TOP, HEIGHT - BOTTOM),
        );
        for ((y, x, curve), place) in names.iter().zip(places) {
            let style = curve.style;
            let name = wrapped(&curve.name);
            let at = WIDTH - RIGHT + 8.0;
            line(
                out,
                &format!(
                    r#"<path class="leader {style}" d="M{:.1} {y:.1}L{:.1} {place:.1}"/>"#,
                    x + 5.0,
                    at - 3.0
                ),
            );
            let first = place + 3.5 - NAME_LINE * (name.len() as f64 - 1.0) / 2.0;
            let parts: String = (0..)
                .zip(&name)
                .map(|(n, part)| {
                    let y = first + NAME_LINE * f64::from(n);
                    format!(r#"<tspan x="{at:.1}" y="{y:.1}">{}</tspan>"#, escape(part))
                })
                .collect();
            let whole = escape(&curve.name);
            line(
                out,
                &format!(r#"<text class="end {style}">{parts}<title>{whole}</title></text>"#),
            );
        }
    }
}

/// Rising places at least `distance` apart, each as near to its own as that allows, within the ends
/// if there is room.
pub(super) fn apart(places: &[f64], distance: f64, (least, most): (f64, f64)) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::with_capacity(places.len());
    for place in places {
        let free = found.last().map_or(least, |before| before + distance);
        found.push(place.max(free));
    }
    let mut room = most;
    for place in found.iter_mut().rev() {
        *place = place.min(room);
        room = *place - distance;
    }
    found
}

/// Distance of two lines of a name.
const NAME_LINE: f64 = 11.0;

/// A name in at most two lines of 14 characters, broken between words.
fn wrapped(name: &str) -> Vec<String> {
    const LINE: usize = 14;
    let mut lines = vec![String::new()];
    for word in name.split_whitespace() {
        let last = lines.len() - 1;
        let length = lines[last].chars().count();
        if length == 0 {
            lines[last] += word;
        } else if length + 1 + word.chars().count() <= LINE || last == 1 {
            lines[last] += &format!(" {word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    let cut = |line: String| match line.chars().count() > LINE {
        true => line.chars().take(LINE - 1).chain(['…']).collect(),
        false => line,
    };
    lines.into_iter().map(cut).collect()
}

/// A short stroke with the curve's mark, for a legend.
pub(super) fn sample(style: Style) -> String {
    let mut svg = String::new();
    line(
        &mut svg,
        r#"<svg class="lines sample" width="34" height="14" viewBox="0 0 34 14" aria-hidden="true">"#,
    );
    line(&mut svg, &format!(r#"<path class="curve {style}" d="M1 7 H33"/>"#));
    mark(&mut svg, style, 17.0, 7.0, "");
    line(&mut svg, "</svg>");
    svg
}

/// Marks differ in shape, so that a print in grey is legible.
pub(super) fn mark(out: &mut String, style: Style, x: f64, y: f64, title: &str) {
    let r = 3.2;
    let d = match style.shape() {
        0 => format!("M{:.1} {:.1}h{w:.1}v{w:.1}h-{w:.1}z", x - r, y - r, w = 2.0 * r),
        1 => format!("M{x:.1} {:.1}l{r:.1} {h:.1}h-{w:.1}z", y - r, h = 1.8 * r, w = 2.0 * r),
        2 => format!("M{x:.1} {:.1}l{r:.1} {r:.1}l-{r:.1} {r:.1}l-{r:.1} -{r:.1}z", y - r),
        3 => format!("M{x:.1} {:.1}l{r:.1} -{h:.1}h-{w:.1}z", y + r, h = 1.8 * r, w = 2.0 * r),
        _ => format!(
            "M{:.1} {y:.1}a{r:.1} {r:.1} 0 1 0 {w:.1} 0a{r:.1} {r:.1} 0 1 0 -{w:.1} 0z",
            x - r,
            w = 2.0 * r
        ),
    };
    line(
        out,
        &format!(r#"<path class="mark {style}" d="{d}"><title>{}</title></path>"#, escape(title)),
    );
}

/// Writes powers of two below one as fractions, if all values below one are such.
fn tick_texts(ticks: &[f64]) -> Vec<String> {
    let below = |tick: &f64| *tick > 0.0 && *tick < 1.0;
    let is_power = |tick: &f64| tick.recip().log2().fract() == 0.0;
    let fractions = ticks.iter().filter(|tick| below(tick)).all(is_power);
    let text = |tick: &f64| {
        if fractions && below(tick) { format!("1/{}", tick.recip()) } else { short(*tick) }
    };
    ticks.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(values: &[(f64, Option<f64>, f64)]) -> Lines {
        let point = |&(x, value, ci95): &(f64, Option<f64>, f64)| Point {
            x,
            value,
            interval: value.map(|value| Interval::around(value, ci95)),
            title: "t".into(),
            ring: None,
        };
        let curve = |name: &str| Curve {
            name: name.into(),
            style: Style::nth(0),
            points: values.iter().map(point).collect(),
        };
        let places: Vec<f64> = values.iter().map(|(x, ..)| *x).collect();
        Lines {
            label: "l".into(),
            across: Across::of("N", &places).unwrap(),
            up: Axis::from_zero(100.0),
            up_name: String::new(),
            curves: vec![curve("a"), curve("b & c")],
        }
    }

    #[test]
    fn places_grow_to_the_right_and_upwards_and_stay_inside() {
        let drawn = lines(&[(1.0, Some(5.0), 1.0), (16.0, Some(7.0), 1.0)]);
        assert_eq!(drawn.across.x(1.0), LEFT + 10.0);
        assert_eq!(drawn.across.x(16.0), WIDTH - RIGHT - 10.0);
        assert_eq!((drawn.y(0.0), drawn.y(130.0)), (HEIGHT - BOTTOM, TOP));
        assert!(drawn.svg().contains(">b &amp; c</tspan>"), "the name stands at the curve's end");
    }

    #[test]
    fn a_missing_value_is_a_gap_in_the_curve_and_in_its_band() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0].map(|x| (x, (x != 3.0).then_some(50.0), 2.0));
        let drawn = lines(&values).svg();
        assert_eq!(drawn.matches("class=\"interval ").count(), 4, "two parts of each curve");
        assert_eq!(lines(&[(1.0, None, 0.0)]).svg(), "");
    }

    #[test]
    fn a_wide_axis_is_divided_by_factors() {
        let across = Across::of("bw", &[0.25, 0.5, 32.0, 64.0]).unwrap();
        let step = across.x(0.5) - across.x(0.25);
        assert!((across.x(64.0) - across.x(32.0) - step).abs() < 1e-9);
        assert_eq!(tick_texts(&[0.03125, 0.5, 1.25]), ["1/32", "1/2", "1.25"]);
        assert_eq!(tick_texts(&[0.0, 0.1, 0.5, 1.0]), ["0", "0.1", "0.5", "1"]);
    }

    #[test]
    fn forty_curves_all_look_different() {
        let looks: std::collections::BTreeSet<(String, usize)> =
            (0..40).map(Style::nth).map(|style| (style.to_string(), style.shape())).collect();
        assert_eq!(looks.len(), 40);
        assert_eq!(
            [0, 9, 10, 23, 40].map(|place| Style::nth(place).to_string()),
            ["s0", "s9", "s0 v1", "s3 v2", "s0"]
        );
        // In print, where colours are grey: the four curves of a colour have four shapes.
        let shapes: std::collections::BTreeSet<usize> =
            [3, 13, 23, 33].map(|place| Style::nth(place).shape()).into();
        assert_eq!(shapes.len(), 4);
    }

    #[test]
    fn a_long_name_has_two_lines_and_is_cut_only_after_them() {
        assert_eq!(wrapped("Spike"), ["Spike"]);
        assert_eq!(wrapped("Spike, safeguards"), ["Spike,", "safeguards"]);
        assert_eq!(wrapped("Sift, loss 0.17 %"), ["Sift, loss", "0.17 %"]);
        assert_eq!(
            wrapped("a-name-of-one-long-word and more of it"),
            ["a-name-of-one…", "and more of it"]
        );
    }

    #[test]
    fn names_that_would_collide_are_pushed_apart() {
        assert_eq!(apart(&[10.0, 12.0, 60.0], 11.0, (0.0, 100.0)), [10.0, 21.0, 60.0]);
        assert_eq!(apart(&[95.0, 99.0], 11.0, (0.0, 100.0)), [89.0, 100.0]);
    }
}
