//! What steers the flows of a run.

use losscause::lda::Constant;
use losscause::registry::{self, Origin};
use losscause::{Algorithm, AnyAlgorithm, End, LdaConfig, Safeguards, Verdict};
use losscause_sim::tcp::{self, OwnControl, ResponseScheme, Tcp};
use losscause_sim::{Network, Oracle, TcpLda, Traffic};
use losscause_study::run::run_stopping_at;
use losscause_study::{Experiment, InputError, Measurements, Registry, RunError, Stop};

/// What is compared with the base.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // A few, most of the large kind.
pub enum Contender {
    /// An algorithm that judges losses, at both ends.
    Algorithm(LdaConfig),
    /// The congestion control of a user, at senders: in the place of the network's own, with every
    /// loss as congestion.
    Tcp(OwnControl),
}

impl Contender {
    /// The published name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Algorithm(config) => config.info().name,
            Self::Tcp(own) => own.name(),
        }
    }

    /// Whether it runs at that end.
    pub(crate) fn runs_at(&self, end: End) -> bool {
        match self {
            Self::Algorithm(config) => config.build(end).is_ok(),
            Self::Tcp(_) => end == End::Sender,
        }
    }

    /// The algorithms and TCPs of a user of these names. Without a name, the algorithms of the names
    /// `few`, as far as the registry has them, those of an origin that `also` takes, and the TCPs of
    /// a user.
    ///
    /// # Errors
    /// There is neither an algorithm nor a TCP of a user of a name.
    pub(crate) fn chosen(
        registry: &Registry,
        names: &[String],
        few: &[&str],
        also: fn(Origin) -> bool,
    ) -> Result<Vec<Self>, InputError> {
        if names.is_empty() {
            let algorithms = few_and(registry, few, also).cloned().map(Self::Algorithm);
            return Ok(algorithms.chain(own_tcps(registry).map(Self::Tcp)).collect());
        }
        let find = |name: &String| {
            let algorithm = registry.find(name).cloned().map(Self::Algorithm);
            let tcp = || registry.tcps().find(name).and_then(own_control).map(Self::Tcp);
            algorithm.or_else(tcp).ok_or_else(|| {
                let algorithms = registry.infos().map(|info| info.name);
                let known = algorithms.chain(own_tcps(registry).map(|own| own.name()));
                InputError::option(
                    format!("--algorithms {name}"),
                    losscause_study::error::unknown(name, &known.collect::<Vec<_>>()),
                )
            })
        };
        names.iter().map(find).collect()
    }
}

/// The TCPs of a user.
fn own_tcps(registry: &Registry) -> impl Iterator<Item = OwnControl> {
    registry.tcps().iter().filter_map(own_control)
}

fn own_control(tcp: Tcp) -> Option<OwnControl> {
    match tcp {
        Tcp::Own(own) => Some(own),
        Tcp::Published(_) => None,
    }
}

/// The algorithms of the names `few`, as far as the registry has them, then those of an origin that
/// `also` takes, but no bound and no oracle.
pub(crate) fn few_and<'a>(
    registry: &'a registry::Registry,
    few: &'a [&str],
    also: fn(Origin) -> bool,
) -> impl Iterator<Item = &'a LdaConfig> {
    let others = registry
        .iter()
        .filter(move |entry| also(entry.info().origin) && !is_bound_or_oracle(entry))
        .filter(|entry| !few.contains(&entry.info().name));
    few.iter().filter_map(|name| registry.find(name)).chain(others)
}

/// Whether it always says the same, or is told the truth.
fn is_bound_or_oracle(entry: &LdaConfig) -> bool {
    let is_told = entry.build(End::Sender).is_ok_and(|algorithm| algorithm.needs().other.is_some());
    is_told || matches!(entry, LdaConfig::Constant(_))
}

/// What steers the flows in a run.
#[derive(Clone)]
pub(crate) struct Steering {
    pub(crate) name: String,
    by: By,
    /// Whether guard and brake may reduce although a loss was called wireless.
    has_safeguards: bool,
}

#[derive(Clone)]
#[allow(clippy::large_enum_variant)] // A few, all of the large kind.
enum By {
    /// Every loss is congestion.
    Nothing,
    TrueCauses,
    Contender(Contender),
}

impl Steering {
    /// Every loss is congestion.
    pub(crate) fn unaware(name: &str) -> Self {
        Self { name: name.to_owned(), by: By::Nothing, has_safeguards: true }
    }

    /// It knows the true causes.
    pub(crate) fn omniscient() -> Self {
        Self { by: By::TrueCauses, ..Self::unaware("omniscient") }
    }

    /// A contender.
    pub(crate) fn by(contender: &Contender) -> Self {
        Self { by: By::Contender(contender.clone()), ..Self::unaware(contender.name()) }
    }

    /// The same without guard and brake.
    pub(crate) fn alone(self) -> Self {
        Self { name: format!("{} alone", self.name), has_safeguards: false, ..self }
    }

    /// Runs a network whose measured flows follow this.
    pub(crate) fn run(
        &self,
        mut experiment: Experiment,
        seed: u64,
        stop: &Stop,
    ) -> Result<Measurements, RunError> {
        self.steer(&mut experiment.network)?;
        run_stopping_at(&experiment, seed, stop)
    }

    fn steer(&self, network: &mut Network) -> Result<(), RunError> {
        let own = match self.by {
            By::Contender(Contender::Tcp(own)) => Some(own),
            _ => None,
        };
        for flow in network.flows.iter_mut().filter(|flow| flow.measured) {
            match (&mut flow.traffic, own) {
                (Traffic::Tfrc { lda, .. }, None) => *lda = self.judge(End::Receiver)?,
                (Traffic::Tcp { config, lda }, own) => {
                    if let Some(own) = own {
                        *config = tcp::Config { response: ResponseScheme::Own(own), ..*config };
                    }
                    if !self.has_safeguards {
                        config.safeguards = Safeguards::OFF;
                    }
                    *lda = TcpLda::Sender(self.judge(End::Sender)?);
                }
                // A TCP does not run at receivers, and other sources do not react.
                _ => {}
            }
        }
        Ok(())
    }

    /// What judges the losses at that end; the TCP of a user takes each for congestion.
    fn judge(&self, end: End) -> Result<AnyAlgorithm, InputError> {
        let built = match &self.by {
            By::TrueCauses => return Ok(Oracle::OMNISCIENT.into()),
            By::Contender(Contender::Algorithm(config)) => config.build(end),
            _ => LdaConfig::Constant(Constant::new(Verdict::Congestion)).build(end),
        };
        built.map_err(|error| InputError::option(self.name.clone(), error.to_string()))
    }
}
