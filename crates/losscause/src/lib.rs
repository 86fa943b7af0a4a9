//! Why was this packet lost?
//!
//! On radio paths many losses are not congestion. A *loss differentiation algorithm* (LDA) is a small state
//! machine that watches the timing of every packet that arrives and, for every loss, says whether a queue
//! overflowed ([`Verdict::Congestion`]) or the air corrupted the packet ([`Verdict::Wireless`]).
//!
//! Each algorithm is written here once, without I/O, clock, allocation or randomness. The same code runs in the
//! simulator, on packet captures and in live transports.
//!
//! - [`observe`]: what a receiver sees. [`ArrivalTracker`] turns received packets into [`Arrival`]s and gaps.
//! - [`ack`]: what a sender sees.
//! - [`verdict`]: what an LDA answers, and the numbers it compared.
//! - [`lda`]: the algorithms, each in its own file that opens with its paper.
//! - [`filter`]: the running estimates they are built from.
//! - [`registry`]: the algorithms by name, with their parameters.
//! - [`time`]: integer nanoseconds.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod ack;
pub mod filter;
pub mod lda;
pub mod observe;
pub mod registry;
mod tally;
pub mod time;
pub mod truth;
pub mod verdict;

pub use ack::{AckSample, AckTracker, DeclaredLoss, DuplicateAcks, SenderDifferentiator, SenderLda, Signal};
pub use lda::{AnyLda, AnySenderLda, AsTold, AtSender, Lda, Needs};
pub use observe::{Arrival, ArrivalTracker, Differentiator, Interval, Loss, Observed, Packet};
pub use registry::{Algorithm, Config, ConfigError};
pub use time::{Span, Time};
pub use verdict::{Judgement, Reason, Verdict};
