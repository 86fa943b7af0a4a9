//! A drawing over time: panels of curves below each other share the time axis; below them, one lane
//! of marks per kind of event.

use std::fmt::Write;

use super::axis::{Axis, short};
use super::svg::{escape, line};

const WIDTH: f64 = 900.0;
const LEFT: f64 = 170.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 10.0;
const PANEL: f64 = 190.0;
const LOW_PANEL: f64 = 120.0;
const GAP: f64 = 18.0;
const LANE: f64 = 20.0;
const BOTTOM: f64 = 36.0;

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
pub(super) struct Panel {
    /// What stands beside the axis: lines of text, the last one the unit.
    pub(super) names: Vec<String>,
    pub(super) curves: Vec<Curve>,
    pub(super) marks: Vec<Mark>,
}

/// Values over time.
pub(super) struct Curve {
    pub(super) name: String,
    /// Colour and dashes, one of `t0`, `t1`, …, or a class of the page.
    pub(super) class: String,
    pub(super) stroke: Stroke,
    /// Pairs of time, in seconds, and value, in order of time.
    pub(super) points: Vec<(f64, f64)>,
}

/// How a curve's points are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stroke {
    /// A value holds until the next one.
    Held,
    /// Straight lines.
    Line,
    /// Not at all.
    Dots,
}

/// The marks of one kind of event.
pub(super) struct Lane {
    pub(super) name: String,
    pub(super) marks: Vec<Mark>,
}

/// An event.
pub(super) struct Mark {
    pub(super) at_s: f64,
    /// The event's height in a panel; a lane ignores it.
    pub(super) value: f64,
    pub(super) shape: Shape,
    /// Colours, by a class of the page.
    pub(super) class: &'static str,
    /// What it means, for hover and focus; lines of text.
    pub(super) title: String,
}

/// The shape of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    Bar,
    Square,
    Circle,
    Diamond,
}

impl Stroke {
    fn class(self) -> &'static str {
        match self {
            Self::Held | Self::Line => "held",
            Self::Dots => "dots",
        }
    }
}

impl Shape {
    /// The shape's outline around a point.
    pub(super) fn path(self, x: f64, y: f64) -> String {
        match self {
            Self::Bar => format!("M{x:.1} {:.1}v14", y - 7.0),
            Self::Square => format!("M{:.1} {:.1}h7v7h-7z", x - 3.5, y - 3.5),
            Self::Circle => {
                format!("M{:.1} {y:.1}a3.8 3.8 0 1 0 7.6 0a3.8 3.8 0 1 0 -7.6 0z", x - 3.8)
            }
            Self::Diamond => format!("M{x:.1} {:.1}l4.5 4.5l-4.5 4.5l-4.5 -4.5z", y - 4.5),
        }
    }

    /// A single mark, for a legend.
    pub(super) fn sample(self, class: &str) -> String {
        let d = self.path(8.0, 8.0);
        format!(
            r#"<svg class="time sample" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true"><path class="mark {class}" d="{d}"/></svg>"#
        )
    }
}

impl Curve {
    /// A short stroke in its style, for a legend.
    pub(super) fn sample(&self) -> String {
        let d = if self.stroke == Stroke::Dots { "M8 7h.01M17 7h.01M26 7h.01" } else { "M1 7 H33" };
        let class = format!("{} {}", self.stroke.class(), self.class);
        format!(
            r#"<svg class="time sample" width="34" height="14" viewBox="0 0 34 14" aria-hidden="true"><path class="{class}" d="{d}"/></svg>"#
        )
    }

    fn path(&self, time: &Time, y: impl Fn(f64) -> f64) -> String {
        let mut path = String::new();
        // Where the pen is, as written.
        let mut pen: Option<(String, String)> = None;
        for &(at, value) in &self.points {
            let here = (format!("{:.1}", time.x(at)), format!("{:.1}", y(value)));
            let x = &here.0;
            let y = &here.1;
            match (self.stroke, &pen) {
                (Stroke::Dots, _) => write!(path, "M{x} {y}h.01"),
                (_, None) => write!(path, "M{x} {y}"),
                // A value that does not change needs no stroke of its own.
                (Stroke::Held, Some((_, before))) if before == y => continue,
                (Stroke::Held, Some((before, _))) if before == x => write!(path, "V{y}"),
                (Stroke::Held, Some(_)) => write!(path, "H{x}V{y}"),
                (Stroke::Line, Some(before)) if *before == here => continue,
                (Stroke::Line, Some(_)) => write!(path, "L{x} {y}"),
            }
            .expect("a string takes every text");
            pen = Some(here);
        }
        if self.stroke == Stroke::Held && !path.is_empty() {
            write!(path, "H{:.1}", time.x(time.axis.most)).expect("a string takes every text");
        }
        path
    }
}

