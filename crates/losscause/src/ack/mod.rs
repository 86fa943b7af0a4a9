//! A sender: what its acknowledgements tell of arrivals, and an algorithm that judges the losses it declares.
//!
//! Two trackers make observations: [`AckTracker`] if the peer acknowledges packets individually (SACK, QUIC), and
//! [`DuplicateAcks`] for TCP without SACK. [`AtSender`] remembers which observation revealed which gap.
//! [`SenderDifferentiator`] combines an algorithm with a tracker. [`RecoveryTracker`] follows recoveries.

mod at_sender;
mod differentiator;
mod duplicates;
mod memory;
mod recoveries;
mod tracker;

pub use at_sender::AtSender;
pub use differentiator::SenderDifferentiator;
pub use duplicates::DuplicateAcks;
#[cfg(feature = "alloc")]
pub use memory::Growing;
pub use memory::{Fixed, Memory, Sent};
pub use recoveries::RecoveryTracker;
pub use tracker::AckTracker;
