//! Two metrics of every system against each other, such as gain and harm: one mark per system with
//! both intervals and its name at the drawing's edge.

use super::axis::Axis;
use super::chart::{Chart, Figure, Form, Scale};
use super::lines::Style;
use losscause_laboratory::papers::record::{
    Item, ItemSpec, Parameters, Published, ScatterSpec, Value,
};
use losscause_study::statistics::Interval;
use losscause_study::tools::figures::unit_symbol;

const FORM: Form = Form {
    width: 620.0,
    height: 380.0,
    left: 52.0,
    right: 190.0,
    top: 26.0,
    bottom: 42.0,
    inset: 0.0,
};

/// A system's place.
struct Spot<'a> {
    system: &'a str,
    style: Style,
    right: Place,
    up: Place,
}

/// A value with its interval and as a text.
struct Place {
    value: f64,
    ends: Interval,
    text: String,
}

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
    let drawing = |at: &&Parameters| {
        let differing = at.iter().filter(|(name, value)| differs(name, value));
        let caption: Vec<String> =
            differing.map(|(name, value)| format!("{name} {value}")).collect();
        let spots = spots(published, spec, of, items, at);
        let unit = |metric: &str| {
            items.iter().find(|i| i.metric == metric).map_or("", |i| unit_symbol(&i.unit))
        };
        let name = |metric: &str| {
            let label = spec.axes.get(metric).and_then(|axis| axis.label.clone());
            label.unwrap_or_else(|| format!("{metric}, {}", unit(metric)))
        };
        Figure {
            caption: caption.join(", "),
            legend: vec![],
            svg: svg(&spots, &name(&of.right), &name(&of.up)),
        }
    };
    combinations.iter().map(drawing).collect()
}

fn spots<'a>(
    published: &Published,
    spec: &'a ItemSpec,
    of: &ScatterSpec,
    items: &[Item],
    at: &Parameters,
) -> Vec<Spot<'a>> {
    let spot = |system: &'a String| {
        let value = |metric: &str| {
            let mut mine =
                items.iter().filter(|item| item.system == *system && item.parameters == *at);
            let item = mine.find(|item| item.metric == metric)?;
            let value = item.measured?;
            let ends = item.interval().unwrap_or(Interval { low: value, high: value });
            Some(Place { value, ends, text: item.interval_text() })
        };
        let place = published.system.iter().position(|known| known.name == *system).unwrap_or(0);
        Some(Spot {
            system,
            style: Style::nth(place),
            right: value(&of.right)?,
            up: value(&of.up)?,
        })
    };
    spec.systems.iter().filter_map(spot).collect()
}

fn svg(spots: &[Spot<'_>], right: &str, up: &str) -> String {
    if spots.is_empty() {
        return String::new();
    }
    let axis = |of: fn(&Spot<'_>) -> f64| Axis::around(spots.iter().map(of).chain([0.0]));
    let (Some(across), Some(upwards)) = (axis(|spot| spot.right.value), axis(|spot| spot.up.value))
    else {
        return String::new();
    };
    let label = format!("{up} over {right}, per system");
    let inside = |value: f64| value.clamp(across.least, across.most);
    let across = Scale::of(right, across);
    let mut chart = Chart::new("lines", &label, FORM, &across, &Scale::of(up, upwards));
    let end = |spot: &Spot<'_>| ((spot.right.value, spot.up.value), spot.style.to_string());
    for spot in spots {
        let Spot { system, style, right, up } = spot;
        let (at, class) = end(spot);
        let whisker = format!("whisker {class}");
        chart.stroke(&whisker, (at.0, up.ends.high), (at.0, up.ends.low));
        chart.stroke(&whisker, (inside(right.ends.low), at.1), (inside(right.ends.high), at.1));
        let title = format!("{system}: {} over {}", up.text, right.text);
        chart.mark(style.shape(), &class, at, &title);
    }
    let name = |spot| {
        let (at, class) = end(spot);
        (at, class, spot.system)
    };
    chart.names(spots.iter().map(name).collect());
    chart.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(system: &'static str, right: f64, up: f64) -> Spot<'static> {
        let place = |value: f64, by: f64| Place {
            value,
            ends: Interval::around(value, by),
            text: String::new(),
        };
        Spot { system, style: Style::nth(0), right: place(right, 1.0), up: place(up, 2.0) }
    }

    #[test]
    fn a_system_further_right_and_higher_stands_there_uncrowded() {
        let drawn = svg(
            &[spot("a", 0.0, 100.0), spot("b & c", 40.0, 400.0), spot("d", 41.0, 400.0)],
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
        assert_eq!(svg(&[], "harm", "gain"), "");
    }
}
