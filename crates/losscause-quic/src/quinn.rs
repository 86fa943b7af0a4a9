//! Congestion controllers for [quinn](https://docs.rs/quinn) that tolerate losses which are not
//! congestion.
//!
//! quinn's NewReno and CUBIC halve their window, or almost, for every loss. On a radio path many
//! losses are not congestion. [`LossTolerant`] puts a loss differentiation algorithm of the crate
//! `losscause` in front of quinn's own controller: losses that it takes for wireless do not reach
//! the controller, so the window is kept and grows on. All other losses, and growth, are quinn's.
//!
//! ```
//! use std::sync::Arc;
//!
//! use losscause::registry::Registry;
//! use losscause_quic::quinn::{Base, LossTolerant};
//!
//! let factory = LossTolerant::named(Base::cubic(), "Spike", &Registry::built_in())?;
//! let monitor = factory.monitor();
//! let mut transport = quinn::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(factory));
//! # Ok::<(), losscause_quic::Error>(())
//! ```
//!
//! # What is known about a loss
//!
//! quinn tells a controller the bytes and the last number of a batch of packets that it sent, the
//! time of sending of every acknowledged packet, and the bytes and the newest time of sending of a
//! batch of lost packets. It names neither the acknowledged nor the lost packets. This module finds
//! them:
//!
//! | | how | |
//! |---|---|---|
//! | packets of a batch | the numbers since the last batch | exact for packets that fill the MTU; else a skipped number, or a probe of the MTU, counts as one packet more |
//! | the acknowledged packet | by its time of sending | exact, except which of several packets sent at the same instant; the largest number of an ACK is exact again |
//! | the size of a gap | packets sent less packets acknowledged | exact, as the batch is |
//! | the lost packets | everything sent earlier and not acknowledged, and as many of the same instant as the bytes hold | exact, as the batch is |
//! | round-trip time | `now` less the time of sending of the ACK's newest packet | exact; includes the peer's delay |
//!
//! Left out are single packets of up to 100 bytes, which may be bare acknowledgements, and the
//! first packets of a connection, whose numbers come from another number space. After a migration
//! quinn reports no acknowledgements until the path is validated, so one gap is too large then.
//!
//! # What to read while it runs
//!
//! Beside what [the crate](crate) has for all stacks: [`LossTolerantController`] of one connection,
//! by `congestion_state().into_any().downcast_ref()`.
//!
//! ```
//! # fn read(connection: &quinn::Connection) {
//! use losscause_quic::quinn::LossTolerantController;
//!
//! // A clone of the present state.
//! let state = connection.congestion_state().into_any();
//! if let Some(controller) = state.downcast_ref::<LossTolerantController>() {
//!     println!("{:?}", controller.counts());
//! }
//! # }
//! ```

#[allow(clippy::duplicate_mod, reason = "each is for another crate `proto`")]
#[path = "base.rs"]
mod base;
mod calls;
#[allow(clippy::duplicate_mod, reason = "each is for another crate `proto`")]
#[path = "controller.rs"]
mod controller;
mod factory;
mod signals;

use quinn_proto as proto;

pub use base::Base;
pub use controller::LossTolerantController;
pub use factory::{LossTolerant, PROVIDED};
