//! Kinds of networks that the drawn paths ([`crate::paths`]) do not have: LTE, satellites, policers,
//! and others. They show whether an algorithm holds where it was not fitted.
//!
//! | module | what it gives |
//! |---|---|
//! | [`kinds`] | the kinds, and how each draws a network |
//! | [`drawn`] | networks by kind, seed and number |
//! | [`report`] | the results in words, in CSV and as a page |
//! | [`verdicts`] | every algorithm beside stock flows: what it says of their losses |

pub mod drawn;
pub mod kinds;
pub mod report;
pub mod verdicts;

pub use drawn::Drawn;
pub use kinds::{KINDS, Kind, Network, Role};
pub use verdicts::Verdicts;
