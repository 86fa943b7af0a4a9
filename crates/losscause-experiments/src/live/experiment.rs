//! What an experiment on a real stack is.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use losscause_laboratory::papers::claims::Predicate;
use losscause_laboratory::papers::record::{self, Item, ItemSpec, Paper, Parameters};
use losscause_study::{Context, Scenario, Setting, Stop};

use crate::live::LiveError;

/// An experiment: what is measured, by which stack, and what it shows.
pub struct Experiment {
    pub(super) record: LazyLock<Paper>,
    pub(super) predicates: &'static [(&'static str, Predicate)],
    pub(super) answer: fn(&[Item]) -> Option<String>,
    pub(super) set_up: fn(&[Cell]) -> Ready,
}

/// A stack that is ready, or why it is not.
pub(super) type Ready = Result<Box<dyn Stack>, LiveError>;

impl Experiment {
    /// The systems, metrics, tables and claims; [`Published::repetitions`]: default runs per cell.
    ///
    /// [`Published::repetitions`]: losscause_laboratory::papers::record::Published::repetitions
    pub fn record(&'static self) -> &'static Paper {
        &self.record
    }

    /// The predicates of its claims, each with the claim's name.
    pub fn predicates(&self) -> &'static [(&'static str, Predicate)] {
        self.predicates
    }

    /// What was found, in one sentence that a colleague could repeat. None if the items do not say
    /// it.
    pub fn answer(&self, items: &[Item]) -> Option<String> {
        (self.answer)(items)
    }

    /// Prepares the machine for these cells. What was changed is undone when the stack is dropped.
    ///
    /// # Errors
    /// This machine or this program cannot run them.
    pub fn set_up(&self, cells: &[Cell]) -> Result<Box<dyn Stack>, LiveError> {
        (self.set_up)(cells)
    }
}

/// A stack that is ready to run cells.
pub trait Stack: Sync {
    /// Runs a cell once. It looks at `stop` often, and ends with [`LiveError::Stopped`] if that is
    /// requested.
    ///
    /// # Errors
    /// The run cannot be made, now or later. What may succeed later is [`Attempt::Spoiled`].
    fn run(&self, cell: &Cell, seed: u64, stop: &Stop) -> Result<Attempt, LiveError>;

    /// Whether the cell needs the machine for itself.
    fn is_demanding(&self, _cell: &Cell) -> bool {
        false
    }
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Attempt {
    /// The run was made as the cell says; the values by metric.
    Made(Values),
    /// The run was disturbed, and is to be made again; why.
    Spoiled(String),
}

/// The values of one run, by the metrics of the record and in their units. A metric that does not
/// exist in the run is missing.
pub type Values = BTreeMap<&'static str, f64>;

/// One system at one combination of an item's parameters.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The table that it belongs to.
    pub spec: &'static ItemSpec,
    /// The system, by its name in the record.
    pub system: String,
    /// The parameters.
    pub parameters: Parameters,
    /// The scenario with the settings of system and parameters.
    pub scenario: Scenario,
    /// The same, laid out.
    pub layout: losscause_study::Experiment,
}

impl Cell {
    /// The cell of `system` at `parameters`, with `settings` applied last.
    ///
    /// # Errors
    /// The record names a scenario that neither it nor a paper has, or a setting does not fit.
    pub(crate) fn new(
        record: &'static Paper,
        spec: &'static ItemSpec,
        system: &str,
        parameters: &Parameters,
        settings: &[Setting],
    ) -> Result<Self, LiveError> {
        let place = losscause_laboratory::papers::reproduce::place(
            record,
            spec,
            &spec.scenario,
            system,
            parameters,
        )?;
        let scenario = match record.scenarios().iter().find(|scenario| scenario.name == place.file)
        {
            Some(own) => Scenario::parse(
                own.text,
                &format!("{}/{}", record.key(), place.file),
                &Context::default(),
            )?,
            None => record::load_scenario(&place.file, &Context::default())?,
        };
        let scenario = scenario.with(&place.settings)?.with(settings)?;
        let layout = scenario.experiment()?;
        Ok(Self {
            spec,
            system: system.to_owned(),
            parameters: parameters.clone(),
            scenario,
            layout,
        })
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.system.fmt(f)?;
        self.parameters.iter().try_for_each(|(name, value)| write!(f, ", {name} {value}"))
    }
}

/// The group of flows that runs the system under test, by its name in every scenario.
const TEST: &str = "test";

/// Whether the flow belongs to the system under test; members of a group are called `test.1`,
/// `test.2`, …
pub(crate) fn is_under_test(flow: &str) -> bool {
    flow.split('.').next() == Some(TEST)
}
