//! A chart over time: panels of curves below each other share the time axis; below them, one lane
//! of marks per kind of event.

use super::axis::Axis;
use super::chart::{At, Chart, Form, Scale, Stroke};
use super::marks::{self, Mark};
use losscause_study::tools::table::escape;

const WIDTH: f64 = 900.0;
const LEFT: f64 = 170.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 10.0;
const PANEL: f64 = 190.0;
const LOW_PANEL: f64 = 120.0;
const GAP: f64 = 18.0;
const LANE: f64 = 20.0;
const BOTTOM: f64 = 36.0;
/// Marks of a lane that are closer are one.
const TOLD_APART: f64 = 4.5;

/// What is drawn.
pub(super) struct Drawing {
    /// What it shows, for those who cannot see it.
    pub(super) label: String,
    /// The ends of the time axis, seconds.
    pub(super) from_s: f64,
    pub(super) to_s: f64,
    pub(super) panels: Vec<Panel>,
    pub(super) lanes: Vec<Lane>,
}

/// Curves and marks over one vertical axis.
#[derive(Default)]
pub(super) struct Panel {
    /// What stands beside the axis: lines of text, the last one the unit.
    pub(super) names: Vec<String>,
    pub(super) curves: Vec<Curve>,
    pub(super) marks: Vec<Mark>,
    /// Width and height of the spot in which marks are one.
    pub(super) spot: (f64, f64),
}

/// Values over time.
pub(super) struct Curve {
    pub(super) name: String,
    /// Colour and dashes, one of `t0`, `t1`, …, or a class of the page.
    pub(super) class: String,
    pub(super) stroke: Stroke,
    /// Pairs of time, in seconds, and value, in order of time.
    pub(super) points: Vec<At>,
}

/// The marks of one kind of event.
pub(super) struct Lane {
    pub(super) name: String,
    pub(super) marks: Vec<Mark>,
}

impl Curve {
    /// A curve with its name, classes, and points in order of time.
    pub(super) fn new(
        name: &str,
        class: impl Into<String>,
        stroke: Stroke,
        points: Vec<At>,
    ) -> Self {
        Self { name: name.to_owned(), class: class.into(), stroke, points }
    }

    fn class(&self) -> String {
        let kind = if self.stroke == Stroke::Dots { "dots" } else { "curve" };
        format!("{kind} {}", self.class)
    }

    /// A short stroke in its style, for a legend.
    pub(super) fn sample(&self) -> String {
        self.stroke.sample(&self.class())
    }
}

