//! Rows over one axis: of each a mean with its interval, as a dot or a bar, and where there is such,
//! every run, the published value with its tolerance, and the value as a text.

use losscause_study::statistics::Interval;
use losscause_study::tools::figures::estimate;

use super::axis::Axis;
use super::chart::{CHARACTER, Chart, Form, Scale, shortened};

/// The height of a strip, in the drawing.
const HEIGHT: f64 = 22.0;
/// Half the length of a run's stroke, of a strip's height.
const RUN: f64 = 0.3;
/// Longest name, characters.
const LONGEST: usize = 24;
/// Most bars.
const MOST_BARS: usize = 24;
const WIDTH: f64 = 430.0;
const TOP: f64 = 6.0;
const RIGHT: f64 = 14.0;
const BOTTOM: f64 = 22.0;
const INSET: f64 = 8.0;
/// The room at the right for values as texts.
const TEXTS: f64 = 120.0;

/// A strip.
pub(super) struct Strip {
    pub(super) name: String,
    /// The colour: a class of the page.
    pub(super) class: String,
    /// One per run that has a value.
    pub(super) runs: Vec<f64>,
    pub(super) mean: Option<f64>,
    pub(super) interval: Option<Interval>,
    /// The value of the ring.
    pub(super) published: Option<f64>,
    /// The range that counts as reproduced.
    pub(super) allowed: Option<Interval>,
}

/// The drawing.
pub(super) struct Strips<'a> {
    label: &'a str,
    unit: &'a str,
    strips: Vec<Strip>,
}

/// A bar: its name, its value, and the half-width of the value's interval.
pub type Bar = (String, Option<f64>, Option<f64>);

impl Strip {
    pub(super) fn new(name: &str, class: &str, mean: Option<f64>) -> Self {
        let name = name.to_owned();
        let class = class.to_owned();
        let runs = Vec::new();
        Self { name, class, runs, mean, interval: None, published: None, allowed: None }
    }

    /// All values, those that have one with their interval.
    fn extent(&self) -> Vec<(f64, Option<Interval>)> {
        let published = self.published.map(|published| (published, self.allowed));
        let mean = self.mean.map(|mean| (mean, self.interval));
        self.runs.iter().map(|run| (*run, None)).chain(published).chain(mean).collect()
    }

    fn draw(&self, chart: &mut Chart, y: f64) {
        let class = &self.class;
        if let Some(allowed) = self.allowed {
            stroke(chart, "allowed", allowed, y);
        }
        for run in &self.runs {
            chart.stroke(&format!("run {class}"), (*run, y - RUN), (*run, y + RUN));
        }
        if let Some(published) = self.published {
            chart.circle("published", (published, y), 7.0, "");
        }
        let Some(mean) = self.mean else { return };
        if let Some(interval) = self.interval {
            stroke(chart, &format!("ends {class}"), interval, y);
        }
        chart.circle(&format!("dot {class}"), (mean, y), 4.5, "");
    }
}

impl<'a> Strips<'a> {
    /// `label` is what it shows, for those who cannot see it.
    pub(super) fn new(label: &'a str, unit: &'a str, strips: Vec<Strip>) -> Self {
        Self { label, unit, strips }
    }

    /// The strips below each other; empty if none has a value.
    pub(super) fn svg(&self) -> String {
        let values: Vec<_> = self.strips.iter().flat_map(Strip::extent).collect();
        let Some(axis) = Axis::around_intervals(&values, self.unit) else { return String::new() };
        let names: Vec<&str> = self.strips.iter().map(|strip| strip.name.as_str()).collect();
        let (mut chart, places) = plane("strips", self.label, RIGHT, &Scale::of("", axis), &names);
        for (strip, y) in self.strips.iter().zip(places) {
            strip.draw(&mut chart, y);
        }
        chart.finish()
    }
}

/// A stroke along a strip; what is beyond the axis ends there.
fn stroke(chart: &mut Chart, class: &str, Interval { low, high }: Interval, y: f64) {
    chart.stroke(class, (chart.inside(low), y), (chart.inside(high), y));
}

/// A chart with a place for each name, and the places.
fn plane(
    class: &str,
    label: &str,
    right: f64,
    across: &Scale,
    names: &[&str],
) -> (Chart, Vec<f64>) {
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(LONGEST);
    let left = 14.0 + CHARACTER * longest as f64;
    let bottom = if across.name.is_empty() { BOTTOM } else { BOTTOM + 18.0 };
    let height = TOP + HEIGHT * names.len() as f64 + bottom;
    let form = Form::new((WIDTH + right - RIGHT, height), [TOP, right, bottom, left]);
    // A ring at the end of the axis does not touch the names.
    let form = Form { inset: INSET, ..form };
    let names = names.iter().map(|name| shortened(name, LONGEST));
    let rows = Scale::of_names(names).downwards();
    let places = rows.ticks.iter().map(|(place, _)| *place).collect();
    (Chart::new(class, label, form, across, &rows), places)
}

