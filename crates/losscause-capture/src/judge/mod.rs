//! The algorithms of `losscause`, fed with what a capture shows.
//!
//! A flow is observed in two ways at once, because where the capture was taken becomes clear only
//! with time: its data as a receiver sees them (`AtReceiver`) and its acknowledgements as a sender
//! sees them (`AtSender`). Each runs every chosen algorithm, that of the receiver once there is a gap
//! to judge (`waiting`); the flow's vantage point decides which verdicts count.

mod batch;
mod choice;
mod clock;
mod cumulative;
mod delays;
mod frames;
mod least;
mod opinions;
mod receiver;
mod sender;
mod shifts;
mod skew;
mod trips;
pub mod trust;
mod waiting;

pub use choice::{Chosen, UnknownAlgorithm};
pub(crate) use clock::SenderClock;
pub use delays::{DelayShape, Sample};
pub(crate) use least::Least;
pub(crate) use opinions::{Opinions, Words};
pub(crate) use receiver::{AtReceiver, Departure};
pub(crate) use sender::{AckEvent, AtSender};
pub(crate) use shifts::Shift;
pub(crate) use skew::Skew;
pub(crate) use trips::Trips;
