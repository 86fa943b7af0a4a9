//! Media over UDP: RTP packets at the rate that TFRC (RFC 5348) allows, with a loss differentiation algorithm at the
//! receiver, as in Cen, Cosman and Voelker (2003).
//!
//! The sender spaces packets; the receiver reports the loss event rate, from which losses that the algorithm calls
//! wireless are left out, and how many packets were lost to each kind. An encoder reads the rate, to choose how much to
//! send, and the kinds, to choose between source and channel coding.
//!
//! - [`wire`]: the format of the packets. [`Key`] authenticates them.
//! - [`Sender`] and [`Receiver`]: the two ends as state machines, without I/O, clock or randomness.
//! - `net`: the same two ends on a UDP socket, with Tokio (feature `net`, on by default).
//!
//! Packets are authenticated, not encrypted. `docs/stream.md` in the repository describes the protocol and what it
//! withstands.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod auth;
#[cfg(feature = "net")]
pub mod net;
mod reorder;
mod session;
pub mod wire;

pub use auth::{Key, KeyError};
pub use reorder::Reorder;
pub use session::{
    ConfigError, DEFAULT_LDA, End, Event, Gap, KindShares, Media, Packet, PushError, Receiver, ReceiverConfig,
    ReceiverStats, Sender, SenderConfig, SenderStats, Transmit, receiver_lda,
};

#[cfg(all(doctest, feature = "net"))]
#[doc = include_str!("../README.md")]
struct Readme;
