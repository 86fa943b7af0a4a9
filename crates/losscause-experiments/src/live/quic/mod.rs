//! QUIC over the simulator's links, in virtual time: `losscause reproduce quic`.
//!
//! ```text
//! experiment the record, its claims, and the stack that runs it
//! claims     what must hold, and the answer in one sentence
//! stack      the experiment's cells; keeps what others are compared with
//! network    connections over one path; the driver that jumps from event to event
//! end        one end of a connection: endpoint and settings of quinn, and of noq
//! identity   the server's certificate
//! clock      virtual time for a library that reads instants
//! recording  a wrapper that enters what a congestion controller does in the ledger
//! ledger     the true cause of every loss, joined with the controller's verdict; answers for an oracle
//! system     the systems by name
//! run        one run of a scenario
//! values     its metrics
//! sweeps     the same for sweeps, whose scenarios say what each flow runs
//! ```

mod claims;
#[cfg(feature = "quic")]
mod clock;
#[cfg(feature = "quic")]
mod end;
mod experiment;
#[cfg(feature = "quic")]
mod identity;
#[cfg(feature = "quic")]
mod ledger;
#[cfg(feature = "quic")]
mod network;
#[cfg(feature = "quic")]
mod recording;
#[cfg(feature = "quic")]
mod run;
#[cfg(feature = "quic")]
mod stack;
#[cfg(feature = "quic")]
mod sweeps;
#[cfg(feature = "quic")]
mod system;
#[cfg(all(test, feature = "quic"))]
mod tests;
#[cfg(feature = "quic")]
mod values;

#[cfg(all(feature = "linux", feature = "quic", target_os = "linux"))]
pub(super) use end::Controllers;
pub use experiment::QUIC;
#[cfg(all(feature = "linux", feature = "quic", target_os = "linux"))]
pub(super) use identity::{SERVER_NAME, identity};
#[cfg(feature = "quic")]
pub use network::ConnectionLost;
#[cfg(feature = "quic")]
pub(crate) use sweeps::QuicStack;
#[cfg(all(feature = "linux", feature = "quic", target_os = "linux"))]
pub(super) use system::System;
