//! As told: the sender takes the receiver's word for why a packet was lost.
//!
//! The receiver judges every missing packet, and its acknowledgements say of the packet that they ask for whether the air
//! corrupted it. What is not called wireless is congestion.
//!
//! Source: Biaz & Vaidya 1999, section 4: TCP-Aware is TCP-Reno with their rule at the receiver. How the label travels, and
//! that a sender asks for it when it declares a loss because of duplicate acknowledgements, is our reading: a timeout is always
//! congestion. Parameters: none. Deviations: none.

use crate::ack::{AckSample, DeclaredLoss, SenderInputs, SenderLda};
use crate::{Judgement, Reason, Verdict};

/// A sender that believes its receiver.
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
        let told_wireless = loss.label.is_some_and(Verdict::is_wireless);
        let verdict = if told_wireless { Verdict::Wireless } else { Verdict::Congestion };
        Judgement { verdict, reason: Reason::Labelled }
    }
}
