//! What experiments over networks that are drawn by seed share.
//!
//! An experiment is a [`RunList`]: [`crate::paths`] and [`crate::abroad`] have one in which all
//! algorithms judge the same losses, and one in which they steer the flows.
//!
//! | module | what it gives |
//! |---|---|
//! | [`panel`] | algorithms beside a transport, which judge its losses and do not steer it |
//! | [`judged()`] | every loss of a run with its true cause and what an algorithm saw, to fit an algorithm |
//! | [`score`] | verdicts counted by cause, their means over networks, and intervals |
//! | [`steering`] | what steers the flows of a run |
//! | [`found`] | what was found, for terminals, pages and scripts |

pub mod found;
pub mod judged;
pub(crate) mod jury;
pub mod panel;
pub mod score;
pub mod steering;

pub use found::{Found, Part, Shown};
pub use judged::{JudgedLoss, judged};
/// The end that judges losses, and with it the transport: TFRC's receiver, from one-way trip times,
/// or TCP's sender, from round-trip times and ACKs.
pub use losscause::End;
pub use losscause_laboratory::store::{Run, RunList};
pub use steering::Contender;

/// The option that names these algorithms; nothing without names.
pub(crate) fn algorithms(names: &[String]) -> String {
    if names.is_empty() {
        String::new()
    } else {
        format!(" --algorithms {}", quoted(&names.join(",")))
    }
}

/// A word of a command.
pub(crate) fn quoted(word: &str) -> String {
    if word.contains(' ') { format!("\"{word}\"") } else { word.to_owned() }
}

/// The seed of the runs of a network, by that of the experiment and its number: `losscause simulate
/// --seed` with it makes the same run.
pub(crate) fn run_seed(seed: u64, number: u32) -> u64 {
    seed.wrapping_mul(1000).wrapping_add(u64::from(number))
}
