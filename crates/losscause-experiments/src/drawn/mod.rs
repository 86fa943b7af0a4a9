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

use std::fmt;

use losscause::End;

pub mod found;
pub mod judged;
pub(crate) mod jury;
pub mod panel;
pub mod score;
pub mod steering;

pub use found::{Found, Part, Shown};
pub use judged::{JudgedLoss, judged};
pub use losscause_laboratory::store::{Run, RunList};
pub use steering::Contender;

/// The end that judges losses, and with it the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vantage {
    /// TFRC's receiver, from one-way trip times.
    Receiver,
    /// TCP's sender, from round-trip times and ACKs.
    Sender,
}

impl Vantage {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Receiver, Self::Sender];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Receiver => "receiver",
            Self::Sender => "sender",
        }
    }

    /// The end at which algorithms run there.
    pub fn end(self) -> End {
        match self {
            Self::Receiver => End::Receiver,
            Self::Sender => End::Sender,
        }
    }
}

impl fmt::Display for Vantage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

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
