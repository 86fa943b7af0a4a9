//! The algorithms of `losscause`, fed with what a capture shows.
//!
//! A flow is observed in two ways at once, because where the capture was taken becomes clear only with time: its data
//! as a receiver sees them (`AtReceiver`) and its acknowledgements as a sender sees them (`AtSender`). Each runs
//! every chosen algorithm; the flow's vantage point decides which verdicts count.

mod batch;
mod choice;
mod clock;
mod delays;
mod receiver;
mod sender;
mod skew;
pub mod trust;

use std::sync::Arc;

use losscause::verdict::Input;
use losscause::{Judgement, Reason, Verdict};

pub use choice::{Chosen, UnknownAlgorithm};
pub use clock::SenderClock;
pub use delays::DelayShape;
pub(crate) use delays::Sample;
pub(crate) use receiver::AtReceiver;
pub(crate) use sender::{AckEvent, AtSender};
pub use skew::Skew;

/// What one algorithm says about one loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opinion {
    /// The verdict.
    pub verdict: Verdict,
    /// What was missing, if the verdict is [`Verdict::Undecided`] for that reason.
    pub missing: Option<Input>,
}

/// The opinions about one loss, in the order of [`Chosen::iter`]. Losses of one gap share them.
pub type Opinions = Arc<[Opinion]>;

impl From<Judgement> for Opinion {
    fn from(judgement: Judgement) -> Self {
        let missing = match judgement.reason {
            Reason::Missing { input } => Some(input),
            _ => None,
        };
        Self { verdict: judgement.verdict, missing }
    }
}
