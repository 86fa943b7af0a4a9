//! Logistic regression on the intervals of the readings, by Newton's method.

use std::array::from_fn;

use losscause::lda::sift::card::{INTERVALS, QUARTERS, TOGETHER, intervals};
use losscause::lda::sift::{Card, Clues};

use crate::readings::Reading;

const SINGLE: usize = Clues::COUNT * INTERVALS;
const TABLE: usize = QUARTERS.pow(3);
/// What an interval's weight costs, as a share of all losses: intervals that are rarely seen stay
/// near zero.
const RIDGE: f64 = 3e-4;
/// The same for a reading that is left out: its weights are zero.
const LEFT_OUT: f64 = 1e9;
/// The same for the sum without evidence: next to nothing.
const FREE: f64 = 1e-9;
/// The most steps; a fit ends when no weight moves by more than `CLOSE`.
const NEWTON_STEPS: usize = 12;
const CLOSE: f64 = 1e-3;
/// Tenths of a decibel in a natural logarithm.
const TENTHS: f64 = 100.0 / std::f64::consts::LN_10;

/// Three readings that are weighed together.
pub(crate) type Three = [usize; 3];

/// What is known of a loss: the intervals of its readings, its cause, its weight.
struct Row {
    intervals: [u8; Clues::COUNT],
    wireless: f64,
    weight: f64,
}

/// The solution: a weight for each interval of each reading, for each cell of each table, and
/// without evidence.
pub(crate) struct Fit {
    together: Vec<Three>,
    rows: Vec<Row>,
    solution: Vec<f64>,
}

/// The cell of a table that these readings lie in.
fn cell(three: Three, intervals: &[u8; Clues::COUNT]) -> usize {
    three.into_iter().fold(0, |cell, clue| cell * QUARTERS + usize::from(intervals[clue]) / 2)
}

/// The columns that are 1 for these readings, ascending: one of each reading, one of each table,
/// the last.
fn columns(intervals: &[u8; Clues::COUNT], together: &[Three]) -> Vec<usize> {
    let single = intervals
        .iter()
        .enumerate()
        .map(|(clue, interval)| clue * INTERVALS + usize::from(*interval));
    let tables = together
        .iter()
        .enumerate()
        .map(|(table, three)| SINGLE + table * TABLE + cell(*three, intervals));
    single.chain(tables).chain([SINGLE + together.len() * TABLE]).collect()
}

impl Fit {
    /// Fits all readings and these tables; one reading may be left out, alone and in tables.
    pub(crate) fn new(readings: &[Reading], together: &[Three], without: Option<usize>) -> Self {
        let row = |r: &Reading| Row {
            intervals: intervals(&r.clues),
            wireless: f64::from(u8::from(r.wireless)),
            weight: r.weight,
        };
        let rows = readings.iter().map(row).collect();
        let count = SINGLE + together.len() * TABLE + 1;
        let mut fit = Self { together: together.to_vec(), rows, solution: vec![0.0; count] };
        let ridge = fit.ridge(without);
        for _ in 0..NEWTON_STEPS {
            let step = fit.newton_step(&ridge);
            fit.solution
                .iter_mut()
                .zip(&step)
                .for_each(|(value, step)| *value += step.clamp(-3.0, 3.0));
            if step.iter().all(|step| step.abs() < CLOSE) {
                break;
            }
        }
        fit
    }

    /// What each weight costs.
    fn ridge(&self, without: Option<usize>) -> Vec<f64> {
        let whole = self.whole_weight();
        let of_readings = (0..SINGLE).map(|column| Some(column / INTERVALS) == without);
        let of_tables =
            self.together.iter().flat_map(|three| [three.map(Some).contains(&without); TABLE]);
        let each =
            of_readings.chain(of_tables).map(|left_out| if left_out { LEFT_OUT } else { RIDGE });
        each.chain([FREE]).map(|ridge| ridge * whole).collect()
    }

    fn whole_weight(&self) -> f64 {
        self.rows.iter().map(|row| row.weight).sum()
    }

