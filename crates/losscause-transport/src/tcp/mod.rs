//! TCP, counted in full-sized packets.
//!
//! Recovery, differentiation and response are separate, so a new algorithm is one new file:
//!
//! - *recovery* (`recovery/`) detects losses from duplicate ACKs and chooses the next packet to send;
//! - *differentiation* (the sender's [`losscause::Algorithm`]) judges why a packet was lost;
//! - *response* (`response/`) adjusts the window.
//!
//! The rest is shared: packet numbers, timer and transmission in `classic.rs`, the retransmission timeout in `rto.rs`,
//! acknowledgements in `receiver.rs`, ECN in `ecn.rs`. Recovery and response do not call each other: both adjust
//! `window.rs`, and they exchange the types of `loss_event.rs`.
//!
//! Linux interleaves recovery, window and timers, so it has a sender of its own in `linux/`, made of smaller parts;
//! [`Sender`] is either. Both use the scoreboard, the scheme of arrivals, ECN and the receiver.
//!
//! [`Config`] holds the settings, [`Quirks`] the rules in which ns-2 differs from the RFCs, [`Variant`] the named TCPs.
//! [`Config::rfc`], [`Config::ns2`] and [`Config::linux`] are complete settings. A flow without wireless loss uses this same sender; only
//! its link differs.

mod arrivals;
mod bits;
mod classic;
mod config;
mod ecn;
mod linux;
mod loss_event;
mod quirks;
mod receiver;
mod recovery;
mod response;
mod rto;
mod sack_blocks;
mod schemes;
mod segment;
mod sender;
mod stream;
mod variant;
mod window;

pub use config::{Config, ConfigError};
pub use quirks::{
    BackoffEnds, Deflation, FastRetransmit, Halving, Inflation, LimitedTransmit, MinRtoOf, NewRenoRules,
    PartialAckTimer, Quirks, RecoveryExit, SackRules, VegasRules, WestwoodRules,
};
pub use receiver::Receiver;
pub use schemes::{RecoveryScheme, ResponseScheme, VegasParameters, WestwoodVtParameters};
pub use segment::{Ack, SackBlocks, Segment};
pub use sender::{Sender, Stats};
pub use variant::Variant;
