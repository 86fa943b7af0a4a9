//! A panel of a paper's figure as curves over the paper's axes.

use super::axis::{Axis, nice_ceiling};
use super::chart::Scale;
use super::lines::{self, Curve, Lines, Point, Ring, Style};
use crate::curves::{self, Panel};
use losscause_laboratory::papers::record::{AxisSpec, Item, ItemSpec, Number, Published};
use losscause_laboratory::papers::score::{lookup_number, tolerance};

/// The drawing of a panel; empty if it has no value. `labels` are those of the whole figure.
pub(super) fn svg(
    published: &Published,
    spec: &ItemSpec,
    panel: &Panel<'_>,
    labels: &[String],
) -> String {
    let Some(across) = across(spec, panel) else { return String::new() };
    let Some(up) = up(published, spec, panel) else { return String::new() };
    // What the paper calls the vertical axis. The caption of a panel names the metric.
    let up_name = spec.axes.get(panel.metric).and_then(|wanted| wanted.label.clone());
    let label = format!("{} over {}, per system", panel.metric, across.name);
    let curves = panel.curves.iter().map(|curve| drawn(published, curve, labels)).collect();
    Lines::new(label, across, Scale::of(up_name.unwrap_or_default(), up), curves).svg()
}

/// A curve's colour, dashes and mark. A system has the same in every figure of the paper; curves
/// that differ in a parameter have those of their place in the legend.
pub(super) fn style(published: &Published, curve: &curves::Curve<'_>, labels: &[String]) -> Style {
    let in_legend = || labels.iter().position(|label| *label == curve.label()).unwrap_or(0);
    let place = match curve.value {
        // A system beside the paper's has a style that none of the paper's has.
        None => published
            .system
            .iter()
            .position(|s| s.name == curve.system)
            .unwrap_or(published.system.len() + in_legend()),
        Some(_) => in_legend(),
    };
    Style::nth(place)
}

fn drawn(published: &Published, curve: &curves::Curve<'_>, labels: &[String]) -> Curve {
    let point = |(x, item): &(f64, &Item)| {
        let ring = printed(published, item).map(|number| Ring {
            value: number.value,
            by: tolerance(number),
            title: format!("{} published: {}", item.system, number.value),
        });
        let title = format!("{}, {}: {}", curve.label(), item.metric, item.interval_text());
        Point { interval: item.interval(), ring, ..Point::new(*x, item.measured, title) }
    };
    let name = match curve.value {
        None => curve.system.to_owned(),
        Some((formula, value)) => format!("{formula} = {value}"),
    };
    Curve {
        name,
        style: style(published, curve, labels),
        points: curve.points.iter().map(point).collect(),
    }
}

/// The published number that the item is scored on.
pub(super) fn printed<'a>(published: &'a Published, item: &Item) -> Option<&'a Number> {
    published
        .number
        .iter()
        .find(|n| n.counts() && lookup_number(std::slice::from_ref(item), n).is_some())
}

fn across(spec: &ItemSpec, panel: &Panel<'_>) -> Option<Scale> {
    let mut across = lines::across(panel.x, &panel.places())?;
    if let Some(wanted) = spec.axes.get(panel.x) {
        across.name = wanted.label.clone().unwrap_or(across.name);
        across.axis = ends(across.axis, wanted);
    }
    Some(across)
}

/// The vertical axis: the paper's, or from zero to a round number above all values.
fn up(published: &Published, spec: &ItemSpec, panel: &Panel<'_>) -> Option<Axis> {
    let points = || panel.curves.iter().flat_map(|curve| &curve.points);
    let printed = |item: &Item| printed(published, item).map_or(0.0, |n| n.value + tolerance(n));
    // Intervals may exceed the drawing, so that a wide one does not flatten the curves.
    let measured = points().filter_map(|(_, item)| item.measured).fold(0.0, f64::max);
    let top = points().map(|(_, item)| printed(item)).fold(measured, f64::max);
    if top <= 0.0 {
        return None;
    }
    // Percentages end at 100, whatever the tolerance.
    let whole = panel.unit == "percent" && measured <= 101.0;
    let top = if whole { nice_ceiling(top).min(100.0) } else { nice_ceiling(top) };
    let axis = Axis::linear(0.0, top);
    Some(spec.axes.get(panel.metric).map_or(axis, |wanted| ends(axis, wanted)))
}

/// The axis with the ends and the scale that the paper gives.
fn ends(axis: Axis, wanted: &AxisSpec) -> Axis {
    let Axis { least, most, logarithmic } = axis;
    let least = wanted.from.unwrap_or(least);
    let most = wanted.to.unwrap_or(most);
    // A logarithmic axis has no zero.
    Axis { least, most, logarithmic: wanted.log.unwrap_or(logarithmic) && least > 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use losscause_laboratory::papers::record;

    #[test]
    fn every_figures_axes_fit_its_parameter_and_have_a_length() {
        let mut with_axes = 0;
        for paper in record::all() {
            for spec in &paper.items().item {
                for (name, axis) in &spec.axes {
                    let is_known = spec.x.as_ref() == Some(name) || spec.metrics.contains(name);
                    assert!(is_known, "{}/{}: axes.{name}", paper.key(), spec.id);
                    assert!(
                        axis.from.zip(axis.to).is_none_or(|(from, to)| from < to),
                        "{}: axes.{name}",
                        spec.id
                    );
                    with_axes += 1;
                }
            }
        }
        assert!(with_axes > 50, "{with_axes}");
    }

    #[test]
    fn the_papers_ends_win_and_a_logarithmic_axis_has_no_zero() {
        let wanted = AxisSpec { to: Some(1.0), log: Some(true), ..AxisSpec::default() };
        assert_eq!(ends(Axis::linear(0.0, 0.6), &wanted), Axis::linear(0.0, 1.0));
        assert!(ends(Axis::linear(0.1, 0.6), &wanted).logarithmic);
        let axis = Axis { least: 1.0, most: 50.0, logarithmic: true };
        assert!(!ends(axis, &AxisSpec { log: Some(false), ..AxisSpec::default() }).logarithmic);
        assert_eq!(ends(axis, &AxisSpec::default()), axis);
    }
}
