//! A sender: what its acknowledgements tell of arrivals, and an algorithm that judges the losses it
//! declares.
//!
//! Two trackers make observations: [`AckTracker`] if the peer acknowledges packets individually
//! (SACK, QUIC), and [`DuplicateAcks`] for TCP without SACK. [`AtSender`] remembers which
//! observation revealed which gap. [`SenderDifferentiator`] combines an algorithm with a tracker.
//! [`RecoveryTracker`] follows recoveries.
//!
//! ```
//! use losscause::ack::{AckTracker, DuplicateAcks, Fixed, RecoveryTracker};
//! use losscause::{Numbers, Observation, Recovery, Signal, Span, Time};
//!
//! let at = |ms| Time::ZERO + Span::from_millis(ms);
//! // The peer acknowledges packets 0 and 2, 40 ms after they were sent: packet 1 is missing.
//! let mut tracker = AckTracker::<Fixed<64>>::default();
//! let mut recoveries = RecoveryTracker::default();
//! (0..4).for_each(|number| tracker.on_sent(number, at(0)));
//! tracker.on_acked(0);
//! tracker.on_acked(2);
//! let observation = tracker.end_of_ack(at(40), Some(2)).expect("it acknowledges something");
//! assert_eq!((observation.delay, observation.missing), (Some(Span::from_millis(40)), 1));
//! let missing = |observation: &Observation| observation.acked.and_then(|acked| acked.missing);
//! assert_eq!(missing(&observation), Some(Numbers::one(1)));
//!
//! // The sender declares it lost. The recovery ends when a packet sent after that is acknowledged.
//! tracker.on_lost(1);
//! recoveries.on_loss(&tracker.declare(at(41), Signal::Gap));
//! assert_eq!(recoveries.on_ack(at(60), at(0)), None);
//! assert_eq!(recoveries.on_ack(at(90), at(50)), Some(Recovery::new(at(41), at(90), 1)));
//!
//! // TCP without SACK: the second ACK that asks for packet 1 shows the gap.
//! let mut duplicates = DuplicateAcks::default();
//! duplicates.on_ack(at(40), None, 1, 4);
//! assert_eq!(missing(&duplicates.on_ack(at(41), None, 1, 4)), Some(Numbers::one(1)));
//! ```
//!
//! A transport with a tracker of its own feeds an algorithm through [`AtSender`]:
//!
//! ```
//! use losscause::ack::AtSender;
//! use losscause::lda::{Spike, SpikeConfig};
//! use losscause::observe::{Acked, Newest};
//! use losscause::{Algorithm, Numbers, Span, Time};
//!
//! let mut spike = AtSender::new(Spike::new(&SpikeConfig::default())?);
//! let mut newest = Newest::default();
//! for (at_ms, missing) in [(0, 0), (10, 0), (20, 1)] {
//!     let mut acked = Acked::new(1);
//!     acked.missing = (missing > 0).then_some(Numbers { first: 2, last: 2 });
//!     let spans = [1 + missing, missing];
//!     let ack = newest.advance(
//!         Time::ZERO + Span::from_millis(at_ms),
//!         Some(Span::from_millis(40)),
//!         spans,
//!     );
//!     spike.observe(&ack.with_acked(acked));
//! }
//! assert_eq!(spike.revealed(Some(Numbers::one(2))).count(), 1);
//! assert_eq!(spike.revealed(Some(Numbers::one(1))).count(), 0);
//! # Ok::<(), losscause::ConfigError>(())
//! ```

mod at_sender;
mod differentiator;
mod duplicates;
mod memory;
mod recoveries;
mod tracker;

pub use at_sender::{AtSender, Gaps};
pub use differentiator::SenderDifferentiator;
pub use duplicates::DuplicateAcks;
#[cfg(feature = "alloc")]
pub use memory::Growing;
pub use memory::{Fixed, Memory, Sent};
pub use recoveries::RecoveryTracker;
pub use tracker::AckTracker;
