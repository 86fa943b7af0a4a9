//! From a selection to runs, and from runs to a [`Reproduction`].
//!
//! The runs of a cell have the seeds SEED, SEED + 1, … First every cell is run once, then once
//! more, and so on, so that what changes on a machine over time meets all cells alike. Demanding
//! cells are run one at a time, the others side by side. A run that was disturbed is made again at
//! the end, by itself; if it is disturbed each time, it is left out and the outcome says so.

use std::sync::Mutex;

use losscause_laboratory::papers::claims::settle_with;
use losscause_laboratory::papers::record::Item;
use losscause_laboratory::papers::reproduce::{Reproduction, Sheet, blank_item, format_version};
use losscause_study::{InputError, Jobs, Setting, Stop, Workers};

use crate::live::{Attempt, Cell, Experiment, LiveError, Selection, Stack, Values};

/// The runs that a selection needs.
pub struct Plan {
    experiment: &'static Experiment,
    cells: Vec<Cell>,
    sheets: Vec<Sheet>,
    items: Vec<Item>,
    /// The cell of each item.
    cell_of: Vec<usize>,
    runs: u32,
    seed: u64,
}

/// The progress of a plan.
#[derive(Debug)]
pub enum Event<'a> {
    /// The machine is ready and the first runs begin.
    Begins {
        /// Runs of each cell.
        runs_each: u32,
        /// Runs in all.
        runs: usize,
    },
    /// A run was made or given up.
    Ran {
        /// The cell that the run belongs to.
        cell: &'a Cell,
        /// What it gave; none if it was given up.
        values: Option<&'a Values>,
        /// Runs made or given up so far, of [`Plan::runs`].
        done: usize,
        /// The share of the work that they are, 0 to 1.
        share: f64,
    },
    /// A run was disturbed, and will be made again or left out.
    Spoiled {
        /// The cell that the run belongs to.
        cell: &'a Cell,
        /// How.
        why: &'a str,
    },
}

/// What was measured.
#[derive(Debug)]
pub struct Measured {
    /// Values, claims, answer.
    pub reproduction: Reproduction,
    /// The tables.
    pub sheets: Vec<Sheet>,
    /// Runs that were disturbed each time and are left out, one sentence each.
    pub left_out: Vec<String>,
}

/// Attempts at a run that was disturbed, after the first.
const MORE_ATTEMPTS: u32 = 2;

/// The values of every run, by cell and number; none for those that were left out.
type Results = Vec<Vec<Option<Values>>>;

/// A run: the index of its cell, and its number, counted from 0.
type Task = (usize, u32);

impl Plan {
    /// Plans every cell of the selection. `runs`: of each cell (default: the record's). `settings`
    /// are applied to every scenario, after its own.
    ///
    /// # Errors
    /// A setting does not fit.
    pub fn new(
        selection: &Selection,
        runs: Option<u32>,
        seed: u64,
        settings: &[Setting],
    ) -> Result<Self, LiveError> {
        let record = selection.experiment.record();
        let runs = runs.unwrap_or(record.published().repetitions);
        if runs == 0 {
            let problem = "nothing would be measured, expected 1 or more".to_owned();
            return Err(InputError::Option { option: "--runs 0".to_owned(), problem }.into());
        }
        let experiment = selection.experiment;
        let mut plan = Self {
            experiment,
            cells: vec![],
            sheets: vec![],
            items: vec![],
            cell_of: vec![],
            runs,
            seed,
        };
        for spec in &selection.items {
            let mut sheet = Sheet { paper: record, spec, items: vec![], beside: vec![] };
            for parameters in spec.combinations() {
                let first = plan.cells.len();
                for system in selection.systems(spec, &parameters) {
                    plan.cells.push(Cell::new(record, spec, system, &parameters, settings)?);
                }
                for metric in &spec.metrics {
                    for index in first..plan.cells.len() {
                        let system = &plan.cells[index].system;
                        sheet.items.push(plan.items.len());
                        plan.items.push(blank_item(
                            record,
                            spec,
                            metric,
                            system,
                            &parameters,
                            runs,
                        ));
                        plan.cell_of.push(index);
                    }
                }
            }
            // What `--only` leaves out altogether is no table.
            if !sheet.items.is_empty() {
                plan.sheets.push(sheet);
            }
        }
        Ok(plan)
    }

    /// The plan's cells, in the order in which they are begun.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Number of runs.
    pub fn runs(&self) -> usize {
        self.cells.len() * self.runs as usize
    }

