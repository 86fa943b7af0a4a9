//! The systems that are compared, by name: quinn's own controllers, and `BASE+LDA`.

use std::fmt;
use std::sync::Arc;

use losscause::{AnyAlgorithm, End, Safeguards};
use losscause_quic::Caps;
use losscause_quic::quinn::LossTolerant;
use losscause_sim::Oracle;
use losscause_study::InputError;
use losscause_study::error::unknown;
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};

use super::ledger::{Ledger, LedgerObserver};
use super::network::FlowSetup;

/// A congestion controller of quinn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Base {
    NewReno,
    Cubic,
    Bbr,
}

/// What judges its losses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Judge {
    /// The truth, from an observer of the controller.
    Oracle,
    /// What losscause-quic recommends: [`LossTolerant::recommended`].
    Recommended,
    /// The algorithm of that name.
    Algorithm(String),
}

/// A base controller, and what judges its losses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct System {
    pub(super) base: Base,
    pub(super) judge: Option<Judge>,
}

const BASES: [(&str, Base); 3] =
    [("quinn-newreno", Base::NewReno), ("quinn-cubic", Base::Cubic), ("quinn-bbr", Base::Bbr)];

/// Stands in the place of an algorithm's name.
const ORACLE: &str = "oracle";

/// Likewise, for what losscause-quic recommends.
const RECOMMENDED: &str = "recommended";

impl System {
    /// quinn's Cubic, which is also the competitor.
    pub(super) const CUBIC: Self = Self { base: Base::Cubic, judge: None };

    /// The system of that name.
    ///
    /// # Errors
    /// The base or the algorithm is unknown, or the base takes none.
    pub(super) fn parse(name: &str) -> Result<Self, InputError> {
        let refuse =
            |problem: String| InputError::Option { option: format!("system {name}"), problem };
        let (base, judge) =
            name.split_once('+').map_or((name, None), |(base, judge)| (base, Some(judge)));
        let known = BASES.map(|(known, _)| known);
        let &(_, base) = BASES
            .iter()
            .find(|(known, _)| *known == base)
            .ok_or_else(|| refuse(format!("the base {}", unknown(base, &known))))?;
        let judge = match judge {
            Some(_) if base == Base::Bbr => {
                let problem =
                    "quinn-bbr takes no algorithm, expected one on quinn-cubic or quinn-newreno";
                return Err(refuse(problem.to_owned()));
            }
            Some(ORACLE) => Some(Judge::Oracle),
            Some(RECOMMENDED) => Some(Judge::Recommended),
            Some(lda) => {
                build(lda).map_err(refuse)?;
                Some(Judge::Algorithm(lda.to_owned()))
            }
            None => None,
        };
        Ok(Self { base, judge })
    }

    /// What it is compared with: the same base without a judge; for BBR quinn's default, Cubic.
    /// None if it is a base.
    pub(super) fn base(&self) -> Option<Self> {
        match (self.base, &self.judge) {
            (Base::Bbr, _) => Some(Self::CUBIC),
            (base, Some(_)) => Some(Self { base, judge: None }),
            (_, None) => None,
        }
    }

    /// The oracle on its base; none for itself and for BBR.
    pub(super) fn oracle(&self) -> Option<Self> {
        (self.base != Base::Bbr && self.judge != Some(Judge::Oracle))
            .then_some(Self { base: self.base, judge: Some(Judge::Oracle) })
    }

    /// Whether other systems are compared with it.
    pub(super) fn is_compared_with(&self) -> bool {
        matches!(self.judge, None | Some(Judge::Oracle)) && self.base != Base::Bbr
    }

    /// A sender with this controller.
    ///
    /// # Panics
    /// If the algorithm is none of those that [`System::parse`] takes.
    pub(super) fn sender(&self, bytes: Option<u64>) -> FlowSetup {
        let ledger = Ledger::default();
        let base = match self.base {
            Base::NewReno => losscause_quic::quinn::Base::new_reno(),
            Base::Cubic | Base::Bbr => losscause_quic::quinn::Base::cubic(),
        };
        let with = |lda| {
            LossTolerant::new(base.clone(), lda).expect("names are checked when they are read")
        };
        let tolerant = match &self.judge {
            None => return FlowSetup { factory: self.plain(), ledger, bytes },
            // The observer answers every loss in its place.
            Some(Judge::Oracle) => with(AnyAlgorithm::boxed(()))
                .with_caps(Caps { safeguards: Safeguards::OFF, ..Caps::default() })
                .expect("the caps are those of the default"),
            Some(Judge::Recommended) => LossTolerant::recommended(base),
            Some(Judge::Algorithm(name)) => {
                with(build(name).expect("names are checked when they are read"))
            }
        };
        let oracle = (self.judge == Some(Judge::Oracle)).then_some(Oracle::OMNISCIENT);
        let observer = LedgerObserver { ledger: ledger.clone(), oracle };
        FlowSetup { factory: Arc::new(tolerant.with_observer(observer)), ledger, bytes }
    }

    /// quinn's own controller.
    fn plain(&self) -> Arc<dyn ControllerFactory + Send + Sync> {
        match self.base {
            Base::NewReno => Arc::new(NewRenoConfig::default()),
            Base::Cubic => Arc::new(CubicConfig::default()),
            Base::Bbr => Arc::new(BbrConfig::default()),
        }
    }
}

/// The algorithm of that name at a sender, or why there is none that quinn can feed.
fn build(name: &str) -> Result<AnyAlgorithm, String> {
    let registry = losscause::registry::Registry::built_in();
    let config = registry.find(name).ok_or_else(|| {
        let known: Vec<&str> = registry.infos().map(|info| info.name).collect();
        format!("the algorithm {}", unknown(name, &known))
    })?;
    let lda = config.build(End::Sender).map_err(|error| error.to_string())?;
    LossTolerant::new(losscause_quic::quinn::Base::cubic(), lda.clone())
        .map_err(|error| error.to_string())?;
    Ok(lda)
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = BASES.iter().find(|(_, base)| *base == self.base).map_or("", |(name, _)| name);
        f.write_str(name)?;
        match &self.judge {
            Some(Judge::Oracle) => write!(f, "+{ORACLE}"),
            Some(Judge::Recommended) => write!(f, "+{RECOMMENDED}"),
            Some(Judge::Algorithm(lda)) => write!(f, "+{lda}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_read_from_its_name_and_written_back() {
        for name in [
            "quinn-newreno",
            "quinn-bbr",
            "quinn-cubic+oracle",
            "quinn-cubic+recommended",
            "quinn-cubic+Flip Flop",
        ] {
            assert_eq!(System::parse(name).unwrap().to_string(), name);
        }
        assert_eq!(
            System::parse("quinn-newreno+Spike").unwrap().base(),
            Some(System::parse("quinn-newreno").unwrap())
        );
        assert_eq!(System::parse("quinn-bbr").unwrap().base(), Some(System::CUBIC));
        assert_eq!(System::CUBIC.base(), None);
    }

    #[test]
    fn an_unknown_base_or_algorithm_is_refused_with_a_list() {
        let refused = |name| System::parse(name).unwrap_err().to_string();
        assert!(
            refused("quinn-vegas").contains("quinn-newreno, quinn-cubic, quinn-bbr"),
            "{}",
            refused("quinn-vegas")
        );
        assert!(refused("quinn-cubic+Spick").contains("Spike"), "{}", refused("quinn-cubic+Spick"));
        assert!(
            refused("quinn-bbr+Spike").contains("takes no algorithm"),
            "{}",
            refused("quinn-bbr+Spike")
        );
    }
}
