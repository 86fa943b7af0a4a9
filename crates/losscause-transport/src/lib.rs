//! TCP and TFRC as state machines, without I/O, clock or randomness.
//!
//! A driver calls `on_…` when something arrives, `on_timeout` at the instant that
//! `poll_timeout` named, and after each of them `poll_transmit` until it returns `None`.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod ecn;
pub mod tcp;
pub mod tfrc;

pub use ecn::Ecn;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The time that many milliseconds from zero on.
#[cfg(test)]
pub(crate) fn at(ms: i64) -> losscause::Time {
    losscause::Time::ZERO + losscause::Span::from_millis(ms)
}
