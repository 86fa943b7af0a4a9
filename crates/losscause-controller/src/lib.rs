//! What congestion controllers share that put a loss differentiation algorithm in front of a controller with a window.
//!
//! Applications use an adapter: `losscause-quinn` or `losscause-s2n-quic`. An adapter turns its transport's calls into
//! those of a [`SenderDifferentiator`](losscause::SenderDifferentiator), which numbers packets and feeds the algorithm,
//! and of [`Losses`], which decides.
//!
//! ```text
//! the transport calls        the adapter                                 this crate
//! a factory                  base, settings                              Choice: which algorithm, within which caps
//! a packet was sent          SenderDifferentiator::on_sent
//! an ACK                     which packets: …::on_acked; the base grows  Losses::end_of_ack: feeds the algorithm
//! a loss, a mark             which packets: …::on_lost                   Losses::declare: verdict, caps, response, report
//! ```
//!
//! # What is never ignored
//!
//! - congestion marks (ECN) and persistent congestion;
//! - losses without a fresh round-trip time: the last one was measured more than a quarter of itself ago;
//! - losses of packets that are not remembered;
//! - losses beyond the [`Caps`].
//!
//! Losses that the algorithm leaves undecided are congestion too.
#![forbid(unsafe_code)]

mod caps;
mod choice;
mod losses;
mod monitor;
mod observer;
mod trace;
mod verdict;

pub use caps::Caps;
pub use choice::{Choice, ChoiceError, Transport};
pub use losses::{Ack, Base, Event, Losses};
pub use monitor::Monitor;
pub use observer::{ControllerObserver, OnVerdict, on_verdict};
pub use trace::Trace;
#[doc(hidden)]
pub use tracing;
pub use verdict::{Counts, LossVerdict, Overruled, Response, Undone};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
