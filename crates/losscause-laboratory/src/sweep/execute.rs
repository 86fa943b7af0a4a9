//! Measures all cells of a sweep.

use std::borrow::Cow;
use std::ops::ControlFlow;

use indexmap::IndexMap;

use super::{
    Cell, CellOutcome, Cells, Mode, Named, Sampler, Seeds, Sweep, SweepResult, result_files,
};
use crate::store::Store;
use losscause_study::origin::options;
use losscause_study::{InputError, Origin, RunError, Workers};

/// The outcome of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepOutcome {
    /// The results; all cells unless the sweep was stopped. None of a sweep of more than
    /// [`MOST_IN_MEMORY`] cells with a directory: it has the results.
    pub result: Option<SweepResult>,
    /// Number of finished cells, resumed ones included.
    pub finished: usize,
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
    /// The cell that is finished now; none after a run of a cell that is not finished. The resumed
    /// cells come first, unless there are too many to hold them in memory ([`MOST_IN_MEMORY`]):
    /// those are only counted.
    pub cell: Option<&'a CellOutcome>,
    /// Whether that cell was resumed from an earlier sweep.
    pub is_resumed: bool,
}

/// Most cells of a sweep with a directory whose results are held in memory too, as
/// [`SweepOutcome::result`]: tables and pages of more cells are no use.
pub const MOST_IN_MEMORY: usize = 20_000;

/// Most cells of a sweep without a directory, whose results are all in memory.
const MOST_WITHOUT_DIRECTORY: usize = 100_000;

/// What a thread has done in a cell.
enum Step {
    Run,
    Cell(Box<Result<CellOutcome, RunError>>),
}

