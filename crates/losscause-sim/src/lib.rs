//! A packet simulator in which the true cause of every loss is known.
//!
//! A [`Network`] is plain data: one-way links, and flows that cross them. [`Simulation`] runs it:
//!
//! - [`topology`]: what a network is, and what makes one invalid.
//! - [`simulation`]: the event loop.
//! - [`counters`]: what happened to packets, per flow and hop; exact at the instant a run stopped.
//! - [`report`]: what a flow achieved, and how good its verdicts were.
//! - [`trace`]: every single event, for whoever wants them.
//!
//! Nothing here reads a clock, a file or the system's randomness: a run is a function of network and seed, and the same
//! seed gives the same bytes.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod counters;
pub mod report;
pub mod simulation;
pub mod topology;
pub mod trace;

pub use counters::{Counters, HopCounters};
pub use report::{FlowReport, LossCounts, VerdictTally, Verdicts};
pub use simulation::Simulation;
pub use topology::{
    ChannelSpec, ErrorPosition, FlowId, FlowProblem, FlowSpec, LdaSpec, Limit, LinkId, LinkProblem, LinkSpec, Network,
    NetworkError, QueueSpec, Slots, TraceStart, Traffic,
};
pub use trace::{Event, EventKind, LinkEvent, PacketInfo, PacketKind, Recorder};
