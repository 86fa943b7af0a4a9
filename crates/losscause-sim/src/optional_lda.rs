//! The optional algorithms at the ends of a TCP connection. They are behind pointers, so that ends
//! without one stay small.

use losscause::arrivals::Differentiate;
use losscause::{
    Algorithm, AnyAlgorithm, AtSender, Differentiator, Judgement, Loss, Needs, Numbers,
    Observation, Observer, Packet, Recovery, Scope,
};

/// The algorithm of a TCP sender, if any.
#[derive(Clone, Debug)]
pub(crate) struct OptionalAlgorithm(pub(crate) Option<Box<AtSender<AnyAlgorithm>>>);

impl Algorithm for OptionalAlgorithm {
    fn name(&self) -> &'static str {
        self.0.as_deref().map_or(().name(), Algorithm::name)
    }

    fn needs(&self) -> Needs {
        self.0.as_deref().map_or(Needs::NONE, Algorithm::needs)
    }

    #[inline]
    fn observe(&mut self, observation: &Observation) {
        if let Some(algorithm) = self.0.as_deref_mut() {
            algorithm.observe(observation);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        if let Some(algorithm) = self.0.as_deref_mut() {
            algorithm.on_loss(loss);
        }
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        self.0.as_deref().map_or_else(|| ().judge(loss), |algorithm| algorithm.judge(loss))
    }

    fn on_recovered(&mut self, recovery: &Recovery) -> Option<Judgement> {
        self.0.as_deref_mut()?.on_recovered(recovery)
    }

    fn take_back(&mut self, numbers: Numbers) {
        if let Some(algorithm) = self.0.as_deref_mut() {
            algorithm.take_back(numbers);
        }
    }

    fn scope(&self) -> Scope {
        self.0.as_deref().map_or(Scope::FIRST_LOSS, Algorithm::scope)
    }
}

/// The differentiator of a TCP receiver, if any.
#[derive(Clone, Debug)]
pub(crate) struct OptionalDifferentiator(pub(crate) Option<Box<Differentiator<AnyAlgorithm>>>);

impl Differentiate for OptionalDifferentiator {
    #[inline]
    fn judges(&self) -> bool {
        self.0.is_some()
    }

    #[inline]
    fn on_packet(&mut self, packet: Packet, observer: &mut impl Observer) {
        if let Some(differentiator) = self.0.as_deref_mut() {
            differentiator.on_packet(packet, observer);
        }
    }
}
