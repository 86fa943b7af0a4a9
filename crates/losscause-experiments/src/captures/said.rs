//! What is said of a flow whose cause of loss is known: right, wrong, or not told.

use std::cmp::Ordering;

use losscause::diagnosis::{Cause, Certainty, Diagnosis};

use super::policing::Verdict;
use crate::abroad::diagnosed::CauseClass;

/// What a flow lost, and what was said of it.
#[derive(Clone, Debug)]
pub struct Told {
    /// Its lost packets: by a queue or a policer, and by the air.
    pub lost: [u64; 2],
    /// What the analysis says; none if it found no loss.
    pub diagnosis: Option<Diagnosis>,
    /// What the published test for policers says.
    pub published: Verdict,
}

impl Told {
    /// What lost most packets, where a queue's drops are of this class; none if as many were lost by
    /// one cause as by the other.
    pub fn truth(&self, queue: CauseClass) -> Option<CauseClass> {
        match self.lost[0].cmp(&self.lost[1]) {
            Ordering::Greater => Some(queue),
            Ordering::Less => Some(CauseClass::Air),
            Ordering::Equal => None,
        }
    }
}

/// What is said of a flow, held against the truth.
#[derive(Clone, Debug)]
pub struct Said {
    /// Whether the named cause is the true one; none if no cause is named.
    is_right: Option<bool>,
    /// How sure it is that this is a policer.
    policer: Option<Certainty>,
    is_rate_right: bool,
    is_published_policer: bool,
    is_published_rate_right: bool,
}

/// What is counted of flows: its name, and whether a flow counts.
pub type Share = (&'static str, fn(&Said) -> bool);

/// A policer's rate is right if it is nearer to the true one than this share of it.
const RATE_WITHIN: f64 = 0.15;

impl Said {
    /// All that is counted.
    pub const SHARES: [Share; 8] = [
        ("right", Self::is_right),
        ("wrong", |said| said.is_right == Some(false)),
        ("untold", |said| said.is_right.is_none()),
        ("policer", |said| said.policer.is_some()),
        ("policer_clear", |said| said.policer == Some(Certainty::Clear)),
        ("policer_rate", |said| said.is_rate_right),
        ("published_policer", |said| said.is_published_policer),
        ("published_rate", |said| said.is_published_rate_right),
    ];

    /// Whether the true cause is named.
    pub fn is_right(&self) -> bool {
        self.is_right == Some(true)
    }

    /// Of a flow with this true cause and, behind a policer, rate.
    pub fn of(truth: Option<CauseClass>, rate_bps: Option<f64>, told: &Told) -> Self {
        let named = told.diagnosis.as_ref();
        let named = named.filter(|said| said.certainty != Certainty::CannotTell);
        let policer = named.filter(|said| matches!(said.cause, Cause::Policer { .. }));
        let rate = named.and_then(|said| match said.cause {
            Cause::Policer { rate_bps, .. } => rate_bps,
            _ => None,
        });
        let is_near =
            |rate: f64| rate_bps.is_some_and(|real| (rate - real).abs() <= RATE_WITHIN * real);
        Self {
            is_right: named.map(|said| truth.is_some() && truth == CauseClass::of(said.cause)),
            policer: policer.map(|said| said.certainty),
            is_rate_right: rate.is_some_and(|rate| is_near(rate as f64)),
            is_published_policer: matches!(told.published, Verdict::Policed { .. }),
            is_published_rate_right: matches!(
                told.published,
                Verdict::Policed { rate_bps } if is_near(rate_bps)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use losscause::diagnosis::Unknown;

    use super::super::policing::Why;
    use super::*;

    fn told(lost: [u64; 2], cause: Cause, certainty: Certainty) -> Told {
        let diagnosis = Some(Diagnosis { cause, certainty, findings: [None; 3] });
        Told { lost, diagnosis, published: Verdict::NotPoliced(Why::FewLosses) }
    }

    #[test]
    fn the_majority_of_the_drops_is_the_true_cause() {
        let is_right = |queue, lost, cause| {
            let told = told(lost, cause, Certainty::Likely);
            Said::of(told.truth(queue), None, &told).is_right
        };
        let policer = Cause::Policer { rate_bps: None, burst_bytes: None };
        let (queue, policed) = (CauseClass::Queue, CauseClass::Policer);
        assert_eq!(is_right(queue, [5, 4], Cause::ManagedQueue), Some(true));
        assert_eq!(is_right(queue, [4, 5], Cause::Air), Some(true));
        assert_eq!(is_right(policed, [5, 0], policer), Some(true));
        assert_eq!(is_right(policed, [5, 0], Cause::FullQueue), Some(false));
        assert_eq!(is_right(queue, [5, 5], Cause::Air), Some(false), "as many by both");
    }

    #[test]
    fn an_answer_that_names_nothing_is_neither_right_nor_wrong() {
        let unknown = Cause::NotShown(Unknown::QueueOrAir);
        let silent = told([9, 0], unknown, Certainty::CannotTell);
        let none = Told { diagnosis: None, ..silent.clone() };
        for told in [silent, none] {
            assert_eq!(Said::of(Some(CauseClass::Queue), None, &told).is_right, None);
        }
    }

    #[test]
    fn a_policers_rate_is_right_within_15_percent() {
        let is_right = |rate: u64| {
            let cause = Cause::Policer { rate_bps: Some(rate), burst_bytes: None };
            let published = Verdict::Policed { rate_bps: rate as f64 };
            let told = Told { published, ..told([9, 0], cause, Certainty::Clear) };
            let said = Said::of(Some(CauseClass::Policer), Some(1e6), &told);
            assert_eq!((said.policer, said.is_published_policer), (Some(Certainty::Clear), true));
            assert_eq!(said.is_rate_right, said.is_published_rate_right);
            said.is_rate_right
        };
        assert_eq!(
            [849_000, 850_000, 1_150_000, 1_151_000].map(is_right),
            [false, true, true, false]
        );
    }
}
