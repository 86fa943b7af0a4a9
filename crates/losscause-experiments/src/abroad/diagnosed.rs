//! What the analysis of a capture says of whole flows: is the named cause the true one?
//!
//! A flow has a true cause if one class of causes lost at least four fifths of its packets. The
//! class of a queue's drops is the kind of the queue; a policer is one of its own.

use losscause::diagnosis::{Cause, Certainty, Diagnosis};
use losscause_sim::QueueSpec;
use losscause_study::Experiment;
use losscause_study::capture_files::LostPacket;
use serde::{Deserialize, Serialize};

use crate::abroad::kinds::{Kind, Role};
use crate::abroad::verdicts::OfFlow;

/// A flow counts from so many lost packets on: fewer do not tell a queue, a policer and the air
/// apart.
pub const FEWEST_LOSSES: u64 = 8;

/// A class of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CauseClass {
    /// A queue, full or managed.
    Queue,
    /// A token bucket.
    Policer,
    /// The air, or another channel that corrupts packets.
    Air,
    /// A time without any answer.
    Outage,
    /// Nothing was lost.
    NotLost,
}

impl CauseClass {
    /// The class of a cause; none if none is named.
    pub fn of(cause: Cause) -> Option<Self> {
        match cause {
            Cause::FullQueue | Cause::ManagedQueue => Some(Self::Queue),
            Cause::Policer { .. } => Some(Self::Policer),
            Cause::Air => Some(Self::Air),
            Cause::Outage => Some(Self::Outage),
            Cause::NotLost => Some(Self::NotLost),
            _ => None,
        }
    }
}

/// How sure a diagnosis is of a cause that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// It is clear.
    Clear,
    /// It is likely.
    Likely,
}

/// What was said of a flow, and what is true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Diagnosed {
    /// Data packets that were lost.
    pub lost_packets: u64,
    /// What lost at least four fifths of them; null if nothing did.
    pub truth: Option<CauseClass>,
    /// The class that was named; null if the cause cannot be told.
    pub named: Option<CauseClass>,
    /// How sure that is; null without a cause.
    pub certainty: Option<Word>,
}

impl Diagnosed {
    /// What `diagnosis` says of a flow that lost these packets in a network whose queues' drops
    /// are of this class. No diagnosis names no cause.
    pub fn of(diagnosis: Option<&Diagnosis>, lost: &[LostPacket], queue: CauseClass) -> Self {
        use losscause_sim::truth;
        let all = lost.len();
        let queued = lost.iter().filter(|lost| lost.cause == truth::Cause::Congestion).count();
        let is_most = |of: usize| all > 0 && 5 * of >= 4 * all;
        let truth = if is_most(queued) {
            Some(queue)
        } else {
            is_most(all - queued).then_some(CauseClass::Air)
        };
        let certainty = diagnosis.and_then(|diagnosis| match diagnosis.certainty {
            Certainty::Clear => Some(Word::Clear),
            Certainty::Likely => Some(Word::Likely),
            Certainty::CannotTell => None,
        });
        let named = diagnosis.filter(|_| certainty.is_some());
        let named = named.and_then(|diagnosis| CauseClass::of(diagnosis.cause));
        Self { lost_packets: all as u64, truth, named, certainty: named.and(certainty) }
    }

    /// Whether it counts: it lost enough, and one class lost most.
    fn counts(&self) -> bool {
        self.lost_packets >= FEWEST_LOSSES && self.truth.is_some()
    }

    /// Whether both a queue and the air lost many of its packets.
    fn is_mixed(&self) -> bool {
        self.lost_packets >= FEWEST_LOSSES && self.truth.is_none()
    }
}

/// The class of what a network's queues drop.
pub fn queue_class(experiment: &Experiment) -> CauseClass {
    let links = &experiment.network.links;
    let is_policer = links.iter().any(|link| matches!(link.queue, QueueSpec::Policer(_)));
    if is_policer { CauseClass::Policer } else { CauseClass::Queue }
}

/// How often the diagnoses of a kind's flows are right, or of a role's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Diagnoses {
    /// The kind; null of all kinds of the role.
    pub kind: Option<&'static str>,
    /// What the kind may be used for.
    pub role: Role,
    /// Flows with enough lost packets, most of them by one class.
    pub flows: usize,
    /// Of these, the cause is said to be clear.
    pub clear: usize,
    /// And it is the true one.
    pub clear_right: usize,
    /// The cause is said to be likely.
    pub likely: usize,
    /// And it is the true one.
    pub likely_right: usize,
    /// The cause cannot be told.
    pub cannot_tell: usize,
    /// Flows with enough lost packets by a queue and by the air, which are not in `flows`.
    pub mixed: usize,
    /// Of these, those of which a cause is named.
    pub mixed_named: usize,
}

