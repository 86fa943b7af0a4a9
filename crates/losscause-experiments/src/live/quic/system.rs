//! The systems that are compared, by name: the own controllers of quinn and noq, and `BASE+LDA`.

use std::fmt;
use std::sync::Arc;

use losscause::{AnyAlgorithm, End, Safeguards};
use losscause_quic::{Caps, ControllerObserver, FrontOf, LossTolerant, Monitor, noq, quinn};
use losscause_sim::Oracle;
use losscause_study::InputError;
use losscause_study::error::unknown;
use noq_proto::congestion::{self as noq_own, ControllerFactory as NoqFactory};
use quinn_proto::congestion::{self as quinn_own, ControllerFactory as QuinnFactory};

use super::end::Controllers;
use super::ledger::{Ledger, LedgerObserver};
use super::network::FlowSetup;

/// An implementation of QUIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Implementation {
    Quinn,
    Noq,
}

/// A congestion controller of an implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Own {
    NewReno,
    Cubic,
    /// quinn has the first version of BBR, noq the third.
    Bbr,
}

/// A congestion controller of quinn or noq.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Base {
    pub(super) of: Implementation,
    pub(super) own: Own,
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
pub(in crate::live) struct System {
    pub(super) base: Base,
    pub(super) judge: Option<Judge>,
}

const BASES: [(&str, Base); 6] = [
    ("quinn-newreno", Base { of: Implementation::Quinn, own: Own::NewReno }),
    ("quinn-cubic", Base { of: Implementation::Quinn, own: Own::Cubic }),
    ("quinn-bbr", Base { of: Implementation::Quinn, own: Own::Bbr }),
    ("noq-newreno", Base { of: Implementation::Noq, own: Own::NewReno }),
    ("noq-cubic", Base { of: Implementation::Noq, own: Own::Cubic }),
    ("noq-bbr3", Base { of: Implementation::Noq, own: Own::Bbr }),
];

/// Stands in the place of an algorithm's name.
const ORACLE: &str = "oracle";

/// Likewise, for what losscause-quic recommends.
const RECOMMENDED: &str = "recommended";

impl System {
    /// quinn's Cubic, which is also the competitor.
    pub(super) const CUBIC: Self =
        Self { base: Base { of: Implementation::Quinn, own: Own::Cubic }, judge: None };

