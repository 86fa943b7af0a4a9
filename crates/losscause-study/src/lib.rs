//! Scenarios, the papers' values, runs over seeds, scores and sweeps.
//!
//! A scenario is a file ([`scenario`]); with its settings it becomes an [`Experiment`], and one seed turns that into
//! [`Measurements`] ([`run()`]). A run is a pure function: the same experiment and seed give the same measurements,
//! whatever ran before and on however many threads ([`parallel`]).
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod atomic;
pub mod catalogue;
pub mod error;
pub mod papers;
pub mod parallel;
pub mod report;
pub mod run;
pub mod scenario;
pub mod statistics;
pub mod sweep;
pub mod trace_file;

pub use error::{InputError, RunError};
pub use run::{FlowMeasurements, LinkMeasurements, Measurements, Metric, Run, run, run_recorded};
pub use scenario::{Experiment, Scenario, Setting};

use losscause::registry::Registry;

/// Every algorithm that a scenario can name: those of `losscause` and the simulator's oracles. [`Registry::with`] adds others;
/// the functions whose names end in `_with` take the result.
pub fn registry() -> Registry {
    losscause_sim::oracle::with_oracles(Registry::built_in()).expect("no algorithm has the name of an oracle")
}