impl Sweep {
    /// Measures every cell. All cells up to a thousand are checked before the first run, and of
    /// more about a thousand ([`Sweep::check_all`]). `observe` is called after each run and each
    /// cell; if it returns `Break`, no other run starts, and the runs under way end early: their
    /// cells are not finished.
    ///
    /// With a `store`, the thread that has measured a cell also keeps it there, and the results are
    /// written at the end unless the sweep was stopped. The results do not depend on `jobs`, nor on
    /// which cells were resumed.
    ///
    /// # Errors
    /// A setting or a metric does not fit its scenario, a run fails, the store cannot be written or
    /// holds another sweep, or there is no store and there are more than 100,000 cells. An error of
    /// a cell that was not checked before names it; the finished cells are kept.
    pub fn execute(
        &self,
        jobs: impl Into<Workers>,
        store: Option<&Store>,
        observe: impl FnMut(SweepProgress<'_>) -> ControlFlow<()>,
    ) -> Result<SweepOutcome, RunError> {
        self.execute_holding(MOST_IN_MEMORY, jobs.into(), store, observe)
    }

    /// [`Sweep::execute`] with another number of cells that are held in memory.
    fn execute_holding(
        &self,
        most_in_memory: usize,
        workers: Workers,
        store: Option<&Store>,
        mut observe: impl FnMut(SweepProgress<'_>) -> ControlFlow<()>,
    ) -> Result<SweepOutcome, RunError> {
        let cells = Cells::of(self);
        if store.is_none() && cells.count() > MOST_WITHOUT_DIRECTORY {
            let problem = format!(
                "makes {} cells, and without a directory at most {MOST_WITHOUT_DIRECTORY} fit into memory; expected fewer, \
                 or a directory",
                cells.count()
            );
            return Err(self.error("axis", problem).into());
        }
        if !self.claims.is_empty() && cells.count() > most_in_memory {
            let problem = format!(
                "are settled over at most {most_in_memory} cells, and there are {}; expected fewer, or no claims",
                cells.count()
            );
            return Err(self.error("claim", problem).into());
        }
        let checked = self.checked(&cells)?;
        let is_in_memory = store.is_none() || cells.count() <= most_in_memory;
        let mut outcomes: Vec<Option<CellOutcome>> =
            vec![None; if is_in_memory { cells.count() } else { 0 }];
        let hold = |outcomes: &mut Vec<Option<CellOutcome>>, outcome: CellOutcome| {
            if let Some(place) = outcomes.get_mut(outcome.cell.number) {
                *place = Some(outcome);
            }
        };
        let stop = workers.stop().for_a_part();
        let held = store.map(|store| self.hold(store)).transpose()?;
        let mut resumed = 0;
        let resume = |outcome: CellOutcome| {
            resumed += 1;
            hold(&mut outcomes, outcome);
        };
        let is_known = |outcome: &CellOutcome| outcome.cell == cells.cell(outcome.cell.number);
        let journal =
            held.as_ref().map(|held| held.journal(cells.count(), is_known, resume)).transpose()?;
        let is_finished =
            |number: &usize| journal.as_ref().is_some_and(|journal| journal.has(*number));
        let to_do: Vec<usize> = (0..cells.count()).filter(|number| !is_finished(number)).collect();
        let mut progress = SweepProgress {
            runs: 0,
            all_runs: to_do.iter().map(|&number| checked.runs(number)).sum(),
            finished: 0,
            cells: cells.count(),
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
        progress.finished = resumed;
        progress.is_resumed = false;

        // Cells and runs share the threads: the last cell's runs have them all.
        let (of_cells, of_runs) = workers.stopping_at(&stop).nested();
        let measured = |number: usize, ran: &dyn Fn()| -> Result<CellOutcome, RunError> {
            let cell = cells.cell(number);
            let mut outcome = self
                .measure_with(&cell, &of_runs, ran)
                .map_err(|error| self.of_cell(&cell, error))?;
            outcome.name_units(&checked.units);
            journal.iter().try_for_each(|journal| journal.keep(&outcome))?;
            Ok(outcome)
        };
        let work = |&number: &usize, tell: &dyn Fn(Step)| {
            tell(Step::Cell(Box::new(measured(number, &|| tell(Step::Run)))));
        };
        let mut failure: Option<(usize, RunError)> = None;
        let ended = of_cells.stream(&to_do, work, |index, step| match step {
            Step::Run => {
                progress.runs += 1;
                tell(progress);
            }
            Step::Cell(measured) => match *measured {
                Ok(outcome) => {
                    progress.finished += 1;
                    tell(SweepProgress { cell: Some(&outcome), ..progress });
                    hold(&mut outcomes, outcome);
                }
                Err(RunError::Stopped(_)) => {}
                Err(error) => {
                    stop.request();
                    if failure.as_ref().is_none_or(|(first, _)| index < *first) {
                        failure = Some((index, error));
                    }
                }
            },
        });
        if let Some((_, error)) = failure {
            return Err(error);
        }
        let finished = progress.finished;
        let is_stopped = ended.is_err() || finished < cells.count();
        let mut result = self.result(checked.units, vec![]);
        if !is_stopped && !self.claims.is_empty() {
            let all: Vec<&CellOutcome> = outcomes.iter().flatten().collect();
            result.claims = self.settle(&all);
        }
        if let (false, Some(held), Some(journal)) = (is_stopped, &held, journal) {
            if is_in_memory {
                let outcomes = outcomes.iter().flatten();
                result_files::conclude(
                    held,
                    &result,
                    outcomes.map(|outcome| Ok(Cow::Borrowed(outcome))),
                )?;
            } else {
                let outcomes = journal.outcomes::<CellOutcome>()?;
                result_files::conclude(
                    held,
                    &result,
                    outcomes.map(|outcome| outcome.map(Cow::Owned)),
                )?;
            }
            journal.sort()?;
        }
        result.cells = outcomes.into_iter().flatten().collect();
        Ok(SweepOutcome { result: is_in_memory.then_some(result), finished, resumed, is_stopped })
    }

    /// An error that came up when `cell` was measured; it names the cell.
    pub(super) fn of_cell(&self, cell: &Cell, error: RunError) -> RunError {
        let problem = match error {
            RunError::Input(InputError::Key { file, key, problem }) if file == self.file => {
                format!("{key}: {problem}")
            }
            RunError::Input(_) | RunError::Network(_) => error.to_string(),
            other => return other,
        };
        self.error(&format!("cell {}", cell.number), problem).into()
    }

    /// The command that gives the sweep's results. Runs that cells set themselves are in the file.
    fn stated_origin(&self) -> Origin {
        let runs = self.most_runs().is_none().then_some(self.runs);
        let words = ["sweep".to_owned(), self.file.clone()].into_iter();
        let words = words.chain(options("--runs", runs)).chain(options("--set", &self.set));
        Origin::of(words, self.seed)
    }

    pub(super) fn result(
        &self,
        metrics: IndexMap<String, String>,
        cells: Vec<CellOutcome>,
    ) -> SweepResult {
        let identity =
            |named: &Named| Some((named.name.to_owned(), named.stack().ok()?.identity()));
        SweepResult {
            format_version: 2,
            title: self.title.clone(),
            sweep: self.file.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            origin: self.stated_origin(),
            settings: self.set.iter().map(ToString::to_string).collect(),
            seed: self.seed,
            runs: self.most_runs().unwrap_or(self.runs),
            axes: self.axes().map(str::to_owned).collect(),
            logarithmic_axes: self
                .axes
                .iter()
                .filter(|axis| axis.is_logarithmic())
                .map(|axis| axis.name.clone())
                .collect(),
            is_grid: self.sampler == Sampler::Grid
                && (self.mode == Mode::Grid || self.axes.len() <= 1),
            sampler: (self.sampler != Sampler::Grid).then(|| self.sampler.name().to_owned()),
            seeds_by_cell: self.seeds == Seeds::ByCell,
            metrics,
            stacks: self.stacks.iter().filter_map(identity).collect(),
            claims: vec![],
            cells,
        }
    }
}

#[cfg(test)]
mod tests;
