//! Experiments that no paper has: on real network stacks, and over drawn paths.
//!
//! | module | what it measures |
//! |---|---|
//! | [`abroad`] | kinds of networks that the drawn paths do not have |
//! | [`drawn`] | what the experiments over drawn networks share |
//! | [`captures`] | captures whose causes of loss are known: what an analysis finds in them |
//! | [`live`] | tables on real network stacks, with the simulator's values beside them |
//! | [`paths`] | every algorithm over paths that are drawn at random: which one is right where |
//! | [`stacks`](stacks()) | the stacks that a sweep can name |
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod abroad;
pub mod captures;
pub mod drawn;
pub mod live;
mod ns2;
pub mod paths;
mod stacks;

pub use stacks::stacks;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
