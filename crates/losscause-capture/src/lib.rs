//! Why a real capture lost its packets.
//!
//! The way of a packet through the crate:
//!
//! ```text
//! frames    a file's bytes                → frames with their time and link type
//! packet    a frame                       → addresses, ports, TCP fields or a stream's numbers
//! flow      the packets of a connection   → losses, round-trip times, the vantage point
//! names     DNS answers, TLS handshakes   → names of hosts
//! judge     observations of a flow        → verdicts, by the algorithms of `losscause`
//! qlog      the log of a QUIC endpoint    → the same, from packet numbers
//! diagnose  losses of flows between hosts → the cause, by `losscause::diagnosis`
//! analysis  everything about a capture    → data for tables and JSON
//! observe   observations of all flows     → a caller, while the capture is read
//! over_time a flow, thinned for drawings  → delay, rate and sequence numbers over time
//! annotate  a capture and its analysis    → the capture with comments on its frames
//! share     a capture                     → its headers, without who it was
//! answer    an analysis                   → what it says, in words
//! fit       a flow seen by its sender     → the link that it met
//! joined    the captures of both ends     → the losses as facts, with both ends' verdicts
//! ```
//!
//! The feature `compressed`, on by default, reads captures that are compressed with gzip, xz or zstd.
//!
//! Memory is bounded by constants, and no list is searched as a whole for every packet
//! (`tests/hostile.rs`).
//!
//! One end of a transfer over a link of 4 Mb/s that also loses packets at random:
//!
//! ```
//! use std::fs::File;
//!
//! use losscause_capture::{
//!     Analysis, Evidence, Flow, Loss, LossKind, Options, Protocol, Summary, Vantage, analyze,
//! };
//!
//! let capture = File::open("tests/captures/sender.pcap.gz")?;
//! let analysis: Analysis = analyze(capture, "sender.pcap.gz", &Options::all())?;
//! let flow: &Flow = &analysis.flows[0];
//! assert_eq!((flow.protocol, flow.vantage), (Protocol::Tcp, Vantage::Sender));
//! let sent_again = |loss: &&Loss| loss.evidence == Evidence::FastRetransmit;
//! assert_eq!(flow.losses.iter().filter(sent_again).count(), 47);
//! assert_eq!(flow.recommended.as_deref(), Some("spike"));
//! let Summary { wireless, congestion, .. } = flow.summary["spike"];
//! assert_eq!((wireless, congestion), (24, 23));
//! assert_eq!(flow.kinds(), [LossKind::CalledWireless, LossKind::CalledCongestion]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod alone;
mod analysis;
mod annotate;
mod answer;
mod causes;
mod cost;
mod diagnose;
mod error;
mod evidence;
mod first;
mod fit;
mod fitted;
mod flow;
pub mod frames;
mod joined;
pub mod judge;
mod kind;
mod link_rate;
mod link_type;
mod measured;
mod minor;
mod names;
mod next;
mod notes;
mod observe;
mod over_time;
mod pace;
pub mod packet;
mod qlog;
mod selection;
mod series;
mod share;
mod units;
mod utc;
pub mod write;

pub use alone::{Alone, Tally};
pub use analysis::{
    Analysis, Captures, Flow, Glance, Loss, Missing, Options, Outage, Pause, Queueing, RadioFrames,
    Shift, Summary, Tries, Verdicts, analyze, analyze_live, analyze_parts,
};
pub use annotate::annotate;
pub use cost::Cost;
pub use diagnose::{Departures, FlowDiagnosis};
pub use error::{CaptureError, EXPECTED, RewriteError};
pub use first::{First, capitalised};
pub use fit::{Fit, Others, Policed};
pub use flow::{Course, Evidence, Protocol, Vantage};
pub use joined::{JoinError, Joined, analyze_both};
pub use kind::LossKind;
pub use link_rate::RateStep;
pub use next::{ENDS, quoted};
pub use observe::{Observation, Observer};
pub use over_time::{OverTime, Step};
pub use pace::{Pace, Rtt, Sending};
pub use selection::Selection;
pub use share::{Shared, share};
pub use utc::Utc;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The time that many milliseconds from zero on.
#[cfg(test)]
pub(crate) fn at(ms: i64) -> losscause::Time {
    losscause::Time::ZERO + losscause::Span::from_millis(ms)
}
