//! Experiments on real protocol stacks.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(feature = "quic")]
pub mod quic;
