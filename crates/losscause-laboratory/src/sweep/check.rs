//! Checks before the first run, so that nothing wrong is found after hours of work.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::{Cell, Cells, Subject, Sweep};
use crate::papers::reproduce::{Configuration, Plan, Repetitions, Variation};
use crate::stack::{Stack, metrics};
use losscause_study::error::unknown;
use losscause_study::{Experiment, InputError, RunError, Scenario, Setting};

/// What the checks have found.
pub(super) struct Checked {
    /// Runs of each cell that was checked, by its number; without those of calibrations.
    runs: BTreeMap<usize, usize>,
    /// Unit of every metric, in the order of the sweep file; empty for scored sweeps.
    pub(super) units: IndexMap<String, String>,
}

/// Most cells that are checked before the first run. Of more, about so many are
/// ([`Cells::to_check`]), and an error in another one is found when it is measured.
const MOST_CHECKED: usize = 1_000;

impl Checked {
    /// Runs of a cell, without those of calibrations; of a cell that was not checked, as many as
    /// the first one has.
    pub(super) fn runs(&self, number: usize) -> usize {
        self.runs.get(&number).or_else(|| self.runs.values().next()).copied().unwrap_or(0)
    }
}

impl Sweep {
    /// Checks without a run that a cell can be measured, apart from its metrics.
    ///
    /// # Errors
    /// A setting does not fit the scenario.
    pub fn check(&self, cell: &Cell) -> Result<(), InputError> {
        match &self.subject {
            Subject::Items(_) => self.plan(cell).map(|_| ()),
            Subject::Scenario(_) => self.experiments(cell).map(|_| ()),
        }
    }

    /// Checks without a run that the cells can be measured, their metrics included: all up to a
    /// thousand, and of more about a thousand, the outermost and those with each listed value among
    /// them.
    ///
    /// # Errors
    /// A setting does not fit its scenario, or no run has a metric of that name.
    pub fn check_all(&self) -> Result<(), RunError> {
        self.checked(&Cells::of(self)).map(|_| ())
    }

    pub(super) fn checked(&self, cells: &Cells<'_>) -> Result<Checked, RunError> {
        let numbers = cells.to_check(MOST_CHECKED);
        let mut metrics = Metrics::wanted(self, numbers.iter().map(|&number| cells.cell(number)));
        let mut runs = BTreeMap::new();
        for number in numbers {
            let cell = cells.cell(number);
            let of_cell = match &self.subject {
                Subject::Items(_) => {
                    let plan = self.plan(&cell)?;
                    for Configuration { experiment, .. } in plan.configurations() {
                        metrics.look(&cell, experiment, self.stack_of(&cell)?)?;
                    }
                    plan.runs()
                }
                Subject::Scenario(_) => {
                    let experiments = self.experiments(&cell)?;
                    let stack = self.stack_of(&cell)?;
                    for experiment in &experiments {
                        metrics
                            .look(&cell, experiment, stack)
                            .map_err(|error| self.of_cell(&cell, error))?;
                    }
                    experiments.len() * self.runs_in(&cell) as usize
                }
            };
            runs.insert(number, of_cell);
        }
        Ok(Checked { runs, units: metrics.units(self)? })
    }

    /// Names in the sweep file that can be checked without its cells.
    pub(super) fn check_names(&self) -> Result<(), InputError> {
        let scenarios: Vec<&str> = match &self.subject {
            Subject::Items(selection) => selection.scenarios().into_iter().collect(),
            Subject::Scenario(_) => vec![],
        };
        let metrics: Vec<&str> = self.metrics.iter().map(String::as_str).collect();
        if let Some(twice) =
            metrics.iter().enumerate().find(|(k, name)| metrics[..*k].contains(name))
        {
            return Err(
                self.error("metrics", format!("\"{}\" occurs twice, expected it once", twice.1))
            );
        }
        for axis in &self.axes {
            for choice in &axis.values {
                if let Some(name) =
                    choice.only.keys().find(|name| !scenarios.contains(&name.as_str()))
                {
                    let key = format!("axis.{}.only", axis.name);
                    return Err(
                        self.error(&key, format!("the scenario {}", unknown(name, &scenarios)))
                    );
                }
                let is_stray =
                    |name: &&String| !metrics.is_empty() && !metrics.contains(&name.as_str());
                if let Some(name) = choice.metrics.keys().find(is_stray) {
                    let key = format!("axis.{}.metrics", axis.name);
                    return Err(self.error(&key, format!("the metric {}", unknown(name, &metrics))));
                }
            }
        }
        Ok(())
    }

    /// What is run in a cell of papers' items.
    pub(super) fn plan(&self, cell: &Cell) -> Result<Plan, InputError> {
        let Subject::Items(selection) = &self.subject else {
            unreachable!("asked for a cell of items")
        };
        let of_all = self.parse_settings(&cell.settings)?;
        self.check_label("axis", &of_all, &[])?;
        let mut only = BTreeMap::new();
        for (scenario, texts) in &cell.only {
            let of_one = self.parse_settings(texts)?;
            self.check_label("axis", &of_all, &of_one)?;
            only.insert(scenario.clone(), of_one);
        }
        let settings: Vec<Setting> = self.set.iter().cloned().chain(of_all).collect();
        let variation = Variation { settings, only, metrics: cell.metrics.clone() };
        Repetitions::exactly(self.runs_in(cell))
            .and_then(|runs| {
                Plan::new(&self.context, selection, runs, self.seed_of(cell), &variation)
            })
            .map_err(|error| self.in_this_file(&error))
    }