    /// Prepares the machine, makes every run, at most `jobs` side by side, and puts the machine
    /// back as it was.
    ///
    /// # Errors
    /// The machine cannot run the cells, a run fails, or `stop` is requested.
    pub fn execute(
        self,
        jobs: Jobs,
        stop: &Stop,
        mut observe: impl FnMut(Event<'_>),
    ) -> Result<Measured, LiveError> {
        let stack = self.experiment.set_up(&self.cells)?;
        observe(Event::Begins { runs_each: self.runs, runs: self.runs() });
        let (results, left_out) = self.run_all(stack.as_ref(), jobs, stop, observe)?;
        drop(stack);
        Ok(self.conclude(&results, left_out))
    }

    /// What every run gave, and why some were left out.
    fn run_all(
        &self,
        stack: &dyn Stack,
        jobs: Jobs,
        stop: &Stop,
        mut observe: impl FnMut(Event<'_>),
    ) -> Result<(Results, Vec<String>), LiveError> {
        let mut results: Results = vec![vec![None; self.runs as usize]; self.cells.len()];
        let all = (0..self.runs).flat_map(|run| (0..self.cells.len()).map(move |cell| (cell, run)));
        let (alone, beside): (Vec<Task>, Vec<Task>) =
            all.partition(|(cell, _)| stack.is_demanding(&self.cells[*cell]));
        let whole: f64 = self.cells.iter().map(seconds).sum::<f64>() * f64::from(self.runs);
        let mut done = 0;
        let mut share = 0.0;
        let mut finish =
            |task: Task, values: Option<Values>, observe: &mut dyn FnMut(Event<'_>)| {
                let cell = &self.cells[task.0];
                done += 1;
                share += seconds(cell) / whole;
                observe(Event::Ran { cell, values: values.as_ref(), done, share });
                results[task.0][task.1 as usize] = values;
            };
        let mut disturbed: Vec<Task> = Vec::new();
        for (tasks, jobs) in [(alone, Jobs::new(1)?), (beside, jobs)] {
            self.attempt(stack, &tasks, jobs, stop, |task, attempt| match attempt {
                Attempt::Made(values) => finish(task, Some(values), &mut observe),
                Attempt::Spoiled(why) => {
                    observe(Event::Spoiled { cell: &self.cells[task.0], why: &why });
                    disturbed.push(task);
                }
            })?;
        }
        let mut left_out = Vec::new();
        for task in disturbed {
            let cell = &self.cells[task.0];
            let mut values = None;
            let mut last = String::new();
            for _ in 0..MORE_ATTEMPTS {
                let mut outcome = None;
                self.attempt(stack, &[task], Jobs::new(1)?, stop, |_, attempt| {
                    outcome = Some(attempt);
                })?;
                match outcome {
                    Some(Attempt::Made(made)) => {
                        values = Some(made);
                        break;
                    }
                    Some(Attempt::Spoiled(why)) => {
                        observe(Event::Spoiled { cell, why: &why });
                        last = why;
                    }
                    None => {}
                }
            }
            if values.is_none() {
                left_out.push(format!("{cell}, run {}: left out, {last}", task.1 + 1));
            }
            finish(task, values, &mut observe);
        }
        Ok((results, left_out))
    }

    /// Attempts each task once. The first failure stops the others.
    fn attempt(
        &self,
        stack: &dyn Stack,
        tasks: &[Task],
        jobs: Jobs,
        stop: &Stop,
        mut take: impl FnMut(Task, Attempt),
    ) -> Result<(), LiveError> {
        let of_these = stop.for_a_part();
        let failure: Mutex<Option<LiveError>> = Mutex::new(None);
        let work = |&(cell, run): &Task| {
            let outcome =
                stack.run(&self.cells[cell], self.seed.wrapping_add(u64::from(run)), &of_these);
            outcome.map_err(|error| {
                // Those that are stopped because of the first failure fail as well.
                let mut failure = failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                failure.get_or_insert(error);
                of_these.request();
            })
        };
        let worked =
            Workers::from(jobs).stopping_at(&of_these).each(tasks, work, |index, outcome| {
                if let Ok(attempt) = outcome {
                    take(tasks[index], attempt);
                }
            });
        match failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(worked?),
        }
    }

    /// Means or medians, claims and the answer.
    fn conclude(mut self, results: &[Vec<Option<Values>>], left_out: Vec<String>) -> Measured {
        let record = self.experiment.record();
        for (item, cell) in self.items.iter_mut().zip(&self.cell_of) {
            let metric = item.metric.clone();
            let made = results[*cell].iter().flatten();
            let own = record.metric(&metric).and_then(|metric| metric.summary);
            item.measure(
                own.unwrap_or(record.published().summary),
                made.map(|values| values.get(metric.as_str()).copied()),
            );
        }
        let reproduction = Reproduction {
            format_version: format_version(),
            answer: self.experiment.answer(&self.items),
            claims: settle_with(record.published(), self.experiment.predicates(), &self.items),
            items: self.items,
            claims_beside: vec![],
            beside: vec![],
            left_out: vec![],
            calibrated: vec![],
            recordings: vec![],
            seed: self.seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            wall_s: None,
        };
        Measured { reproduction, sheets: self.sheets, left_out }
    }
}

/// How long a run of the cell takes.
fn seconds(cell: &Cell) -> f64 {
    cell.layout.duration.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use losscause_study::Stopped;

    use super::*;
    use crate::live::Only;

    /// A stack whose goodput is the seed, and which fails or is disturbed in one cell.
    #[derive(Default)]
    struct Made {
        spoils: Option<(&'static str, u32)>,
        fails: Option<&'static str>,
        attempts: AtomicU32,
    }

    impl Stack for Made {
        fn run(&self, cell: &Cell, seed: u64, stop: &Stop) -> Result<Attempt, LiveError> {
            if stop.is_requested() {
                return Err(Stopped.into());
            }
            if self.fails.is_some_and(|system| system == cell.system) {
                return Err(LiveError::Thread);
            }
            if let Some((_, times)) = self.spoils.filter(|(system, _)| *system == cell.system)
                && self.attempts.fetch_add(1, Ordering::Relaxed) < times
            {
                return Ok(Attempt::Spoiled("it was late".to_owned()));
            }
            Ok(Attempt::Made([("goodput", seed as f64), ("simulated_goodput", 4.0)].into()))
        }
    }

    fn plan(runs: u32) -> Plan {
        let only = Only::parse("system=reno,lc_spike").unwrap();
        let selection =
            Selection::parse(&["live"], vec![only, Only::parse("loss=0.01").unwrap()]).unwrap();
        Plan::new(&selection, Some(runs), 5, &[]).unwrap()
    }

    fn measured(plan: Plan, stack: &Made) -> Result<(Measured, Vec<usize>), LiveError> {
        let mut progress = Vec::new();
        let observe = |event: Event<'_>| {
            if let Event::Ran { done, .. } = event {
                progress.push(done);
            }
        };
        let (results, left_out) =
            plan.run_all(stack, Jobs::new(2).unwrap(), &Stop::new(), observe)?;
        Ok((plan.conclude(&results, left_out), progress))
    }

    fn goodput(measured: &Measured, system: &str) -> (Option<f64>, u32) {
        let mut items = measured.reproduction.items.iter();
        let item = items.find(|item| item.metric == "goodput" && item.system == system).unwrap();
        (item.measured, item.runs)
    }

    #[test]
    fn a_value_is_the_mean_over_the_seeds() {
        let (measured, progress) = measured(plan(3), &Made::default()).unwrap();
        assert_eq!(goodput(&measured, "reno"), (Some(6.0), 3));
        assert_eq!(progress, [1, 2, 3, 4, 5, 6]);
        let other = measured
            .reproduction
            .items
            .iter()
            .find(|item| item.metric == "retransmissions")
            .unwrap();
        assert_eq!((other.measured, other.runs), (None, 3));
    }

    #[test]
    fn the_report_shows_measured_systems_with_the_simulator_as_ring() {
        let (Measured { mut reproduction, sheets, .. }, _) =
            measured(plan(2), &Made::default()).unwrap();
        reproduction.answer = Some("reno carries as much as reno".to_owned());
        let html = losscause_report::html(&reproduction, &sheets);
        assert!(html.contains("<h1>Reno carries as much as reno.</h1>"));
        assert!(html.contains("goodput: measured, and simulated_goodput, per system"));
        assert!(
            html.contains(">lc_spike</th>") && !html.contains(">cubic</th>"),
            "a column per measured system"
        );
        assert!(
            html.contains("a ring is the value of the simulator")
                && !html.contains("A number counts if")
        );
    }

    #[test]
    fn a_disturbed_run_is_repeated_and_left_out_after_three_tries() {
        let again = |times| {
            measured(plan(1), &Made { spoils: Some(("lc_spike", times)), ..Made::default() })
                .unwrap()
        };
        let (made, progress) = again(2);
        assert_eq!(
            (goodput(&made, "lc_spike"), progress.len(), made.left_out.len()),
            ((Some(5.0), 1), 2, 0)
        );
        let (made, progress) = again(3);
        assert_eq!((goodput(&made, "lc_spike"), progress.len()), ((None, 0), 2));
        assert!(
            made.left_out[0].starts_with("lc_spike, flows 1, loss 0.01, "),
            "{:?}",
            made.left_out
        );
        assert!(made.left_out[0].ends_with("run 1: left out, it was late"), "{:?}", made.left_out);
    }

    #[test]
    fn a_failure_ends_the_experiment_and_so_does_a_stop() {
        let failed = measured(plan(2), &Made { fails: Some("reno"), ..Made::default() });
        assert!(matches!(failed, Err(LiveError::Thread)));
        let stop = Stop::new();
        stop.request();
        let stopped = plan(1).run_all(&Made::default(), Jobs::default(), &stop, |_| {});
        assert!(matches!(stopped, Err(LiveError::Stopped(_))));
    }

    #[test]
    fn settings_reach_every_scenario_and_zero_runs_are_refused() {
        let selection = Selection::parse(&["live/sharing"], vec![]).unwrap();
        let plan = Plan::new(&selection, None, 1, &[Setting::new("duration_s", 7)]).unwrap();
        assert!(plan.cells().iter().all(|cell| seconds(cell) == 7.0));
        let none = Plan::new(&selection, Some(0), 1, &[]).err().unwrap();
        assert!(
            none.is_bad_input()
                && none.to_string().starts_with("--runs 0: nothing would be measured")
        );
    }
}
