//! Measures one cell.

use std::collections::BTreeMap;

use super::{Cell, CellOutcome, CellScore, Row, RunRow, Subject, Sweep};
use crate::papers::record::{Item, Parameters};
use crate::papers::reproduce::{Event, Progress};
use losscause_study::run::{is_of_delays, run_stopping_at};
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
        };
        match &self.subject {
            Subject::Items(_) => self.measure_items(cell, workers, ran, &mut outcome)?,
            Subject::Scenario(_) => {
                let (runs, units): (Vec<RunRow>, Vec<Units>) =
                    self.measure_scenario(cell, workers, ran)?.into_iter().unzip();
                outcome = self.outcome(cell, runs, &units);
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
    ) -> Result<Vec<(RunRow, Units)>, RunError> {
        let mut experiments = self.experiments(cell)?;
        // Delays cost time, so they are measured only if they are asked for.
        if !self.metrics.iter().any(|metric| is_of_delays(cell.read(metric))) {
            experiments.iter_mut().for_each(|experiment| experiment.delays = false);
        }
        let systems = self.system_names();
        let tasks = self.runs_of(cell);
        let one = |&(s, seed): &(usize, u64)| -> Result<(RunRow, Units), RunError> {
            let measured = run_stopping_at(&experiments[s], seed, workers.stop())?;
            let find = |metric: &String| {
                measured.metrics.iter().find(|found| found.metric == cell.read(metric))
            };
            let value = |metric: &String| find(metric)?.value.filter(|value| value.is_finite());
            let metrics =
                self.metrics.iter().map(|metric| (metric.clone(), value(metric))).collect();
            let units = self
                .metrics
                .iter()
                .map(|metric| find(metric).map_or("", |found| found.unit))
                .collect();
            Ok((RunRow { system: systems[s].clone(), seed, metrics }, units))
        };
        workers.map(&tasks, one, |_| ran())?.into_iter().collect()
    }

    /// The outcome of a cell of a scenario, from its runs.
    pub(super) fn outcome(&self, cell: &Cell, runs: Vec<RunRow>, units: &[Units]) -> CellOutcome {
        let Subject::Scenario(subject) = &self.subject else {
            unreachable!("asked for a cell of a scenario")
        };
        let rows = self.estimates(subject.scenario.file(), &runs, units);
        CellOutcome { cell: cell.clone(), score: None, claims: BTreeMap::new(), rows, runs }
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
            .flat_map(|s| (0..self.runs).map(move |k| (s, seed.wrapping_add(u64::from(k)))))
            .collect()
    }

    /// The estimates of every metric from the runs of each system.
    fn estimates(&self, scenario: &str, runs: &[RunRow], units: &[Units]) -> Vec<Row> {
        let of = |runs: &[RunRow], units: &[Units], place: usize| {
            let values = || runs.iter().map(move |run| run.metrics[place]);
            let estimate = Estimate::from_runs(values());
            // Where no metric differs between runs, nothing depends on the seed.
            let one_run = runs.iter().all(|run| run.metrics == runs[0].metrics);
            Row {
                scenario: scenario.to_owned(),
                parameters: Parameters::new(),
                system: runs[0].system.clone(),
                metric: self.metrics[place].clone(),
                unit: units[0][place].to_owned(),
                measured: estimate.mean,
                ci95: estimate.ci95.filter(|_| !one_run),
                runs: estimate.runs,
                runs_with_value: Some(values().flatten().count() as u32),
                published: None,
                within_tolerance: None,
            }
        };
        let systems = runs.chunks(self.runs as usize).zip(units.chunks(self.runs as usize));
        systems
            .flat_map(|(runs, units)| {
                (0..self.metrics.len()).map(move |place| of(runs, units, place))
            })
            .collect()
    }
}

/// The unit of every metric of a sweep in one run; empty where the run has no such metric.
pub(super) type Units = Vec<&'static str>;

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