    /// What is run in a cell of a scenario: one experiment per system.
    pub(super) fn experiments(&self, cell: &Cell) -> Result<Vec<Experiment>, InputError> {
        let Subject::Scenario(subject) = &self.subject else {
            unreachable!("asked for a cell of a scenario")
        };
        let settings = self.parse_settings(&cell.settings)?;
        self.check_label("axis", &settings, &[])?;
        for system in &self.systems {
            let set = self.parse_settings(&system.set)?;
            self.check_label(&format!("system.{}", system.name), &settings, &set)?;
        }
        let experiments = |scenario: Scenario| -> Result<Vec<Experiment>, InputError> {
            if self.systems.is_empty() {
                return Ok(vec![scenario.experiment_with_delays()?]);
            }
            let of = |set: &[String]| {
                scenario.with(&self.parse_settings(set)?)?.experiment_with_delays()
            };
            self.systems.iter().map(|system| of(&system.set)).collect()
        };
        subject
            .scenario
            .with(&settings)
            .and_then(experiments)
            .map_err(|error| self.in_this_file(&error))
    }

    /// Checks that of the settings of a cell, which apply in this order, none undoes an earlier one:
    /// the cell's label would be wrong.
    fn check_label(
        &self,
        key: &str,
        settings: &[Setting],
        more: &[Setting],
    ) -> Result<(), InputError> {
        let all: Vec<&Setting> = settings.iter().chain(more).collect();
        for (index, earlier) in all.iter().enumerate() {
            let undoes = |later: &&&Setting| {
                let below = earlier.key().strip_prefix(later.key());
                let is_of_it = below.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
                is_of_it && *later != earlier
            };
            if let Some(later) = all[index + 1..].iter().find(undoes) {
                let problem = format!(
                    "a cell with {earlier} would be measured with {later}, expected one setting of each key"
                );
                return Err(self.error(key, problem));
            }
        }
        Ok(())
    }
}

/// The metrics that the cells read, looked up in the cells' runs before their first event.
struct Metrics {
    /// Per metric of the sweep and metric of the run, the unit once it is found.
    wanted: IndexMap<(String, String), Option<Cow<'static, str>>>,
    /// The names of all metrics that were seen while some were missing.
    known: BTreeSet<String>,
    /// Whether every experiment is looked at: a stack may be unable to run it.
    looks_at_each: bool,
    /// What is wrong with a metric that has not the same unit on every stack.
    of_two_units: Option<String>,
}

impl Metrics {
    fn wanted(sweep: &Sweep, cells: impl Iterator<Item = Cell>) -> Self {
        let mut wanted = IndexMap::new();
        for cell in cells {
            for metric in &sweep.metrics {
                wanted.insert((metric.clone(), cell.read(metric).to_owned()), None);
            }
            for (metric, read) in &cell.metrics {
                wanted.insert((metric.clone(), read.clone()), None);
            }
        }
        let looks_at_each = !sweep.stacks.is_empty();
        Self { wanted, known: BTreeSet::new(), looks_at_each, of_two_units: None }
    }

    /// Looks for the cell's metrics in a run of `experiment`.
    fn look(
        &mut self,
        cell: &Cell,
        experiment: &Experiment,
        stack: &dyn Stack,
    ) -> Result<(), RunError> {
        let is_open = |((metric, read), unit): (&(String, String), &Option<_>)| {
            unit.is_none() && cell.read(metric) == read.as_str()
        };
        if !self.wanted.iter().any(is_open) && !self.looks_at_each {
            return Ok(());
        }
        let metrics = metrics(stack, experiment)?;
        for ((metric, read), unit) in &mut self.wanted {
            let found = metrics.iter().find(|m| m.metric == *read).map(|m| m.unit.clone());
            if let (Some(one), Some(other)) = (&*unit, &found)
                && one != other
            {
                let problem = || format!("{metric} is in {one} and elsewhere in {other}");
                self.of_two_units.get_or_insert_with(problem);
            }
            *unit = unit.take().or(found);
        }
        self.known.extend(metrics.into_iter().map(|metric| metric.metric));
        Ok(())
    }

    fn units(self, sweep: &Sweep) -> Result<IndexMap<String, String>, InputError> {
        let of_one_unit =
            |problem: String| sweep.error("metrics", format!("{problem}, expected one unit"));
        if let Some(problem) = self.of_two_units {
            return Err(of_one_unit(problem));
        }
        let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
        let mut units: IndexMap<String, String> = IndexMap::new();
        for ((metric, read), unit) in &self.wanted {
            let Some(unit) = unit else {
                return Err(sweep.error("metrics", unknown(read, &known)));
            };
            if !sweep.metrics.contains(metric) {
                continue;
            }
            match units.get(metric) {
                Some(other) if other != unit => {
                    let problem =
                        format!("{metric} is read from {read} in {unit} and elsewhere in {other}");
                    return Err(of_one_unit(problem));
                }
                Some(_) => {}
                None => _ = units.insert(metric.clone(), unit.to_string()),
            }
        }
        // In the order of the sweep file, whichever cell comes first.
        let unit = |metric: &String| (metric.clone(), units[metric].clone());
        Ok(sweep.metrics.iter().map(unit).collect())
    }
}
