//! The two ends of a stream, without I/O, clock or randomness.
//!
//! ```text
//! sender                                         receiver
//!   Hello(nonce)            ------------------>    keeps nothing, answers
//!                           <------------------  Challenge(nonce, cookie)
//!   Start(nonce, cookie)    ------------------>    the cookie is its own: the sender is at this address
//!                           <------------------  Accept
//!   data …                  ------------------>    tfrc::Receiver, LDA
//!                           <------------------  Feedback …        once per round-trip time, and on a new loss event
//!   Bye                     ------------------>
//!                           <------------------  Feedback, Bye
//! ```
//!
//! - `sender`, `receiver`: the state machines; `media`, `event`: what applications hand in and
//!   hear.
//! - `vetting`: what the sender believes of a report.
//! - `cookie`, `replay`, `retry`: the receiver's proof of an address, the window against replays,
//!   repeated requests.

mod config;
mod cookie;
mod end;
mod event;
#[cfg(test)]
mod hostile;
mod media;
mod receiver;
mod replay;
mod retry;
mod sender;
mod stats;
mod vetting;

pub use config::{ConfigError, DEFAULT_LDA, ReceiverConfig, SenderConfig, receiver_lda};
pub use end::End;
pub use event::{Event, Gap, Packet, Transmit};
pub use media::{Media, PushError};
pub use receiver::Receiver;
pub use sender::Sender;
pub use stats::{KindShares, ReceiverStats, SenderStats};
