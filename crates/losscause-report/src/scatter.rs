//! Two metrics of every system against each other, such as gain and harm: one mark per system with
//! both intervals and its name at the drawing's edge.

use super::axis::Axis;
use super::chart::{Figure, Form, Scale};
use super::lines::{Curve, Lines, Point, Style};
use losscause_laboratory::papers::record::{
    Item, ItemSpec, Parameters, Published, ScatterSpec, Value,
};
use losscause_study::tools::figures::unit_symbol;

const FORM: Form = Form::new((620.0, 380.0), [26.0, 190.0, 42.0, 52.0]);

/// A drawing for every combination of the item's parameters, each with its caption. A mark needs
/// both metrics.
pub(super) fn drawings(
    published: &Published,
    spec: &ItemSpec,
    of: &ScatterSpec,
    items: &[Item],
) -> Vec<Figure> {
    let mut combinations: Vec<&Parameters> = Vec::new();
    for item in items {
        if !combinations.contains(&&item.parameters) {
            combinations.push(&item.parameters);
        }
    }
    let differs = |name: &String, value: &Value| {
        combinations.iter().any(|other| other.get(name) != Some(value))
    };
    let name = |metric: &str| {
        let label = spec.axes.get(metric).and_then(|axis| axis.label.clone());
        let unit = items.iter().find(|item| item.metric == metric);
        let unit = unit.map_or("", |item| unit_symbol(&item.unit));
        label.unwrap_or_else(|| format!("{metric}, {unit}"))
    };
    let drawing = |at: &&Parameters| {
        let differing = at.iter().filter(|(name, value)| differs(name, value));
        let caption: Vec<String> =
            differing.map(|(name, value)| format!("{name} {value}")).collect();
        let of_system = |system: &String| spot(published, system, of, items, at);
        let spots = spec.systems.iter().filter_map(of_system).collect();
        Figure::new(caption.join(", "), svg(spots, &name(&of.right), &name(&of.up)))
    };
    combinations.iter().map(drawing).collect()
}

/// A system's place, as a curve of one point.
fn spot(
    published: &Published,
    system: &str,
    of: &ScatterSpec,
    items: &[Item],
    at: &Parameters,
) -> Option<Curve> {
    let find = |metric: &str| {
        let is_it =
            |item: &&Item| item.system == system && item.parameters == *at && item.metric == metric;
        items.iter().find(is_it)
    };
    let right = find(&of.right)?;
    let up = find(&of.up)?;
    let title = format!("{system}: {} over {}", up.interval_text(), right.interval_text());
    let point = Point {
        interval: up.interval(),
        across: right.interval(),
        ..Point::new(right.measured?, Some(up.measured?), title)
    };
    let place = published.system.iter().position(|known| known.name == system).unwrap_or(0);
    Some(Curve { name: system.to_owned(), style: Style::nth(place), points: vec![point] })
}

fn svg(spots: Vec<Curve>, right: &str, up: &str) -> String {
    let axis = |of: fn(&Point) -> Option<f64>| {
        Axis::around(spots.iter().filter_map(|spot| of(&spot.points[0])).chain([0.0]))
    };
    let (Some(across), Some(upwards)) = (axis(|point| Some(point.x)), axis(|point| point.value))
    else {
        return String::new();
    };
    let label = format!("{up} over {right}, per system");
    let lines = Lines::new(label, Scale::of(right, across), Scale::of(up, upwards), spots);
    Lines { form: FORM, has_names: true, ..lines }.svg()
}

#[cfg(test)]
mod tests {
    use losscause_study::statistics::Interval;

    use super::*;

    fn spot(system: &str, right: f64, up: f64) -> Curve {
        let point = Point {
            interval: Some(Interval::around(up, 2.0)),
            across: Some(Interval::around(right, 1.0)),
            ..Point::new(right, Some(up), String::new())
        };
        Curve { name: system.to_owned(), style: Style::nth(0), points: vec![point] }
    }

    #[test]
    fn a_system_further_right_and_higher_stands_there_uncrowded() {
        let drawn = svg(
            vec![spot("a", 0.0, 100.0), spot("b & c", 40.0, 400.0), spot("d", 41.0, 400.0)],
            "harm",
            "gain",
        );
        let texts: Vec<f64> = drawn
            .lines()
            .filter(|line| line.contains("class=\"end"))
            .map(|line| {
                line.split("y=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
            })
            .collect();
        assert_eq!(texts.len(), 3);
        assert!(texts.windows(2).all(|pair| pair[1] - pair[0] >= 11.0 - 0.1), "{texts:?}");
        assert!(drawn.contains(">b &amp; c</tspan>"));
        assert_eq!(drawn.matches("class=\"whisker").count(), 6);
    }

    #[test]
    fn nothing_measured_draws_nothing() {
        assert_eq!(svg(vec![], "harm", "gain"), "");
    }
}
