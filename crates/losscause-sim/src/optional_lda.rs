//! The optional algorithms at the ends of a TCP connection. They are behind pointers, so that ends without one stay
//! small.

use losscause::ack::{Recovery, SenderInputs};
use losscause::observe::Differentiate;
use losscause::truth::Witness;
use losscause::{AckSample, AnyLda, AnySenderLda, DeclaredLoss, Differentiator, Judgement, Packet, SenderLda};

/// The algorithm of a TCP sender, if any.
#[derive(Clone, Debug)]
pub(crate) struct OptionalLda(pub(crate) Option<Box<AnySenderLda>>);

impl SenderLda for OptionalLda {
    fn name(&self) -> &'static str {
        self.0.as_deref().map_or(().name(), SenderLda::name)
    }

    fn needs(&self) -> SenderInputs {
        self.0.as_deref().map_or(().needs(), SenderLda::needs)
    }

    #[inline]
    fn on_ack(&mut self, sample: &AckSample) {
        if let Some(lda) = self.0.as_deref_mut() {
            lda.on_ack(sample);
        }
    }

    fn on_loss(&mut self, loss: &DeclaredLoss) {
        if let Some(lda) = self.0.as_deref_mut() {
            lda.on_loss(loss);
        }
    }

    fn on_recovery_end(&mut self, recovery: &Recovery) -> Option<Judgement> {
        self.0.as_deref_mut()?.on_recovery_end(recovery)
    }

    fn judges_every_loss(&self) -> bool {
        self.0.as_deref().is_some_and(SenderLda::judges_every_loss)
    }

    fn observes_every_loss(&self) -> bool {
        self.0.as_deref().is_some_and(SenderLda::observes_every_loss)
    }

    fn judges_timeouts(&self) -> bool {
        self.0.as_deref().is_some_and(SenderLda::judges_timeouts)
    }

    fn judge(&self, loss: &DeclaredLoss) -> Judgement {
        self.0.as_deref().map_or_else(|| ().judge(loss), |lda| lda.judge(loss))
    }
}

/// The differentiator of a TCP receiver, if any.
#[derive(Clone, Debug)]
pub(crate) struct OptionalDifferentiator(pub(crate) Option<Box<Differentiator<AnyLda>>>);

impl Differentiate for OptionalDifferentiator {
    #[inline]
    fn judges(&self) -> bool {
        self.0.is_some()
    }

    #[inline]
    fn on_packet_watched(&mut self, packet: Packet, witness: &mut impl Witness, on_loss: impl FnMut(u64, Judgement)) {
        if let Some(differentiator) = self.0.as_deref_mut() {
            differentiator.on_packet_watched(packet, witness, on_loss);
        }
    }
}
