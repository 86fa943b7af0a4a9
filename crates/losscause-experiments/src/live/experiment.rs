//! What an experiment on a real stack is.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use losscause_laboratory::papers::claims::Answer;
use losscause_laboratory::papers::record::{Item, Paper};
use losscause_laboratory::papers::reproduce::{
    Configuration, Event, Only, Plan, Progress, Repetitions, Reproduction, Selection, Variation,
};
use losscause_laboratory::stack::Stack;
use losscause_laboratory::store::Store;
use losscause_study::error::unknown;
use losscause_study::{Context, InputError, Metric, RunError, Setting, Workers};

use crate::live::{EXPERIMENTS, find};

/// An experiment: what is measured, by which stacks, and what it shows.
pub struct Experiment {
    pub(super) record: LazyLock<Paper>,
    pub(super) answer: fn(&[Item]) -> Option<String>,
    pub(super) set_up: fn(&[Configuration]) -> Ready,
}

/// The record in the folder `experiments/$key/`, with its scenarios and the predicates of its claims.
macro_rules! record {
    ($key:literal, [$($scenario:literal),+], $predicates:expr) => {
        std::sync::LazyLock::new(|| {
            use losscause_laboratory::papers::record::{Paper, PaperTexts, ScenarioText};

            macro_rules! text {
                ($name:expr) => {
                    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/experiments/", $key, "/", $name))
                };
            }
            static TEXTS: PaperTexts = PaperTexts {
                key: $key,
                published: text!("record.toml"),
                items: text!("items.toml"),
                explanations: text!("explanations.toml"),
                costs: "",
                scenarios: &[$(ScenarioText {
                    name: $scenario,
                    text: text!(concat!("scenarios/", $scenario, ".toml")),
                }),+],
                channel: None,
                patterns: &[],
            };
            Paper::of(&TEXTS).with_predicates($predicates)
        })
    };
}

pub(super) use record;

/// The stack of each configuration, ready to run it; or why there is none.
pub(super) type Ready = Result<Vec<Box<dyn Stack>>, RunError>;

/// The values of one run, by the metrics of a record and in their units. A metric that does not
/// exist in the run is missing.
pub type Values = BTreeMap<&'static str, f64>;

impl Experiment {
    /// Reads names, each EXPERIMENT or EXPERIMENT/ITEM, all of one experiment. An experiment's name
    /// selects what it measures by default, EXPERIMENT/full what it measures on demand.
    ///
    /// # Errors
    /// An experiment or item is unknown, the names are of different experiments, or `only` does not
    /// fit them.
    pub fn select<S: AsRef<str>>(
        names: &[S],
        only: Vec<Only>,
    ) -> Result<(&'static Self, Selection), InputError> {
        let known = |name: &str| {
            let keys = EXPERIMENTS.map(|experiment| experiment.record().key());
            find(name).ok_or_else(|| {
                InputError::option(name, format!("the experiment {}", unknown(name, &keys)))
            })
        };
        let Some(first) = names.first() else {
            return Err(InputError::option(
                "EXPERIMENT",
                "is missing, expected the name of an experiment",
            ));
        };
        let experiment = known(first.as_ref())?;
        let key = experiment.record().key();
        let selection = Selection::parse_of(names, |name| match known(name)?.record() {
            record if record.key() == key => Ok(record),
            _ => Err(InputError::option(
                name,
                format!("is of another experiment than {key}, expected a command for each"),
            )),
        })?;
        Ok((experiment, selection.only(only)?))
    }

    /// The systems, metrics, tables and claims; [`Published::repetitions`]: default runs per cell.
    ///
    /// [`Published::repetitions`]: losscause_laboratory::papers::record::Published::repetitions
    pub fn record(&'static self) -> &'static Paper {
        &self.record
    }

    /// What was found, in one sentence that a colleague could repeat. None if the items do not say
    /// it.
    pub fn answer(&self, items: &[Item]) -> Option<String> {
        (self.answer)(items)
    }

    /// Plans the selection. `runs`: of each cell (default: the record's). `settings` are applied to
    /// every scenario, after its own.
    ///
    /// # Errors
    /// A setting does not fit, or there would be no run.
    pub fn plan(
        selection: &Selection,
        runs: Option<u32>,
        seed: u64,
        settings: &[Setting],
    ) -> Result<Plan, InputError> {
        let repetitions = runs.map_or(Ok(Repetitions::AsPublished), Repetitions::exactly)?;
        let variation = Variation { settings: settings.to_vec(), ..Variation::default() };
        let selection = selection.clone().on_stacks();
        Plan::new(&Context::default(), &selection, repetitions, seed, &variation)
    }

    /// Prepares the machine, makes every run that the `store` does not have, puts the machine back as
    /// it was, and answers. Once the machine is prepared, and before the first run, `observe` is told
    /// of no progress.
    ///
    /// # Errors
    /// The machine cannot run the plan, a run fails, the workers are stopped, or the store cannot be
    /// written or holds another experiment.
    pub fn execute(
        &self,
        plan: Plan,
        workers: impl Into<Workers>,
        store: Option<&Store>,
        mut observe: impl FnMut(Event<'_>),
    ) -> Result<Reproduction, RunError> {
        let stacks = (self.set_up)(plan.configurations())?;
        observe(Event::Progress(Progress { runs: 0, cost: 0 }));
        let reproduction = plan.execute_on(&stacks, workers, store, observe)?;
        let answer = self.answer(&reproduction.items);
        Ok(Reproduction { answer, ..reproduction })
    }

    /// The metrics of the record with the values of a run.
    pub fn metrics(&'static self, values: &Values) -> Vec<Metric> {
        let metrics = self.record().published().metric.iter();
        let value = |name: &str| values.get(name).copied();
        metrics.map(|of| Metric::new(&of.name, of.unit.as_str(), value(&of.name))).collect()
    }
}

/// Whether a claim holds of each of these systems.
pub(super) fn on_all(systems: &[&str], mut holds: impl FnMut(&str) -> Answer) -> Answer {
    for system in systems {
        if !holds(system)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The group of flows that runs the system under test, by its name in every scenario.
const TEST: &str = "test";

/// Whether the flow belongs to the system under test; members of a group are called `test.1`,
/// `test.2`, …
pub(crate) fn is_under_test(flow: &str) -> bool {
    flow.split('.').next() == Some(TEST)
}
