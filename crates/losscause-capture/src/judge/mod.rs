//! The algorithms of `losscause`, fed with what a capture shows.
//!
//! A flow is observed in two ways at once, because where the capture was taken becomes clear only
//! with time: its data as a receiver sees them (`AtReceiver`) and its acknowledgements as a sender
//! sees them (`AtSender`). Each runs every chosen algorithm; the flow's vantage point decides which
//! verdicts count.

mod batch;
mod choice;
mod clock;
mod cumulative;
mod delays;
mod frames;
mod least;
mod receiver;
mod sender;
mod shifts;
mod skew;
mod trips;
pub mod trust;

use std::sync::Arc;

use losscause::diagnosis::QueueSeen;
use losscause::{Judgement, Span};

pub use choice::{Chosen, UnknownAlgorithm};
pub(crate) use clock::SenderClock;
pub use delays::DelayShape;
pub(crate) use delays::Sample;
pub(crate) use least::Least;
pub(crate) use receiver::{AtReceiver, Departure};
pub(crate) use sender::{AckEvent, AtSender};
pub(crate) use shifts::Shift;
pub(crate) use skew::Skew;
pub(crate) use trips::Trips;

/// What the algorithms say about a gap, in the order of [`Chosen::iter`]. Losses of one gap share
/// it.
#[derive(Clone, Debug)]
pub(crate) struct Opinions {
    judgements: Arc<[Judgement]>,
    /// The newest trip time then.
    trip: Option<Span>,
    /// The queue then.
    queue: Option<Arc<QueueSeen>>,
}

impl Opinions {
    pub(crate) fn new(judgements: impl Into<Arc<[Judgement]>>, trip: Option<Span>) -> Self {
        Self { judgements: judgements.into(), trip, queue: None }
    }

    /// The same, with the queue at the gap.
    #[must_use]
    pub(crate) fn with_queue(self, queue: Option<QueueSeen>) -> Self {
        Self { queue: queue.map(Arc::new), ..self }
    }

    /// The queue at the gap; none if the delays are not known.
    pub(crate) fn queue(&self) -> Option<QueueSeen> {
        self.queue.as_deref().copied()
    }

    /// What each algorithm says, and why.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Judgement> {
        self.judgements.iter()
    }

    /// The trip time at the gap.
    pub(crate) fn trip(&self) -> Option<Span> {
        self.trip
    }
}