/// Bars from zero with their values, in the colours of what is around them; empty without a value.
/// One without a value says so.
pub(super) fn bars(title: &str, bars: &[Bar]) -> String {
    let shown = &bars[..bars.len().min(MOST_BARS)];
    let end = |(_, value, half): &Bar| Some((*value)? + half.unwrap_or(0.0));
    let mut ends = shown.iter().filter_map(end).peekable();
    if ends.peek().is_none() {
        return String::new();
    }
    let Some(axis) = Axis::around(ends.chain([0.0])) else { return String::new() };
    let title = match bars.len() - shown.len() {
        0 => title.to_owned(),
        more => format!("{title}; and {more} more"),
    };
    let names: Vec<&str> = shown.iter().map(|(name, ..)| name.as_str()).collect();
    let (mut chart, places) = plane("bars", &title, TEXTS, &Scale::of(&title, axis), &names);
    for ((_, value, half), y) in shown.iter().zip(places) {
        let Some(value) = *value else {
            chart.note("at", (axis.least, y), (4.0, 4.0), "not defined");
            continue;
        };
        stroke(&mut chart, "bar", Interval { low: 0.0, high: value }, y);
        if let Some(half) = half {
            stroke(&mut chart, "ends", Interval::around(value, *half), y);
        }
        chart.note("at", (axis.most, y), (8.0, 4.0), &estimate(value, *half));
    }
    chart.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(name: &str, runs: &[f64]) -> Strip {
        let mean = runs.iter().sum::<f64>() / runs.len() as f64;
        Strip { runs: runs.to_vec(), ..Strip::new(name, "s0", Some(mean)) }
    }

    #[test]
    fn every_run_is_drawn_and_a_long_name_is_shortened() {
        let long = "a variant with a very long name";
        let strips = vec![strip("none", &[1.0, 2.0]), strip(long, &[3.0, 4.0, 5.0])];
        let drawn = Strips::new("goodput", "kb/s", strips).svg();
        assert_eq!(drawn.matches("class=\"run ").count(), 5);
        assert_eq!(drawn.matches("class=\"dot ").count(), 2);
        assert!(drawn.contains("a variant with a very l…") && !drawn.contains("NaN"), "{drawn}");
        assert_eq!(Strips::new("nothing", "", vec![Strip::new("a", "s0", None)]).svg(), "");
    }

    #[test]
    fn values_grow_to_the_right_and_stay_inside_and_names_have_room() {
        let names = ["Spike", "lc_cubic_spike"];
        let across = Scale::of("", Axis::from_zero(100.0));
        let (chart, places) = plane("strips", "", RIGHT, &across, &names);
        let left = 14.0 + 14.0 * CHARACTER + INSET;
        let right = WIDTH - RIGHT - INSET;
        assert_eq!((chart.x(0.0), chart.x(100.0)), (left, right));
        assert_eq!(chart.x(50.0), (left + right) / 2.0);
        assert_eq!([chart.y(places[0]), chart.y(places[1])], [TOP + 11.0, TOP + 33.0]);
        let beyond = Interval { low: -50.0, high: 250.0 };
        let mut drawn = chart;
        Strip { interval: Some(beyond), ..Strip::new("a", "s0", Some(20.0)) }.draw(&mut drawn, 0.5);
        let ends = format!("d=\"M{left:.1} 17.0L{right:.1} 17.0\"");
        assert!(drawn.finish().contains(&format!("class=\"ends s0\" {ends}")));
    }

    #[test]
    fn a_bar_has_its_value_and_one_without_says_so() {
        let given =
            [("a & b".into(), Some(12.34), Some(0.5)), ("c".into(), None, None)].map(Bar::from);
        let drawn = bars("goodput, kb/s", &given);
        for text in [">a &amp; b<", ">12.34 ± 0.50<", ">not defined<", ">goodput, kb/s<"] {
            assert!(drawn.contains(text), "{text}: {drawn}");
        }
        assert_eq!(drawn.matches("class=\"bar\"").count(), 1);
        assert_eq!(bars("nothing", &given[1..]), "");
        let many: Vec<Bar> = (0..30).map(|n| (n.to_string(), Some(1.0), None)).collect();
        assert!(bars("n", &many).contains(">n; and 6 more<"));
    }
}
