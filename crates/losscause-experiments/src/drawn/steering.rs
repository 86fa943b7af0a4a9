//! What steers the flows of a run, and what they then get.

use losscause::lda::Constant;
use losscause::registry::Origin;
use losscause::{Algorithm, AnyAlgorithm, End, LdaConfig, Safeguards, Verdict};
use losscause_sim::tcp::{self, OwnControl, ResponseScheme, Tcp};
use losscause_sim::{Network, Oracle, TcpLda, Traffic};
use losscause_study::run::run_stopping_at;
use losscause_study::{Experiment, FlowMeasurements, InputError, Registry, RunError, Stop};
use serde::{Deserialize, Serialize};

use crate::drawn::Vantage;

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
    pub(crate) fn runs_at(&self, vantage: Vantage) -> bool {
        match self {
            Self::Algorithm(config) => config.build(vantage.end()).is_ok(),
            Self::Tcp(_) => vantage == Vantage::Sender,
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
            let named = few.iter().filter_map(|name| registry.find(name));
            let others = registry
                .iter()
                .filter(|entry| also(entry.info().origin) && !is_bound_or_oracle(entry))
                .filter(|entry| !few.contains(&entry.info().name));
            let algorithms = named.chain(others).cloned().map(Self::Algorithm);
            return Ok(algorithms.chain(own_tcps(registry).map(Self::Tcp)).collect());
        }
        let find = |name: &String| {
            let algorithm = registry.find(name).cloned().map(Self::Algorithm);
            let tcp = || registry.tcps().find(name).and_then(own_control).map(Self::Tcp);
            algorithm.or_else(tcp).ok_or_else(|| {
                let algorithms = registry.infos().map(|info| info.name);
                let known = algorithms.chain(own_tcps(registry).map(|own| own.name()));
                InputError::Option {
                    option: format!("--algorithms {name}"),
                    problem: losscause_study::error::unknown(name, &known.collect::<Vec<_>>()),
                }
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

/// Whether it always says the same, or is told the truth.
pub(crate) fn is_bound_or_oracle(entry: &LdaConfig) -> bool {
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

/// What the test flows of a run, those that are steered, got.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ran {
    /// Data packets that were sent.
    pub(crate) sent_packets: u64,
    /// Data packets that queues dropped.
    pub(crate) queue_drops: u64,
    /// Congestion losses that were judged.
    pub(crate) congestion_losses: u64,
    /// The share of them that was called wireless; none if there was none.
    pub(crate) m_c: Option<f64>,
    /// Goodput of all.
    pub(crate) goodput_kbps: f64,
    /// Goodput of the stock competitors; none without one.
    pub(crate) competitor_kbps: Option<f64>,
}

impl Ran {
    /// Data packets that queues dropped, over those sent; 0 if none was sent.
    pub(crate) fn queue_loss(&self) -> f64 {
        self.queue_drops as f64 / self.sent_packets.max(1) as f64
    }
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

    /// Runs a network with these flows in the place of its test flows.
    pub(crate) fn run(
        &self,
        mut experiment: Experiment,
        seed: u64,
        stop: &Stop,
    ) -> Result<Ran, RunError> {
        self.steer(&mut experiment.network)?;
        let measured = run_stopping_at(&experiment, seed, stop)?;
        let tests: Vec<&FlowMeasurements> =
            measured.flows.iter().filter(|flow| flow.measured).collect();
        let stock = measured.flows.iter().filter(|flow| flow.flow.starts_with("stock"));
        let stock: Vec<f64> = stock.filter_map(|flow| flow.goodput_kbps).collect();
        let congestion_losses = tests.iter().map(|flow| flow.judged_congestion).sum();
        Ok(Ran {
            sent_packets: tests.iter().map(|flow| flow.sent_packets).sum(),
            queue_drops: tests.iter().map(|flow| flow.queue_drops).sum(),
            congestion_losses,
            m_c: (congestion_losses > 0).then(|| measured.metric("P_WC")).flatten(),
            goodput_kbps: tests.iter().filter_map(|flow| flow.goodput_kbps).sum(),
            competitor_kbps: (!stock.is_empty()).then(|| stock.iter().sum()),
        })
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
        built.map_err(|error| InputError::Option {
            option: self.name.clone(),
            problem: error.to_string(),
        })
    }
}