    fn newton_step(&self, ridge: &[f64]) -> Vec<f64> {
        let count = self.solution.len();
        let mut slope = vec![0.0; count];
        let mut curvature = vec![vec![0.0; count]; count];
        for row in &self.rows {
            let columns = columns(&row.intervals, &self.together);
            let probability = self.probability(&columns);
            // Columns ascend: the half above the diagonal.
            for (i, &a) in columns.iter().enumerate() {
                slope[a] += row.weight * (row.wireless - probability);
                let curved = row.weight * probability * (1.0 - probability);
                columns[i..].iter().for_each(|&b| curvature[a][b] += curved);
            }
        }
        for column in 0..count {
            (0..column).for_each(|above| curvature[column][above] = curvature[above][column]);
            slope[column] -= ridge[column] * self.solution[column];
            curvature[column][column] += ridge[column];
        }
        solve(curvature, slope)
    }

    fn probability(&self, columns: &[usize]) -> f64 {
        let score: f64 = columns.iter().map(|&column| self.solution[column]).sum();
        1.0 / (1.0 + (-score).exp())
    }

    /// For each of these threes, how much a table of it would explain of what this fit leaves: the
    /// score statistic of its cells, each with the ridge.
    pub(crate) fn left_to(&self, threes: &[Three]) -> Vec<f64> {
        let mut cells = vec![[(0.0, 0.0); TABLE]; threes.len()];
        for row in &self.rows {
            let probability = self.probability(&columns(&row.intervals, &self.together));
            let slope = row.weight * (row.wireless - probability);
            let curved = row.weight * probability * (1.0 - probability);
            for (cells, three) in cells.iter_mut().zip(threes) {
                let (slopes, curvatures) = &mut cells[cell(*three, &row.intervals)];
                *slopes += slope;
                *curvatures += curved;
            }
        }
        let ridge = RIDGE * self.whole_weight();
        cells
            .iter()
            .map(|cells| cells.iter().map(|(slope, curved)| slope * slope / (curved + ridge)).sum())
            .collect()
    }

    /// The balanced error of the weights, not rounded, at the losses of so many paths, percent.
    pub(crate) fn error(&self, readings: &[Reading], paths: usize) -> f64 {
        let says =
            |r: &Reading| self.probability(&columns(&intervals(&r.clues), &self.together)) > 0.5;
        let wrong = readings.iter().filter(|reading| says(reading) != reading.wireless);
        wrong.map(|reading| reading.weight).sum::<f64>() * 100.0 / paths as f64
    }

    /// The card, rounded. A fit without tables gives a card whose tables weigh nothing.
    ///
    /// # Panics
    /// If the tables are neither none nor those of a card.
    pub(crate) fn card(&self, absolute_delays: bool) -> Card {
        assert!(self.together.is_empty() || self.together == TOGETHER, "a card has these tables");
        let tenths = |column: usize| (self.solution[column] * TENTHS).round() as i16;
        let weight = |table: usize, cell: usize| match self.together.get(table) {
            Some(_) => tenths(SINGLE + table * TABLE + cell),
            None => 0,
        };
        let in_table = |[a, b, c]: [usize; 3]| (a * QUARTERS + b) * QUARTERS + c;
        Card {
            absolute_delays,
            start: tenths(self.solution.len() - 1),
            single: from_fn(|clue| from_fn(|i| tenths(clue * INTERVALS + i))),
            tables: from_fn(|table| {
                from_fn(|a| from_fn(|b| from_fn(|c| weight(table, in_table([a, b, c])))))
            }),
        }
    }
}

/// Gaussian elimination; the matrix is positive definite, so no pivot is zero.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let count = right.len();
    for pivot in 0..count {
        let (done, rest) = matrix.split_at_mut(pivot + 1);
        let row = &done[pivot];
        for (below, other) in rest.iter_mut().enumerate() {
            let factor = other[pivot] / row[pivot];
            if factor != 0.0 {
                other[pivot..]
                    .iter_mut()
                    .zip(&row[pivot..])
                    .for_each(|(value, above)| *value -= factor * above);
                right[pivot + 1 + below] -= factor * right[pivot];
            }
        }
    }
    for pivot in (0..count).rev() {
        let known: f64 =
            (pivot + 1..count).map(|column| matrix[pivot][column] * right[column]).sum();
        right[pivot] = (right[pivot] - known) / matrix[pivot][pivot];
    }
    right
}
