//! One metric of a table as a small drawing: measured values with their intervals, and beside them
//! published values with their tolerance bands, or what another metric gives for the same system.

use super::axis::{Axis, short};
use super::state;
use super::svg::{escape, line};
use losscause_laboratory::papers::record::{Item, Published};
use losscause_laboratory::papers::score::{lookup_number, tolerance};
use losscause_study::statistics::Interval;

const LEFT: f64 = 44.0;
const COLUMN: f64 = 64.0;
const TOP: f64 = 10.0;
const HEIGHT: f64 = 130.0;
const BOTTOM: f64 = 22.0;
/// Mean width of a character of a name.
const CHARACTER: f64 = 6.2;
/// The slope of names that are wider than a column, degrees.
const SLOPE: f64 = 35.0;

/// Draws `items`, which are one metric of one table, from left to right.
pub(super) fn svg(published: &Published, items: &[Item]) -> String {
    draw(
        &items.iter().map(|item| Mark::of(published, item)).collect::<Vec<_>>(),
        items,
        "published and measured",
    )
}

/// Draws `items` with a ring where the item of the same system in `others` lies.
pub(super) fn beside(items: &[Item], others: &[Item]) -> String {
    let other = |item: &Item| {
        others.iter().find(|other| other.system == item.system).and_then(|other| other.measured)
    };
    let mark = |item: &Item| Mark {
        system: item.system.clone(),
        published: other(item),
        band: None,
        measured: item.measured,
        interval: item.interval(),
        class: state::of(item).class,
    };
    let name = others.first().map(|other| other.metric.as_str()).unwrap_or_default();
    draw(&items.iter().map(mark).collect::<Vec<_>>(), items, &format!("measured, and {name}"))
}

/// Draws the marks of `items`; nothing if no mark has a ring.
fn draw(marks: &[Mark], items: &[Item], what: &str) -> String {
    let top = marks.iter().flat_map(Mark::extremes).fold(0.0, f64::max);
    // Without a published value there is nothing to compare, and the table is enough.
    if top <= 0.0 || marks.iter().all(|mark| mark.published.is_none()) {
        return String::new();
    }
    let axis = Axis::from_zero(top);
    let names = Names::of(marks);
    let left = names.left();
    let width = left + COLUMN * items.len() as f64;
    let mut svg = String::new();
    let metric = items.first().map(|i| i.metric.as_str()).unwrap_or_default();
    let out = &mut svg;
    line(
        out,
        &format!(
            r#"<svg class="chart" width="{width:.1}" viewBox="0 0 {width:.1} {:.1}" role="img" aria-label="{}">"#,
            TOP + HEIGHT + names.height(),
            escape(&format!("{metric}: {what}, per system"))
        ),
    );
    for value in axis.ticks() {
        let y = y(&axis, value);
        line(
            out,
            &format!(
                r#"<line class="grid" x1="{left:.1}" x2="{width:.1}" y1="{y:.1}" y2="{y:.1}"/>"#
            ),
        );
        line(
            out,
            &format!(
                r#"<text class="tick" x="{:.1}" y="{:.1}">{}</text>"#,
                left - 6.0,
                y + 4.0,
                short(value)
            ),
        );
    }
    for (index, mark) in marks.iter().enumerate() {
        let x = left + COLUMN * (index as f64 + 0.5);
        mark.draw(out, x, &axis);
        names.draw(out, x, &mark.system);
    }
    line(out, "</svg>");
    svg
}

/// The height of a value.
fn y(axis: &Axis, value: f64) -> f64 {
    TOP + HEIGHT * (1.0 - axis.share(value))
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
        Self {
            system: item.system.clone(),
            published: item.published,
            band: number.map(|n| (n.value - tolerance(n), n.value + tolerance(n))),
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

    fn draw(&self, out: &mut String, x: f64, axis: &Axis) {
        if let Some((lower, upper)) = self.band {
            let (y, end) = (y(axis, upper), y(axis, lower));
            let left = x - 22.0;
            let height = (end - y).max(1.0);
            line(
                out,
                &format!(
                    r#"<rect class="band" x="{left:.1}" y="{y:.1}" width="44" height="{height:.1}" rx="2"/>"#
                ),
            );
        }
        if let Some(published) = self.published {
            let y = y(axis, published);
            line(out, &format!(r#"<circle class="published" cx="{x:.1}" cy="{y:.1}" r="7"/>"#));
        }
        if let Some(measured) = self.measured {
            let ends = self.interval.unwrap_or(Interval { low: measured, high: measured });
            let upper = y(axis, ends.high);
            let lower = y(axis, ends.low);
            line(
                out,
                &format!(
                    r#"<line class="ci {}" x1="{x:.1}" x2="{x:.1}" y1="{upper:.1}" y2="{lower:.1}"/>"#,
                    self.class
                ),
            );
            let y = y(axis, measured);
            line(
                out,
                &format!(r#"<circle class="dot {}" cx="{x:.1}" cy="{y:.1}" r="4.5"/>"#, self.class),
            );
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

    fn draw(self, out: &mut String, x: f64, name: &str) {
        let y = TOP + HEIGHT + 16.0;
        let name = escape(name);
        match self {
            Self::Level => {
                line(out, &format!(r#"<text class="name" x="{x:.1}" y="{y:.1}">{name}</text>"#));
            }
            Self::Aslope(_) => line(
                out,
                &format!(
                    r#"<text class="tick" x="{x:.1}" y="{y:.1}" transform="rotate(-{SLOPE} {x:.1} {y:.1})">{name}</text>"#
                ),
            ),
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
        // 14 characters, aslope: 86.8 wide, 50 deep.
        let Names::Aslope(widest) = names else { panic!("{names:?}") };
        assert!((widest - 86.8).abs() < 1e-9 && (names.height() - BOTTOM - 49.8).abs() < 0.1);
        let mut svg = String::new();
        names.draw(&mut svg, 76.0, "lc_cubic_spike");
        assert!(svg.contains("transform=\"rotate(-35 76.0"), "{svg}");
        assert!(
            names.left() + COLUMN / 2.0 >= widest * SLOPE.to_radians().cos(),
            "the first name is cut off"
        );
    }

    #[test]
    fn heights_grow_upwards_and_stay_inside() {
        let axis = Axis::from_zero(100.0);
        assert_eq!(y(&axis, 0.0), TOP + HEIGHT);
        assert_eq!(y(&axis, 100.0), TOP);
        assert_eq!(y(&axis, 250.0), TOP);
        assert_eq!(y(&axis, 50.0), TOP + HEIGHT / 2.0);
    }
}
