//! Oracles: what can only answer because the simulator tells it the true cause.
//!
//! - *Omniscient*: says the truth (the "Omni" of Cen, Cosman and Voelker 2003, section V; "PL" of Barman and Matta 2002).
//! - *Labelled*: calls a congestion loss congestion with probability P[C|C], and a wireless loss wireless with P[W|W]; one
//!   draw per loss (Barman and Matta 2002, section 2.1, "LL").
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `P_CC`, `P_WW` (labelled) | 1 | 1 | 0 to 1 |
//! | `timeouts` (labelled) | | false | whether timeouts are labelled as well |
//! | `by_packet` (labelled) | | false | whether a sender's loss event has the cause of its first packet |
//!
//! A TCP sender finds one packet missing, and an event may have lost others for the other reason. Barman and Matta do not say which cause
//! the label is about: the event's, where congestion outweighs the air, or the packet's (`by_packet`). P[C|C] and P[W|W] are measured by
//! the event's.
//!
//! Barman and Matta label "a loss event" and say of timeouts that wireless losses cause that they are accounted for "through our TCP
//! NewReno variant with perfect loss labeling" (section 2.2), of NewReno-FF that all timeouts indicate congestion. So their
//! oracle runs with `timeouts = true`: a timeout that is called wireless leaves cwnd and ssthresh as they are, and sends again from the
//! first unacknowledged packet. It does not enter P[C|C] and P[W|W] (section 3).
//!
//! Deviations: none. If the truth about a loss is not known, the answer is undecided.

use losscause::ack::{Recovery, SenderInputs};
use losscause::lda::Needs;
use losscause::observe::Differentiate;
use losscause::truth::{Cause, Truth, Witness};
use losscause::verdict::Input;
use losscause::{
    AckSample, AnyLda, Arrival, DeclaredLoss, Differentiator, Judgement, Lda, Loss, Packet, Reason, SenderLda, Verdict,
};

use crate::topology::{Accuracy, LdaSpec};

/// What an end in the simulator may ask: an algorithm, or an oracle.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)] // One per flow, inside its receiver.
pub(crate) enum Classifier<A> {
    Algorithm(A),
    Oracle(Accuracy),
}

impl<A: Copy> Classifier<A> {
    pub(crate) fn new(spec: &LdaSpec<A>) -> Self {
        match spec {
            LdaSpec::Algorithm(lda) => Classifier::Algorithm(*lda),
            LdaSpec::Omniscient => Classifier::Oracle(Accuracy::default()),
            LdaSpec::Labelled(accuracy) => Classifier::Oracle(*accuracy),
        }
    }
}

impl<A: Lda> Lda for Classifier<A> {
    fn name(&self) -> &'static str {
        match self {
            Classifier::Algorithm(lda) => lda.name(),
            Classifier::Oracle(accuracy) => accuracy.name(),
        }
    }

    fn needs(&self) -> Needs {
        match self {
            Classifier::Algorithm(lda) => lda.needs(),
            Classifier::Oracle(_) => Needs::NONE.with_truth(),
        }
    }

    #[inline(always)] // One call per arrival, to the algorithm itself.
    fn on_arrival(&mut self, arrival: &Arrival) {
        if let Classifier::Algorithm(lda) = self {
            lda.on_arrival(arrival);
        }
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        match self {
            Classifier::Algorithm(lda) => lda.judge(loss),
            Classifier::Oracle(accuracy) => accuracy.judge(loss.truth),
        }
    }

    #[inline]
    fn scheme(&self) -> &'static str {
        match self {
            Classifier::Algorithm(lda) => lda.scheme(),
            Classifier::Oracle(accuracy) => accuracy.name(),
        }
    }
}

/// What a TCP sender asks, if it asks at all. Behind a pointer, so that it is out of the way of those that do not.
#[derive(Clone, Debug)]
pub(crate) struct Asked<A>(pub(crate) Option<Box<Classifier<A>>>);

