//! A congestion controller for [s2n-quic](https://docs.rs/s2n-quic) that tolerates losses which are
//! not congestion.
//!
//! s2n-quic's CUBIC reduces its window for every loss. On a radio path many losses are not
//! congestion. [`LossTolerant`] puts a loss differentiation algorithm of the crate `losscause` in
//! front of s2n-quic's own CUBIC: losses that it takes for wireless do not reach CUBIC, so the
//! window is kept and grows on. All other losses, and growth and pacing, are s2n-quic's.
//!
//! ```
//! use losscause_quic::s2n_quic::LossTolerant;
//!
//! let controllers = LossTolerant::recommended();
//! let monitor = controllers.monitor();
//! // `s2n_quic::Server::builder().with_congestion_controller(controllers)?`. While connections run:
//! println!("{} lost packets were ignored", monitor.totals().wireless);
//! ```
//!
//! s2n-quic calls its interface for congestion controllers unstable, behind the feature
//! `unstable-congestion-controller`. This crate is for s2n-quic 1.83 (s2n-quic-core 0.83), the last
//! one that compiles with Rust 1.88.
//!
//! # What is known about a loss
//!
//! s2n-quic hands back with every lost packet, and with the newest packet of an ACK, what the
//! controller gave it when it sent the packet: a number of ours. It does not name the other packets
//! of an ACK, only their bytes. This module finds them:
//!
//! | | how | |
//! |---|---|---|
//! | a lost packet | by its number | exact |
//! | the newest packet of an ACK | by its number | exact |
//! | the other packets of an ACK | as many of the newest that are open as the bytes hold | exact if the ACK has one range; else their count is exact for packets of one size |
//! | the size of a gap | packets sent less packets acknowledged | exact, as those packets are |
//! | round-trip time | arrival of the ACK less the time of sending of its newest packet | exact to 1 µs; includes the peer's delay |
//!
//! Packets of zero bytes in flight (bare acknowledgements) have no number. The packets of a packet
//! number space that is discarded, and lost probes of the path's MTU, count as missing.
//!
//! s2n-quic declares the losses that an ACK shows before it reports the ACK's packets. This module
//! judges them when the packets are reported, which is within the same call of s2n-quic: before,
//! the algorithm would not have observed the ACK.
//!
//! # What to read while it runs
//!
//! What [the crate](crate) has for all stacks. s2n-quic does not hand out a connection's
//! controller; [`LossVerdict::connection`](crate::LossVerdict::connection) tells them apart.

mod controller;
mod factory;
mod signals;

pub use controller::LossTolerantController;
pub use factory::{Cubic, LossTolerant, PROVIDED};
