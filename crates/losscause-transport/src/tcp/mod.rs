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
//! [`Config`] holds the settings, [`Quirks`] the rules in which ns-2 differs from the RFCs, [`Variant`] the TCPs that
//! have a name; [`Config::rfc`] and [`Config::ns2`] are whole sets. A flow free of wireless loss is this sender over
//! a link that spares its packets, not another sender.

mod arrivals;
mod bits;
mod config;
mod ecn;
mod loss_event;
mod quirks;
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

pub use config::{Config, ConfigError};
pub use quirks::{
    Deflation, FastRetransmit, Halving, Inflation, LimitedTransmit, MinRtoOf, NewRenoRules, PartialAckTimer, Quirks,
    RecoveryExit, SackRules, VegasRules, WestwoodRules,
};
pub use receiver::Receiver;
pub use response::{VegasParameters, WestwoodVtParameters};
pub use segment::{Ack, SackBlocks, Segment};
pub use sender::{Sender, Stats};
pub use variant::{RecoveryScheme, ResponseScheme, Variant};
