//! Logistic regression on the intervals of the readings, by Newton's method.

use std::array::from_fn;

use losscause::lda::sift::card::{INTERVALS, QUARTERS, TOGETHER, intervals};
use losscause::lda::sift::{Card, Clues};

use crate::readings::Reading;

const SINGLE: usize = Clues::COUNT * INTERVALS;
const TABLE: usize = QUARTERS.pow(3);
/// The last one is the sum without evidence.
const COLUMNS: usize = SINGLE + TOGETHER.len() * TABLE + 1;
/// The columns that are 1 at a loss: one of each reading, one of each table, the last.
const AT_A_LOSS: usize = Clues::COUNT + TOGETHER.len() + 1;
/// What an interval's weight costs, as a share of all losses: intervals that are rarely seen stay near zero.
const RIDGE: f64 = 3e-4;
/// The same for a reading that is left out: its weights are zero.
const LEFT_OUT: f64 = 1e9;
/// Tenths of a decibel in a natural logarithm.
const TENTHS: f64 = 100.0 / std::f64::consts::LN_10;

/// The solution.
pub(crate) struct Fit([f64; COLUMNS]);

/// The columns that are 1 for these readings.
fn columns(clues: &Clues) -> [usize; AT_A_LOSS] {
    let intervals = intervals(clues);
    from_fn(|i| match i.checked_sub(Clues::COUNT) {
        None => i * INTERVALS + intervals[i],
        Some(table) => {
            TOGETHER.get(table).map_or(COLUMNS - 1, |clues| in_table(table, clues.map(|clue| intervals[clue] / 2)))
        }
    })
}

fn in_table(table: usize, quarters: [usize; 3]) -> usize {
    SINGLE + table * TABLE + quarters.into_iter().fold(0, |cell, quarter| cell * QUARTERS + quarter)
}

/// Whether each column belongs to the reading that is left out, alone or in a table.
fn left_out(without: Option<usize>) -> [bool; COLUMNS] {
    from_fn(|column| match column.checked_sub(SINGLE) {
        None => Some(column / INTERVALS) == without,
        Some(cell) => TOGETHER.get(cell / TABLE).is_some_and(|clues| clues.map(Some).contains(&without)),
    })
}

impl Fit {
    /// Fits all readings; one of them may be left out.
    pub(crate) fn new(readings: &[Reading], without: Option<usize>) -> Self {
        let rows: Vec<_> =
            readings.iter().map(|r| (columns(&r.clues), f64::from(u8::from(r.wireless)), r.weight)).collect();
        let left_out = left_out(without);
        let whole: f64 = rows.iter().map(|(.., weight)| weight).sum();
        let mut solution = [0.0; COLUMNS];
        for _ in 0..12 {
            let mut slope = [0.0; COLUMNS];
            let mut curvature = vec![[0.0; COLUMNS]; COLUMNS];
            for (columns, wireless, weight) in &rows {
                let score: f64 = columns.iter().map(|&column| solution[column]).sum();
                let probability = 1.0 / (1.0 + (-score).exp());
                // Columns ascend: the half above the diagonal.
                for (i, &a) in columns.iter().enumerate() {
                    slope[a] += weight * (wireless - probability);
                    columns[i..].iter().for_each(|&b| curvature[a][b] += weight * probability * (1.0 - probability));
                }
            }
            for column in 0..COLUMNS {
                (0..column).for_each(|above| curvature[column][above] = curvature[above][column]);
                let ridge = whole
                    * if left_out[column] {
                        LEFT_OUT
                    } else if column == COLUMNS - 1 {
                        1e-9
                    } else {
                        RIDGE
                    };
                slope[column] -= ridge * solution[column];
                curvature[column][column] += ridge;
            }
            let step = solve(curvature, slope);
            solution.iter_mut().zip(step).for_each(|(value, step)| *value += step.clamp(-3.0, 3.0));
        }
        Self(solution)
    }

    /// The card, rounded.
    pub(crate) fn card(&self, absolute_delays: bool) -> Card {
        let tenths = |column: usize| (self.0[column] * TENTHS).round() as i16;
        Card {
            absolute_delays,
            start: tenths(COLUMNS - 1),
            single: from_fn(|clue| from_fn(|i| tenths(clue * INTERVALS + i))),
            tables: from_fn(|table| from_fn(|a| from_fn(|b| from_fn(|c| tenths(in_table(table, [a, b, c])))))),
        }
    }
}

/// Gaussian elimination; the matrix is positive definite, so no pivot is zero.
fn solve(mut matrix: Vec<[f64; COLUMNS]>, mut right: [f64; COLUMNS]) -> [f64; COLUMNS] {
    for pivot in 0..COLUMNS {
        let row = matrix[pivot];
        for below in pivot + 1..COLUMNS {
            let factor = matrix[below][pivot] / row[pivot];
            if factor != 0.0 {
                (pivot..COLUMNS).for_each(|column| matrix[below][column] -= factor * row[column]);
                right[below] -= factor * right[pivot];
            }
        }
    }
    for pivot in (0..COLUMNS).rev() {
        let known: f64 = (pivot + 1..COLUMNS).map(|column| matrix[pivot][column] * right[column]).sum();
        right[pivot] = (right[pivot] - known) / matrix[pivot][pivot];
    }
    right
}