impl<A: SenderLda> SenderLda for Asked<A> {
    fn name(&self) -> &'static str {
        match self.0.as_deref() {
            None => ().name(),
            Some(Classifier::Algorithm(lda)) => lda.name(),
            Some(Classifier::Oracle(accuracy)) => accuracy.name(),
        }
    }

    fn needs(&self) -> SenderInputs {
        match self.0.as_deref() {
            None => ().needs(),
            Some(Classifier::Algorithm(lda)) => lda.needs(),
            Some(Classifier::Oracle(_)) => SenderInputs::NONE.with_truth(),
        }
    }

    #[inline]
    fn on_ack(&mut self, sample: &AckSample) {
        if let Some(Classifier::Algorithm(lda)) = self.0.as_deref_mut() {
            lda.on_ack(sample);
        }
    }

    fn on_loss(&mut self, loss: &DeclaredLoss) {
        if let Some(Classifier::Algorithm(lda)) = self.0.as_deref_mut() {
            lda.on_loss(loss);
        }
    }

    fn on_recovery_end(&mut self, recovery: &Recovery) -> Option<Judgement> {
        match self.0.as_deref_mut() {
            Some(Classifier::Algorithm(lda)) => lda.on_recovery_end(recovery),
            Some(Classifier::Oracle(_)) | None => None,
        }
    }

    fn judges_timeouts(&self) -> bool {
        matches!(self.0.as_deref(), Some(Classifier::Oracle(accuracy)) if accuracy.timeouts)
    }

    fn judge(&self, loss: &DeclaredLoss) -> Judgement {
        match self.0.as_deref() {
            None => ().judge(loss),
            Some(Classifier::Algorithm(lda)) => lda.judge(loss),
            Some(Classifier::Oracle(accuracy)) => accuracy.judge(loss.truth),
        }
    }
}

/// What a TCP receiver puts its packets to, if it does. Behind a pointer for the same reason.
#[derive(Clone, Debug)]
pub(crate) struct Judging(pub(crate) Option<Box<Differentiator<Classifier<AnyLda>>>>);

impl Differentiate for Judging {
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

impl Accuracy {
    fn name(&self) -> &'static str {
        if *self == Self::default() { "Omni" } else { "labelled" }
    }

    fn judge(&self, truth: Option<Truth>) -> Judgement {
        let Some(Truth { cause, first, draw }) = truth else {
            return Judgement {
                verdict: Verdict::Undecided,
                reason: Reason::Missing { input: Input::Other("the true cause") },
            };
        };
        // A draw lies in [0, 1), so that 0 is never right and 1 always.
        let verdict = match if self.by_packet { first } else { cause } {
            Cause::Congestion if draw < self.p_cc => Verdict::Congestion,
            Cause::Congestion => Verdict::Wireless,
            Cause::Wireless if draw < self.p_ww => Verdict::Wireless,
            Cause::Wireless => Verdict::Congestion,
        };
        Judgement { verdict, reason: Reason::Told }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oracle_is_right_as_often_as_it_is_said_to_be() {
        let verdict = |p_cc, p_ww, cause, draw| {
            let accuracy = Accuracy { p_cc, p_ww, ..Accuracy::default() };
            accuracy.judge(Some(Truth { cause, first: cause, draw })).verdict
        };
        assert_eq!(verdict(1.0, 0.0, Cause::Congestion, 0.999), Verdict::Congestion);
        assert_eq!(verdict(1.0, 0.0, Cause::Wireless, 0.0), Verdict::Congestion, "NewReno: P[C|C] 1, P[W|W] 0");
        assert_eq!(verdict(0.4, 0.2, Cause::Congestion, 0.39), Verdict::Congestion);
        assert_eq!(verdict(0.4, 0.2, Cause::Congestion, 0.4), Verdict::Wireless);
        assert_eq!(verdict(0.4, 0.2, Cause::Wireless, 0.19), Verdict::Wireless);
        assert_eq!(verdict(0.4, 0.2, Cause::Wireless, 0.2), Verdict::Congestion);
        assert_eq!(Accuracy::default().judge(None).verdict, Verdict::Undecided);
    }

    #[test]
    fn an_event_of_both_causes_has_the_one_that_is_asked_for() {
        let both = Truth { cause: Cause::Congestion, first: Cause::Wireless, draw: 0.5 };
        let verdict = |by_packet| Accuracy { by_packet, ..Accuracy::default() }.judge(Some(both)).verdict;
        assert_eq!([false, true].map(verdict), [Verdict::Congestion, Verdict::Wireless]);
    }
}
