//! Any of the algorithms behind one type, without a pointer.

use super::{
    AsTold, AtSender, Biaz, CdgTolerance, Constant, DropRate, FlipFlopHistory, FqRtt, Lda, Needs, NthLoss, RollBack,
    Sift, Spike, VegasBuffer, Veno, Zbs, ZigZag,
};
#[cfg(feature = "alloc")]
use super::{BoxedLda, BoxedSenderLda};
use crate::ack::{AckSample, DeclaredLoss, Recovery, SenderInputs, SenderLda};
use crate::{Arrival, Judgement, Loss};

/// One of the algorithms, chosen at run time ([`Algorithm::build`](crate::Algorithm::build),
/// [`LdaConfig::build`](crate::LdaConfig::build)).
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // No allocation here; a flow holds one of these.
#[repr(u8)] // A tag that is read at once, for every packet.
pub enum AnyLda {
    /// Biaz or mBiaz.
    Biaz(Biaz),
    /// Spike or Spike-Tobe.
    Spike(Spike),
    /// ZigZag.
    ZigZag(ZigZag),
    /// ZBS.
    Zbs(Zbs),
    /// Sift, safe or balanced.
    Sift(Sift),
    /// Always the same.
    Constant(Constant),
    /// An algorithm of another crate.
    #[cfg(feature = "alloc")]
    Boxed(BoxedLda),
}

/// Does the same with whichever algorithm it is.
macro_rules! each {
    ($any:expr, $lda:ident => $body:expr) => {
        match $any {
            AnyLda::Biaz($lda) => $body,
            AnyLda::Spike($lda) => $body,
            AnyLda::ZigZag($lda) => $body,
            AnyLda::Zbs($lda) => $body,
            AnyLda::Sift($lda) => $body,
            AnyLda::Constant($lda) => $body,
            #[cfg(feature = "alloc")]
            AnyLda::Boxed($lda) => $body,
        }
    };
}

#[cfg(feature = "alloc")]
impl AnyLda {
    /// The algorithm behind a pointer: it takes the memory of its own state, not that of the largest algorithm.
    pub fn in_box(self) -> BoxedLda {
        match self {
            Self::Boxed(lda) => lda,
            other => each!(other, lda => BoxedLda::new(lda)),
        }
    }
}

impl Lda for AnyLda {
    fn name(&self) -> &'static str {
        each!(self, lda => Lda::name(lda))
    }

    fn needs(&self) -> Needs {
        each!(self, lda => lda.needs())
    }

    #[inline(always)] // One call per arrival, to the algorithm itself.
    fn on_arrival(&mut self, arrival: &Arrival) {
        each!(self, lda => lda.on_arrival(arrival));
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        each!(self, lda => lda.judge(loss))
    }

    fn scheme(&self) -> &'static str {
        each!(self, lda => lda.scheme())
    }

    fn schemes(&self) -> &'static [&'static str] {
        each!(self, lda => lda.schemes())
    }
}

/// Any algorithm at a sender ([`Algorithm::build_at_sender`](crate::Algorithm::build_at_sender),
/// [`LdaConfig::build_at_sender`](crate::LdaConfig::build_at_sender)).
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // As above.
pub enum AnySenderLda {
    /// One of those that receivers run, too.
    AtSender(AtSender<AnyLda>),
    /// Flip Flop with history.
    FlipFlop(FlipFlopHistory),
    /// The Vegas buffer rule.
    VegasBuffer(VegasBuffer),
    /// Veno's rule.
    Veno(Veno),
    /// CDG's tolerance.
    CdgTolerance(CdgTolerance),
    /// The fqRTT rule.
    FqRtt(FqRtt),
    /// The n-th loss of an episode.
    NthLoss(NthLoss),
    /// The drop-rate rule.
    DropRate(DropRate),
    /// The roll-back rule.
    RollBack(RollBack),
    /// The receiver runs one of them, and tells.
    AsTold(AsTold),
    /// An algorithm of another crate that looks at acknowledgements.
    #[cfg(feature = "alloc")]
    Boxed(BoxedSenderLda),
}

/// Does the same with whichever algorithm it is.
macro_rules! each_at_sender {
    ($any:expr, $lda:ident => $body:expr) => {
        match $any {
            AnySenderLda::AtSender($lda) => $body,
            AnySenderLda::FlipFlop($lda) => $body,
            AnySenderLda::VegasBuffer($lda) => $body,
            AnySenderLda::Veno($lda) => $body,
            AnySenderLda::CdgTolerance($lda) => $body,
            AnySenderLda::FqRtt($lda) => $body,
            AnySenderLda::NthLoss($lda) => $body,
            AnySenderLda::DropRate($lda) => $body,
            AnySenderLda::RollBack($lda) => $body,
            AnySenderLda::AsTold($lda) => $body,
            #[cfg(feature = "alloc")]
            AnySenderLda::Boxed($lda) => $body,
        }
    };
}

#[cfg(feature = "alloc")]
impl AnySenderLda {
    /// As [`AnyLda::in_box`].
    pub fn in_box(self) -> BoxedSenderLda {
        match self {
            Self::Boxed(lda) => lda,
            Self::AtSender(any) => each!(any.lda().clone(), lda => BoxedSenderLda::new(any.around(lda))),
            other => each_at_sender!(other, lda => BoxedSenderLda::new(lda)),
        }
    }
}

impl SenderLda for AnySenderLda {
    fn name(&self) -> &'static str {
        each_at_sender!(self, lda => lda.name())
    }

    fn needs(&self) -> SenderInputs {
        each_at_sender!(self, lda => lda.needs())
    }

    #[inline]
    fn on_ack(&mut self, sample: &AckSample) {
        each_at_sender!(self, lda => lda.on_ack(sample));
    }

    fn on_loss(&mut self, loss: &DeclaredLoss) {
        each_at_sender!(self, lda => lda.on_loss(loss));
    }

    fn judge(&self, loss: &DeclaredLoss) -> Judgement {
        each_at_sender!(self, lda => lda.judge(loss))
    }

    fn on_recovery_end(&mut self, recovery: &Recovery) -> Option<Judgement> {
        each_at_sender!(self, lda => lda.on_recovery_end(recovery))
    }

    fn judges_every_loss(&self) -> bool {
        each_at_sender!(self, lda => lda.judges_every_loss())
    }

    fn observes_every_loss(&self) -> bool {
        each_at_sender!(self, lda => lda.observes_every_loss())
    }

    fn judges_timeouts(&self) -> bool {
        each_at_sender!(self, lda => lda.judges_timeouts())
    }
}
