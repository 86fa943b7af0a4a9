//! Events as marks. Those that cannot be told apart are one mark, which tells of all of them.

use std::collections::BTreeMap;

use super::chart::{At, Chart, Shape};

/// Most events that one mark tells of in full.
const TOLD: usize = 4;

/// An event.
#[derive(Clone)]
pub(super) struct Mark {
    /// Its place on the horizontal axis.
    pub(super) at_s: f64,
    /// The event's height in a panel; a lane ignores it.
    pub(super) value: f64,
    pub(super) shape: Shape,
    /// Colours, by a class of the page.
    pub(super) class: &'static str,
    /// What it means, for hover and focus; lines of text.
    pub(super) title: String,
}

/// Draws marks at their places. Those of one look within a spot of this width and height in the
/// drawing are one.
pub(super) fn draw(
    chart: &mut Chart,
    marks: &[Mark],
    at: impl Fn(&Mark) -> At,
    (width, height): (f64, f64),
) {
    let spot = |mark: &Mark| {
        let (across, up) = at(mark);
        ((chart.x(across) / width) as i64, (chart.y(up) / height) as i64)
    };
    let merged = merged(marks, spot);
    for mark in merged {
        chart.mark(mark.shape, mark.class, at(&mark), &mark.title);
    }
}

/// The marks, those of one look at one spot as the first of them.
fn merged(marks: &[Mark], spot: impl Fn(&Mark) -> (i64, i64)) -> Vec<Mark> {
    let mut spots: BTreeMap<_, (Mark, usize)> = BTreeMap::new();
    for mark in marks {
        let known = spots.entry((spot(mark), mark.shape, mark.class));
        let (first, count) = known.or_insert_with(|| (mark.clone(), 0));
        *count += 1;
        if (2..=TOLD).contains(count) {
            first.title += &format!("\n{}", mark.title);
        }
    }
    let mut marks: Vec<Mark> = Vec::new();
    for (mut mark, count) in spots.into_values() {
        if count > TOLD {
            mark.title += &format!("\nand {} more here", count - TOLD);
        }
        marks.push(mark);
    }
    // Wrong verdicts are drawn last, above the others.
    marks.sort_by_key(|mark| mark.class.ends_with("wrong"));
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_at_one_place_are_one_that_counts_the_rest() {
        let mark = |k: usize, at_s: f64, shape| Mark {
            at_s,
            value: 0.0,
            shape,
            class: "c",
            title: format!("loss {k}"),
        };
        let mut marks: Vec<Mark> = (0..6).map(|k| mark(k, 0.0, Shape::Square)).collect();
        marks.extend([mark(6, 0.0, Shape::Circle), mark(7, 1.0, Shape::Square)]);
        let merged = merged(&marks, |mark| (mark.at_s as i64, 0));
        let titles: Vec<&str> = merged.iter().map(|mark| mark.title.as_str()).collect();
        assert_eq!(titles, ["loss 0\nloss 1\nloss 2\nloss 3\nand 2 more here", "loss 6", "loss 7"]);
    }
}
