//! The optional algorithms at the ends of a TCP connection. They are behind pointers, so that ends without one stay
//! small.

use losscause::ack::{Recovery, Needs};
use losscause::arrivals::Differentiate;
use losscause::Observer;
use losscause::{Observation, AnyAlgorithm, AnyAlgorithm, Loss, Differentiator, Judgement, Packet, Algorithm};

/// The algorithm of a TCP sender, if any.
#[derive(Clone, Debug)]
pub(crate) struct OptionalLda(pub(crate) Option<Box<AnyAlgorithm>>);

impl Algorithm for OptionalLda {
    fn name(&self) -> &'static str {
        self.0.as_deref().map_or(().name(), Algorithm::name)
    }

    fn needs(&self) -> Needs {
        self.0.as_deref().map_or(().needs(), Algorithm::needs)
    }

    #[inline]
    fn observe(&mut self, sample: &Observation) {
        if let Some(lda) = self.0.as_deref_mut() {
            lda.on_ack(sample);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        if let Some(lda) = self.0.as_deref_mut() {
            lda.on_loss(loss);
        }
    }

    fn on_recovered(&mut self, recovery: &Recovery) -> Option<Judgement> {
        self.0.as_deref_mut()?.on_recovered(recovery)
    }

    fn judges_every_loss(&self) -> bool {
        self.0.as_deref().is_some_and(Algorithm::judges_every_loss)
    }

    fn observes_every_loss(&self) -> bool {
        self.0.as_deref().is_some_and(Algorithm::observes_every_loss)
    }

    fn judges_timeouts(&self) -> bool {
        self.0.as_deref().is_some_and(Algorithm::judges_timeouts)
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        self.0.as_deref().map_or_else(|| ().judge(loss), |lda| lda.judge(loss))
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
    fn on_packet_watched(&mut self, packet: Packet, witness: &mut impl Observer, on_loss: impl FnMut(u64, Judgement)) {
        if let Some(differentiator) = self.0.as_deref_mut() {
            differentiator.on_packet_watched(packet, witness, on_loss);
        }
    }
}
