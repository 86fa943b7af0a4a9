//! Scenarios and runs.
//!
//! A scenario is a file ([`scenario`]). With its settings it becomes an [`Experiment`], and one
//! seed turns that into [`Measurements`] ([`mod@run`]). A run is a pure function: the same
//! experiment and seed give the same measurements, independent of earlier runs and of the number of
//! threads ([`Jobs`]). [`mod@run`] uses [`scenario`], and what writes a run into files uses
//! [`mod@run`]; never the other way round.
//!
//! | feature | what it gives |
//! |---|---|
//! | none | [`scenario`], [`mod@run`]: read a scenario from any source ([`files`]), run it, measure |
//! | `estimates` | means over several runs: `run::repeat`, `statistics::Estimate` |
//! | `schema` | `scenario::schema`, `run::SimulationResult::schema`: the JSON schemas of scenarios and results |
//! | `trace-files` | `trace_file`: every packet event in a CSV file; with `parquet` in Parquet too |
//! | `arrow` | `trace_file::batch`: packet events as Arrow's columns |
//! | `capture-files` | `capture_files`: captures of a run, and the true cause of every drop; `fitted`: a scenario from a capture |
//! | `csv-files`, `atomic-files` | parts of [`tools`], which serve the command |
//!
//! All but `schema`, `arrow` and `parquet` are on by default. The crate builds for
//! `wasm32-unknown-unknown`, where [`files::Disk`] and everything that writes files return errors,
//! and only [`Workers`] and what uses them need threads, which that target lacks.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(feature = "capture-files")]
pub mod capture_files;
mod context;
pub mod error;
pub mod files;
#[cfg(feature = "capture-files")]
pub mod fitted;
mod limits;
pub mod origin;
mod parallel;
mod registry;
pub mod run;
pub mod scenario;
pub mod statistics;
pub mod tools;
#[cfg(feature = "trace-files")]
pub mod trace_file;

pub use context::Context;
pub use error::{InputError, RunError};
pub use limits::Limits;
pub use origin::Origin;
pub use parallel::{Jobs, Stop, Stopped, Workers};
pub use registry::{Registry, RegistryError};
pub use run::{FlowMeasurements, LinkMeasurements, Measurements, Metric, Run, run, run_recorded};
pub use scenario::{Experiment, Scenario, Setting};

/// Everything that a scenario can name: the algorithms of `losscause`, the simulator's oracles and
/// the published TCPs. [`Registry::with`] and [`Registry::with_tcp`] add others; a [`Context`]
/// takes the result.
pub fn registry() -> Registry {
    let built_in = losscause::registry::Registry::built_in();
    Registry::of(
        losscause_sim::oracle::with_oracles(built_in)
            .expect("no algorithm has the name of an oracle"),
    )
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
