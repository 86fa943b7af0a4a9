//! A packet simulator in which the true cause of every loss is known.
#![forbid(unsafe_code)]
#![warn(missing_docs)]
