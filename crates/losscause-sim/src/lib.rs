//! A packet simulator in which the true cause of every loss is known.
//!
//! A [`Network`] is plain data: one-way links, and flows that cross them. [`Simulation`] runs it:
//!
//! - [`topology`]: what a network is, and what makes one invalid.
//! - [`application`]: what hands data to a TCP sender over time.
//! - [`simulation`]: the event loop.
//! - [`live`]: the links of a path alone, for packets that come from outside.
//! - [`counters`]: what happened to packets, per flow and hop; exact at the instant a run stopped.
//! - [`demand`]: the memory and events that a run can need at most.
//! - [`oracle`]: what can only answer because it is told the true cause.
//! - [`report`]: what a flow achieved, and how good its verdicts were.
//! - [`trace`]: every event, for recorders.
//! - [`rng`]: one seed per run, one stream per component.
//!
//! Nothing here reads a clock, a file or the system's randomness: a run is a function of network
//! and seed. The same seed gives the same bytes, on wasm32 too: transcendental functions come from
//! `libm`, and IEEE 754 makes square roots exact.
//!
//! # Speed
//!
//! - Once buffers have grown, no packet causes an allocation (`tests/allocations.rs`).
//! - Successive packets touch the state of different flows, so cache misses cost time. Fields that
//!   every packet touches are adjacent, and apart from those that only reports, losses and settings
//!   need.
//! - Shortcuts save events: `elision.rs`, `simulation/deferral.rs`, `unmarked.rs`.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod agent;
pub mod application;
mod channel;
mod copies;
pub mod counters;
mod delay;
pub mod demand;
mod elision;
mod fifo;
mod histogram;
mod ledger;
mod link;
pub mod live;
mod normal;
mod optional_lda;
pub mod oracle;
mod packet;
mod packet_store;
mod queue;
pub mod report;
pub mod rng;
mod schedule;
pub mod simulation;
mod stamps;
pub mod topology;
pub mod trace;
mod traffic;
mod transit;
pub mod truth;
mod unmarked;

pub use application::{ApplicationReport, ApplicationSpec, Waits};
pub use channel::jakes;
pub use counters::{Counters, HopCounters};
pub use demand::{Demand, FlowDemand, LinkDemand};
pub use histogram::Histogram;
/// TCP's settings, as [`Traffic::tcp`] takes them.
pub use losscause_transport::tcp;
pub use oracle::{Accuracy, Oracle};
pub use report::{FlowReport, LossCounts, VerdictTally, Verdicts};
pub use simulation::{ConservationError, Simulation};
pub use topology::{
    AtEnd, Between, ChannelSpec, CoDelSpec, DelayPoint, DisorderProblem, DuplicationSpec,
    ErrorPosition, FlowId, FlowProblem, FlowSpec, FqCoDelSpec, JitterDistribution, JitterSpec,
    Lateness, Lengths, Limit, LinkId, LinkProblem, LinkSpec, LoadPoint, Network, NetworkError,
    PieSpec, PolicerSpec, QueueProblem, QueueSpec, RatePoint, RateProblem, RateSpec, RedSpec,
    ReorderingSpec, RetransmissionSpec, Slots, TcpLda, TraceStart, Traffic, Turnover,
    VariationProblem, VariationSpec,
};
pub use trace::{
    Detail, Event, EventKind, Header, LinkEvent, PacketInfo, PacketKind, Recorder, Seen, Timing,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The time that many milliseconds from zero on.
#[cfg(test)]
pub(crate) fn at(ms: i64) -> losscause::Time {
    losscause::Time::ZERO + losscause::Span::from_millis(ms)
}
