//! Oracles: algorithms that receive the true cause from the simulator.
//!
//! - *Omniscient*: returns the true cause (the "Omni" of Cen, Cosman and Voelker 2003, section V;
//!   "PL" of Barman and Matta 2002).
//! - *Labelled*: calls a congestion loss congestion with probability P[C|C], and a wireless loss
//!   wireless with P[W|W]; one draw per loss (Barman and Matta 2002, section 2.1, "LL").
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `P_CC`, `P_WW` (labelled) | 1 | 1 | 0 to 1 |
//! | `timeouts` (labelled) | | false | whether timeouts are labelled as well |
//! | `by_packet` (labelled) | | false | whether a sender's loss event has the cause of its first packet |
//!
//! A TCP sender detects one missing packet, but its loss event may contain other packets with
//! another cause. Barman and Matta do not say which cause the label refers to. It can be the
//! event's cause, which is congestion if any packet was lost to congestion, or the cause of the
//! first packet (`by_packet`). P[C|C] and P[W|W] are measured by the event's cause.
//!
//! Barman and Matta label "a loss event". They account for timeouts caused by wireless losses
//! "through our TCP NewReno variant with perfect loss labeling" (section 2.2); for NewReno-FF all
//! timeouts indicate congestion. Their oracle therefore runs with `timeouts = true`: a timeout
//! called wireless changes neither cwnd nor ssthresh, and the sender retransmits from the first
//! unacknowledged packet. Such a timeout does not count in P[C|C] and P[W|W] (section 3).
//!
//! Deviations: none. If the truth about a loss is not known, the answer is undecided.
//!
//! ```
//! use losscause::Verdict;
//! use losscause::registry::{ConfigError, End, Registry, Value};
//! use losscause_sim::oracle::with_oracles;
//! use losscause_sim::truth::{Cause, Truth};
//! use losscause_sim::{Accuracy, Oracle};
//!
//! // Right about seven wireless losses in ten.
//! let oracle = Oracle::new(Accuracy { p_ww: 0.7, ..Accuracy::default() })?;
//! let told = |draw| {
//!     let truth = Truth { cause: Cause::Wireless, first: Cause::Wireless, draw };
//!     oracle.told(Some(truth)).verdict
//! };
//! assert_eq!([told(0.69), told(0.71)], [Verdict::Wireless, Verdict::Congestion]);
//!
//! // By name, as any algorithm.
//! let registry = with_oracles(Registry::built_in()).expect("the names are free");
//! let mut labelled = registry.find("labelled").expect("it was added").clone();
//! labelled.set("P_WW", Value::Number(0.7))?;
//! assert!(labelled.build(End::Sender)?.downcast_ref::<Oracle>().is_some());
//! # Ok::<(), ConfigError>(())
//! ```

use losscause::registry::{Field, Info, Parameters, Registry, RegistryError, Setting, check};
use losscause::verdict::Input;
use losscause::{
    Algorithm, AnyAlgorithm, ConfigError, End, Judgement, Loss, Needs, Observation, Scope, Verdict,
};

use crate::truth::{Cause, Truth};

/// What an oracle needs, and only a simulator has.
pub const THE_TRUTH: &str = "the true cause";

/// `registry`, and the oracles, which only a simulator can run.
///
/// # Errors
/// If the registry already has an algorithm with one of their names.
pub fn with_oracles(registry: Registry) -> Result<Registry, RegistryError> {
    registry.with(Omniscient)?.with(Accuracy::default())
}

/// The omniscient oracle has no parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Omniscient;

/// The accuracy of an oracle. The default is always right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// P[C|C]: the share of congestion losses that it calls congestion, 0 to 1.
    pub p_cc: f64,
    /// P[W|W]: the share of wireless losses that it calls wireless, 0 to 1.
    pub p_ww: f64,
    /// Whether timeouts are labelled as well; otherwise they are congestion.
    pub timeouts: bool,
    /// Whether a TCP sender's loss event is labelled by the cause of its first packet. Otherwise
    /// its cause is congestion if any packet was lost to congestion.
    pub by_packet: bool,
}

/// An oracle.
#[derive(Clone, Copy, Debug)]
pub struct Oracle(Accuracy);

static OMNISCIENT: Info = Info::new(
    "omniscient",
    "told the true cause of every loss: the best an algorithm can do, in a simulator only",
)
.from("Cen, Cosman & Voelker, IEEE/ACM Trans. Networking 11(5), 2003", "III");

static LABELLED: Info = Info::new(
    "labelled",
    "told the true cause, and right with given probabilities; in a simulator only",
)
.from("Barman & Matta, 2002", "2.1")
.with_settings(&[
    Setting::new("P_CC", "probability that a congestion loss is called so, 0 to 1"),
    Setting::new("P_WW", "probability that a wireless loss is called so, 0 to 1"),
    Setting::new("timeouts", "whether TCP's timeouts are labelled, too: true or false"),
    Setting::new(
        "by_packet",
        "whether a sender's loss event has the cause of its first packet: true or false",
    ),
]);

