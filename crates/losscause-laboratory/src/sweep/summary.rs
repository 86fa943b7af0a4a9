//! The differences between a sweep's cells and the base.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{AxisValue, CellOutcome, CellScore, Row};

/// One cell compared with the base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellSummary {
    /// Number of the cell.
    pub cell: usize,
    /// The axes whose values differ from the base's, with the cell's values; empty for the base.
    pub changes: Vec<AxisValue>,
    /// The number of published numbers and claims that it reproduces, for scored sweeps.
    pub score: Option<CellScore>,
    /// Numbers and claims that it reproduces and the base does not.
    pub gained: Vec<String>,
    /// Numbers and claims that the base reproduces and it does not.
    pub lost: Vec<String>,
}

/// Compares every cell with the first one, the base.
pub fn summary(cells: &[CellOutcome]) -> Vec<CellSummary> {
    let Some(base) = cells.first() else { return Vec::new() };
    let before = met(base);
    let held_against_base = |cell: &CellOutcome| {
        let now = met(cell);
        let changed = |to: bool| {
            let names =
                now.iter().filter(|(name, met)| **met == to && before.get(*name) == Some(&!to));
            names.map(|(name, _)| name.clone()).collect()
        };
        CellSummary {
            cell: cell.cell.number,
            changes: changes(base, cell),
            score: cell.score,
            gained: changed(true),
            lost: changed(false),
        }
    };
    cells.iter().map(held_against_base).collect()
}

fn changes(base: &CellOutcome, cell: &CellOutcome) -> Vec<AxisValue> {
    let pairs = base.cell.values.iter().zip(&cell.cell.values);
    pairs
        .filter(|(base, value)| base.value != value.value)
        .map(|(_, value)| value.clone())
        .collect()
}

/// Whether each number and claim that the cell settles is met.
fn met(cell: &CellOutcome) -> BTreeMap<String, bool> {
    let numbers =
        cell.rows.iter().filter_map(|row| row.within_tolerance.map(|met| (name(row), met)));
    numbers.chain(cell.claims.iter().map(|(id, holds)| (id.clone(), *holds))).collect()
}

/// The number's name, `WLH N=4 Spike M_w`.
fn name(row: &Row) -> String {
    let scenario = row.scenario.rsplit('/').next().unwrap_or(&row.scenario);
    let parts = [scenario, &row.at(), &row.system, &row.metric];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Cell;

    fn cell(number: usize, tick: &str, numbers: [bool; 2], claim: bool) -> CellOutcome {
        let value =
            |axis: &str, value: &str| AxisValue { axis: axis.to_owned(), value: value.to_owned() };
        let row = |system: &str, met: bool| Row {
            scenario: "cen2003/WLH".into(),
            parameters: [("N".to_owned(), 4.into())].into(),
            system: system.into(),
            metric: "M_w".into(),
            unit: "percent".into(),
            runs: 1,
            within_tolerance: Some(met),
            ..Row::default()
        };
        CellOutcome {
            cell: Cell {
                number,
                values: vec![value("tick", tick), value("errors", "late")],
                ..Cell::default()
            },
            claims: [("zbs-is-best".to_owned(), claim)].into(),
            rows: vec![row("Spike", numbers[0]), row("ZBS", numbers[1])],
            ..CellOutcome::default()
        }
    }

    #[test]
    fn a_cell_gains_what_only_it_meets_and_loses_what_it_misses() {
        let cells = [cell(0, "0.1 s", [true, false], true), cell(1, "0.01 s", [true, true], false)];
        let [base, other] = &summary(&cells)[..] else { panic!("two cells") };
        assert_eq!(
            (base.cell, base.changes.len(), base.gained.len(), base.lost.len()),
            (0, 0, 0, 0)
        );
        assert_eq!(other.changes, [AxisValue { axis: "tick".into(), value: "0.01 s".into() }]);
        assert_eq!(other.gained, ["WLH N=4 ZBS M_w"]);
        assert_eq!(other.lost, ["zbs-is-best"]);
    }
}
