//! TCP-Friendly Rate Control (RFC 5348), with a loss differentiation algorithm at the receiver.
//!
//! The [`Sender`] spaces packets at a rate that follows the [`Receiver`]'s reports. Until the first
//! loss the rate doubles every round-trip time; then it is the rate that TCP would have at the
//! reported loss event rate. The receiver asks an LDA about every lost packet and keeps those
//! called wireless out of the loss event rate.
//!
//! [`Config`] is what a user sets. [`Quirks`] names every difference between the RFC and ns-2.35;
//! both run through the same code. The headers of the receiver, of `loss_history.rs`,
//! `rate/rfc5348.rs` and `data_limited.rs` list the deviations of [`Config::rfc5348`] from the RFC,
//! and `docs/algorithms/tfrc.md` has them all. Packets of varying size (section 4.1) and
//! sender-based variants (section 7) are not covered.
//!
//! [`equation`] is the throughput equation and its inverse.
//!
//! ```
//! use std::collections::VecDeque;
//!
//! use losscause::lda::Constant;
//! use losscause::{Span, Time, Verdict};
//! use losscause_transport::tfrc::{
//!     Backlog, Config, Data, Declared, Feedback, Receiver, Sender, Times,
//! };
//!
//! let config = Config { max_rate_bps: Some(1_000_000), ..Config::rfc5348() };
//! let mut sender = Sender::new(&config);
//! let mut receiver = Receiver::new(&config, Constant::new(Verdict::Wireless));
//! sender.start(Time::ZERO);
//! sender.set_backlog(Time::ZERO, Backlog::Packets(200));
//! // Ten seconds in steps of 1 ms; 20 ms each way. Packet 100 is lost.
//! let mut there: VecDeque<(Time, Data)> = VecDeque::new();
//! let mut back: VecDeque<(Time, Feedback)> = VecDeque::new();
//! let mut times = None;
//! for now in (0..10_000).map(|ms| Time::ZERO + Span::from_millis(ms)) {
//!     while let Some((_, data)) = there.front().copied().filter(|(at, _)| *at <= now) {
//!         there.pop_front();
//!         times = data.times;
//!         receiver.on_data(now, &data, &mut ());
//!     }
//!     while let Some((_, report)) = back.front().copied().filter(|(at, _)| *at <= now) {
//!         back.pop_front();
//!         sender.on_feedback(now, &report);
//!     }
//!     sender.on_timeout(now);
//!     receiver.on_timeout(now);
//!     let later = now + Span::from_millis(20);
//!     there.extend(
//!         std::iter::from_fn(|| sender.poll_transmit(now))
//!             .filter(|data| data.seq != 100)
//!             .map(|data| (later, data)),
//!     );
//!     back.extend(receiver.poll_transmit(now).map(|report| (later, report)));
//! }
//! assert_eq!(receiver.declared(), Declared { congestion: 0, wireless: 1 });
//! assert_eq!(receiver.loss_event_rate(), 0.0, "a wireless loss is no loss event");
//! assert!(matches!(times, Some(Times { rtt, .. }) if rtt == Span::from_millis(40)));
//! ```

use losscause::{Span, Time};

use crate::Ecn;

mod arrivals;
mod config;
mod data_limited;
pub mod equation;
mod loss_history;
mod missing;
mod position;
mod quirks;
mod rate;
mod receiver;
mod rtt;
mod sender;

pub use config::{Config, ConfigError, Spacing};
pub use equation::Equation;
pub use quirks::{
    Discounting, FewIntervals, FirstInterval, InitialRate, LossEventRule, NoFeedbackTimer, Quirks,
    RateRule, Reports, RtoRule,
};
pub use receiver::{Declared, Receiver};
pub use sender::{Backlog, Sender};

/// When a timer that is not set expires.
const NEVER: Time = Time::MAX;

/// A data packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)] // As for TCP's.
pub struct Data {
    /// Bytes of payload.
    pub payload_bytes: u32,
    /// Bytes on the wire, headers included.
    pub wire_bytes: u32,
    /// The sender's timestamp.
    pub sent_at: Time,
    /// Sequence number, one per packet.
    pub seq: u64,
    /// What the sender knows about the round trip; nothing before the first feedback.
    pub times: Option<Times>,
    /// Counts feedback rounds at the sender (ns-2 delimits loss events by it, see [`Config`]).
    pub round: u32,
    /// The sender asks for a report at once: it has had no feedback yet, or its no-feedback timer
    /// expired (ns-2).
    pub urgent: bool,
    /// Whether it may be marked, or was.
    pub ecn: Ecn,
}

/// The sender's view of the round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The sender's estimate of the round-trip time (R).
    pub rtt: Span,
    /// The retransmission timeout for the throughput equation (t_RTO).
    pub rto: Span,
}

/// A receiver's report (RFC 5348, section 3.2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)] // As for TCP's.
pub struct Feedback {
    /// Bytes on the wire.
    pub wire_bytes: u32,
    /// Timestamp of the last data packet received (t_recvdata).
    pub echo: Time,
    /// Time between that packet's arrival and this report (t_delay).
    pub hold: Span,
    /// Receive rate since the last report, bytes per second (X_recv).
    pub receive_rate: f64,
    /// Loss event rate, 0 to 1 (p).
    pub loss_event_rate: f64,
}
