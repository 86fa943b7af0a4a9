//! QUIC over the simulator's links, in virtual time: `losscause reproduce quic`.
//!
//! ```text
//! network    connections over one path; the driver that jumps from event to event
//! end        one end of a connection: quinn's endpoint and settings
//! identity   the server's certificate
//! clock      virtual time for a library that reads instants
//! tap        a wrapper that records what a congestion controller does
//! ledger     the true cause of every loss, joined with the controller's verdict
//! oracle     an algorithm that is told the truth by the ledger
//! system     the systems by name
//! run        one run of a scenario
//! values     its metrics
//! ```

mod clock;
mod counters;
mod end;
mod identity;
mod ledger;
mod network;
mod oracle;
mod run;
mod system;
mod tap;
#[cfg(test)]
mod tests;
mod values;

pub use counters::Counters;
pub use ledger::Judged;
pub use network::ConnectionLost;