impl Parameters for Omniscient {
    fn info(&self) -> &'static Info {
        &OMNISCIENT
    }

    fn build(&self, _: End) -> Result<AnyAlgorithm, ConfigError> {
        Ok(Oracle::OMNISCIENT.into())
    }
}

impl Default for Accuracy {
    fn default() -> Self {
        Oracle::OMNISCIENT.0
    }
}

impl Parameters for Accuracy {
    fn info(&self) -> &'static Info {
        &LABELLED
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        Some(match key {
            "P_CC" => Field::Number(&mut self.p_cc),
            "P_WW" => Field::Number(&mut self.p_ww),
            "timeouts" => Field::Flag(&mut self.timeouts),
            "by_packet" => Field::Flag(&mut self.by_packet),
            _ => return None,
        })
    }

    fn build(&self, _: End) -> Result<AnyAlgorithm, ConfigError> {
        Oracle::new(*self).map(AnyAlgorithm::from)
    }
}

impl Oracle {
    /// The oracle that returns the true cause.
    pub const OMNISCIENT: Self =
        Self(Accuracy { p_cc: 1.0, p_ww: 1.0, timeouts: false, by_packet: false });

    /// An oracle of this accuracy.
    ///
    /// # Errors
    /// If a probability is not between 0 and 1.
    pub fn new(accuracy: Accuracy) -> Result<Self, ConfigError> {
        for (key, share) in [("P_CC", accuracy.p_cc), ("P_WW", accuracy.p_ww)] {
            check(key, share, |share| (0.0..=1.0).contains(&share), "a number from 0 to 1")?;
        }
        Ok(Self(accuracy))
    }

    /// What it says, given the truth.
    pub fn told(&self, truth: Option<Truth>) -> Judgement {
        let Some(Truth { cause, first, draw }) = truth else {
            return Judgement::without(Input::Other(THE_TRUTH));
        };
        let Accuracy { p_cc, p_ww, by_packet, .. } = self.0;
        // A draw is in [0, 1), so an accuracy of 0 is never right and 1 is always right.
        let verdict = match if by_packet { first } else { cause } {
            Cause::Congestion if draw < p_cc => Verdict::Congestion,
            Cause::Congestion => Verdict::Wireless,
            Cause::Wireless if draw < p_ww => Verdict::Wireless,
            Cause::Wireless => Verdict::Congestion,
        };
        Judgement::stated(verdict, self.name(), "the truth was given")
    }

    fn name(&self) -> &'static str {
        if self.0 == Self::OMNISCIENT.0 { "Omni" } else { "labelled" }
    }
}

impl From<Oracle> for AnyAlgorithm {
    fn from(oracle: Oracle) -> Self {
        AnyAlgorithm::boxed(oracle)
    }
}

/// The oracle is silent: the simulator answers ([`Observer::overrule`](losscause::Observer)).
impl Algorithm for Oracle {
    fn name(&self) -> &'static str {
        Oracle::name(self)
    }

    fn needs(&self) -> Needs {
        Needs::NONE.with_other(THE_TRUTH)
    }

    fn observe(&mut self, _: &Observation) {}

    fn judge(&self, _: &Loss) -> Judgement {
        Judgement::without(Input::Other(THE_TRUTH))
    }

    fn scope(&self) -> Scope {
        Scope { judges_timeouts: self.0.timeouts, ..Scope::FIRST_LOSS }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oracle_is_right_as_often_as_it_is_said_to_be() {
        let verdict = |p_cc, p_ww, cause, draw| {
            let accuracy = Accuracy { p_cc, p_ww, ..Accuracy::default() };
            Oracle(accuracy).told(Some(Truth { cause, first: cause, draw })).verdict
        };
        assert_eq!(verdict(1.0, 0.0, Cause::Congestion, 0.999), Verdict::Congestion);
        assert_eq!(
            verdict(1.0, 0.0, Cause::Wireless, 0.0),
            Verdict::Congestion,
            "NewReno: P[C|C] 1, P[W|W] 0"
        );
        assert_eq!(verdict(0.4, 0.2, Cause::Congestion, 0.39), Verdict::Congestion);
        assert_eq!(verdict(0.4, 0.2, Cause::Congestion, 0.4), Verdict::Wireless);
        assert_eq!(verdict(0.4, 0.2, Cause::Wireless, 0.19), Verdict::Wireless);
        assert_eq!(verdict(0.4, 0.2, Cause::Wireless, 0.2), Verdict::Congestion);
        assert_eq!(Oracle(Accuracy::default()).told(None).verdict, Verdict::Undecided);
    }

    #[test]
    fn an_event_of_both_causes_has_the_one_that_is_asked_for() {
        let both = Truth { cause: Cause::Congestion, first: Cause::Wireless, draw: 0.5 };
        let verdict = |by_packet| {
            Oracle(Accuracy { by_packet, ..Accuracy::default() }).told(Some(both)).verdict
        };
        assert_eq!([false, true].map(verdict), [Verdict::Congestion, Verdict::Wireless]);
    }
}
