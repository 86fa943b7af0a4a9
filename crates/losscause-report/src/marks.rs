//! Marks that cannot be told apart as one mark, which tells of all of them.

use std::collections::BTreeMap;

use super::chart::Shape;
use super::time::Mark;

/// Most events that one mark tells of in full.
const TOLD: usize = 4;

/// A place in a drawing, in steps that can be told apart, and how the mark there looks.
type Spot = (i64, i64, Shape, &'static str);

/// Marks, each with its place in steps that can be told apart, with those of one place and look as
/// one.
pub(super) fn merged(marks: impl Iterator<Item = ((i64, i64), Mark)>) -> Vec<Mark> {
    let mut spots: BTreeMap<Spot, (Mark, usize)> = BTreeMap::new();
    for ((x, y), mark) in marks {
        let spot = (x, y, mark.shape, mark.class);
        match spots.get_mut(&spot) {
            None => _ = spots.insert(spot, (mark, 1)),
            Some((first, count)) => {
                *count += 1;
                if *count <= TOLD {
                    first.title = format!("{}\n{}", first.title, mark.title);
                }
            }
        }
    }
    let told = |(mark, count): (Mark, usize)| match count.checked_sub(TOLD) {
        None | Some(0) => mark,
        Some(more) => Mark { title: format!("{}\nand {more} more here", mark.title), ..mark },
    };
    let mut marks: Vec<Mark> = spots.into_values().map(told).collect();
    // Wrong verdicts are drawn last, above the others.
    marks.sort_by_key(|mark| mark.class.ends_with("wrong"));
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_at_one_place_are_one_that_counts_the_rest() {
        let mark = |k: usize, shape| Mark {
            at_s: k as f64,
            value: 0.0,
            shape,
            class: "c",
            title: format!("loss {k}"),
        };
        let six = (0..6).map(|k| ((0, 0), mark(k, Shape::Square)));
        let others = [((0, 0), mark(6, Shape::Circle)), ((1, 0), mark(7, Shape::Square))];
        let merged = merged(six.chain(others));
        let titles: Vec<&str> = merged.iter().map(|mark| mark.title.as_str()).collect();
        assert_eq!(titles, ["loss 0\nloss 1\nloss 2\nloss 3\nand 2 more here", "loss 6", "loss 7"]);
    }
}
