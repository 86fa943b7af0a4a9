//! Scenarios, the papers' values, runs over seeds, scores and sweeps.
#![forbid(unsafe_code)]
#![warn(missing_docs)]
