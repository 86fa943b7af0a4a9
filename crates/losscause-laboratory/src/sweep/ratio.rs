//! Ratios of values: the same cell by two stacks, run by run.

use losscause_study::statistics::Estimate;

use super::{Cell, CellOutcome, Row, SweepResult};

/// A metric of a system in a cell, by both stacks of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct ByTwo<'a> {
    /// The cell of the first stack.
    pub cell: &'a Cell,
    /// The value by each stack.
    pub rows: [&'a Row; 2],
    /// The first mean over the second, from pairs of runs with the same seed
    /// ([`Estimate::of_quotient`]).
    pub ratio: Estimate,
}

impl SweepResult {
    /// Every value of a sweep on two stacks by both, in the order of the cells; empty of other
    /// sweeps.
    ///
    /// ```
    /// # use losscause_laboratory::sweep::SweepResult;
    /// fn worst(result: &SweepResult) -> f64 {
    ///     let ratios = result.by_two().into_iter().filter_map(|values| values.ratio.mean);
    ///     ratios.map(|ratio| (ratio - 1.0).abs()).fold(0.0, f64::max)
    /// }
    /// ```
    pub fn by_two(&self) -> Vec<ByTwo<'_>> {
        if self.stacks.len() != 2 {
            return vec![];
        }
        let pairs = self.cells.chunks_exact(2);
        pairs.flat_map(|pair| by_two(&pair[0], &pair[1])).collect()
    }
}

fn by_two<'a>(one: &'a CellOutcome, other: &'a CellOutcome) -> impl Iterator<Item = ByTwo<'a>> {
    let rows = one.rows.iter().zip(&other.rows);
    rows.map(|(first, second)| ByTwo {
        cell: &one.cell,
        rows: [first, second],
        ratio: ratio(&one.runs_of(first), &other.runs_of(second)),
    })
}

/// The ratio of the means of both sides' runs, pair by pair with the same seed; without a value if
/// their seeds differ.
pub(super) fn ratio(one: &[(u64, Option<f64>)], other: &[(u64, Option<f64>)]) -> Estimate {
    let pairs = one.iter().zip(other);
    Estimate::of_quotient(pairs.filter(|(a, b)| a.0 == b.0).map(|(a, b)| (a.1, b.1)))
}

impl CellOutcome {
    /// Seed and value of every run of a row's system.
    pub(super) fn runs_of(&self, row: &Row) -> Vec<(u64, Option<f64>)> {
        let own = self.runs.iter().filter(|run| run.system == row.system);
        own.map(|run| (run.seed, run.metrics.get(&row.metric).copied().flatten())).collect()
    }
}
