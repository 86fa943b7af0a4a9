//! A phase plot: two metrics of a figure against each other as a trajectory, numbered along the
//! figure's axis. It shows the fairness line, on which both are equal, and the efficiency line, if
//! the item has one.

use super::axis::{nice_ceiling, short};
use super::svg::{escape, line};
use crate::curves::Panel;
use losscause_laboratory::papers::record::PhaseSpec;

const SIZE: f64 = 460.0;
const LEFT: f64 = 48.0;
const TOP: f64 = 12.0;
const RIGHT: f64 = 16.0;
const BOTTOM: f64 = 40.0;

/// A point of a trajectory: the value on the figure's axis, and both metrics.
type Point = (f64, f64, f64);

/// The trajectories of a figure's panels with their captions. A point needs both metrics.
fn trajectories(phase: &PhaseSpec, panels: &[Panel<'_>]) -> Vec<(String, Option<f64>, Vec<Point>)> {
    let mut found = Vec::new();
    for panel in panels.iter().filter(|panel| panel.metric == phase.right) {
        let Some(other) = panels.iter().find(|p| p.metric == phase.up && p.at == panel.at) else {
            continue;
        };
        for curve in &panel.curves {
            let Some(same) =
                other.curves.iter().find(|c| c.system == curve.system && c.value == curve.value)
            else {
                continue;
            };
            let up = |place: f64| same.points.iter().find(|(x, _)| *x == place)?.1.measured;
            let point = |&(place, item): &(f64, &losscause_laboratory::papers::record::Item)| {
                Some((place, item.measured?, up(place)?))
            };
            let sum = curve.points.first().zip(phase.sum.as_ref());
            let sum = sum.and_then(|((_, item), sum)| item.parameters.get(sum)?.as_number());
            let at = panel.at.iter().map(|(name, value)| format!("{name} {value}"));
            let caption = [curve.label()].into_iter().chain(at).collect::<Vec<_>>().join(", ");
            found.push((caption, sum, curve.points.iter().filter_map(point).collect()));
        }
    }
    found
}

/// One step of a trajectory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    BothGrow,
    BothFall,
    OneFalls,
}

impl Move {
    const ALL: [Self; 3] = [Self::BothGrow, Self::BothFall, Self::OneFalls];

    fn of(from: &Point, to: &Point) -> Self {
        match (to.1 < from.1, to.2 < from.2) {
            (false, false) => Self::BothGrow,
            (true, true) => Self::BothFall,
            (true, false) | (false, true) => Self::OneFalls,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::BothGrow => "grow",
            Self::BothFall => "fall",
            Self::OneFalls => "one",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::BothGrow => "both grow",
            Self::BothFall => "both fall",
            Self::OneFalls => "one falls",
        }
    }
}

