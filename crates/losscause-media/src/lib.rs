//! Media over UDP: RTP packets at the rate that TFRC (RFC 5348) allows, with a loss differentiation
//! algorithm at the receiver, as in Cen, Cosman and Voelker (2003).
//!
//! The sender spaces packets; the receiver reports the loss event rate, from which losses that the
//! algorithm calls wireless are left out, and how many packets were lost to each kind. An encoder
//! reads the rate, to choose how much to send, and the kinds, to choose between source and channel
//! coding.
//!
//! - [`wire`]: the format of the packets. [`Key`] authenticates them.
//! - [`Sender`] and [`Receiver`]: the two ends as state machines, without I/O, clock or randomness.
//! - `net`: the same two ends on a UDP socket, with Tokio (feature `net`, on by default).
//!
//! Packets are authenticated, not encrypted. `docs/stream.md` in the repository describes the
//! protocol and what it withstands.
//!
//! Here a driver passes the packets of both ends on, 10 ms each way:
//!
//! ```
//! use losscause::{Span, Time};
//! use losscause_media::{
//!     End, Event, Key, KindShares, Media, PushError, Receiver, ReceiverConfig, ReceiverStats,
//!     Reorder, Sender, SenderConfig, SenderStats, Transmit,
//! };
//!
//! let key = Key::from_bytes([7; 32]); // From a secure random source, as the nonce and the secret.
//! let mut sender = Sender::new(&SenderConfig::default(), &key, [1; 16])?;
//! let mut receiver = Receiver::new(&ReceiverConfig::default(), &key, &[2; 32])?;
//! sender.start(Time::ZERO);
//! let most = sender.config().media_bytes();
//! let large = Media { payload: vec![0; 5_000], ..Media::default() };
//! assert_eq!(sender.push(Time::ZERO, large), Err(PushError::TooLarge { bytes: 5_000, most }));
//! for payload in [b"one".to_vec(), b"two".to_vec()] {
//!     sender.push(Time::ZERO, Media { payload, marker: true, ..Media::default() })?;
//! }
//! sender.finish(Time::ZERO);
//! let mut order = Reorder::default();
//! let mut replies: Vec<Transmit> = Vec::new();
//! for sent in (0..200).map(|round| Time::ZERO + Span::from_millis(20 * round)) {
//!     replies.drain(..).for_each(|reply| sender.on_datagram(sent, &reply.bytes));
//!     sender.on_timeout(sent);
//!     let arrived = sent + Span::from_millis(10);
//!     while let Some(packet) = sender.poll_transmit(sent) {
//!         receiver.on_datagram(arrived, ([192, 0, 2, 1], 5004).into(), &packet);
//!     }
//!     receiver.on_timeout(arrived);
//!     while let Some(event) = receiver.poll_event() {
//!         if let Event::Packet(packet) = event {
//!             order.push(packet.seq, packet.payload);
//!         }
//!     }
//!     replies.extend(std::iter::from_fn(|| receiver.poll_transmit(arrived)));
//! }
//! assert_eq!(
//!     [order.pop(), order.pop(), order.pop()],
//!     [Some(b"one".to_vec()), Some(b"two".to_vec()), None]
//! );
//! assert_eq!(sender.end(), Some(End::Finished));
//! assert!(matches!(
//!     receiver.stats(),
//!     ReceiverStats { received_pkts: 2, lost_wireless_pkts: 0, .. }
//! ));
//! let SenderStats { recent: KindShares { congestion, wireless }, .. } = sender.stats();
//! assert_eq!((congestion, wireless), (0.0, 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod auth;
#[cfg(feature = "net")]
pub mod net;
mod reorder;
mod session;
pub mod wire;

pub use auth::{Key, KeyError};
pub use reorder::Reorder;
pub use session::{
    ConfigError, DEFAULT_LDA, End, Event, Gap, KindShares, Media, Packet, PushError, Receiver,
    ReceiverConfig, ReceiverStats, Sender, SenderConfig, SenderStats, Transmit, receiver_lda,
};

#[cfg(all(doctest, feature = "net"))]
#[doc = include_str!("../README.md")]
struct Readme;
