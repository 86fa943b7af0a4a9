//! What another engine needs to measure the cells of a sweep in other processes, on other machines.
//!
//! A process measures some cells and gives their values as plain numbers. The process that began
//! the sweep puts the numbers of all cells together; the results are those of [`Sweep::execute`],
//! to the byte.
//!
//! ```text
//! begins it        Sweep::elsewhere    checks; the files that it reads
//!                  Sweep::hold         the directory, locked
//! measures cells   Sweep::values       some cells in, numbers out
//! begins it        Elsewhere::conclude the numbers of all cells in, the results out, in the directory too
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use indexmap::IndexMap;

use super::measure::Units;
use super::{
    Cell, CellOutcome, Cells, MOST_IN_MEMORY, RunRow, Subject, Sweep, SweepResult, result_files,
};
use crate::store::{Held, Store};
use losscause_study::{InputError, RunError, Workers};

/// A sweep that another engine measures.
#[derive(Clone, Debug)]
pub struct Elsewhere {
    sweep: Sweep,
    units: IndexMap<String, String>,
}

impl Sweep {
    /// Prepares the sweep for another engine: checks its cells and metrics.
    ///
    /// # Errors
    /// A setting or a metric does not fit its scenario, cells have runs of their own, or the sweep
    /// scores papers, whose values combine several runs.
    pub fn elsewhere(self) -> Result<Elsewhere, RunError> {
        if let Subject::Items(_) = self.subject {
            let problem = "scores papers, which only the local engine measures; expected a scenario and metrics";
            return Err(self.error("score", problem.to_owned()).into());
        }
        if self.has_own_runs() {
            let problem = "gives cells runs of their own, which only the local engine makes";
            return Err(self.error("axis.runs", problem.to_owned()).into());
        }
        let units = self.checked(&Cells::of(&self))?.units;
        Ok(Elsewhere { sweep: self, units })
    }

    /// The values of some cells, cell by cell in the order of [`Elsewhere::columns`]. NaN stands
    /// for a metric that a run does not have.
    ///
    /// # Errors
    /// A setting does not fit the scenario or a run fails, and the error names the cell; or the
    /// workers are stopped.
    pub fn values(
        &self,
        cells: Range<usize>,
        jobs: impl Into<Workers>,
    ) -> Result<Vec<f64>, RunError> {
        let workers = jobs.into();
        let mut values = Vec::new();
        for cell in self.cells_in(cells) {
            let measured = self
                .measure_with(&cell, &workers, &|| ())
                .map_err(|error| self.of_cell(&cell, error))?;
            values.extend(
                measured
                    .runs
                    .iter()
                    .flat_map(|run| run.metrics.values().map(|value| value.unwrap_or(f64::NAN))),
            );
        }
        Ok(values)
    }

    /// Locks the directory of the sweep, and puts down what its results depend on.
    ///
    /// # Errors
    /// It cannot be written, another process has locked it, or it holds another sweep.
    pub fn hold(&self, store: &Store) -> Result<Held, RunError> {
        store.open(&self.origin()?, &result_files::RESULTS)
    }
}

impl Elsewhere {
    /// The sweep.
    pub fn sweep(&self) -> &Sweep {
        &self.sweep
    }

    /// The content of every file that it reads, by the name that the sweep has for it.
    ///
    /// # Errors
    /// A file cannot be read any more.
    pub fn files(&self) -> Result<BTreeMap<String, Vec<u8>>, RunError> {
        let read = |name: &String| {
            let unreadable = |error: std::io::Error| {
                InputError::file(
                    name.clone(),
                    format!("cannot be read: {error}"),
                    "a file that the sweep reads",
                )
            };
            Ok((name.clone(), std::fs::read(name).map_err(unreadable)?))
        };
        // A paper's scenario is part of the program.
        self.sweep
            .origin()?
            .files
            .keys()
            .filter(|name| Path::new(name).is_file())
            .map(read)
            .collect()
    }

    /// System and seed of every run of a cell, in the order of its values.
    pub fn runs(&self, cell: &Cell) -> Vec<(String, u64)> {
        let names = self.sweep.system_names();
        self.sweep
            .runs_of(cell)
            .into_iter()
            .map(|(system, seed)| (names[system].clone(), seed))
            .collect()
    }

    /// Number of runs of a cell.
    pub fn runs_of_a_cell(&self) -> usize {
        self.sweep.system_names().len() * self.sweep.runs as usize
    }

    /// The metrics with their units: the columns of the values. A cell has one row of them per run.
    pub fn columns(&self) -> &IndexMap<String, String> {
        &self.units
    }

    /// The results, from the values of all cells in the order of their numbers. With a directory,
    /// they are written there as [`Sweep::execute`] does. None of more than [`MOST_IN_MEMORY`]
    /// cells.
    ///
    /// # Errors
    /// The number of values is not that of all cells, or a file cannot be written.
    pub fn conclude(
        &self,
        values: &[f64],
        held: Option<&Held>,
    ) -> Result<Option<SweepResult>, RunError> {
        let cells = Cells::of(&self.sweep);
        let of_a_cell = self.runs_of_a_cell() * self.units.len();
        if values.len() != cells.count() * of_a_cell {
            let problem = format!(
                "{} values were measured, expected {}",
                values.len(),
                cells.count() * of_a_cell
            );
            return Err(self.sweep.error("metrics", problem).into());
        }
        let outcomes = || {
            values
                .chunks(of_a_cell)
                .enumerate()
                .map(|(number, of)| self.outcome(&cells.cell(number), of))
        };
        let mut result = self.sweep.result(self.units.clone(), vec![]);
        if let Some(held) = held {
            result_files::conclude(
                held,
                &result,
                outcomes().map(|outcome| Ok(Cow::Owned(outcome))),
            )?;
        }
        if cells.count() > MOST_IN_MEMORY {
            return Ok(None);
        }
        result.cells = outcomes().collect();
        Ok(Some(result))
    }

    /// The outcome of a cell from its values.
    fn outcome(&self, cell: &Cell, values: &[f64]) -> CellOutcome {
        let run = |((system, seed), values): ((String, u64), &[f64])| RunRow {
            system,
            seed,
            metrics: self
                .units
                .keys()
                .cloned()
                .zip(values.iter().map(|v| Some(*v).filter(|v| !v.is_nan())))
                .collect(),
        };
        let runs: Vec<RunRow> =
            self.runs(cell).into_iter().zip(values.chunks(self.units.len())).map(run).collect();
        // The units are named below.
        let unnamed: Vec<Units> = vec![vec!["".into(); self.units.len()]; runs.len()];
        let mut outcome = self.sweep.outcome(cell, runs, &unnamed);
        outcome.name_units(&self.units);
        outcome
    }
}
