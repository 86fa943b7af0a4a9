//! Kinds of networks that the drawn paths ([`crate::paths`]) do not have: LTE, satellites, policers,
//! and others. They show whether an algorithm holds where it was not fitted.
//!
//! | module | what it gives |
//! |---|---|
//! | [`kinds`] | the kinds, and how each draws a network |
//! | [`network`] | networks by kind, seed and number |
//! | [`observed_at`] | where algorithms get their observations: at an end, or in a capture |
//! | [`verdicts`] | every algorithm beside stock flows: what it says of their losses |
//! | [`captured`] | the flows of a network in a capture at their senders |
//! | [`diagnosed`] | whole flows in captures: whether the named cause is the true one |
//! | [`kernel`] | recorded runs of the kernel's TCP |
//! | [`in_loop`] | algorithms that steer the flows: what queues drop, and goodput |
//! | [`report`] | the results in words, in CSV and as a page |

pub mod captured;
pub mod diagnosed;
pub mod in_loop;
pub mod kernel;
pub mod kinds;
pub mod network;
pub mod observed_at;
pub mod report;
pub mod verdicts;

pub use captured::Judges;
pub use in_loop::Steered;
pub use kinds::{KINDS, Kind, Network, Role};
pub use network::Drawn;
pub use observed_at::ObservedAt;
pub use verdicts::Verdicts;