/// The legend: each kind of stroke with its meaning.
pub(super) fn legend() -> Vec<(&'static str, String)> {
    let sample = |kind: Move| {
        let class = kind.class();
        let stroke = format!(r#"<line class="move {class}" x1="1" x2="33" y1="7" y2="7"/>"#);
        let svg = r#"<svg class="phase sample" width="34" height="14" viewBox="0 0 34 14" aria-hidden="true">"#;
        (kind.name(), format!("{svg}{stroke}</svg>"))
    };
    Move::ALL.map(sample).to_vec()
}

/// Draws every trajectory, each with its caption.
pub(super) fn drawings(phase: &PhaseSpec, panels: &[Panel<'_>]) -> Vec<(String, String)> {
    let all = trajectories(phase, panels);
    all.into_iter().map(|(caption, sum, points)| (caption, svg(phase, sum, &points))).collect()
}

fn svg(phase: &PhaseSpec, sum: Option<f64>, points: &[Point]) -> String {
    let largest = points.iter().map(|(_, right, up)| right.max(*up)).fold(0.0, f64::max);
    if largest <= 0.0 {
        return String::new();
    }
    let top = nice_ceiling(largest.max(sum.map_or(0.0, |sum| 0.6 * sum)));
    let x = |value: f64| LEFT + (SIZE - LEFT - RIGHT) * value / top;
    let y = |value: f64| SIZE - BOTTOM - (SIZE - TOP - BOTTOM) * value / top;
    let mut svg = String::new();
    let out = &mut svg;
    let label = escape(&format!("{} against {}", phase.up, phase.right));
    line(
        out,
        &format!(
            r#"<svg class="chart lines phase" viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="{label}">"#
        ),
    );
    for step in 0..=4 {
        let value = top * f64::from(step) / 4.0;
        let h = y(value);
        let v = x(value);
        let text = short(value);
        line(
            out,
            &format!(
                r#"<line class="grid" x1="{LEFT}" x2="{:.1}" y1="{h:.1}" y2="{h:.1}"/>"#,
                SIZE - RIGHT
            ),
        );
        line(
            out,
            &format!(
                r#"<line class="grid" x1="{v:.1}" x2="{v:.1}" y1="{TOP}" y2="{:.1}"/>"#,
                SIZE - BOTTOM
            ),
        );
        line(
            out,
            &format!(r#"<text class="tick" x="{}" y="{:.1}">{text}</text>"#, LEFT - 6.0, h + 4.0),
        );
        line(
            out,
            &format!(
                r#"<text class="name" x="{v:.1}" y="{:.1}">{text}</text>"#,
                SIZE - BOTTOM + 15.0
            ),
        );
    }
    line(
        out,
        &format!(
            r#"<text class="name" x="{:.1}" y="{:.1}">{}</text>"#,
            x(top / 2.0),
            SIZE - 6.0,
            escape(&phase.right)
        ),
    );
    let middle = y(top / 2.0);
    line(
        out,
        &format!(
            r#"<text class="name" x="12" y="{middle:.1}" transform="rotate(-90 12 {middle:.1})">{}</text>"#,
            escape(&phase.up)
        ),
    );
    let mut guide = |(x1, y1): (f64, f64),
                     (x2, y2): (f64, f64),
                     (at, anchor): ((f64, f64), &str),
                     text: &str| {
        line(
            out,
            &format!(
                r#"<line class="guide" x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}"/>"#,
                x(x1),
                y(y1),
                x(x2),
                y(y2)
            ),
        );
        line(
            out,
            &format!(
                r#"<text class="{anchor}" x="{:.1}" y="{:.1}">{text}</text>"#,
                x(at.0),
                y(at.1)
            ),
        );
    };
    guide((0.0, 0.0), (top, top), ((0.94 * top, 0.97 * top), "tick"), "fairness");
    if let Some(sum) = sum {
        let end = sum.min(top);
        guide(
            (sum - end, end),
            (end, sum - end),
            ((sum - end + 0.03 * top, end - 0.03 * top), "at"),
            "efficiency",
        );
    }
    for (from, to) in points.iter().zip(points.iter().skip(1)) {
        let class = Move::of(from, to).class();
        let x1 = x(from.1);
        let y1 = y(from.2);
        let x2 = x(to.1);
        let y2 = y(to.2);
        line(
            out,
            &format!(
                r#"<line class="move {class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
            ),
        );
    }
    for (index, (place, right, up)) in points.iter().enumerate() {
        let title = escape(&format!("{}: {} and {}", short(*place), short(*right), short(*up)));
        let radius = if index == 0 || index + 1 == points.len() { 4.5 } else { 2.4 };
        let x = x(*right);
        let y = y(*up);
        line(
            out,
            &format!(
                r#"<circle class="state" cx="{x:.1}" cy="{y:.1}" r="{radius}"><title>{title}</title></circle>"#
            ),
        );
    }
    for (point, text) in
        points.first().map(|p| (p, "start")).into_iter().chain(points.last().map(|p| (p, "end")))
    {
        let x = x(point.1) + 8.0;
        let y = y(point.2) + 4.0;
        line(out, &format!(r#"<text class="at end" x="{x:.1}" y="{y:.1}">{text}</text>"#));
    }
    line(out, "</svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curves::panels;
    use losscause_laboratory::papers::reproduce::{Plan, Repetitions, Selection, Variation};

    #[test]
    fn a_trajectory_has_a_point_per_round_trip_at_both_windows() {
        let selection = Selection::parse(&["barman2002/figure3"]).unwrap();
        let plan =
            Plan::new(&selection, Repetitions::AsPublished, 1, &Variation::default()).unwrap();
        let spec = plan.sheets()[0].spec;
        let mut items = plan.items().to_vec();
        for (index, item) in items.iter_mut().enumerate() {
            item.measured = Some(index as f64);
        }
        let found = trajectories(spec.phase.as_ref().unwrap(), &panels(spec, &items));
        assert_eq!(found.len(), 1);
        let (_, sum, points) = &found[0];
        assert_eq!(*sum, Some(24.0));
        assert_eq!(points.len(), 37);
        assert_eq!(points[..2], [(0.0, 0.0, 1.0), (1.0, 2.0, 3.0)]);
        assert_eq!(Move::of(&(0.0, 16.0, 4.0), &(1.0, 17.0, 5.0)), Move::BothGrow);
        assert_eq!(Move::of(&(1.0, 17.0, 5.0), &(2.0, 9.0, 3.0)), Move::BothFall);
        assert_eq!(Move::of(&(6.0, 13.0, 7.0), &(7.0, 7.0, 8.0)), Move::OneFalls);
        items[3].measured = None;
        let missing = trajectories(spec.phase.as_ref().unwrap(), &panels(spec, &items));
        assert_eq!(missing[0].2.len(), 36, "a state needs both windows");
    }
}
