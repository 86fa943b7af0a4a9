//! What a drawing shows a loss as.

use losscause::Verdict;
use losscause::diagnosis::Cause;

use crate::{Flow, Loss};

/// What a loss is shown as: the cause of a flow's losses, where one is named, beats what an
/// algorithm calls each of them, and nothing shows the cause of one that only a timer showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LossKind {
    /// A policer dropped it.
    Policer,
    /// A full queue dropped it.
    FullQueue,
    /// A short queue dropped it.
    ShortQueue,
    /// The path was gone.
    Outage,
    /// No cause is named for it, and the algorithm to follow calls it wireless.
    CalledWireless,
    /// The same, and it calls it congestion.
    CalledCongestion,
    /// The same, and it does not decide.
    Undecided,
    /// Only a timer showed it.
    ByTimer,
}

impl LossKind {
    /// In words, for a legend.
    pub fn words(self) -> &'static str {
        match self {
            Self::Policer => "lost to a policer",
            Self::FullQueue => "lost to a full queue",
            Self::ShortQueue => "lost to a short queue",
            Self::Outage => "lost in an outage",
            Self::CalledWireless => "called wireless",
            Self::CalledCongestion => "called congestion",
            Self::Undecided => "undecided",
            Self::ByTimer => "shown by a timer only",
        }
    }
}

impl Flow {
    /// What one of its losses is shown as.
    pub fn kind_of(&self, loss: &Loss) -> LossKind {
        if loss.is_by_timer() {
            return LossKind::ByTimer;
        }
        let named = self.named().filter(|_| !loss.is_apart).map(|diagnosis| diagnosis.cause);
        match (named, self.verdict(loss)) {
            (Some(Cause::Policer { .. }), _) => LossKind::Policer,
            (Some(Cause::FullQueue), _) => LossKind::FullQueue,
            (Some(Cause::ManagedQueue), _) => LossKind::ShortQueue,
            (Some(Cause::Outage), _) => LossKind::Outage,
            (_, Verdict::Wireless) => LossKind::CalledWireless,
            (_, Verdict::Congestion) => LossKind::CalledCongestion,
            (_, Verdict::Undecided) => LossKind::Undecided,
        }
    }

    /// The kinds that its losses have, in order.
    pub fn kinds(&self) -> Vec<LossKind> {
        let mut kinds: Vec<LossKind> = self.losses.iter().map(|loss| self.kind_of(loss)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }
}
