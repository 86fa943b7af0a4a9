//! Runs the cells of the experiment, each a function of the cell and the seed alone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use losscause_study::Stop;

use super::run::{Outcome, run};
use super::system::System;
use super::values::values;
use crate::live::{Attempt, Cell, LiveError, Stack};

/// The virtual network. Outcomes of base controllers and oracles are kept, because every other
/// system is compared with them.
#[derive(Default)]
pub(super) struct VirtualStack {
    kept: Mutex<HashMap<(String, System, u64), Kept>>,
}

type Kept = Arc<OnceLock<Option<Outcome>>>;

impl Stack for VirtualStack {
    fn run(&self, cell: &Cell, seed: u64, stop: &Stop) -> Result<Attempt, LiveError> {
        let system = System::parse(&cell.system)?;
        let reads = |metric: &str| cell.spec.metrics.iter().any(|read| read == metric);
        let of = |system: Option<System>, is_read: bool| {
            system
                .filter(|_| is_read)
                .map(|system| self.outcome(cell, &system, seed, stop))
                .transpose()
        };
        let own = self.outcome(cell, &system, seed, stop)?;
        let base = of(
            system.base(),
            reads("goodput_of_base") || reads("share_above_base") || reads("harm"),
        )?;
        let oracle = of(system.oracle(), reads("goodput_of_oracle"))?;
        Ok(Attempt::Made(values(&own, base.as_ref(), oracle.as_ref())))
    }
}

impl VirtualStack {
    fn outcome(
        &self,
        cell: &Cell,
        system: &System,
        seed: u64,
        stop: &Stop,
    ) -> Result<Outcome, LiveError> {
        let attempt = || run(&cell.layout, system, seed, stop);
        if !system.is_compared_with() {
            return attempt();
        }
        let key = (format!("{} {:?}", cell.spec.scenario, cell.parameters), system.clone(), seed);
        let kept = self
            .kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(key)
            .or_default()
            .clone();
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
