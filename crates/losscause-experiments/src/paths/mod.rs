//! A benchmark of loss differentiation over drawn paths.
//!
//! | module | what it gives |
//! |---|---|
//! | [`mod@path`] | [`Path::draw`]: a path by seed and number, its factors, and its scenario |
//! | [`ranges`] | what is drawn, read from `paths.toml` |
//! | [`benchmark`] | every algorithm over all paths: balanced errors, by factor |
//! | [`in_loop`] | algorithms that steer the flows: goodput, queue loss, what a competitor keeps |
//! | [`report`] | both in words, in CSV and as a page |
//!
//! Training and test paths differ by their seed alone: seeds 1 to 999 are for training, 7000 to
//! 7999 for a test that is made once.

pub mod benchmark;
pub mod in_loop;
pub mod path;
pub mod ranges;
pub mod report;

pub use benchmark::Benchmark;
pub use in_loop::InLoop;
pub use path::{Level, Path, Pilot};
