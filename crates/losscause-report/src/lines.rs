//! Curves over a horizontal axis, each with its intervals, its marks, and its name at its end;
//! published values as rings over them.

use std::fmt;

use super::axis::{Axis, short};
use super::chart::{At, Chart, Form, Scale, Shape, Stroke};
use losscause_study::statistics::Interval;

const FORM: Form = Form { inset: 10.0, ..Form::new((470.0, 244.0), [24.0, 92.0, 38.0, 48.0]) };

/// Number of colours of the page.
pub(super) const COLOURS: usize = 10;

/// How often a colour is used, each time with another mark and other dashes.
const VARIANTS: usize = 4;

/// Shapes of marks, one after the other.
const SHAPES: [Shape; 5] = [Shape::Square, Shape::Peak, Shape::Diamond, Shape::Cup, Shape::Circle];

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

    /// The class of its colour alone.
    pub(super) fn colour(self) -> String {
        format!("s{}", self.colour)
    }

    pub(super) fn shape(self) -> Shape {
        SHAPES[(self.colour + self.variant) % SHAPES.len()]
    }

    /// A short stroke with the curve's mark, for a legend.
    pub(super) fn sample(self) -> String {
        self.shape().sample_on(&format!("curve {self}"), &self.to_string())
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
    pub(super) form: Form,
    pub(super) across: Scale,
    pub(super) up: Scale,
    pub(super) curves: Vec<Curve>,
    /// Whether the curves' names stand at their ends.
    pub(super) has_names: bool,
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
    /// The interval of the place on the horizontal axis.
    pub(super) across: Option<Interval>,
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
    /// A value without an interval.
    pub(super) fn new(x: f64, value: Option<f64>, title: String) -> Self {
        Self { x, value, interval: None, across: None, title, ring: None }
    }

    /// The point's interval, if that has a length to draw.
    fn wide_interval(&self) -> Option<Interval> {
        self.value.and(self.interval).filter(|interval| interval.is_wide())
    }
}

/// An axis for these values, in rising order; logarithmic if they span more than a factor of 20.
pub(super) fn across(name: &str, values: &[f64]) -> Option<Scale> {
    let least = *values.first()?;
    let most = *values.last()?;
    let logarithmic = least > 0.0 && most / least > 20.0;
    Some(Scale {
        name: name.to_owned(),
        axis: Axis { least, most, logarithmic },
        ticks: values.iter().copied().zip(tick_texts(values)).collect(),
        has_lines: false,
    })
}

impl Lines {
    /// A few curves have their names at their ends; a single one needs none.
    pub(super) fn new(
        label: impl Into<String>,
        across: Scale,
        up: Scale,
        curves: Vec<Curve>,
    ) -> Self {
        let has_names = (2..=MOST_NAMED).contains(&curves.len());
        Self { label: label.into(), form: FORM, across, up, curves, has_names }
    }

    /// The drawing; empty without a value.
    pub(super) fn svg(&self) -> String {
        let mut points = self.curves.iter().flat_map(|curve| &curve.points);
        if !points.any(|point| point.value.is_some() || point.ring.is_some()) {
            return String::new();
        }
        let mut chart = Chart::new("lines", &self.label, self.form, &self.across, &self.up);
        // Many bands cover each other; then each value has a stroke instead.
        let has_bands = self.curves.len() <= MOST_BANDS;
        if has_bands {
            self.curves.iter().for_each(|curve| curve.draw_band(&mut chart));
        }
        for curve in &self.curves {
            curve.draw(&mut chart, !has_bands);
        }
        for curve in &self.curves {
            curve.draw_rings(&mut chart);
        }
        if self.has_names {
            chart.names(self.curves.iter().filter_map(Curve::end).collect());
        }
        chart.finish()
    }
}

impl Curve {
    /// The intervals as a band; a gap in the curve is a gap in it.
    fn draw_band(&self, chart: &mut Chart) {
        let is_gap = |point: &Point| point.wide_interval().is_none();
        for part in self.points.split(is_gap).filter(|part| part.len() > 1) {
            let ends = |end: fn(Interval) -> f64| {
                part.iter().filter_map(move |p| Some((p.x, end(p.interval?))))
            };
            let below: Vec<At> = ends(|interval| interval.low).collect();
            let corners = ends(|interval| interval.high).chain(below.into_iter().rev());
            chart.area(&format!("interval {}", self.style), corners, "");
        }
    }

