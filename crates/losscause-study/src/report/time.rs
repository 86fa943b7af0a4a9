//! A run over time as a drawing: curves of one unit share an axis; below them, one line of marks per kind of event.

use std::fmt::Write;

use super::chart::{escape, line, nice_ceiling, short};
use crate::papers::reproduce::{RecordedCurve, Recording};

const WIDTH: f64 = 900.0;
const LEFT: f64 = 170.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 10.0;
const PANEL: f64 = 190.0;
const GAP: f64 = 18.0;
const LANE: f64 = 20.0;
const BOTTOM: f64 = 36.0;

/// Draws a recording; empty if it has no value.
pub(super) fn svg(recording: &Recording) -> String {
    let panels = panels(&recording.curves);
    if panels.is_empty() {
        return String::new();
    }
    let lanes = recording.events.len() as f64;
    let below = TOP + panels.len() as f64 * (PANEL + GAP);
    let bottom = below + lanes * LANE;
    let height = bottom + BOTTOM;
    let time = Time { from: recording.from_s, to: recording.to_s };
    let mut svg = String::new();
    let out = &mut svg;
    let names: Vec<&str> = recording.curves.iter().map(|curve| curve.name.as_str()).collect();
    let label = escape(&format!("{} over time, {}", names.join(", "), recording.system));
    line(out, &format!(r#"<svg class="chart time" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">"#));
    for tick in time.ticks() {
        let x = time.x(tick);
        line(out, &format!(r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{bottom:.1}"/>"#));
        line(out, &format!(r#"<text class="name" x="{x:.1}" y="{:.1}">{}</text>"#, bottom + 15.0, short(tick)));
    }
    line(
        out,
        &format!(
            r#"<text class="name" x="{:.1}" y="{:.1}">seconds</text>"#,
            (LEFT + WIDTH - RIGHT) / 2.0,
            height - 5.0
        ),
    );
    for (index, panel) in panels.iter().enumerate() {
        panel.draw(out, TOP + index as f64 * (PANEL + GAP), &time);
    }
    for (index, events) in recording.events.iter().enumerate() {
        let y = below + (index as f64 + 0.5) * LANE;
        let end = WIDTH - RIGHT;
        line(out, &format!(r#"<line class="grid" x1="{LEFT}" x2="{end}" y1="{y:.1}" y2="{y:.1}"/>"#));
        line(
            out,
            &format!(r#"<text class="tick" x="{}" y="{:.1}">{}</text>"#, LEFT - 6.0, y + 4.0, escape(&events.name)),
        );
        let mut path = String::new();
        for &at in &events.times_s {
            write!(path, "M{:.1} {:.1}v{:.1}", time.x(at), y - 7.0, 14.0).expect("a string takes every text");
        }
        if !path.is_empty() {
            line(out, &format!(r#"<path class="instant" d="{path}"><title>{}</title></path>"#, escape(&events.name)));
        }
    }
    line(out, "</svg>");
    svg
}

/// A short stroke in the style of curve `place` of its recording, for the legend.
pub(super) fn sample(curve: &RecordedCurve, place: usize) -> String {
    let d = if curve.holds { "M1 7 H33" } else { "M8 7h.01M17 7h.01M26 7h.01" };
    let class = class(curve, place);
    format!(
        r#"<svg class="time sample" width="34" height="14" viewBox="0 0 34 14" aria-hidden="true"><path class="{class}" d="{d}"/></svg>"#
    )
}

fn class(curve: &RecordedCurve, place: usize) -> String {
    format!("{} t{}", if curve.holds { "held" } else { "dots" }, place % STYLES)
}

/// Number of colours of the page.
const STYLES: usize = 4;

/// The curves of one unit.
struct Panel<'a> {
    unit: &'a str,
    /// Each curve with its index in the recording.
    curves: Vec<(usize, &'a RecordedCurve)>,
    /// The axis begins at 0; if all values are far from 0, at the smallest value, rounded down.
    least: f64,
    most: f64,
}

fn panels(curves: &[RecordedCurve]) -> Vec<Panel<'_>> {
    let mut panels: Vec<Panel<'_>> = Vec::new();
    for (place, curve) in curves.iter().enumerate().filter(|(_, curve)| !curve.points.is_empty()) {
        match panels.iter_mut().find(|panel| panel.unit == curve.unit) {
            Some(panel) => panel.curves.push((place, curve)),
            None => panels.push(Panel { unit: &curve.unit, curves: vec![(place, curve)], least: 0.0, most: 1.0 }),
        }
    }
    for panel in &mut panels {
        let values = || panel.curves.iter().flat_map(|(_, curve)| &curve.points).map(|(_, value)| *value);
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        let far = least > 0.5 * most;
        let base = if far { nice_floor(least, most - least) } else { 0.0 };
        let span = if most > base { nice_ceiling(most - base) } else { 1.0 };
        (panel.least, panel.most) = (base, base + span);
    }
    panels
}

/// The largest multiple of a power of ten near `span` that is not above `value`.
fn nice_floor(value: f64, span: f64) -> f64 {
    let unit = if span > 0.0 { 10f64.powf(span.log10().floor()) } else { 1.0 };
    (value / unit).floor() * unit
}

impl Panel<'_> {
    fn draw(&self, out: &mut String, top: f64, time: &Time) {
        let y = |value: f64| top + PANEL * (1.0 - (value - self.least) / (self.most - self.least));
        for step in 0..=4 {
            let value = self.least + (self.most - self.least) * f64::from(step) / 4.0;
            let (end, at) = (WIDTH - RIGHT, y(value));
            line(out, &format!(r#"<line class="grid" x1="{LEFT}" x2="{end}" y1="{at:.1}" y2="{at:.1}"/>"#));
            line(out, &format!(r#"<text class="tick" x="{}" y="{:.1}">{}</text>"#, LEFT - 6.0, at + 4.0, short(value)));
        }
        let middle = top + PANEL / 2.0;
        line(
            out,
            &format!(
                r#"<text class="tick unit" x="{}" y="{:.1}">{}</text>"#,
                LEFT - 44.0,
                middle + 4.0,
                escape(self.unit)
            ),
        );
        for (place, curve) in &self.curves {
            let mut path = String::new();
            for (index, &(at, value)) in curve.points.iter().enumerate() {
                let (x, y) = (time.x(at), y(value));
                match (curve.holds, index) {
                    (false, _) => write!(path, "M{x:.1} {y:.1}h.01"),
                    (true, 0) => write!(path, "M{x:.1} {y:.1}"),
                    (true, _) => write!(path, "H{x:.1}V{y:.1}"),
                }
                .expect("a string takes every text");
            }
            if curve.holds {
                write!(path, "H{:.1}", time.x(time.to)).expect("a string takes every text");
            }
            let class = class(curve, *place);
            line(out, &format!(r#"<path class="{class}" d="{path}"><title>{}</title></path>"#, escape(&curve.name)));
        }
    }
}

/// The horizontal axis.
struct Time {
    from: f64,
    to: f64,
}

impl Time {
    fn x(&self, seconds: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (seconds - self.from) / (self.to - self.from)
    }

    /// Round instants, from five to a dozen of them.
    fn ticks(&self) -> Vec<f64> {
        let span = self.to - self.from;
        let unit = 10f64.powf(span.log10().floor());
        let step = [0.1, 0.2, 0.5, 1.0].into_iter().map(|m| m * unit).find(|step| span / step <= 12.0).unwrap_or(unit);
        let (first, last) = ((self.from / step - 1e-9).ceil() as i64, (self.to / step + 1e-9).floor() as i64);
        (first..=last).map(|k| k as f64 * step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::record::Parameters;
    use crate::papers::reproduce::RecordedEvents;

    fn curve(name: &str, unit: &str, points: &[(f64, f64)]) -> RecordedCurve {
        RecordedCurve { name: name.into(), unit: unit.into(), holds: true, points: points.to_vec(), mean: None }
    }

    fn recording(curves: Vec<RecordedCurve>) -> Recording {
        let events = vec![RecordedEvents { name: "drops & more".into(), times_s: vec![11.0, 12.0] }];
        let (paper, item, system) = ("p".into(), "i".into(), "s".into());
        Recording {
            paper,
            item,
            system,
            parameters: Parameters::new(),
            seed: 1,
            from_s: 10.0,
            to_s: 20.0,
            curves,
            events,
        }
    }

    #[test]
    fn curves_of_one_unit_share_an_axis_and_empty_ones_have_none() {
        let curves = vec![
            curve("a", "packets", &[(10.0, 3.0)]),
            curve("b", "ms", &[(10.0, 104.0), (12.0, 117.0)]),
            curve("c", "packets", &[(11.0, 9.0)]),
            curve("d", "bytes", &[]),
        ];
        let panels = panels(&curves);
        let shown: Vec<(&str, usize, f64, f64)> =
            panels.iter().map(|p| (p.unit, p.curves.len(), p.least, p.most)).collect();
        assert_eq!(shown, [("packets", 2, 0.0, 10.0), ("ms", 1, 100.0, 120.0)]);
    }

    #[test]
    fn a_value_holds_until_the_next_and_events_stand_where_they_happened() {
        let drawn = svg(&recording(vec![curve("a", "packets", &[(10.0, 1.0), (15.0, 0.0)])]));
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        assert!(
            drawn.contains(&format!("M{LEFT:.1} {:.1}H{middle:.1}V{:.1}H{:.1}", TOP, TOP + PANEL, WIDTH - RIGHT)),
            "{drawn}"
        );
        let time = Time { from: 10.0, to: 20.0 };
        assert!(drawn.contains(&format!("M{:.1} ", time.x(11.0))) && drawn.contains("drops &amp; more"));
        assert_eq!(svg(&recording(vec![])), "");
    }

    #[test]
    fn instants_on_the_axis_are_round_and_not_too_many() {
        assert_eq!(Time { from: 40.0, to: 80.0 }.ticks(), [40.0, 45.0, 50.0, 55.0, 60.0, 65.0, 70.0, 75.0, 80.0]);
        assert_eq!(Time { from: 0.0, to: 10.0 }.ticks().len(), 11);
        for (from, to) in [(0.0, 1.2), (145.5, 147.0), (0.0, 200.0), (3.3, 3.9)] {
            let ticks = Time { from, to }.ticks();
            assert!(
                (3..=13).contains(&ticks.len()) && ticks.iter().all(|t| *t >= from - 1e-6 && *t <= to + 1e-6),
                "{ticks:?}"
            );
        }
    }
}
