//! Why was this packet lost?
//!
//! On radio paths many losses are not congestion. A *loss differentiation algorithm* (LDA) is a
//! small state machine. It watches the timing of every packet and says for every loss whether a
//! queue overflowed ([`Verdict::Congestion`]) or the air corrupted the packet
//! ([`Verdict::Wireless`]).
//!
//! Each algorithm is written once, without I/O, clock, allocation or randomness. The same code runs
//! in the simulator, on packet captures and in live transports.
//!
//! # At a receiver
//!
//! A [`Differentiator`] takes in every received packet. When a gap shows, it judges every missing
//! packet.
//!
//! ```
//! use losscause::lda::{Zbs, ZbsConfig};
//! use losscause::{Differentiator, Packet, Span, Time, Verdict, on_judged};
//!
//! let mut receiver = Differentiator::new(Zbs::new(&ZbsConfig::default())?);
//! let mut verdicts = Vec::new();
//! let mut keep = on_judged(|loss, judgement| verdicts.push((loss.seq(), judgement.verdict)));
//! // A packet every 10 ms, 30 ms on its way and up to 8 ms in a queue. Number 61 never arrives.
//! for seq in (0..100).filter(|&seq| seq != 61) {
//!     let sent = Time::ZERO + Span::from_millis(10 * seq);
//!     let packet = Packet { seq: seq as u64, at: sent + Span::from_millis(30 + seq % 9), sent: Some(sent) };
//!     receiver.on_packet(packet, &mut keep);
//! }
//! assert_eq!(verdicts, [(Some(61), Verdict::Congestion)]); // In a spike: 8 ms above the smallest trip time.
//! # Ok::<(), losscause::ConfigError>(())
//! ```
//!
//! # At a sender
//!
//! A QUIC stack, or TCP with SACK, learns of every packet that arrives. A [`SenderDifferentiator`]
//! takes in what is sent, acknowledged and lost. The same algorithm runs there, with round-trip
//! times for trip times.
//!
//! ```
//! use losscause::ack::Fixed;
//! use losscause::lda::{ZigZag, ZigZagConfig};
//! use losscause::{SenderDifferentiator, Signal, Span, Time};
//!
//! let zigzag = ZigZag::new(&ZigZagConfig::default())?;
//! let mut sender = SenderDifferentiator::<_, Fixed<256>>::new(zigzag);
//! let ms = |ms| Time::ZERO + Span::from_millis(ms);
//! // A packet every 10 ms, each acknowledged 40 to 48 ms later. Number 50 is lost.
//! let mut answer = None;
//! for number in 0..100_u64 {
//!     sender.on_sent(number, ms(10 * number as i64));
//!     let Some(acked) = number.checked_sub(4).filter(|&acked| acked != 50) else { continue };
//!     let now = ms(10 * number as i64 + acked as i64 * 4 % 9);
//!     sender.on_acked(acked);
//!     sender.end_of_ack(now, Some(acked), &mut ());
//!     // Three later packets are acknowledged: the transport declares the loss.
//!     if acked == 53 {
//!         sender.on_lost(50);
//!         answer = Some(sender.declare(now, Signal::Gap, &mut ()));
//!     }
//! }
//! println!("{}", answer.expect("asked"));
//! # Ok::<(), losscause::ConfigError>(())
//! ```
//!
//! # Where to look
//!
//! - [`lda`]: the algorithms, each in its own file that opens with its paper, and the list of them.
//! - [`algorithm`]: the trait of all algorithms, and [`Observer`], through which anybody looks at
//!   one.
//! - [`observe`]: what an end sees. [`loss`]: what an algorithm is asked. [`verdict`]: what it
//!   answers.
//! - [`arrivals`]: a receiver. [`ack`]: a sender.
//! - [`diagnosis`]: why a flow loses packets.
//! - [`safeguard`]: when a transport reduces its window although a loss was called wireless.
//! - [`filter`]: the running estimates that the algorithms are built from.
//! - [`registry`]: the algorithms by name, with their parameters.
//! - [`time`]: integer nanoseconds.
//!
//! # Features
//!
//! - `alloc`: algorithms of other crates, behind a pointer, and the open registry ([`registry`]).
//! - `serde`: times, verdicts and signals can be serialized. With `alloc`, an algorithm of another
//!   crate has its settings by serde (`Registry::with_own`).
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod ack;
pub mod algorithm;
pub mod arrivals;
pub mod caps;
pub mod diagnosis;
pub mod filter;
pub mod lda;
pub mod loss;
pub mod observe;
pub mod registry;
pub mod safeguard;
pub mod time;
pub mod verdict;

pub use ack::{AckTracker, AtSender, DuplicateAcks, SenderDifferentiator};
pub use algorithm::{Algorithm, Needs, Observer, Scope, ask, on_judged, tell};
pub use arrivals::{ArrivalTracker, Differentiator, Observed, Packet};
pub use lda::{AnyAlgorithm, AsTold, BuiltIn, LdaConfig};
pub use loss::{Loss, Recovery, Signal};
pub use observe::{Acked, Interval, Numbers, Observation};
pub use registry::{ConfigError, End};
pub use safeguard::{Safeguard, Safeguards};
pub use time::{Span, Time};
pub use verdict::{Amount, Evidence, Input, Judgement, Reason, Verdict};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The time that many milliseconds from zero on.
#[cfg(test)]
pub(crate) fn at(ms: i64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}
