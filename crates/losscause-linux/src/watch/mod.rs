//! Every TCP connection of the machine that sends, judged and not changed.
//!
//! ```text
//! program      bpf/watch.bpf.c in the kernel, as long as it is watched
//! machine      what the process may do and the kernel must have
//! filter       which connections are watched
//! record       the bytes of bpf/watch.h
//! connection   samples and retransmissions become losses, and these a diagnosis
//! sent         when its data left
//! standing     how fast its path empties a queue
//! path         what passes between two hosts, for the test for policers
//! connections  all of them
//! prefix       destinations and their counters
//! process      who has a connection open
//! report       what is known at a moment
//! ```
//!
//! The kernel hands over what acknowledgements leave in a socket, whatever its congestion control.
//! [`losscause::diagnosis`] judges, as it does for a capture.

mod connection;
mod connections;
mod error;
mod machine;
mod path;
mod prefix;
mod process;
mod program;
mod record;
mod report;
mod sent;
mod standing;

pub use crate::filter::{Filter, FilterError};
pub use error::WatchError;
pub use prefix::{MOST_PREFIXES, Prefix, PrefixReport};
pub use process::Process;
pub use program::Watch;
pub use report::{Report, Snapshot};
