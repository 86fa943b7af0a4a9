//! One metric of a table as a small drawing: measured values with their intervals, and beside them
//! published values with their tolerance bands, or what another metric gives for the same system.

use super::axis::Axis;
use super::chart::{CHARACTER, Chart, Form, Scale};
use super::state;
use losscause_laboratory::papers::record::{Item, Published};
use losscause_laboratory::papers::score::{lookup_number, tolerance};
use losscause_study::statistics::Interval;
use losscause_study::tools::table::escape;

const LEFT: f64 = 44.0;
const COLUMN: f64 = 64.0;
const TOP: f64 = 10.0;
const HEIGHT: f64 = 130.0;
const BOTTOM: f64 = 22.0;
/// The slope of names that are wider than a column, degrees.
const SLOPE: f64 = 35.0;

/// Draws `items`, which are one metric of one table, from left to right.
pub(super) fn svg(published: &Published, items: &[Item]) -> String {
    let marks: Vec<Mark> = items.iter().map(|item| Mark::of(published, item)).collect();
    draw(&marks, items, "published and measured")
}

/// Draws `items` with a ring where the item of the same system in `others` lies.
pub(super) fn beside(items: &[Item], others: &[Item]) -> String {
    let other = |item: &Item| others.iter().find(|other| other.system == item.system)?.measured;
    let marks: Vec<Mark> = items.iter().map(|item| Mark::new(item, other(item), None)).collect();
    let name = others.first().map(|other| other.metric.as_str()).unwrap_or_default();
    draw(&marks, items, &format!("measured, and {name}"))
}

/// Draws the marks of `items`; nothing if no mark has a ring.
fn draw(marks: &[Mark], items: &[Item], what: &str) -> String {
    let top = marks.iter().flat_map(Mark::extremes).fold(0.0, f64::max);
    // Without a published value there is nothing to compare, and the table is enough.
    if top <= 0.0 || marks.iter().all(|mark| mark.published.is_none()) {
        return String::new();
    }
    let names = Names::of(marks);
    let bottom = names.height();
    let left = names.left();
    let width = left + COLUMN * items.len() as f64;
    let form = Form {
        width,
        height: TOP + HEIGHT + bottom,
        left,
        right: 0.0,
        top: TOP,
        bottom,
        inset: 0.0,
    };
    let metric = items.first().map(|i| i.metric.as_str()).unwrap_or_default();
    let label = format!("{metric}: {what}, per system");
    let columns = Scale::of_names(marks.iter().map(|_| String::new()));
    let size = format!(r#" width="{width:.1}""#);
    let mut chart = Chart::without_panel("columns", &size, &label, form, &columns);
    chart.panel(TOP, TOP + HEIGHT, &Scale::of("", Axis::from_zero(top)));
    for (mark, (x, _)) in marks.iter().zip(&columns.ticks) {
        mark.draw(&mut chart, *x);
        names.draw(&mut chart, *x, &mark.system);
    }
    chart.finish()
}

/// One system's column.
struct Mark {
    system: String,
    /// The value of the ring.
    published: Option<f64>,
    /// The range that counts as reproduced; none for values that are not scored.
    band: Option<(f64, f64)>,
    measured: Option<f64>,
    interval: Option<Interval>,
    class: &'static str,
}

impl Mark {
    fn of(published: &Published, item: &Item) -> Self {
        let one = std::slice::from_ref(item);
        let number =
            published.number.iter().find(|n| n.counts() && lookup_number(one, n).is_some());
        let band = number.map(|n| (n.value - tolerance(n), n.value + tolerance(n)));
        Self::new(item, item.published, band)
    }

    fn new(item: &Item, published: Option<f64>, band: Option<(f64, f64)>) -> Self {
        Self {
            system: item.system.clone(),
            published,
            band,
            measured: item.measured,
            interval: item.interval(),
            class: state::of(item).class,
        }
    }

    fn extremes(&self) -> impl Iterator<Item = f64> {
        let end = self.interval.map(|interval| interval.high);
        [self.published, self.measured, end, self.band.map(|(_, upper)| upper)]
            .into_iter()
            .flatten()
    }

    fn draw(&self, chart: &mut Chart, x: f64) {
        if let Some((lower, upper)) = self.band {
            chart.stroke("allowed", (x, upper), (x, lower));
        }
        if let Some(published) = self.published {
            chart.circle("published", (x, published), 7.0, "");
        }
        if let Some(measured) = self.measured {
            let ends = self.interval.unwrap_or(Interval { low: measured, high: measured });
            chart.stroke(&format!("ci {}", self.class), (x, ends.high), (x, ends.low));
            chart.circle(&format!("dot {}", self.class), (x, measured), 4.5, "");
        }
    }
}

/// How the systems' names stand below their columns: level, or aslope where a name is wider than
/// its column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Names {
    Level,
    /// With the width of the longest.
    Aslope(f64),
}