impl Drawing {
    /// The drawing; empty if no panel has a value.
    pub(super) fn svg(&self) -> String {
        let axes: Vec<Option<Axis>> = self.panels.iter().map(Panel::axis).collect();
        let panels: Vec<(&Panel, Axis)> =
            self.panels.iter().zip(axes).filter_map(|(panel, axis)| Some((panel, axis?))).collect();
        if panels.is_empty() {
            return String::new();
        }
        let tall = if panels.len() > 2 { LOW_PANEL } else { PANEL };
        let below = TOP + panels.len() as f64 * (tall + GAP);
        let bottom = below + self.lanes.len() as f64 * LANE;
        let height = bottom + BOTTOM;
        let time = Time { axis: Axis::linear(self.from_s, self.to_s) };
        let mut svg = String::new();
        let out = &mut svg;
        let label = escape(&self.label);
        line(
            out,
            &format!(
                r#"<svg class="chart time" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}" data-time="{LEFT} {} {} {}" data-ends="{TOP} {bottom:.1}">"#,
                self.from_s,
                WIDTH - RIGHT,
                self.to_s
            ),
        );
        for tick in time.axis.round_ticks() {
            let x = time.x(tick);
            line(
                out,
                &format!(
                    r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{bottom:.1}"/>"#
                ),
            );
            line(
                out,
                &format!(
                    r#"<text class="name" x="{x:.1}" y="{:.1}">{}</text>"#,
                    bottom + 15.0,
                    short(tick)
                ),
            );
        }
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        line(
            out,
            &format!(
                r#"<text class="name" x="{middle:.1}" y="{:.1}">seconds</text>"#,
                height - 5.0
            ),
        );
        for (index, (panel, axis)) in panels.iter().enumerate() {
            panel.draw(
                out,
                Place { top: TOP + index as f64 * (tall + GAP), height: tall },
                axis,
                &time,
            );
        }
        for (index, lane) in self.lanes.iter().enumerate() {
            lane.draw(out, below + (index as f64 + 0.5) * LANE, &time);
        }
        line(out, "</svg>");
        svg
    }
}

/// Where a panel stands.
#[derive(Clone, Copy)]
struct Place {
    top: f64,
    height: f64,
}

impl Panel {
    fn axis(&self) -> Option<Axis> {
        let curves = self.curves.iter().flat_map(|curve| &curve.points).map(|(_, value)| *value);
        Axis::around(curves.chain(self.marks.iter().map(|mark| mark.value)))
    }

    fn draw(&self, out: &mut String, Place { top, height }: Place, axis: &Axis, time: &Time) {
        let y = |value: f64| top + height * (1.0 - axis.share(value));
        for value in axis.ticks() {
            let end = WIDTH - RIGHT;
            let at = y(value);
            line(
                out,
                &format!(
                    r#"<line class="grid" x1="{LEFT}" x2="{end}" y1="{at:.1}" y2="{at:.1}"/>"#
                ),
            );
            line(
                out,
                &format!(
                    r#"<text class="tick" x="{}" y="{:.1}">{}</text>"#,
                    LEFT - 6.0,
                    at + 4.0,
                    short(value)
                ),
            );
        }
        let first = top + height / 2.0 - 7.0 * (self.names.len() as f64 - 1.0) + 4.0;
        for (place, name) in self.names.iter().enumerate() {
            let class = if place + 1 == self.names.len() { "tick unit" } else { "tick" };
            let y = first + 14.0 * place as f64;
            line(
                out,
                &format!(
                    r#"<text class="{class}" x="{}" y="{y:.1}">{}</text>"#,
                    LEFT - 44.0,
                    escape(name)
                ),
            );
        }
        for curve in self.curves.iter().filter(|curve| !curve.points.is_empty()) {
            let class = format!("{} {}", curve.stroke.class(), curve.class);
            let name = escape(&curve.name);
            let path = curve.path(time, y);
            // For the cursor: two places on the axis, the values there, and their unit.
            let scale = format!("{:.1} {} {top:.1} {}", top + height, axis.least, axis.most);
            let unit = escape(self.names.last().map_or("", String::as_str));
            line(
                out,
                &format!(
                    r#"<path class="{class}" d="{path}" data-scale="{scale}" data-unit="{unit}"><title>{name}</title></path>"#
                ),
            );
        }
        for mark in &self.marks {
            mark.draw(out, time.x(mark.at_s), y(mark.value));
        }
    }
}

impl Lane {
    fn draw(&self, out: &mut String, y: f64, time: &Time) {
        let end = WIDTH - RIGHT;
        line(
            out,
            &format!(r#"<line class="grid" x1="{LEFT}" x2="{end}" y1="{y:.1}" y2="{y:.1}"/>"#),
        );
        let name = escape(&self.name);
        line(
            out,
            &format!(r#"<text class="tick" x="{}" y="{:.1}">{name}</text>"#, LEFT - 6.0, y + 4.0),
        );
        line(out, r#"<g class="lane">"#);
        for mark in &self.marks {
            mark.draw(out, time.x(mark.at_s), y);
        }
        line(out, "</g>");
    }
}

impl Mark {
    pub(super) fn draw(&self, out: &mut String, x: f64, y: f64) {
        let class = self.class;
        let d = self.shape.path(x, y);
        let title = escape(&self.title);
        line(out, &format!(r#"<path class="mark {class}" d="{d}"><title>{title}</title></path>"#));
    }
}

/// The horizontal axis.
struct Time {
    axis: Axis,
}

impl Time {
    fn x(&self, seconds: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * self.axis.place(seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(points: &[(f64, f64)]) -> Panel {
        let curve = Curve {
            name: "a".into(),
            class: "t0".into(),
            stroke: Stroke::Held,
            points: points.to_vec(),
        };
        Panel { names: vec!["packets".into()], curves: vec![curve], marks: vec![] }
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
        let time = Time { axis: Axis::linear(10.0, 20.0) };
        assert!(
            drawn.contains(&format!("M{:.1} ", time.x(11.0))) && drawn.contains("drops &amp; more")
        );
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
        let path = drawn.split("class=\"held t0\" d=\"").nth(1).unwrap().split('"').next().unwrap();
        assert!(path.len() < 40, "{path}");
    }
}
