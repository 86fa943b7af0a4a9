//! Experiments over scenarios: papers repeated and scored, comparisons, sweeps.
//!
//! | module | what it holds |
//! |---|---|
//! | [`papers`] | records of the papers, reproductions, claims, scores |
//! | [`compare`] | variants of a scenario over the same seeds, paired differences |
//! | [`sweep`] | the same measurements under other settings, cell by cell |
//! | [`store`] | finished cells in a directory, from which an interrupted experiment resumes |
//! | [`stack`] | what makes the runs of a cell: the simulator, or another crate's stacks |
//! | [`catalogue`] | lists of the algorithms, protocols, scenarios and papers |
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod catalogue;
pub mod compare;
pub mod papers;
pub mod stack;
pub mod store;
pub mod sweep;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
