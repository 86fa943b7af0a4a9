//! QUIC congestion control that tolerates losses which are not congestion.
//!
//! The controllers of QUIC stacks reduce their window for every loss. On a radio path many losses
//! are not congestion. This crate puts a loss differentiation algorithm of the crate `losscause` in
//! front of a stack's own controller: losses that it takes for wireless do not reach the
//! controller, so the window is kept and grows on. All other losses, and growth, are the stack's.
//!
//! An application takes the module of its stack, behind the feature of the same name:
//!
//! | feature | module | stack |
//! |---|---|---|
//! | `noq` | `noq` | noq 1.4: in front of NewReno or CUBIC |
//! | `quinn` | `quinn` | quinn 0.11: in front of NewReno or CUBIC |
//! | `s2n-quic` | `s2n_quic` | s2n-quic 1.83: in front of CUBIC |
//! | `qlog` | | `QlogWriter`: every verdict as an event of qlog |
//!
//! # What is never ignored
//!
//! - congestion marks (ECN) and persistent congestion;
//! - losses without a fresh round-trip time: the last one was measured more than a quarter of
//!   itself ago;
//! - losses of packets that are not remembered;
//! - losses for which guard or brake speaks ([`losscause::safeguard`], [`Caps::safeguards`]);
//! - losses beyond the [`Caps`].
//!
//! Losses that the algorithm leaves undecided are congestion too.
//!
//! # A dry run
//!
//! `with_dry_run(true)` of a factory judges, counts and reports every loss, and keeps none from the
//! stack's controller: the window is the stack's own.
//!
//! # What to read while it runs
//!
//! - [`Monitor`]: counts and last verdicts of all connections of a factory.
//! - `tracing`: one event per batch of losses, target `losscause_quic::verdict`, per reduction
//!   undone, target `losscause_quic::undone`, and per losses that were none, target
//!   `losscause_quic::spurious`; level debug. The field `transport` names the stack.
//! - [`ControllerObserver`]: an observer of yours; [`on_verdict`] makes one of a function.
//!   `QlogWriter` is one.
//!
//! # Another stack
//!
//! An adapter turns its stack's calls into those of a
//! [`SenderDifferentiator`](losscause::SenderDifferentiator), which numbers packets and feeds the
//! algorithm, and of [`Losses`], which decides.
//!
//! ```text
//! the stack calls            the adapter                                 this crate
//! a factory                  base, settings                              Choice: which algorithm, within which caps
//! a packet was sent          SenderDifferentiator::on_sent
//! an ACK                     which packets: …::on_acked; the base grows  Losses::end_of_ack: feeds the algorithm
//! a loss, a mark             which packets: …::on_lost                   Losses::declare: verdict, caps, response, report
//! a loss was none                                                        Losses::take_back
//! ```
//!
//! ```
//! use losscause::registry::Registry;
//! use losscause::{Needs, Signal, Span, Time};
//! use losscause_quic::{Ack, Base, Choice, Error, Event, Response, Transport};
//!
//! /// A controller that halves its window.
//! #[derive(Clone)]
//! struct Halving {
//!     window: u64,
//! }
//!
//! impl Base for Halving {
//!     fn window(&self) -> u64 {
//!         self.window
//!     }
//! }
//!
//! let provided = Needs::NONE.with_acks().with_delay().with_gap_size();
//! let transport = Transport { name: "an example", provided };
//! let choice = Choice::named("Spike", &Registry::built_in(), &transport)?;
//! let (mut sender, mut losses) = choice.build();
//! let mut base = Halving { window: 24_000 };
//!
//! // Ten packets, the last two of which are acknowledged after 40 ms; the transport then declares packet 7 lost.
//! let at = |ms| Time::ZERO + Span::from_millis(ms);
//! (0..10).for_each(|number| sender.on_sent(number, at(0)));
//! [8, 9].into_iter().for_each(|number| sender.on_acked(number));
//! losses.end_of_ack(&mut sender, &mut base, Ack { at: at(40), pkts: 2, largest: None });
//! sender.on_lost(7);
//! let event = Event { at: at(40), signal: Signal::Gap, lost_bytes: 1200, packet_bytes: 1200 };
//! let response = losses.declare(&mut sender, &mut base, event, |base| base.window /= 2);
//! assert_eq!(response, Response::Kept, "the queue is empty");
//! assert_eq!(base.window(), 24_000);
//! # Ok::<(), Error>(())
//! ```
#![forbid(unsafe_code)]

mod choice;
#[cfg(any(feature = "noq", feature = "quinn"))]
mod clock;
mod error;
#[cfg(any(feature = "noq", feature = "quinn"))]
mod factory;
mod losses;
mod monitor;
#[cfg(feature = "noq")]
pub mod noq;
mod observer;
#[cfg(feature = "qlog")]
mod qlog;
#[cfg(feature = "quinn")]
pub mod quinn;
#[cfg(feature = "s2n-quic")]
pub mod s2n_quic;
mod trace;
mod verdict;

pub use choice::{Choice, Transport};
pub use error::Error;
#[cfg(any(feature = "noq", feature = "quinn"))]
pub use factory::{FrontOf, LossTolerant};
pub use losscause::caps::Caps;
pub use losses::{Ack, Base, Event, Losses};
pub use monitor::Monitor;
pub use observer::{ControllerObserver, on_verdict};
#[cfg(feature = "qlog")]
pub use qlog::QlogWriter;
pub use verdict::{Counts, LossVerdict, Overruled, Response, Spurious, Undone};

#[cfg(all(doctest, feature = "noq", feature = "quinn"))]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(all(doctest, feature = "quinn"))]
#[doc = include_str!("../docs/quic.md")]
struct Page;