    fn draw(&self, chart: &mut Chart, has_whiskers: bool) {
        let class = self.style.to_string();
        let parts = self.points.split(|point| point.value.is_none());
        let path = |part: &[Point]| {
            let points: Vec<At> = part.iter().filter_map(|p| Some((p.x, p.value?))).collect();
            chart.series(Stroke::Line, &points)
        };
        let path: String = parts.map(path).collect();
        if !path.is_empty() {
            chart.path(&format!("curve {class}"), &path, "");
        }
        for point in &self.points {
            let Some(value) = point.value else { continue };
            // A single point has no band.
            let has_whiskers = has_whiskers || self.points.len() == 1;
            let whisker = format!("whisker {class}");
            if let Some(Interval { low, high }) = point.wide_interval().filter(|_| has_whiskers) {
                chart.stroke(&whisker, (point.x, high), (point.x, low));
            }
            if let Some(Interval { low, high }) = point.across {
                let end = |end| (chart.inside(end), value);
                chart.stroke(&whisker, end(low), end(high));
            }
            let clipped = if chart.is_above(value) { " (above the axis)" } else { "" };
            let title = format!("{}{clipped}", point.title);
            chart.mark(self.style.shape(), &class, (point.x, value), &title);
        }
    }

    fn draw_rings(&self, chart: &mut Chart) {
        let style = self.style;
        for (x, ring) in self.points.iter().filter_map(|p| Some((p.x, p.ring.as_ref()?))) {
            let Ring { value, by, title } = ring;
            chart.stroke(&format!("allowed {style}"), (x, value + by), (x, value - by));
            chart.circle(&format!("ring {style}"), (x, *value), 6.0, title);
        }
    }

    /// The last value, with the curve's classes and name.
    fn end(&self) -> Option<(At, String, &str)> {
        let last = self.points.iter().rev().find_map(|point| Some((point.x, point.value?)))?;
        Some((last, self.style.to_string(), &self.name))
    }
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
            interval: value.map(|value| Interval::around(value, ci95)),
            ..Point::new(x, value, "t".into())
        };
        let curve = |name: &str| Curve {
            name: name.into(),
            style: Style::nth(0),
            points: values.iter().map(point).collect(),
        };
        let places: Vec<f64> = values.iter().map(|(x, ..)| *x).collect();
        let up = Scale::of("", Axis::from_zero(100.0));
        Lines::new("l", across("N", &places).unwrap(), up, vec![curve("a"), curve("b & c")])
    }

    #[test]
    fn places_grow_to_the_right_and_upwards_and_stay_inside() {
        let drawn = lines(&[(1.0, Some(5.0), 1.0), (16.0, Some(7.0), 1.0)]);
        let chart = Chart::new("lines", "l", FORM, &drawn.across, &drawn.up);
        assert_eq!(chart.x(1.0), FORM.left + 10.0);
        assert_eq!(chart.x(16.0), FORM.width - FORM.right - 10.0);
        assert_eq!((chart.y(0.0), chart.y(130.0)), (FORM.height - FORM.bottom, FORM.top));
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
        let axis = across("bw", &[0.25, 0.5, 32.0, 64.0]).unwrap().axis;
        let step = axis.place(0.5) - axis.place(0.25);
        assert!((axis.place(64.0) - axis.place(32.0) - step).abs() < 1e-9);
        assert_eq!(tick_texts(&[0.03125, 0.5, 1.25]), ["1/32", "1/2", "1.25"]);
        assert_eq!(tick_texts(&[0.0, 0.1, 0.5, 1.0]), ["0", "0.1", "0.5", "1"]);
    }

    #[test]
    fn forty_curves_all_look_different() {
        let looks: std::collections::BTreeSet<(String, Shape)> =
            (0..40).map(Style::nth).map(|style| (style.to_string(), style.shape())).collect();
        assert_eq!(looks.len(), 40);
        assert_eq!(
            [0, 9, 10, 23, 40].map(|place| Style::nth(place).to_string()),
            ["s0", "s9", "s0 v1", "s3 v2", "s0"]
        );
        // In print, where colours are grey: the four curves of a colour have four shapes.
        let shapes: std::collections::BTreeSet<Shape> =
            [3, 13, 23, 33].map(|place| Style::nth(place).shape()).into();
        assert_eq!(shapes.len(), 4);
    }
}
