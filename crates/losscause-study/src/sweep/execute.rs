//! Measures all cells of a sweep.

use std::ops::ControlFlow;

use indexmap::IndexMap;

use super::{Cell, CellOutcome, Mode, Sampler, Seeds, Store, Sweep, SweepResult};
use crate::RunError;
use crate::parallel::Workers;

/// The outcome of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepOutcome {
    /// The results; all cells unless the sweep was stopped.
    pub result: SweepResult,
    /// Number of cells that were resumed from an earlier sweep.
    pub resumed: usize,
    /// Whether the sweep was stopped before its last cell.
    pub is_stopped: bool,
}

/// The progress of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct SweepProgress<'a> {
    /// Number of finished runs; without those of calibrations and of resumed cells.
    pub runs: usize,
    /// Number of all such runs.
    pub all_runs: usize,
    /// Number of finished cells.
    pub finished: usize,
    /// Number of all cells.
    pub cells: usize,
    /// The cell that is finished now; none after a run of a cell that is not finished.
    pub cell: Option<&'a CellOutcome>,
    /// Whether that cell was resumed from an earlier sweep.
    pub is_resumed: bool,
}

/// Most cells of a sweep whose results are kept in memory until its end.
const MOST_LOCAL_CELLS: usize = 100_000;

/// What a thread has done in a cell.
enum Step {
    Run,
    Cell(Box<Result<CellOutcome, RunError>>),
}

impl Sweep {
    /// Measures every cell. All cells are checked before the first run. `observe` is called after each run and each
    /// cell; if it returns `Break`, no other run starts, and the runs under way end early: their cells are not
    /// finished.
    ///
    /// With a `store`, each cell is written there as soon as it is finished, and the results are written at the end
    /// unless the sweep was stopped. The results do not depend on `jobs`, nor on which cells were resumed.
    ///
    /// # Errors
    /// A setting or a metric does not fit its scenario, a run fails, or the store cannot be written or holds another
    /// sweep.
    pub fn execute(
        &self,
        jobs: impl Into<Workers>,
        store: Option<&Store>,
        mut observe: impl FnMut(SweepProgress<'_>) -> ControlFlow<()>,
    ) -> Result<SweepOutcome, RunError> {
        if self.count() > MOST_LOCAL_CELLS {
            let problem = format!(
                "makes {} cells, and this engine keeps the results of at most {MOST_LOCAL_CELLS}; expected fewer, or \
                 --engine ray of the Python package",
                self.count()
            );
            return Err(self.error("axis", problem).into());
        }
        let cells = self.cells();
        let checked = self.checked(&cells)?;
        let store = store.map(|store| store.open(&self.origin())).transpose()?;
        let mut outcomes: Vec<Option<CellOutcome>> =
            cells.iter().map(|cell| store.as_ref().and_then(|store| store.finished(cell))).collect();
        let to_do: Vec<&Cell> = cells.iter().filter(|cell| outcomes[cell.number].is_none()).collect();

        let workers = jobs.into();
        let stop = workers.stop().for_a_part();
        // Cells and runs share the threads: the last cell's runs have them all.
        let (of_cells, of_runs) = workers.stopping_at(&stop).nested();
        let mut progress = SweepProgress {
            runs: 0,
            all_runs: to_do.iter().map(|cell| checked.runs[cell.number]).sum(),
            finished: 0,
            cells: cells.len(),
            cell: None,
            is_resumed: true,
        };
        let mut tell = |progress: SweepProgress<'_>| {
            if observe(progress).is_break() {
                stop.request();
            }
        };
        for outcome in outcomes.iter().flatten() {
            progress.finished += 1;
            tell(SweepProgress { cell: Some(outcome), ..progress });
        }
        let resumed = progress.finished;
        progress.is_resumed = false;
        let mut failure: Option<(usize, RunError)> = None;
        let mut fail = |index: usize, error: RunError| {
            stop.request();
            if failure.as_ref().is_none_or(|(first, _)| index < *first) {
                failure = Some((index, error));
            }
        };
        let work = |cell: &&Cell, tell: &dyn Fn(Step)| {
            tell(Step::Cell(Box::new(self.measure_with(cell, &of_runs, &|| tell(Step::Run)))));
        };
        let ended = of_cells.stream(&to_do, work, |index, step| match step {
            Step::Run => {
                progress.runs += 1;
                tell(progress);
            }
            Step::Cell(measured) => match *measured {
                Ok(mut outcome) => {
                    outcome.name_units(&checked.units);
                    if let Some(Err(error)) = store.as_ref().map(|store| store.keep(&outcome)) {
                        return fail(index, error);
                    }
                    progress.finished += 1;
                    tell(SweepProgress { cell: Some(&outcome), ..progress });
                    outcomes[to_do[index].number] = Some(outcome);
                }
                Err(RunError::Stopped(_)) => {}
                Err(error) => fail(index, error),
            },
        });
        if let Some((_, error)) = failure {
            return Err(error);
        }
        let is_stopped = ended.is_err() || outcomes.iter().any(Option::is_none);
        let result = self.result(checked.units, outcomes.into_iter().flatten().collect());
        if let (false, Some(store)) = (is_stopped, &store) {
            store.conclude(&result)?;
        }
        Ok(SweepOutcome { result, resumed, is_stopped })
    }

    pub(super) fn result(&self, metrics: IndexMap<String, String>, cells: Vec<CellOutcome>) -> SweepResult {
        SweepResult {
            format_version: 1,
            title: self.title.clone(),
            sweep: self.file.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: self.set.iter().map(ToString::to_string).collect(),
            seed: self.seed,
            runs: self.runs,
            axes: self.axes.iter().map(|axis| axis.name.clone()).collect(),
            is_grid: self.sampler == Sampler::Grid && (self.mode == Mode::Grid || self.axes.len() == 1),
            sampler: (self.sampler != Sampler::Grid).then(|| self.sampler.name().to_owned()),
            seeds_by_cell: self.seeds == Seeds::ByCell,
            metrics,
            cells,
        }
    }
}

#[cfg(test)]
mod tests;
