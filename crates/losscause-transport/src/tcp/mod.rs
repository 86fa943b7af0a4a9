//! TCP, counted in full-sized packets.
//!
//! Three things stay apart, so that another algorithm is one file beside the others:
//!
//! - *recovery*, when duplicate ACKs mean a loss and what is sent next: `recovery/`;
//! - *differentiation*, why it was lost: whatever [`losscause::SenderLda`] the sender is given;
//! - *response*, what the window does: `response/`.
//!
//! Around them is the shared machine: numbers, timer and transmission in `sender.rs`, the retransmission timeout in
//! `rto.rs`, acknowledgements in `receiver.rs`, congestion that queues announce by marks in `ecn.rs`. Recovery and response do not
//! know each other: both move `window.rs`, and what they say about a loss is in `loss_event.rs`.
//!
//! Where ns-2 differs from the RFCs, the difference is a field of [`Config`]; [`Config::rfc`] and [`Config::ns2`]
//! name the two sets. A flow free of wireless loss is this sender over a link that spares its packets, not
//! another sender.

mod arrivals;
mod bits;
mod config;
mod ecn;
mod loss_event;
mod receiver;
mod recovery;
mod response;
mod rto;
mod sack_blocks;
mod segment;
mod sender;
mod stream;
mod variant;
mod window;

pub use config::{
    BackoffCleared, Config, ConfigError, Deflation, FastRetransmit, Halving, Inflation, LimitedTransmit, MinRtoOf,
    NewRenoRules, PartialAckTimer, RecoveryExit, RecoveryScheme, ResponseScheme, SackOption, VegasParameters,
    VegasRules, WestwoodRules, WestwoodVtParameters,
};
pub use receiver::Receiver;
pub use segment::{Ack, SackBlocks, Segment};
pub use sender::{Sender, Stats};
pub use variant::{RecoveryName, ResponseName, Rules, Variant};
