//! One metric of a table as a small drawing: measured means with their intervals, and beside them published values with
//! their tolerance bands, or what another metric gives for the same system.

use super::axis::{Axis, short};
use super::state;
use super::svg::{escape, line};
use crate::papers::record::Item;
use crate::papers::record::Published;
use crate::papers::score::{lookup_number, tolerance};

const LEFT: f64 = 44.0;
const COLUMN: f64 = 64.0;
const TOP: f64 = 10.0;
const HEIGHT: f64 = 130.0;
const BOTTOM: f64 = 22.0;

/// Draws `items`, which are one metric of one table, from left to right.
pub(super) fn svg(published: &Published, items: &[Item]) -> String {
    draw(&items.iter().map(|item| Mark::of(published, item)).collect::<Vec<_>>(), items, "published and measured")
}

/// Draws `items` with a ring where the item of the same system in `others` lies.
pub(super) fn beside(items: &[Item], others: &[Item]) -> String {
    let other = |item: &Item| others.iter().find(|other| other.system == item.system).and_then(|other| other.measured);
    let mark = |item: &Item| Mark {
        system: item.system.clone(),
        published: other(item),
        band: None,
        measured: item.measured,
        ci95: item.ci95.unwrap_or(0.0),
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
    let width = LEFT + COLUMN * items.len() as f64;
    let mut svg = String::new();
    let metric = items.first().map(|i| i.metric.as_str()).unwrap_or_default();
    let out = &mut svg;
    line(
        out,
        &format!(
            r#"<svg class="chart" width="{width}" viewBox="0 0 {width} {}" role="img" aria-label="{}">"#,
            TOP + HEIGHT + BOTTOM,
            escape(&format!("{metric}: {what}, per system"))
        ),
    );
    for value in axis.ticks() {
        let y = y(&axis, value);
        line(out, &format!(r#"<line class="grid" x1="{LEFT}" x2="{width}" y1="{y:.1}" y2="{y:.1}"/>"#));
        line(out, &format!(r#"<text class="tick" x="{}" y="{:.1}">{}</text>"#, LEFT - 6.0, y + 4.0, short(value)));
    }
    for (index, mark) in marks.iter().enumerate() {
        mark.draw(out, LEFT + COLUMN * (index as f64 + 0.5), &axis);
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
    ci95: f64,
    class: &'static str,
}

impl Mark {
    fn of(published: &Published, item: &Item) -> Self {
        let one = std::slice::from_ref(item);
        let number = published.number.iter().find(|n| n.counts() && lookup_number(one, n).is_some());
        Self {
            system: item.system.clone(),
            published: item.published,
            band: number.map(|n| (n.value - tolerance(n), n.value + tolerance(n))),
            measured: item.measured,
            ci95: item.ci95.unwrap_or(0.0),
            class: state::of(item).class,
        }
    }

    fn extremes(&self) -> impl Iterator<Item = f64> {
        let measured = self.measured.map(|m| m + self.ci95);
        [self.published, measured, self.band.map(|(_, upper)| upper)].into_iter().flatten()
    }

    fn draw(&self, out: &mut String, x: f64, axis: &Axis) {
        if let Some((lower, upper)) = self.band {
            let (y, end) = (y(axis, upper), y(axis, lower));
            let (left, height) = (x - 22.0, (end - y).max(1.0));
            line(
                out,
                &format!(r#"<rect class="band" x="{left:.1}" y="{y:.1}" width="44" height="{height:.1}" rx="2"/>"#),
            );
        }
        if let Some(published) = self.published {
            let y = y(axis, published);
            line(out, &format!(r#"<circle class="published" cx="{x:.1}" cy="{y:.1}" r="7"/>"#));
        }
        if let Some(measured) = self.measured {
            let (upper, lower) = (y(axis, measured + self.ci95), y(axis, measured - self.ci95));
            line(
                out,
                &format!(
                    r#"<line class="ci {}" x1="{x:.1}" x2="{x:.1}" y1="{upper:.1}" y2="{lower:.1}"/>"#,
                    self.class
                ),
            );
            let y = y(axis, measured);
            line(out, &format!(r#"<circle class="dot {}" cx="{x:.1}" cy="{y:.1}" r="4.5"/>"#, self.class));
        }
        let y = TOP + HEIGHT + 16.0;
        line(out, &format!(r#"<text class="name" x="{x:.1}" y="{y:.1}">{}</text>"#, escape(&self.system)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_beside_another_has_a_ring_per_system_that_both_have() {
        let spec = &crate::papers::record::find("extra").unwrap().items().item[0];
        let paper = crate::papers::record::find("extra").unwrap();
        let item = |metric: &str, system: &str, measured| {
            let blank = crate::papers::reproduce::blank_item(paper, spec, metric, system, &Default::default(), 1);
            Item { measured, ..blank }
        };
        let own = [item("goodput", "reno", Some(3.0)), item("goodput", "bbr", Some(9.0))];
        let others = [item("simulated_goodput", "reno", Some(3.5)), item("simulated_goodput", "bbr", None)];
        let svg = beside(&own, &others);
        assert_eq!((svg.matches("class=\"published\"").count(), svg.matches("class=\"dot").count()), (1, 2));
        assert!(svg.contains("goodput: measured, and simulated_goodput, per system"));
        assert_eq!(beside(&own, &[]), "", "without rings the table is enough");
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