    /// The system of that name.
    ///
    /// # Errors
    /// The base or the algorithm is unknown, or the base takes none.
    pub(in crate::live) fn parse(name: &str) -> Result<Self, InputError> {
        let refuse = |problem: String| InputError::option(format!("system {name}"), problem);
        let (base, judge) =
            name.split_once('+').map_or((name, None), |(base, judge)| (base, Some(judge)));
        let known = BASES.map(|(known, _)| known);
        let &(_, base) = BASES
            .iter()
            .find(|(known, _)| *known == base)
            .ok_or_else(|| refuse(format!("the base {}", unknown(base, &known))))?;
        let judge = match judge {
            Some(_) if base.own == Own::Bbr => {
                let problem =
                    format!("{base} takes no algorithm, expected one on a Cubic or NewReno");
                return Err(refuse(problem));
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

    /// What it is compared with: the same base without a judge; for BBR the implementation's
    /// default, Cubic. None if it is a base.
    pub(super) fn base(&self) -> Option<Self> {
        let own = match (self.base.own, &self.judge) {
            (Own::Bbr, _) => Own::Cubic,
            (own, Some(_)) => own,
            (_, None) => return None,
        };
        Some(Self { base: Base { own, ..self.base }, judge: None })
    }

    /// The oracle on its base; none for itself and for BBR.
    pub(super) fn oracle(&self) -> Option<Self> {
        (self.base.own != Own::Bbr && self.judge != Some(Judge::Oracle))
            .then_some(Self { base: self.base, judge: Some(Judge::Oracle) })
    }

    /// Whether other systems are compared with it.
    pub(super) fn is_compared_with(&self) -> bool {
        matches!(self.judge, None | Some(Judge::Oracle)) && self.base.own != Own::Bbr
    }

    /// A sender with this controller.
    ///
    /// # Panics
    /// If the algorithm is none of those that [`System::parse`] takes.
    pub(super) fn sender(&self, bytes: Option<u64>) -> FlowSetup {
        let ledger = Ledger::default();
        let oracle = (self.judge == Some(Judge::Oracle)).then_some(Oracle::OMNISCIENT);
        let observer = LedgerObserver { ledger: ledger.clone(), oracle };
        let (controllers, _) = self.controllers(&observer);
        FlowSetup { controllers, ledger, bytes }
    }

    /// Its controllers, and what shows their verdicts, if they judge.
    #[cfg(all(feature = "linux", target_os = "linux"))]
    pub(in crate::live) fn watched(&self) -> (Controllers, Option<Monitor>) {
        self.controllers(&())
    }

    fn controllers<O>(&self, observer: &O) -> (Controllers, Option<Monitor>)
    where
        O: ControllerObserver + Clone + Send + Sync + 'static,
    {
        let Base { of, own } = self.base;
        let Some(judge) = &self.judge else {
            let controllers = match (of, own) {
                (Implementation::Quinn, Own::NewReno) => of_quinn::<quinn_own::NewRenoConfig>(),
                (Implementation::Quinn, Own::Cubic) => of_quinn::<quinn_own::CubicConfig>(),
                (Implementation::Quinn, Own::Bbr) => of_quinn::<quinn_own::BbrConfig>(),
                (Implementation::Noq, Own::NewReno) => of_noq::<noq_own::NewRenoConfig>(),
                (Implementation::Noq, Own::Cubic) => of_noq::<noq_own::CubicConfig>(),
                (Implementation::Noq, Own::Bbr) => of_noq::<noq_own::Bbr3Config>(),
            };
            return (controllers, None);
        };
        let is_reno = own == Own::NewReno;
        match of {
            Implementation::Quinn => {
                let base = if is_reno { quinn::Base::new_reno() } else { quinn::Base::cubic() };
                let tolerant = judge.before(base).with_observer(observer.clone());
                let monitor = tolerant.monitor();
                (Controllers::Quinn(Arc::new(tolerant)), Some(monitor))
            }
            Implementation::Noq => {
                let base = if is_reno { noq::Base::new_reno() } else { noq::Base::cubic() };
                let tolerant = judge.before(base).with_observer(observer.clone());
                let monitor = tolerant.monitor();
                (Controllers::Noq(Arc::new(tolerant)), Some(monitor))
            }
        }
    }
}

fn of_quinn<C: QuinnFactory + Default + Send + Sync + 'static>() -> Controllers {
    Controllers::Quinn(Arc::new(C::default()))
}

fn of_noq<C: NoqFactory + Default + Send + Sync + 'static>() -> Controllers {
    Controllers::Noq(Arc::new(C::default()))
}

impl Judge {
    /// In front of `base`.
    ///
    /// # Panics
    /// If the algorithm is none of those that [`System::parse`] takes.
    fn before<B: FrontOf>(&self, base: B) -> LossTolerant<B> {
        match self {
            // The observer answers every loss in its place.
            Self::Oracle => LossTolerant::new(base, AnyAlgorithm::boxed(()))
                .and_then(|tolerant| {
                    tolerant.with_caps(Caps { safeguards: Safeguards::OFF, ..Caps::default() })
                })
                .expect("nothing is needed, and the caps are those of the default"),
            Self::Recommended => LossTolerant::recommended(base),
            Self::Algorithm(name) => build(name)
                .and_then(|lda| LossTolerant::new(base, lda).map_err(|error| error.to_string()))
                .expect("names are checked when they are read"),
        }
    }
}

/// The algorithm of that name at a sender, or why there is none that quinn and noq can feed.
pub(super) fn build(name: &str) -> Result<AnyAlgorithm, String> {
    let registry = losscause::registry::Registry::built_in();
    let config = registry.find(name).ok_or_else(|| {
        let known: Vec<&str> = registry.infos().map(|info| info.name).collect();
        format!("the algorithm {}", unknown(name, &known))
    })?;
    let lda = config.build(End::Sender).map_err(|error| error.to_string())?;
    LossTolerant::new(quinn::Base::cubic(), lda.clone()).map_err(|error| error.to_string())?;
    Ok(lda)
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = BASES.iter().find(|(_, base)| base == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.base)?;
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
            "noq-bbr3",
            "noq-newreno+Spike",
        ] {
            assert_eq!(System::parse(name).unwrap().to_string(), name);
        }
        assert_eq!(
            System::parse("quinn-newreno+Spike").unwrap().base(),
            Some(System::parse("quinn-newreno").unwrap())
        );
        assert_eq!(System::parse("quinn-bbr").unwrap().base(), Some(System::CUBIC));
        let noq = System::parse("noq-bbr3").unwrap().base().unwrap();
        assert_eq!(noq.to_string(), "noq-cubic");
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
