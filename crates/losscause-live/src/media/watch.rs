//! An algorithm at a stream's receiver whose verdicts are counted.
//!
//! A wrapper hands every call on and notes the answers. If the algorithm is an oracle, it is also told the truth; no other
//! algorithm gets at it.

use losscause::registry::{ConfigError, Info, LdaConfig, Parameters, Registry};
use losscause::{AnyAlgorithm, Observation, Judgement, Algorithm, Loss, Needs};

use super::truths::Truths;

/// The algorithm with these parameters, its verdicts counted in `truths`.
pub(super) fn watched(lda: &LdaConfig, truths: &Truths) -> LdaConfig {
    let watch = Watch { lda: lda.clone(), truths: truths.clone() };
    let registry = Registry::built_in().with(watch).expect("no algorithm has this name, and this one can be built");
    registry.find(WATCHED.name).expect("it was just added").clone()
}

static WATCHED: Info = Info::new("watched", "another algorithm, whose verdicts are counted");

/// Parameters of another algorithm.
#[derive(Clone)]
struct Watch {
    lda: LdaConfig,
    truths: Truths,
}

/// Another algorithm.
#[derive(Clone, Debug)]
struct Watched {
    lda: AnyAlgorithm,
    truths: Truths,
}

impl Parameters for Watch {
    fn info(&self) -> &'static Info {
        &WATCHED
    }

    fn build(&self) -> Result<AnyAlgorithm, ConfigError> {
        Ok(AnyAlgorithm::boxed(Watched { lda: self.lda.build()?, truths: self.truths.clone() }))
    }
}

impl Algorithm for Watched {
    fn name(&self) -> &'static str {
        self.lda.name()
    }

    /// The truth comes from the driver, so the receiver need not provide it.
    fn needs(&self) -> Needs {
        let mut needs = self.lda.needs();
        needs.truth = false;
        needs
    }

    fn observe(&mut self, arrival: &Observation) {
        self.lda.on_arrival(arrival);
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        let mut loss = *loss;
        loss.truth = self.truths.truth(loss.seq).filter(|_| self.lda.needs().truth);
        let judgement = self.lda.judge(&loss);
        self.truths.judged(loss.seq, judgement.verdict);
        judgement
    }

    fn scheme(&self) -> &'static str {
        self.lda.scheme()
    }

    fn schemes(&self) -> &'static [&'static str] {
        self.lda.schemes()
    }
}
