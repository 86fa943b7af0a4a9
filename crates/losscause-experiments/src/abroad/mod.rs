//! Kinds of networks that the drawn paths ([`crate::paths`]) do not have: LTE, satellites, policers,
//! and others. They show whether an algorithm holds where it was not fitted.

pub mod kinds;

pub use kinds::{KINDS, Kind, Network, Role};
