//! Measures one cell.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::{Cell, CellOutcome, CellScore, Row, RunRow, Subject, Sweep};
use crate::papers::record::Item;
use crate::papers::reproduce::{Event, Progress};
use crate::stack::{SIMULATOR, Stack, Stacks};
use losscause_study::run::is_of_delays;
use losscause_study::statistics::Estimate;
use losscause_study::{RunError, Workers};

impl Sweep {
    /// Measures one cell. The outcome depends only on the cell and on the sweep's runs and seed,
    /// not on `jobs`.
    ///
    /// # Errors
    /// A setting does not fit the scenario, a run fails, or the workers are stopped.
    pub fn measure(&self, cell: &Cell, jobs: impl Into<Workers>) -> Result<CellOutcome, RunError> {
        self.measure_with(cell, &jobs.into(), &|| ())
    }

    /// Measures one cell and calls `ran` after each run.
    pub(super) fn measure_with(
        &self,
        cell: &Cell,
        workers: &Workers,
        ran: &dyn Fn(),
    ) -> Result<CellOutcome, RunError> {
        let mut outcome = CellOutcome {
            cell: cell.clone(),
            score: None,
            claims: BTreeMap::new(),
            rows: vec![],
            runs: vec![],
            left_out: vec![],
        };
        match &self.subject {
            Subject::Items(_) => self.measure_items(cell, workers, ran, &mut outcome)?,
            Subject::Scenario(_) => {
                let made = self.measure_scenario(cell, workers, ran)?;
                let left_out = made.iter().filter_map(|run| run.left_out.clone()).collect();
                let (runs, units): (Vec<RunRow>, Vec<Units>) =
                    made.into_iter().map(|run| (run.row, run.units)).unzip();
                outcome = CellOutcome { left_out, ..self.outcome(cell, runs, &units) };
            }
        }
        Ok(outcome)
    }

    fn measure_items(
        &self,
        cell: &Cell,
        workers: &Workers,
        ran: &dyn Fn(),
        outcome: &mut CellOutcome,
    ) -> Result<(), RunError> {
        let reproduction = self.plan(cell)?.execute(workers.clone(), |event| {
            // The runs of calibrations do not count.
            if let Event::Progress(Progress { runs: 1.., .. }) = event {
                ran();
            }
        })?;
        outcome.rows = reproduction.items.iter().map(row).collect();
        outcome.claims =
            reproduction.claims.iter().filter_map(|c| Some((c.id.clone(), c.holds?))).collect();
        let verdicts = || outcome.rows.iter().filter_map(|row| row.within_tolerance);
        outcome.score = Some(CellScore {
            within_tolerance: verdicts().filter(|met| *met).count(),
            numbers: verdicts().count(),
            holding: outcome.claims.values().filter(|holds| **holds).count(),
            settled: outcome.claims.len(),
        });
        Ok(())
    }

    fn measure_scenario(
        &self,
        cell: &Cell,
        workers: &Workers,
        ran: &dyn Fn(),
    ) -> Result<Vec<MadeRun>, RunError> {
        let mut experiments = self.experiments(cell)?;
        // Delays cost time, so they are measured only if they are asked for.
        if !self.metrics.iter().any(|metric| is_of_delays(cell.read(metric))) {
            experiments.iter_mut().for_each(|experiment| experiment.delays = false);
        }
        let systems = self.system_names();
        let tasks = self.runs_of(cell);
        let stack = self.stack_of(cell)?;
        let one = |&(s, seed): &(usize, u64)| -> Result<MadeRun, RunError> {
            let made = self.turns.run(stack, &experiments[s], seed, workers.stop(), |_| ())?;
            let (found, left_out) = match made {
                Ok(found) => (found, None),
                Err(why) => (vec![], Some(format!("{}, seed {seed}: {why}", systems[s]))),
            };
            let find =
                |metric: &String| found.iter().find(|found| found.metric == cell.read(metric));
            let value = |metric: &String| find(metric)?.value.filter(|value| value.is_finite());
            let metrics =
                self.metrics.iter().map(|metric| (metric.clone(), value(metric))).collect();
            let units = self
                .metrics
                .iter()
                .map(|metric| find(metric).map_or("".into(), |found| found.unit.clone()))
                .collect();
            let row = RunRow { system: systems[s].clone(), seed, metrics };
            Ok(MadeRun { row, units, left_out })
        };
        workers.map(&tasks, one, |_| ran())?.into_iter().collect()
    }

