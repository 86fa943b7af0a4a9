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

use std::sync::LazyLock;

use losscause_laboratory::papers::record::{Paper, PaperTexts, ScenarioText};

use crate::live::experiment::Ready;
use crate::live::{Cell, Experiment};

static TEXTS: PaperTexts = PaperTexts {
    key: "sockets",
    published: include_str!("../../../experiments/sockets/record.toml"),
    items: include_str!("../../../experiments/sockets/items.toml"),
    explanations: include_str!("../../../experiments/sockets/explanations.toml"),
    costs: "",
    scenarios: &[ScenarioText {
        name: "bottleneck",
        text: include_str!("../../../experiments/sockets/scenarios/bottleneck.toml"),
    }],
    channel: None,
    patterns: &[],
};

/// The experiment.
pub static SOCKETS: Experiment = Experiment {
    record: LazyLock::new(|| Paper::of(&TEXTS)),
    predicates: claims::PREDICATES,
    answer: claims::answer,
    set_up,
};

#[cfg(all(feature = "linux", feature = "quic", target_os = "linux"))]
fn set_up(cells: &[Cell]) -> Ready {
    Ok(Box::new(stack::Sockets::set_up(cells)?))
}

#[cfg(not(all(feature = "linux", feature = "quic", target_os = "linux")))]
fn set_up(_: &[Cell]) -> Ready {
    let missing = if cfg!(feature = "quic") { "linux" } else { "quic" };
    Err(crate::live::LiveError::not_built("sockets", missing))
}
