//! An oracle in the place of an algorithm: it is told why the batch that it judges was lost.
//!
//! It is the simulator's [`Oracle`]; only the way of the truth differs. The [`Ledger`] says the cause of the batch of
//! losses that the controller is hearing of. No algorithm gets at the ledger.

use losscause::ack::SenderInputs;
use losscause::{AckSample, DeclaredLoss, Judgement, SenderLda};
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

impl SenderLda for Told {
    fn name(&self) -> &'static str {
        SenderLda::name(&self.oracle)
    }

    /// The truth comes by the ledger, so the transport need not provide it.
    fn needs(&self) -> SenderInputs {
        SenderInputs::NONE
    }

    fn on_ack(&mut self, _: &AckSample) {}

    fn judge(&self, loss: &DeclaredLoss) -> Judgement {
        let mut loss = *loss;
        loss.truth = self.ledger.truth();
        SenderLda::judge(&self.oracle, &loss)
    }
}