impl Drawing {
    /// The drawing; empty if no panel has a value.
    pub(super) fn svg(&self) -> String {
        let axes = self.panels.iter().map(|panel| Some((panel, panel.axis()?)));
        let panels: Vec<(&Panel, Axis)> = axes.flatten().collect();
        if panels.is_empty() {
            return String::new();
        }
        let tall = if panels.len() > 2 { LOW_PANEL } else { PANEL };
        let below = TOP + panels.len() as f64 * (tall + GAP);
        let bottom = below + self.lanes.len() as f64 * LANE;
        let form = Form::new((WIDTH, bottom + BOTTOM), [TOP, RIGHT, BOTTOM, LEFT]);
        let Self { label, from_s, to_s, .. } = self;
        let axis = Axis::linear(*from_s, *to_s);
        let time = Scale::with_ticks("seconds", axis, axis.round_ticks());
        // For the cursor: two places on the axis and their times, and the ends of its line.
        let end = WIDTH - RIGHT;
        let cursor =
            format!(r#" data-time="{LEFT} {from_s} {end} {to_s}" data-ends="{TOP} {bottom:.1}""#);
        let mut chart = Chart::without_panel("time", &cursor, label, form, &time);
        let mut top = TOP;
        for (panel, axis) in panels {
            panel.draw(&mut chart, (top, top + tall), axis);
            top += tall + GAP;
        }
        let names = self.lanes.iter().map(|lane| lane.name.clone());
        let lanes = Scale { has_lines: true, ..Scale::of_names(names).downwards() };
        chart.panel(below, bottom, &lanes);
        for (lane, (place, _)) in self.lanes.iter().zip(&lanes.ticks) {
            chart.line(r#"<g class="lane">"#);
            marks::draw(&mut chart, &lane.marks, |mark| (mark.at_s, *place), (TOLD_APART, 1.0));
            chart.line("</g>");
        }
        chart.finish()
    }
}

impl Panel {
    /// Adds a curve to the panel of these names, or in a panel of its own behind them.
    pub(super) fn add(panels: &mut Vec<Self>, names: Vec<String>, curve: Curve) {
        match panels.iter_mut().find(|panel| panel.names == names) {
            Some(panel) => panel.curves.push(curve),
            None => panels.push(Self { names, curves: vec![curve], ..Self::default() }),
        }
    }

    fn axis(&self) -> Option<Axis> {
        let curves = self.curves.iter().flat_map(|curve| &curve.points).map(|(_, value)| *value);
        Axis::around(curves.chain(self.marks.iter().map(|mark| mark.value)))
    }

    fn draw(&self, chart: &mut Chart, (top, bottom): (f64, f64), axis: Axis) {
        chart.panel(top, bottom, &Scale::of("", axis));
        let middle = (top + bottom) / 2.0 + 4.0;
        let last = self.names.len() - 1;
        for (place, name) in self.names.iter().enumerate() {
            let class = if place == last { "tick unit" } else { "tick" };
            let down = 14.0 * place as f64 - 7.0 * last as f64;
            chart.text(class, (LEFT - 44.0, middle + down), name);
        }
        let unit = escape(self.names.last().map_or("", String::as_str));
        for curve in self.curves.iter().filter(|curve| !curve.points.is_empty()) {
            // For the cursor: two places on the axis, the values there, and their unit.
            let scale = format!("{bottom:.1} {} {top:.1} {}", axis.least, axis.most);
            chart.line(&format!(
                r#"<path class="{}" d="{}" data-scale="{scale}" data-unit="{unit}"><title>{}</title></path>"#,
                curve.class(),
                chart.series(curve.stroke, &curve.points),
                escape(&curve.name)
            ));
        }
        marks::draw(chart, &self.marks, |mark| (mark.at_s, mark.value), self.spot);
    }
}

#[cfg(test)]
mod tests {
    use super::super::chart::Shape;
    use super::*;

    fn panel(points: &[(f64, f64)]) -> Panel {
        let curve = Curve::new("a", "t0", Stroke::Held, points.to_vec());
        Panel { names: vec!["packets".into()], curves: vec![curve], ..Panel::default() }
    }

    fn drawing(panels: Vec<Panel>) -> Drawing {
        let mark = |at_s| Mark {
            at_s,
            value: 0.0,
            shape: Shape::Bar,
            class: "instant",
            title: "drops & more".into(),
        };
        let lanes = vec![Lane { name: "drops & more".into(), marks: vec![mark(11.0), mark(12.0)] }];
        Drawing { label: "l".into(), from_s: 10.0, to_s: 20.0, panels, lanes }
    }

    #[test]
    fn a_value_holds_until_the_next_and_events_stand_at_their_time() {
        let drawn = drawing(vec![panel(&[(10.0, 1.0), (15.0, 0.0)])]).svg();
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        let end = WIDTH - RIGHT;
        assert!(
            drawn.contains(&format!("M{LEFT:.1} {TOP:.1}H{middle:.1}V{:.1}H{end:.1}", TOP + PANEL)),
            "{drawn}"
        );
        let tenth = LEFT + (end - LEFT) / 10.0;
        assert!(drawn.contains(&format!("M{tenth:.1} ")) && drawn.contains("drops &amp; more"));
        assert_eq!(drawing(vec![]).svg(), "");
        assert_eq!(drawing(vec![panel(&[])]).svg(), "");
    }

    #[test]
    fn a_value_that_does_not_change_costs_no_bytes() {
        // It holds up to the instant of its change, which may come with the old value once more.
        let late = drawing(vec![panel(&[(10.0, 1.0), (15.0, 1.0), (15.0, 0.0)])]).svg();
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        assert!(late.contains(&format!("H{middle:.1}V{:.1}", TOP + PANEL)), "{late}");
        let same: Vec<(f64, f64)> = (0..500).map(|k| (10.0 + f64::from(k) / 50.0, 3.0)).collect();
        let drawn = drawing(vec![panel(&same)]).svg();
        let path =
            drawn.split("class=\"curve t0\" d=\"").nth(1).unwrap().split('"').next().unwrap();
        assert!(path.len() < 40, "{path}");
    }
}
