//! Two metrics of every system against each other, such as gain and harm: one mark per system with
//! both intervals and its name at the drawing's edge.

use super::axis::{Axis, short};
use super::lines::{Style, apart, mark};
use super::svg::{escape, line};
use losscause_laboratory::papers::record::{
    Item, ItemSpec, Parameters, Published, ScatterSpec, Value,
};
use losscause_study::statistics::Interval;
use losscause_study::tools::figures::unit_symbol;

const WIDTH: f64 = 620.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 42.0;
/// Between two names.
const LINE: f64 = 12.5;

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
) -> Vec<(String, String)> {
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
        (caption.join(", "), svg(&spots, &name(&of.right), &name(&of.up)))
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
    let end = WIDTH - RIGHT;
    let bottom = HEIGHT - BOTTOM;
    let x = |value: f64| LEFT + (end - LEFT) * across.share(value);
    let y = |value: f64| bottom - (bottom - TOP) * upwards.share(value);
    let mut svg = String::new();
    let out = &mut svg;
    let label = escape(&format!("{up} over {right}, per system"));
    line(
        out,
        &format!(
            r#"<svg class="chart lines" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">"#
        ),
    );
    for value in upwards.ticks() {
        let y = y(value);
        line(
            out,
            &format!(r#"<line class="grid" x1="{LEFT}" x2="{end}" y1="{y:.1}" y2="{y:.1}"/>"#),
        );
        line(
            out,
            &format!(
                r#"<text class="tick" x="{}" y="{:.1}">{}</text>"#,
                LEFT - 6.0,
                y + 4.0,
                short(value)
            ),
        );
    }
    for value in across.ticks() {
        let x = x(value);
        line(
            out,
            &format!(r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{bottom}"/>"#),
        );
        line(
            out,
            &format!(
                r#"<text class="name" x="{x:.1}" y="{:.1}">{}</text>"#,
                bottom + 15.0,
                short(value)
            ),
        );
    }
    line(out, &format!(r#"<text class="at" x="6" y="{:.1}">{}</text>"#, TOP - 12.0, escape(up)));
    let middle = (LEFT + end) / 2.0;
    line(
        out,
        &format!(
            r#"<text class="name" x="{middle:.1}" y="{:.1}">{}</text>"#,
            HEIGHT - 8.0,
            escape(right)
        ),
    );

    let mut order: Vec<&Spot<'_>> = spots.iter().collect();
    order.sort_by(|a, b| y(a.up.value).total_cmp(&y(b.up.value)));
    let names =
        apart(&order.iter().map(|spot| y(spot.up.value)).collect::<Vec<_>>(), LINE, (TOP, bottom));
    for (spot, name_y) in order.iter().zip(names) {
        let Spot { system, style, right, up } = spot;
        let cx = x(right.value);
        let cy = y(up.value);
        let low = y(up.ends.low);
        let high = y(up.ends.high);
        line(
            out,
            &format!(
                r#"<line class="whisker {style}" x1="{cx:.1}" x2="{cx:.1}" y1="{high:.1}" y2="{low:.1}"/>"#
            ),
        );
        let first = x(right.ends.low);
        let last = x(right.ends.high);
        line(
            out,
            &format!(
                r#"<line class="whisker {style}" x1="{first:.1}" x2="{last:.1}" y1="{cy:.1}" y2="{cy:.1}"/>"#
            ),
        );
        let at = end + 10.0;
        line(
            out,
            &format!(
                r#"<path class="leader {style}" d="M{:.1} {cy:.1}L{:.1} {name_y:.1}"/>"#,
                cx + 5.0,
                at - 3.0
            ),
        );
        let title = format!("{system}: {} over {}", up.text, right.text);
        mark(out, *style, cx, cy, &title);
        line(
            out,
            &format!(
                r#"<text class="end {style}" x="{at:.1}" y="{:.1}">{}</text>"#,
                name_y + 3.5,
                escape(system)
            ),
        );
    }
    line(out, "</svg>");
    svg
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
        assert!(texts.windows(2).all(|pair| pair[1] - pair[0] >= LINE - 0.1), "{texts:?}");
        assert!(drawn.contains(">b &amp; c</text>"));
        assert_eq!(drawn.matches("class=\"whisker").count(), 6);
    }

    #[test]
    fn nothing_measured_draws_nothing() {
        assert_eq!(svg(&[], "harm", "gain"), "");
    }
}
