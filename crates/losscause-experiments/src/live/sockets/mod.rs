//! `sockets`: quinn and noq over real sockets and an emulated link.
//!
//! ```text
//! claims     what must hold, and the answer in one sentence
//! stack      runs cells, one at a time
//! transfer   one connection between two network namespaces, and what its link saw
//! ends       both ends of a connection of quinn, and of noq
//! ```
//!
//! Systems are those of [`quic`](super::quic), but for the oracle: the link's truth comes too late
//! for a sender in real time.

mod claims;
#[cfg(all(feature = "linux", feature = "quic", target_os = "linux"))]
mod ends;
#[cfg(all(feature = "linux", feature = "quic", target_os = "linux"))]
mod stack;
#[cfg(all(feature = "linux", feature = "quic", target_os = "linux"))]
mod transfer;

use losscause_laboratory::papers::reproduce::Configuration;
#[cfg(all(feature = "linux", feature = "quic", target_os = "linux"))]
pub(crate) use stack::SocketStack;

use crate::live::Experiment;
use crate::live::experiment::{Ready, record};

/// The experiment.
pub static SOCKETS: Experiment = Experiment {
    record: record!("sockets", ["bottleneck"], claims::PREDICATES),
    answer: claims::answer,
    set_up,
};

#[cfg(all(feature = "linux", feature = "quic", target_os = "linux"))]
fn set_up(cells: &[Configuration]) -> Ready {
    cells.iter().map(|cell| Ok(Box::new(SocketStack::of(cell)?) as _)).collect()
}

#[cfg(not(all(feature = "linux", feature = "quic", target_os = "linux")))]
fn set_up(_: &[Configuration]) -> Ready {
    let missing = if cfg!(feature = "quic") { "linux" } else { "quic" };
    Err(crate::live::LiveError::not_built("sockets", missing).into())
}
