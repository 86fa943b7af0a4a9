//! Kinds of networks that the drawn paths ([`crate::paths`]) do not have: LTE, satellites, policers,
//! and others. They show whether an algorithm holds where it was not fitted.
//!
//! | module | what it gives |
//! |---|---|
//! | [`kinds`] | the kinds, and how each draws a network |
//! | [`drawn`] | networks by kind, seed and number |
//! | [`in_loop`] | algorithms that steer the flows: what queues drop, and goodput |
//! | [`report`] | the results in words, in CSV and as a page |
//! | [`verdicts`] | every algorithm beside stock flows: what it says of their losses |

pub mod drawn;
pub mod in_loop;
pub mod kinds;
pub mod report;
pub mod verdicts;

pub use drawn::Drawn;
pub use in_loop::Steered;
pub use kinds::{KINDS, Kind, Network, Role};
pub use verdicts::Verdicts;
