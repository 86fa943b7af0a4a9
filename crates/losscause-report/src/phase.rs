//! A phase plot: two metrics of a figure against each other as a trajectory, numbered along the
//! figure's axis. It shows the fairness line, on which both are equal, and the efficiency line, if
//! the item has one.

use super::axis::{Axis, nice_ceiling, short};
use super::chart::{At, Chart, Figure, Form, Legend, Scale, Stroke};
use crate::curves::Panel;
use losscause_laboratory::papers::record::PhaseSpec;

const FORM: Form = Form::new((460.0, 472.0), [24.0, 16.0, 40.0, 48.0]);

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

/// The kinds of steps of a trajectory: a class of the page, and words.
type Move = (&'static str, &'static str);
const BOTH_GROW: Move = ("grow", "both grow");
const BOTH_FALL: Move = ("fall", "both fall");
const ONE_FALLS: Move = ("one", "one falls");

/// The kind of a step.
fn kind(from: &Point, to: &Point) -> Move {
    match (to.1 < from.1, to.2 < from.2) {
        (false, false) => BOTH_GROW,
        (true, true) => BOTH_FALL,
        (true, false) | (false, true) => ONE_FALLS,
    }
}

/// Each kind of stroke with its meaning.
pub(super) fn legend() -> Legend {
    let sample =
        |(class, words): Move| (Stroke::Line.sample(&format!("move {class}")), words.to_owned());
    [BOTH_GROW, BOTH_FALL, ONE_FALLS].map(sample).to_vec()
}

/// Draws every trajectory.
pub(super) fn drawings(phase: &PhaseSpec, panels: &[Panel<'_>]) -> Vec<Figure> {
    let drawn = |(caption, sum, points): (String, Option<f64>, Vec<Point>)| {
        Figure::new(caption, svg(phase, sum, &points))
    };
    trajectories(phase, panels).into_iter().map(drawn).collect()
}

fn svg(phase: &PhaseSpec, sum: Option<f64>, points: &[Point]) -> String {
    let largest = points.iter().map(|(_, right, up)| right.max(*up)).fold(0.0, f64::max);
    if largest <= 0.0 {
        return String::new();
    }
    let top = nice_ceiling(largest.max(sum.map_or(0.0, |sum| 0.6 * sum)));
    let axis = Axis::linear(0.0, top);
    let label = format!("{} against {}", phase.up, phase.right);
    let up = Scale::of(&phase.up, axis);
    let mut chart = Chart::new("phase", &label, FORM, &Scale::of(&phase.right, axis), &up);
    chart.stroke("guide", (0.0, 0.0), (top, top));
    chart.note("tick", (0.94 * top, 0.97 * top), (0.0, 0.0), "fairness");
    if let Some(sum) = sum {
        let end = sum.min(top);
        chart.stroke("guide", (sum - end, end), (end, sum - end));
        chart.note("at", (sum - end + 0.03 * top, end - 0.03 * top), (0.0, 0.0), "efficiency");
    }
    let at = |&(_, right, up): &Point| -> At { (right, up) };
    for (from, to) in points.iter().zip(points.iter().skip(1)) {
        chart.stroke(&format!("move {}", kind(from, to).0), at(from), at(to));
    }
    for (index, point) in points.iter().enumerate() {
        let (place, right, up) = point;
        let title = format!("{}: {} and {}", short(*place), short(*right), short(*up));
        let radius = if index == 0 || index + 1 == points.len() { 4.5 } else { 2.4 };
        chart.circle("state", at(point), radius, &title);
    }
    for (point, text) in [(points.first(), "start"), (points.last(), "end")] {
        if let Some(point) = point {
            chart.note("at end", at(point), (8.0, 4.0), text);
        }
    }
    chart.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curves::panels;
    use losscause_laboratory::papers::reproduce::{Plan, Repetitions, Selection, Variation};
    use losscause_study::Context;

    #[test]
    fn a_trajectory_has_a_point_per_round_trip_at_both_windows() {
        let selection = Selection::parse(&["barman2002/figure3"]).unwrap();
        let plan = Plan::new(
            &Context::default(),
            &selection,
            Repetitions::AsPublished,
            1,
            &Variation::default(),
        )
        .unwrap();
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
        assert_eq!(kind(&(0.0, 16.0, 4.0), &(1.0, 17.0, 5.0)), BOTH_GROW);
        assert_eq!(kind(&(1.0, 17.0, 5.0), &(2.0, 9.0, 3.0)), BOTH_FALL);
        assert_eq!(kind(&(6.0, 13.0, 7.0), &(7.0, 7.0, 8.0)), ONE_FALLS);
        items[3].measured = None;
        let missing = trajectories(spec.phase.as_ref().unwrap(), &panels(spec, &items));
        assert_eq!(missing[0].2.len(), 36, "a state needs both windows");
    }
}
