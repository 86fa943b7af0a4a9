//! Congestion controllers for [noq](https://docs.rs/noq) that tolerate losses which are not
//! congestion.
//!
//! noq is the QUIC implementation below iroh. Its NewReno and CUBIC halve their window, or almost,
//! for every loss. On a radio path many losses are not congestion. [`LossTolerant`] puts a loss
//! differentiation algorithm of the crate `losscause` in front of noq's own controller: losses that
//! it takes for wireless do not reach the controller, so the window is kept and grows on. All other
//! losses, and growth, are noq's.
//!
//! ```
//! use std::sync::Arc;
//!
//! use losscause_quic::noq::{Base, LossTolerant};
//!
//! let factory = LossTolerant::recommended(Base::cubic());
//! let monitor = factory.monitor();
//! // `noq::TransportConfig` is the same type. iroh takes the factory by
//! // `QuicTransportConfigBuilder::congestion_controller_factory`.
//! let mut transport = noq_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(factory));
//! // While connections run:
//! println!("{} lost packets were ignored", monitor.totals().wireless);
//! ```
//!
//! # What is known about a loss
//!
//! noq names every packet that it sends, that is acknowledged and that is lost. Beyond quinn 0.11:
//!
//! | | how | |
//! |---|---|---|
//! | a packet that was sent | by its number, if the peer must acknowledge it | exact: bare acknowledgements and skipped numbers are not among them |
//! | acknowledged and lost packets, the size of a gap | by number | exact |
//! | a mark (ECN) | by a flag | exact |
//! | round-trip time | `now` less the time of sending of the ACK's newest packet | exact; includes the peer's delay |
//! | losses that were none | one call when the packets of all recent losses have arrived | those of the last recovery |
//!
//! Left out are probes of the path's MTU, which noq does not count as congestion either, and the
//! first packets of a connection, whose numbers come from another number space.
//!
//! # Losses that were none
//!
//! If packets overtake each other by more than a few, QUIC declares packets lost that arrive later.
//! noq reports when this was so for all recent losses. Then algorithm and caps forget the last
//! recovery's losses. If they had reduced the window, noq's controller is told: its CUBIC takes the
//! reduction back, its NewReno does not. [`Counts::spurious`](crate::Counts::spurious) counts the
//! packets, [`ControllerObserver::on_spurious`](crate::ControllerObserver::on_spurious) reports
//! them.
//!
//! # What to read while it runs
//!
//! Beside what [the crate](crate) has for all stacks: [`LossTolerantController`] of one path, by
//! `congestion_state(path)` of a connection, `clone_box()`, `into_any()` and `downcast_ref()`. noq
//! has a controller for each path of a connection.
//!
//! ```
//! # fn read(connection: &noq_proto::Connection) {
//! use losscause_quic::noq::LossTolerantController;
//! use noq_proto::PathId;
//!
//! let Some(controller) = connection.congestion_state(PathId::ZERO) else { return };
//! // A clone of the present state.
//! let state = controller.clone_box().into_any();
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

use noq_proto as proto;

pub use base::Base;
pub use controller::LossTolerantController;
pub use factory::{LossTolerant, PROVIDED};
