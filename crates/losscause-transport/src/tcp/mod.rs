//! TCP Reno, counted in full-sized packets.
//!
//! Three things stay apart, so that another algorithm replaces one of them and keeps the others:
//!
//! - *recovery*, what to retransmit and when: fast retransmit and fast recovery in `reno.rs`;
//! - *response*, what the window does: `window.rs`;
//! - the shared machine around them: numbers, timer and transmission in `sender.rs`, the retransmission
//!   timeout in `rto.rs`, acknowledgements in `receiver.rs`.
//!
//! Where ns-2 differs from the RFCs, the difference is a field of [`Config`]; [`Config::rfc`] and [`Config::ns2`]
//! name the two sets. A flow free of wireless loss is this sender over a link that spares its packets, not
//! another sender.

mod config;
mod receiver;
mod reno;
mod rto;
mod segment;
mod sender;
mod window;

pub use config::{BackoffCleared, Config, ConfigError, FastRetransmit, Halving, LimitedTransmit};
pub use receiver::Receiver;
pub use segment::{Ack, Segment};
pub use sender::{Sender, Stats};
