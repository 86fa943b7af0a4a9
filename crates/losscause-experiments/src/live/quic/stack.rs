//! The stacks of the experiment's cells. Each run is a function of the cell and the seed alone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use losscause_laboratory::papers::reproduce::Configuration;
use losscause_laboratory::stack::{Attempt, Stack};
use losscause_study::{Experiment, Metric, RunError, Stop};

use super::experiment::QUIC;
use super::run::{Outcome, run};
use super::system::System;
use super::values::values;
use crate::live::experiment::Ready;
use crate::live::{LiveError, Values};

/// Outcomes of base controllers and oracles, by cell, system and seed. They are kept, because every
/// other system is compared with them.
type Outcomes = Mutex<HashMap<(String, System, u64), Kept>>;

type Kept = Arc<OnceLock<Option<Outcome>>>;

/// One system at one combination of parameters.
struct VirtualStack {
    system: System,
    /// The scenario and the parameters.
    place: String,
    /// What it is compared with.
    base: Option<System>,
    oracle: Option<System>,
    kept: Arc<Outcomes>,
}

/// A stack for each cell.
pub(super) fn of(cells: &[Configuration]) -> Ready {
    let kept = Arc::new(Outcomes::default());
    let stack = |cell: &Configuration| {
        let system = System::parse(&cell.system)?;
        let reads = |of: &[&str]| cell.metrics.iter().any(|metric| of.contains(&metric.as_str()));
        let of_base = ["goodput_of_base", "share_above_base", "harm", "harm_worst"];
        Ok(Box::new(VirtualStack {
            place: format!("{} {:?}", cell.place, cell.parameters),
            base: system.base().filter(|_| reads(&of_base)),
            oracle: system.oracle().filter(|_| reads(&["goodput_of_oracle"])),
            system,
            kept: Arc::clone(&kept),
        }) as Box<dyn Stack>)
    };
    cells.iter().map(stack).collect()
}

impl Stack for VirtualStack {
    fn identity(&self) -> String {
        concat!("quinn and noq of losscause ", env!("CARGO_PKG_VERSION")).to_owned()
    }

    fn metrics(&self, _: &Experiment) -> Result<Vec<Metric>, RunError> {
        Ok(QUIC.metrics(&Values::new()))
    }

    fn run(&self, experiment: &Experiment, seed: u64, stop: &Stop) -> Result<Attempt, RunError> {
        let outcome = |system: &System| self.outcome(experiment, system, seed, stop);
        let own = outcome(&self.system)?;
        let base = self.base.as_ref().map(outcome).transpose()?;
        let oracle = self.oracle.as_ref().map(outcome).transpose()?;
        Ok(Attempt::Made(QUIC.metrics(&values(&own, base.as_ref(), oracle.as_ref()))))
    }
}

impl VirtualStack {
    fn outcome(
        &self,
        experiment: &Experiment,
        system: &System,
        seed: u64,
        stop: &Stop,
    ) -> Result<Outcome, LiveError> {
        let attempt = || run(experiment, system, seed, stop);
        if !system.is_compared_with() {
            return attempt();
        }
        let key = (self.place.clone(), system.clone(), seed);
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = Arc::clone(all.entry(key).or_default());
        drop(all);
        let mut failure = None;
        let outcome = kept.get_or_init(|| attempt().map_err(|error| failure = Some(error)).ok());
        match (outcome, failure) {
            (Some(outcome), _) => Ok(outcome.clone()),
            (None, Some(failure)) => Err(failure),
            // Another thread's attempt failed; that thread tells why.
            (None, None) => attempt(),
        }
    }
}