    /// The outcome of a cell of a scenario, from its runs.
    pub(super) fn outcome(&self, cell: &Cell, runs: Vec<RunRow>, units: &[Units]) -> CellOutcome {
        let Subject::Scenario(subject) = &self.subject else {
            unreachable!("asked for a cell of a scenario")
        };
        let of_each = self.runs_in(cell) as usize;
        let rows = self.estimates(subject.scenario.file(), of_each, &runs, units);
        CellOutcome {
            cell: cell.clone(),
            score: None,
            claims: BTreeMap::new(),
            rows,
            runs,
            left_out: vec![],
        }
    }

    /// What runs the cell.
    ///
    /// # Errors
    /// This machine or this program cannot run it.
    pub(super) fn stack_of(&self, cell: &Cell) -> Result<&dyn Stack, RunError> {
        match self.stacks.get(cell.number % self.stacks.len().max(1)) {
            Some(named) => named.stack().map_err(|error| {
                self.error("stacks", format!("\"{}\" cannot run here: {error}", named.name)).into()
            }),
            None => Ok(simulator()),
        }
    }

    /// The systems of every cell of a scenario; one if the sweep compares none.
    pub(super) fn system_names(&self) -> Vec<String> {
        match self.systems.as_slice() {
            [] => vec![UNCHANGED.to_owned()],
            systems => systems.iter().map(|system| system.name.clone()).collect(),
        }
    }

    /// The system and seed of every run of a cell of a scenario, in the order of its runs.
    pub(super) fn runs_of(&self, cell: &Cell) -> Vec<(usize, u64)> {
        let seed = self.seed_of(cell);
        let systems = 0..self.system_names().len();
        systems
            .flat_map(|s| {
                (0..self.runs_in(cell)).map(move |k| (s, seed.wrapping_add(u64::from(k))))
            })
            .collect()
    }

    /// The estimates of every metric from the runs, of which each system has `of_each`.
    fn estimates(
        &self,
        scenario: &str,
        of_each: usize,
        runs: &[RunRow],
        units: &[Units],
    ) -> Vec<Row> {
        let of = |runs: &[RunRow], units: &[Units], place: usize| {
            let values = || runs.iter().map(move |run| run.metrics[place]);
            let estimate = Estimate::from_runs(values());
            // Where no metric differs between runs, nothing depends on the seed.
            let one_run = runs.iter().all(|run| run.metrics == runs[0].metrics);
            Row {
                scenario: scenario.to_owned(),
                system: runs[0].system.clone(),
                metric: self.metrics[place].clone(),
                unit: units[0][place].to_string(),
                measured: estimate.mean,
                ci95: estimate.ci95.filter(|_| !one_run),
                runs: estimate.runs,
                runs_with_value: Some(values().flatten().count() as u32),
                ..Row::default()
            }
        };
        runs.chunks(of_each)
            .zip(units.chunks(of_each))
            .flat_map(|(runs, units)| {
                (0..self.metrics.len()).map(move |place| of(runs, units, place))
            })
            .collect()
    }
}

/// The simulator, for sweeps that name no stack.
fn simulator() -> &'static dyn Stack {
    static DEFAULT: LazyLock<Stacks> = LazyLock::new(Stacks::default);
    DEFAULT.named(SIMULATOR).expect("it is always there").stack().expect("it runs everywhere")
}

/// One run of a cell, and why it is left out, if it is.
struct MadeRun {
    row: RunRow,
    units: Units,
    left_out: Option<String>,
}

/// The unit of every metric of a sweep in one run; empty where the run has no such metric.
pub(super) type Units = Vec<Cow<'static, str>>;

/// The system of a sweep that compares none.
const UNCHANGED: &str = "as it is";

/// The values of an item.
fn row(item: &Item) -> Row {
    Row {
        scenario: format!("{}/{}", item.paper, item.scenario),
        parameters: item.parameters.clone(),
        system: item.system.clone(),
        metric: item.metric.clone(),
        unit: item.unit.clone(),
        measured: item.measured,
        ci95: item.ci95,
        runs: item.runs,
        runs_with_value: None,
        published: item.published,
        within_tolerance: item.within,
    }
}
