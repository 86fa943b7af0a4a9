//! Results held against earlier ones of the same places.

use std::collections::BTreeMap;

use super::{AxisValue, Row, SweepResult};
use losscause_study::statistics::Estimate;
use losscause_study::tools::figures::estimate;

/// What became of the values of an earlier result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beside {
    /// Values that are the same to the last digit.
    pub same: usize,
    /// Values whose difference is within their 95 % intervals, taken together.
    pub within: usize,
    /// Values that differ by more, or exist in one result alone, a sentence each.
    pub differing: Vec<String>,
}

/// Values by their places.
pub(crate) type Values = BTreeMap<String, Estimate>;

impl Beside {
    /// Holds values against earlier ones.
    pub(crate) fn of(now: Values, mut earlier: Values) -> Self {
        let mut found = Self::default();
        for (place, now) in now {
            let Some(before) = earlier.remove(&place) else {
                found.differing.push(format!("{place}: is new"));
                continue;
            };
            if before.mean == now.mean {
                found.same += 1;
            } else if is_within(before, now) {
                found.within += 1;
            } else {
                let [before, now] = [before, now].map(in_words);
                found.differing.push(format!("{place}: {now}, before {before}"));
            }
        }
        found.differing.extend(earlier.into_keys().map(|place| format!("{place}: is gone")));
        found
    }
}

impl SweepResult {
    /// Holds the values against those of `earlier`.
    pub fn beside(&self, earlier: &Self) -> Beside {
        Beside::of(self.by_place(), earlier.by_place())
    }

    /// Every value by its place: "loss 0.02, stack kernel, cubic, goodput".
    fn by_place(&self) -> Values {
        let place = |values: &[AxisValue], row: &Row| {
            let axes = values.iter().map(|value| format!("{} {}", value.axis, value.value));
            let rest = [row.at(), row.system.clone(), row.metric.clone()];
            let all = axes.chain(rest).filter(|part| !part.is_empty());
            let Row { measured: mean, ci95, runs, .. } = *row;
            (all.collect::<Vec<_>>().join(", "), Estimate { mean, ci95, runs })
        };
        let cells = self.cells.iter();
        cells.flat_map(|cell| cell.rows.iter().map(|row| place(&cell.cell.values, row))).collect()
    }
}

/// Whether the difference is within both intervals, taken together.
fn is_within(a: Estimate, b: Estimate) -> bool {
    let both = a.mean.zip(b.mean).zip(a.ci95.zip(b.ci95));
    both.is_some_and(|((a, b), (of_a, of_b))| (a - b).abs() <= of_a.hypot(of_b))
}

fn in_words(Estimate { mean, ci95, .. }: Estimate) -> String {
    mean.map_or_else(|| "none".to_owned(), |mean| estimate(mean, ci95))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::{Cell, CellOutcome, Sweep};
    use losscause_study::Context;

    fn result(values: &[(&str, Option<f64>, Option<f64>)]) -> SweepResult {
        let text = "title = \"t\"\nscenario = \"cen2003/WLH\"\nmetrics = [\"thput\"]\n[[axis]]\nkey = \"N\"\nvalues = [1]";
        let sweep = Sweep::parse(text, "s.toml".as_ref(), &Context::default()).unwrap();
        let rows = values.iter().map(|(system, measured, ci95)| Row {
            system: (*system).to_owned(),
            metric: "thput".to_owned(),
            unit: "percent".to_owned(),
            measured: *measured,
            ci95: *ci95,
            runs: 2,
            ..Row::default()
        });
        let values = vec![AxisValue { axis: "N".to_owned(), value: "1".to_owned() }];
        let cell = CellOutcome {
            cell: Cell { values, ..Cell::default() },
            rows: rows.collect(),
            ..CellOutcome::default()
        };
        sweep.result([].into(), vec![cell])
    }

    #[test]
    fn values_are_the_same_within_their_intervals_or_named() {
        let before = [("a", Some(10.0), Some(3.0)), ("b", Some(10.0), None), ("c", None, None)];
        let now = [("a", Some(15.0), Some(4.0)), ("b", Some(11.0), None), ("d", None, None)];
        let found = result(&now).beside(&result(&before));
        assert_eq!((found.same, found.within), (0, 1), "5 is the hypotenuse of 3 and 4");
        assert_eq!(
            found.differing,
            ["N 1, b, thput: 11, before 10", "N 1, d, thput: is new", "N 1, c, thput: is gone"]
        );
        assert_eq!(result(&now).beside(&result(&now)).same, 3);
    }
}