impl Names {
    fn of(marks: &[Mark]) -> Self {
        let width = |mark: &Mark| CHARACTER * mark.system.chars().count() as f64;
        let widest = marks.iter().map(width).fold(0.0, f64::max);
        if widest <= COLUMN - 4.0 { Self::Level } else { Self::Aslope(widest) }
    }

    /// The height of the names below the axis.
    fn height(self) -> f64 {
        match self {
            Self::Level => BOTTOM,
            Self::Aslope(widest) => BOTTOM + widest * SLOPE.to_radians().sin(),
        }
    }

    /// Where the axis begins, so that the first name has room.
    fn left(self) -> f64 {
        match self {
            Self::Level => LEFT,
            Self::Aslope(widest) => LEFT.max(widest * SLOPE.to_radians().cos() - COLUMN / 2.0),
        }
    }

    fn draw(self, chart: &mut Chart, x: f64, name: &str) {
        match self {
            Self::Level => chart.note("name", (x, 0.0), (0.0, 16.0), name),
            Self::Aslope(_) => {
                let x = chart.x(x);
                let y = TOP + HEIGHT + 16.0;
                let name = escape(name);
                chart.line(&format!(
                    r#"<text class="tick" x="{x:.1}" y="{y:.1}" transform="rotate(-{SLOPE} {x:.1} {y:.1})">{name}</text>"#
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_beside_another_has_a_ring_per_system_that_both_have() {
        let spec = &losscause_laboratory::papers::record::find("extra").unwrap().items().item[0];
        let paper = losscause_laboratory::papers::record::find("extra").unwrap();
        let item = |metric: &str, system: &str, measured| {
            let blank = losscause_laboratory::papers::reproduce::blank_item(
                paper,
                spec,
                metric,
                system,
                &Default::default(),
                1,
            );
            Item { measured, ..blank }
        };
        let own = [item("goodput", "reno", Some(3.0)), item("goodput", "bbr", Some(9.0))];
        let others =
            [item("simulated_goodput", "reno", Some(3.5)), item("simulated_goodput", "bbr", None)];
        let svg = beside(&own, &others);
        assert_eq!(
            (svg.matches("class=\"published\"").count(), svg.matches("class=\"dot").count()),
            (1, 2)
        );
        assert!(svg.contains("goodput: measured, and simulated_goodput, per system"));
        assert_eq!(beside(&own, &[]), "", "without rings the table is enough");
    }

    #[test]
    fn names_wider_than_their_columns_stand_aslope_with_room() {
        let mark = |system: &str| Mark {
            system: system.to_owned(),
            published: None,
            band: None,
            measured: None,
            interval: None,
            class: "plain",
        };
        assert_eq!(Names::of(&[mark("Spike"), mark("mBiaz")]), Names::Level);
        let names = Names::of(&[mark("lc_spike"), mark("lc_cubic_spike")]);
        // 14 characters, aslope: 84 wide, 48 deep.
        let Names::Aslope(widest) = names else { panic!("{names:?}") };
        assert!((widest - 84.0).abs() < 1e-9 && (names.height() - BOTTOM - 48.2).abs() < 0.1);
        let mut chart = chart();
        names.draw(&mut chart, 0.5, "lc_cubic_spike");
        assert!(chart.finish().contains("transform=\"rotate(-35 76.0"));
        assert!(
            names.left() + COLUMN / 2.0 >= widest * SLOPE.to_radians().cos(),
            "the first name is cut off"
        );
    }

    /// A column beside an axis to 100.
    fn chart() -> Chart {
        let form = Form {
            width: LEFT + COLUMN,
            height: TOP + HEIGHT + BOTTOM,
            left: LEFT,
            right: 0.0,
            top: TOP,
            bottom: BOTTOM,
            inset: 0.0,
        };
        let up = Scale::of("", Axis::from_zero(100.0));
        Chart::new("columns", "", form, &Scale::of_names([String::new()]), &up)
    }

    #[test]
    fn heights_grow_upwards_and_stay_inside() {
        let y = |value| chart().y(value);
        assert_eq!(y(0.0), TOP + HEIGHT);
        assert_eq!(y(100.0), TOP);
        assert_eq!(y(250.0), TOP);
        assert_eq!(y(50.0), TOP + HEIGHT / 2.0);
    }
}
