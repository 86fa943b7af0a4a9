//! As told: the sender uses the receiver's label of a loss.
//!
//! The receiver judges each missing packet. Each ACK that asks for a missing packet carries a label: whether the
//! receiver judged that loss wireless. A loss without a wireless label is congestion.
//!
//! Source: Biaz & Vaidya 1999, section 4: TCP-Aware is TCP-Reno with their rule at the receiver. Our reading: how the
//! label travels, and that the sender reads it when duplicate ACKs declare a loss; a timeout is always congestion.
//! Parameters: none. Deviations: none.

use crate::ack::{AckSample, DeclaredLoss, SenderInputs, SenderLda};
use crate::{Judgement, Verdict};

/// A sender that uses its receiver's labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AsTold;

impl SenderLda for AsTold {
    fn name(&self) -> &'static str {
        "as told"
    }

    fn needs(&self) -> SenderInputs {
        SenderInputs { label: true, ..SenderInputs::NONE }
    }

    #[inline]
    fn on_ack(&mut self, _: &AckSample) {}

    fn judge(&self, loss: &DeclaredLoss) -> Judgement {
        let is_wireless = loss.label.is_some_and(Verdict::is_wireless);
        Judgement::stated(Verdict::wireless_if(is_wireless), self.name(), "the receiver's label says so")
    }
}
