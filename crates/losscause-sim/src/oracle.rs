//! The omniscient LDA: it is told the true cause, and says it.
//!
//! Source: the "Omni" of Cen, Cosman and Voelker (2003), section V. Parameters: none. Deviations: none. If the truth about a
//! loss is not known, the answer is undecided.

use losscause::lda::Needs;
use losscause::{AnyLda, Arrival, Cause, Judgement, Lda, Loss, Reason, Verdict};

use crate::topology::LdaSpec;

/// What a receiver in the simulator may ask: an algorithm, or the oracle.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)] // One per flow, inside its receiver.
pub(crate) enum Classifier {
    Algorithm(AnyLda),
    Omniscient,
}

impl Classifier {
    pub(crate) fn new(spec: &LdaSpec) -> Self {
        match spec {
            LdaSpec::Algorithm(lda) => Classifier::Algorithm(*lda),
            LdaSpec::Omniscient => Classifier::Omniscient,
        }
    }
}

impl Lda for Classifier {
    fn name(&self) -> &'static str {
        match self {
            Classifier::Algorithm(lda) => lda.name(),
            Classifier::Omniscient => "Omni",
        }
    }

    fn needs(&self) -> Needs {
        match self {
            Classifier::Algorithm(lda) => lda.needs(),
            Classifier::Omniscient => Needs { truth: true, ..Needs::default() },
        }
    }

    #[inline]
    fn on_arrival(&mut self, arrival: &Arrival) {
        if let Classifier::Algorithm(lda) = self {
            lda.on_arrival(arrival);
        }
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        match self {
            Classifier::Algorithm(lda) => lda.judge(loss),
            Classifier::Omniscient => match loss.truth {
                Some(truth) => Judgement { verdict: verdict_on(truth.cause), reason: Reason::Told },
                None => Judgement { verdict: Verdict::Undecided, reason: Reason::Missing { input: "the true cause" } },
            },
        }
    }

    #[inline]
    fn scheme(&self) -> &'static str {
        match self {
            Classifier::Algorithm(lda) => lda.scheme(),
            Classifier::Omniscient => self.name(),
        }
    }
}

fn verdict_on(cause: Cause) -> Verdict {
    match cause {
        Cause::Congestion => Verdict::Congestion,
        Cause::Wireless => Verdict::Wireless,
    }
}
