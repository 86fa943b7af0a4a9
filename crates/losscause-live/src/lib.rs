//! Experiments with loss differentiation on real network stacks, with the simulator's values beside them.
//!
//! ```text
//! experiment   what an experiment is: a record, a stack that runs its cells, claims, an answer
//! selection    tables by name, `live/sharing`, and the cells that `--only` leaves
//! plan         from a selection to runs and a `Reproduction`, in the shape that the papers' reproductions have
//! error        why an experiment cannot be made
//! live         TCP of the running kernel over emulated links (the runs need the feature `linux`)
//! quic         quinn over the simulator's links in virtual time (the runs need the feature `quic`)
//! media        streams of losscause-media likewise, beside simulated TFRC (the runs need the feature `media`)
//! start        when a flow in virtual time starts
//! ```
//!
//! An experiment's record is data, as a paper's is: `experiments/<experiment>/` names systems, metrics and claims
//! (`record.toml`), tables with their parameters (`items.toml`), scenarios, and why claims fail (`explanations.toml`). A
//! *cell* is one system at one combination of parameters; it is run several times with different seeds.
//!
//! To add an experiment: its folder in `experiments/`, a module that implements [`Experiment`] and [`Stack`], and a line
//! in [`EXPERIMENTS`].
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod error;
pub mod experiment;
pub mod live;
pub mod media;
pub mod plan;
pub mod quic;
mod selection;
#[cfg(any(feature = "media", feature = "quic"))]
mod start;

pub use error::LiveError;
pub use experiment::{Attempt, Cell, Experiment, Stack, Values};
pub use plan::{Event, Measured, Plan};
pub use selection::{Only, Selection};

/// All experiments.
pub const EXPERIMENTS: &[&dyn Experiment] = &[&live::Live, &quic::Quic, &media::Media];

/// The experiment of that name; none if there is none. `name` may also be EXPERIMENT/ITEM.
pub fn find(name: &str) -> Option<&'static dyn Experiment> {
    let key = name.split_once('/').map_or(name, |(key, _)| key);
    EXPERIMENTS.iter().find(|experiment| experiment.record().key().eq_ignore_ascii_case(key)).copied()
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
