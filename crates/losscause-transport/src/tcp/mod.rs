//! TCP, counted in full-sized packets.
//!
//! Recovery, differentiation and response are separate, so a new algorithm is one new file:
//!
//! - *recovery* (`recovery/`) detects losses from duplicate ACKs and chooses the next packet to
//!   send;
//! - *differentiation* (the sender's [`losscause::Algorithm`]) judges why a packet was lost;
//! - *congestion control* (`control/`) adjusts the window: a [`CongestionControl`].
//!
//! The rest is shared: packet numbers, timer and transmission in `classic.rs`, the retransmission
//! timeout in `rto.rs`, acknowledgements in `receiver.rs`, ECN in `ecn.rs`. Recovery and control do
//! not call each other: both adjust `window.rs`, and they exchange the types of `loss_event.rs`.
//!
//! Linux interleaves recovery, window and timers, so it has a sender of its own in `linux/`, made
//! of smaller parts; [`Sender`] is either. Both use the trait of controls, the scoreboard, the
//! scheme of arrivals, ECN and the receiver.
//!
//! [`Config`] holds the settings, [`Quirks`] the rules in which ns-2 differs from the RFCs,
//! [`Variant`] the named TCPs, and [`Registry`] those and the ones of other crates.
//! [`Config::rfc`], [`Config::ns2`] and [`Config::linux`] are complete settings. A flow without
//! wireless loss uses this same sender; only its link differs.
//!
//! ```
//! use std::iter;
//!
//! use losscause::{Span, Time};
//! use losscause_transport::Ecn;
//! use losscause_transport::tcp::{
//!     Ack, Config, ConfigError, Quirks, Receiver, RecoveryScheme, Registry, ResponseScheme,
//!     SackBlocks, Segment, Sender, Stats, Tcp, Variant,
//! };
//!
//! let tcp = Registry::published().find("sack").expect("a published TCP");
//! assert_eq!(tcp, Tcp::Published(Variant::Sack));
//! let (recovery, response) = tcp.parts(&Quirks::RFC);
//! assert_eq!((recovery, response), (RecoveryScheme::Sack, ResponseScheme::Aimd));
//! let config = Config { recovery, response, ecn: true, initial_window_pkts: 4, ..Config::rfc() };
//! let mut sender: Sender = Sender::new(&config)?;
//! let mut receiver: Receiver = Receiver::new(&config)?;
//! let at = |ms| Time::ZERO + Span::from_millis(ms);
//! sender.start(at(0));
//! let segments: Vec<Segment> = iter::from_fn(|| sender.poll_transmit(at(0))).collect();
//! assert!(segments.iter().all(|segment| segment.ecn == Ecn::Capable));
//! // The first is lost. The other three are reported, so it is sent again.
//! let mut acks: Vec<Ack> = Vec::new();
//! for segment in &segments[1..] {
//!     receiver.on_segment(at(25), segment, &mut ());
//!     acks.extend(receiver.poll_transmit(at(25)));
//! }
//! assert_eq!(acks[2].sack, SackBlocks::of(0, [(1, 4)]));
//! acks.iter().for_each(|ack| sender.on_ack(at(50), ack, &mut ()));
//! assert!(sender.poll_transmit(at(50)).is_some_and(|segment| segment.retransmission));
//! assert!(matches!(sender.stats(), Stats { fast_retransmits: 1, timeouts: 0, .. }));
//! # Ok::<(), ConfigError>(())
//! ```

mod arrivals;
mod bits;
mod classic;
mod config;
mod control;
mod ecn;
mod linux;
mod loss_event;
mod quirks;
mod receiver;
mod recovery;
mod registry;
mod rto;
mod sack_blocks;
mod segment;
mod sender;
mod stats;
mod stream;
mod variant;
mod window;

pub use config::{Config, ConfigError};
pub use control::{
    AckEvent, CongestionControl, Delivery, Growth, OwnControl, Pacing, RateSample, Repair,
    ResponseScheme, RttSample, TimeoutEvent, VegasParameters, WestwoodVtParameters,
};
pub use loss_event::{Answer, LossEvent, Sending};
pub use quirks::{
    BackoffEnds, Deflation, FastRetransmit, Halving, Inflation, LimitedTransmit, MinRtoOf,
    NewRenoRules, PartialAckTimer, Quirks, RecoveryExit, SackRules, VegasRules, WestwoodRules,
};
pub use receiver::Receiver;
pub use recovery::RecoveryScheme;
pub use registry::{NameTaken, Registry, Tcp};
pub use segment::{Ack, SackBlocks, Segment};
pub use sender::Sender;
pub use stats::Stats;
pub use variant::Variant;
pub use window::Window;
