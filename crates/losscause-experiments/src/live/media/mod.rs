//! Media over UDP on the simulator's links, in virtual time: `losscause reproduce media`.
//!
//! ```text
//! experiment  the record, its claims, and the stack that runs it
//! claims      what must hold, and the answer in one sentence
//! stack       makes runs: the stream, and simulated TFRC with the same seed
//! stream      both ends of a stream of losscause-media over one path; the driver that jumps from event to event
//! truths      why packets were really lost, and what the receiver took them for
//! simulated   the simulator's TFRC on the same links
//! values      the metrics of a run
//! ```

mod claims;
mod experiment;
#[cfg(feature = "media")]
mod simulated;
#[cfg(feature = "media")]
mod stack;
#[cfg(feature = "media")]
mod stream;
#[cfg(all(test, feature = "media"))]
mod tests;
#[cfg(feature = "media")]
mod truths;
#[cfg(feature = "media")]
mod values;

pub use experiment::MEDIA;
#[cfg(feature = "media")]
pub(crate) use stack::MediaStack;