impl Diagnoses {
    /// Of the flows of all these kinds: a row for each, then one for each role. None if no flow
    /// was diagnosed.
    pub fn all(kinds: &[&'static Kind], flows: &[OfFlow]) -> Vec<Self> {
        if flows.iter().all(|flow| flow.diagnosis.is_none()) {
            return Vec::new();
        }
        let of = |role: Role, name: Option<&'static str>| {
            let is_own =
                |kind: &&&Kind| kind.role == role && name.is_none_or(|name| kind.name == name);
            let own: Vec<&str> = kinds.iter().filter(is_own).map(|kind| kind.name).collect();
            let flows = flows.iter().filter(|flow| own.contains(&flow.kind.as_str()));
            Self::count(name, role, flows.filter_map(|flow| flow.diagnosis.as_ref()))
        };
        let of_kinds = kinds.iter().map(|kind| of(kind.role, Some(kind.name)));
        let roles =
            Role::ALL.into_iter().filter(|role| kinds.iter().any(|kind| kind.role == *role));
        of_kinds.chain(roles.map(|role| of(role, None))).collect()
    }

    fn count<'a>(
        kind: Option<&'static str>,
        role: Role,
        flows: impl Iterator<Item = &'a Diagnosed>,
    ) -> Self {
        let mut row = Self { kind, role, ..Self::default() };
        for flow in flows {
            if flow.is_mixed() {
                row.mixed += 1;
                row.mixed_named += usize::from(flow.named.is_some());
            }
            if !flow.counts() {
                continue;
            }
            let is_right = usize::from(flow.named == flow.truth);
            row.flows += 1;
            match flow.certainty {
                Some(Word::Clear) => {
                    row.clear += 1;
                    row.clear_right += is_right;
                }
                Some(Word::Likely) => {
                    row.likely += 1;
                    row.likely_right += is_right;
                }
                None => row.cannot_tell += 1,
            }
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use losscause::diagnosis::Unknown;
    use losscause_sim::truth;

    use super::*;
    use crate::abroad::network::{Drawn, find};

    fn lost(queued: usize, by_air: usize) -> Vec<LostPacket> {
        let packet = |cause| LostPacket { seq: 0, sent_s: 0.0, lost_s: 0.0, cause };
        let queued = std::iter::repeat_n(packet(truth::Cause::Congestion), queued);
        queued.chain(std::iter::repeat_n(packet(truth::Cause::Wireless), by_air)).collect()
    }

    fn diagnosed(
        cause: Cause,
        certainty: Certainty,
        (queued, by_air): (usize, usize),
        queue: CauseClass,
    ) -> Diagnosed {
        let diagnosis = Diagnosis { cause, certainty, findings: [None; 3] };
        Diagnosed::of(Some(&diagnosis), &lost(queued, by_air), queue)
    }

    #[test]
    fn four_fifths_of_the_losses_are_the_true_cause() {
        let truth =
            |queued, by_air| Diagnosed::of(None, &lost(queued, by_air), CauseClass::Policer).truth;
        assert_eq!(truth(8, 2), Some(CauseClass::Policer));
        assert_eq!((truth(7, 2), truth(2, 7)), (None, None));
        assert_eq!((truth(2, 8), truth(0, 0)), (Some(CauseClass::Air), None));
    }

    #[test]
    fn a_policer_is_no_queue_and_a_managed_queue_is_one() {
        let class = |kind: &str| {
            let drawn = Drawn::new(find(kind).expect("a kind"), 1, 0);
            queue_class(&drawn.experiment().expect("a network"))
        };
        assert_eq!((class("policer"), class("CoDel")), (CauseClass::Policer, CauseClass::Queue));
        assert_eq!(CauseClass::of(Cause::ManagedQueue), Some(CauseClass::Queue));
        assert_eq!(CauseClass::of(Cause::NotShown(Unknown::TooFew)), None);
    }

    #[test]
    fn right_wrong_and_not_told_are_counted_by_word() {
        let queue = CauseClass::Queue;
        let flows = [
            diagnosed(Cause::FullQueue, Certainty::Clear, (8, 0), queue),
            diagnosed(Cause::Air, Certainty::Clear, (8, 0), queue),
            diagnosed(Cause::Air, Certainty::Likely, (1, 9), queue),
            diagnosed(Cause::NotShown(Unknown::QueueOrAir), Certainty::CannotTell, (8, 0), queue),
            // Too few, and of both causes.
            diagnosed(Cause::FullQueue, Certainty::Clear, (7, 0), queue),
            diagnosed(Cause::FullQueue, Certainty::Likely, (5, 5), queue),
            Diagnosed::of(None, &lost(5, 5), queue),
        ];
        let row = Diagnoses::count(None, Role::HeldOut, flows.iter());
        assert_eq!((row.flows, row.cannot_tell), (4, 1));
        assert_eq!((row.clear, row.clear_right, row.likely, row.likely_right), (2, 1, 1, 1));
        assert_eq!((row.mixed, row.mixed_named), (2, 1));
    }
}
