//! An oracle in the place of an algorithm: it is told why the batch that it judges was lost.
//!
//! It is the simulator's [`Oracle`]; only the way of the truth differs. The [`Ledger`] says the cause of the batch of
//! losses that the controller is hearing of. No algorithm gets at the ledger.

use losscause::{Algorithm, Judgement, Loss, Needs, Observation};
use losscause_sim::Oracle;

use super::ledger::Ledger;

/// The omniscient oracle over a ledger.
#[derive(Clone, Debug)]
pub(super) struct Told {
    ledger: Ledger,
    oracle: Oracle,
}

impl Told {
    /// The oracle of the sender whose losses are in `ledger`.
    pub(super) fn new(ledger: Ledger) -> Self {
        Self { ledger, oracle: Oracle::OMNISCIENT }
    }
}

impl Algorithm for Told {
    fn name(&self) -> &'static str {
        Algorithm::name(&self.oracle)
    }

    /// The truth comes by the ledger, so the transport need not provide it.
    fn needs(&self) -> Needs {
        Needs::NONE
    }

    fn observe(&mut self, _: &Observation) {}

    fn judge(&self, _: &Loss) -> Judgement {
        self.oracle.told(self.ledger.truth())
    }
}
