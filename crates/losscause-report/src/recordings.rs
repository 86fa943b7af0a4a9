//! A paper's run over time: curves of one unit share a panel.

use super::chart::{Shape, Stroke};
use super::marks::Mark;
use super::time::{Curve, Drawing, Lane, Panel};
use losscause_laboratory::papers::reproduce::{RecordedCurve, Recording};

/// Number of colours of the page.
const STYLES: usize = 4;

/// The drawing of a recording.
pub(super) fn drawing(recording: &Recording) -> Drawing {
    let names: Vec<&str> = recording.curves.iter().map(|curve| curve.name.as_str()).collect();
    let mark = |name: &str, at_s: f64| Mark {
        at_s,
        value: 0.0,
        shape: Shape::Bar,
        class: "instant",
        title: name.into(),
    };
    let lanes = recording.events.iter().map(|events| Lane {
        name: events.name.clone(),
        marks: events.times_s.iter().map(|at| mark(&events.name, *at)).collect(),
    });
    Drawing {
        label: format!("{} over time, {}", names.join(", "), recording.system),
        from_s: recording.from_s,
        to_s: recording.to_s,
        panels: panels(&recording.curves),
        lanes: lanes.collect(),
    }
}

/// A curve in the style of its place in the recording.
pub(super) fn curve(recorded: &RecordedCurve, place: usize) -> Curve {
    let stroke = if recorded.holds { Stroke::Held } else { Stroke::Dots };
    let class = format!("t{}", place % STYLES);
    Curve::new(&recorded.name, class, stroke, recorded.points.clone())
}

fn panels(curves: &[RecordedCurve]) -> Vec<Panel> {
    let mut panels: Vec<Panel> = Vec::new();
    for (place, recorded) in curves.iter().enumerate().filter(|(_, curve)| !curve.points.is_empty())
    {
        Panel::add(&mut panels, vec![recorded.unit.clone()], curve(recorded, place));
    }
    panels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_of_one_unit_share_an_axis_and_empty_ones_have_none() {
        let curve = |name: &str, unit: &str, points: &[(f64, f64)]| RecordedCurve {
            name: name.into(),
            unit: unit.into(),
            holds: true,
            points: points.to_vec(),
            mean: None,
        };
        let curves = vec![
            curve("a", "packets", &[(10.0, 3.0)]),
            curve("b", "ms", &[(10.0, 104.0), (12.0, 117.0)]),
            curve("c", "packets", &[(11.0, 9.0)]),
            curve("d", "bytes", &[]),
        ];
        let shown: Vec<(String, usize)> =
            panels(&curves).into_iter().map(|p| (p.names[0].clone(), p.curves.len())).collect();
        assert_eq!(shown, [("packets".to_owned(), 2), ("ms".to_owned(), 1)]);
    }
}
