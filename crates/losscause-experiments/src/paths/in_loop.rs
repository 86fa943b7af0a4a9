//! In the loop: all test flows of a path run the algorithm, or the congestion control, without
//! wireless loss and with one percent.
//!
//! The same path is run with every loss as congestion (the base) and with the true causes
//! (omniscient). What an algorithm costs is what queues drop beyond the base's; what it gains is
//! goodput. The base runs once more, with other seeds: what differs there is chance, and so may be
//! what an algorithm shows of that size. Means over several runs of each path tell more.

use losscause::lda::Constant;
use losscause::registry::Origin;
use losscause::{Algorithm, AnyAlgorithm, End, LdaConfig, Verdict};
use losscause_sim::tcp::{self, OwnControl, ResponseScheme, Tcp};
use losscause_sim::{Network, Oracle, TcpLda, Traffic};
use losscause_study::run::run_stopping_at;
use losscause_study::statistics::{mean, median};
use losscause_study::{FlowMeasurements, InputError, Registry, RunError, Stop, Workers};
use serde::Serialize;

use crate::paths::path::{Loss, Path, Queue, Vantage};

/// Shares of packets that the radio loses, each independently.
pub const LOSS_RATES: [f64; 2] = [0.0, 0.01];

/// M_c counts on paths with so many congestion losses in the mean run.
pub const LEAST_CONGESTION_LOSSES: u64 = 100;

/// What runs if no algorithm is named, as far as the registry has it, besides what is neither
/// published nor a yardstick.
const DEFAULT: [&str; 5] = ["Spike", "Spike-Tobe", "ZBS", "mBiaz", "Vegas buffer"];

/// The result: equal inputs give equal results, with any number of threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InLoop {
    /// The seed of the paths.
    pub seed: u64,
    /// How many paths were drawn.
    pub paths: u32,
    /// How often each system ran on each path.
    pub runs_per_path: u32,
    /// A row per end, rate of wireless loss and algorithm.
    pub rows: Vec<LoopRow>,
    /// Every run.
    pub runs: Vec<LoopRun>,
}

/// An algorithm at one end, over all paths at one rate of wireless loss.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LoopRow {
    /// The end.
    pub vantage: &'static str,
    /// The share of packets that the radio loses, 0 to 1.
    pub loss_rate: f64,
    /// The algorithm.
    pub algorithm: &'static str,
    /// M_c over the paths with at least [`LEAST_CONGESTION_LOSSES`] losses and no policer, 0 to 1.
    pub m_c: Option<Spread>,
    /// Queue loss beyond the base's, points of packets sent.
    pub queue_loss_points: Option<Spread>,
    /// Goodput over the base's.
    pub over_base: Option<Spread>,
    /// Goodput over the omniscient one's.
    pub over_omniscient: Option<Spread>,
    /// A stock competitor's goodput beside it over that beside the base, on paths with one.
    pub competitor_keeps: Option<Spread>,
}

/// Values over paths.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// How many.
    pub paths: usize,
    /// The mean over the paths.
    pub mean: f64,
    /// The median over the paths.
    pub median: f64,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoopRun {
    /// The end.
    pub vantage: &'static str,
    /// The path's number.
    pub number: u32,
    /// The seed of the run; `losscause simulate --seed` with it makes the same run of the path.
    pub run_seed: u64,
    /// The share of packets that the radio loses, 0 to 1.
    pub loss_rate: f64,
    /// The algorithm; `always congestion` is the base.
    pub algorithm: &'static str,
    /// Congestion losses that were judged, of all test flows.
    pub congestion_losses: u64,
    /// The share of them that was called wireless; null if there was none.
    pub m_c: Option<f64>,
    /// Packets of the test flows that queues dropped over those sent.
    pub queue_loss: f64,
    /// Goodput of the test flows, kb/s.
    pub goodput_kbps: f64,
    /// Goodput of the competitors, kb/s; null if there are none.
    pub competitor_kbps: Option<f64>,
}

/// What is compared with the base.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // A few, most of the large kind.
pub enum Contender {
    /// An algorithm that judges losses, at both ends.
    Algorithm(LdaConfig),
    /// The congestion control of a user, at senders: in the place of the path's own, with every
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
}

/// What steers the flows in a run.
#[derive(Clone)]
#[allow(clippy::large_enum_variant)] // A few, all of the large kind.
pub(crate) enum System {
    Base,
    /// The base, with other seeds.
    BaseAgain,
    Omniscient,
    Contender(Contender),
}

const BASE: &str = "always congestion";
const BASE_AGAIN: &str = "always congestion, other seeds";
const OMNISCIENT: &str = "omniscient";

impl LoopRow {
    /// Whether it is neither a base nor the omniscient one.
    pub fn is_algorithm(&self) -> bool {
        ![BASE, BASE_AGAIN, OMNISCIENT].contains(&self.algorithm)
    }
}

/// The algorithms and TCPs of a user of that name, or those that run if none is named.
///
/// # Errors
/// There is neither an algorithm nor a TCP of a user of a name.
pub fn chosen(registry: &Registry, names: &[String]) -> Result<Vec<Contender>, InputError> {
    match names {
        [] => Ok(by_default(registry, &DEFAULT, Origin::is_unpublished)),
        names => find(registry, names),
    }
}

/// The algorithms of these names, as far as the registry has them, those of an origin that `also`
/// takes, and the TCPs of a user.
pub(crate) fn by_default(
    registry: &Registry,
    names: &[&str],
    also: fn(Origin) -> bool,
) -> Vec<Contender> {
    let named = names.iter().filter_map(|name| registry.find(name));
    let others = registry
        .iter()
        .filter(|entry| also(entry.info().origin) && !is_bound_or_oracle(entry))
        .filter(|entry| !names.contains(&entry.info().name));
    let algorithms = named.chain(others).cloned().map(Contender::Algorithm);
    algorithms.chain(own_tcps(registry).map(Contender::Tcp)).collect()
}

/// The algorithms and TCPs of a user of that name.
///
/// # Errors
/// There is neither an algorithm nor a TCP of a user of a name.
pub(crate) fn find(registry: &Registry, names: &[String]) -> Result<Vec<Contender>, InputError> {
    let find = |name: &String| {
        let algorithm = registry.find(name).cloned().map(Contender::Algorithm);
        let tcp = || registry.tcps().find(name).and_then(own_control).map(Contender::Tcp);
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

/// Runs that [`measure`] makes.
pub fn runs(paths: u32, runs_per_path: u32, contenders: &[Contender]) -> usize {
    let systems: usize =
        Vantage::ALL.iter().map(|&vantage| systems(vantage, contenders).len()).sum();
    LOSS_RATES.len() * paths as usize * runs_per_path as usize * systems
}

/// The base twice, the omniscient one, and what is compared at that end.
fn systems(vantage: Vantage, contenders: &[Contender]) -> Vec<System> {
    let there = contenders.iter().filter(|contender| contender.runs_at(vantage));
    let bounds = [System::Base, System::BaseAgain, System::Omniscient];
    bounds.into_iter().chain(there.cloned().map(System::Contender)).collect()
}

/// Runs the first `paths` paths of `seed` with each contender at the ends where it runs, each
/// `runs_per_path` times. `done(n)` is called after the n-th run.
///
/// # Errors
/// The workers were stopped.
pub fn measure(
    contenders: &[Contender],
    seed: u64,
    paths: u32,
    runs_per_path: u32,
    workers: &Workers,
    done: impl FnMut(usize),
) -> Result<InLoop, RunError> {
    let drawn: Vec<Path> = (0..paths).map(|number| Path::draw(seed, number)).collect();
    let mut jobs: Vec<Job> = Vec::new();
    for &vantage in Vantage::ALL {
        for loss_rate in LOSS_RATES {
            for system in &systems(vantage, contenders) {
                let first = if matches!(system, System::BaseAgain) { runs_per_path } else { 0 };
                for path in &drawn {
                    let runs = first..first + runs_per_path;
                    jobs.extend(runs.map(|run| Job {
                        path,
                        run,
                        vantage,
                        loss_rate,
                        system: system.clone(),
                    }));
                }
            }
        }
    }
    let stop = workers.stop();
    let outcomes = workers.map(&jobs, |job| job.run(stop), done)?;
    let runs = outcomes.into_iter().collect::<Result<Vec<LoopRun>, _>>()?;
    let mut rows = Vec::new();
    for &vantage in Vantage::ALL {
        for loss_rate in LOSS_RATES {
            let of_all: Vec<&LoopRun> = runs
                .iter()
                .filter(|run| run.vantage == vantage.name() && run.loss_rate == loss_rate)
                .collect();
            let of = |name: &str| -> Vec<OnPath> {
                let own: Vec<&LoopRun> =
                    of_all.iter().copied().filter(|run| run.algorithm == name).collect();
                own.chunks(runs_per_path as usize)
                    .zip(&drawn)
                    .map(|(runs, path)| OnPath::of(path, runs))
                    .collect()
            };
            let base = of(BASE);
            let omniscient = of(OMNISCIENT);
            for system in systems(vantage, contenders) {
                rows.push(LoopRow {
                    vantage: vantage.name(),
                    loss_rate,
                    algorithm: system.name(),
                    ..LoopRow::of(&of(system.name()), &base, &omniscient)
                });
            }
        }
    }
    Ok(InLoop { seed, paths, runs_per_path, rows, runs })
}

/// A run to be made.
struct Job<'a> {
    path: &'a Path,
    /// Which run of the path it is.
    run: u32,
    vantage: Vantage,
    loss_rate: f64,
    system: System,
}

impl Job<'_> {
    fn run(&self, stop: &Stop) -> Result<LoopRun, RunError> {
        let &Self { path, run, vantage, loss_rate, .. } = self;
        let loss = if loss_rate > 0.0 { Loss::Independent } else { Loss::None };
        let mut experiment = Path { loss, loss_rate, ..path.clone() }.experiment(vantage)?;
        self.system.steer(&mut experiment.network)?;
        let run_seed = path.run_seed().wrapping_add(u64::from(run) << 32);
        let measured = run_stopping_at(&experiment, run_seed, stop)?;
        let tests: Vec<&FlowMeasurements> =
            measured.flows.iter().filter(|flow| flow.measured).collect();
        let stock = measured.flows.iter().filter(|flow| flow.flow.starts_with("stock"));
        let stock: Vec<f64> = stock.filter_map(|flow| flow.goodput_kbps).collect();
        let congestion_losses = tests.iter().map(|flow| flow.judged_congestion).sum();
        Ok(LoopRun {
            vantage: vantage.name(),
            number: path.number,
            run_seed,
            loss_rate,
            algorithm: self.system.name(),
            congestion_losses,
            m_c: (congestion_losses > 0).then(|| measured.metric("P_WC")).flatten(),
            queue_loss: measured.metric("congestion_loss").unwrap_or_default(),
            goodput_kbps: tests.iter().filter_map(|flow| flow.goodput_kbps).sum(),
            competitor_kbps: (!stock.is_empty()).then(|| stock.iter().sum()),
        })
    }
}

impl System {
    fn name(&self) -> &'static str {
        match self {
            Self::Base => BASE,
            Self::BaseAgain => BASE_AGAIN,
            Self::Omniscient => OMNISCIENT,
            Self::Contender(contender) => contender.name(),
        }
    }

    /// Replaces the pilot of every test flow.
    pub(crate) fn steer(&self, network: &mut Network) -> Result<(), RunError> {
        let own = match self {
            Self::Contender(Contender::Tcp(own)) => Some(own),
            _ => None,
        };
        for flow in network.flows.iter_mut().filter(|flow| flow.measured) {
            match (&mut flow.traffic, own) {
                (Traffic::Tfrc { lda, .. }, None) => *lda = self.judge(End::Receiver)?,
                (Traffic::Tcp { config, lda }, own) => {
                    if let Some(own) = own {
                        *config = tcp::Config { response: ResponseScheme::Own(*own), ..*config };
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
        let built = match self {
            Self::Omniscient => return Ok(Oracle::OMNISCIENT.into()),
            Self::Contender(Contender::Algorithm(config)) => config.build(end),
            _ => LdaConfig::Constant(Constant::new(Verdict::Congestion)).build(end),
        };
        built.map_err(|error| InputError::Option {
            option: self.name().to_owned(),
            problem: error.to_string(),
        })
    }
}

/// What the runs of a system on a path have in the mean.
struct OnPath {
    is_policer: bool,
    congestion_losses: f64,
    /// Of the congestion losses of all runs.
    m_c: Option<f64>,
    queue_loss: f64,
    goodput_kbps: f64,
    competitor_kbps: Option<f64>,
}

impl OnPath {
    fn of(path: &Path, runs: &[&LoopRun]) -> Self {
        let sum = |value: &dyn Fn(&LoopRun) -> f64| runs.iter().copied().map(value).sum::<f64>();
        let count = runs.len() as f64;
        let losses = sum(&|run| run.congestion_losses as f64);
        let called_wireless =
            sum(&|run| run.congestion_losses as f64 * run.m_c.unwrap_or_default());
        let has_competitor = runs.iter().any(|run| run.competitor_kbps.is_some());
        Self {
            is_policer: path.queue == Queue::Policer,
            congestion_losses: losses / count,
            m_c: (losses > 0.0).then(|| called_wireless / losses),
            queue_loss: sum(&|run| run.queue_loss) / count,
            goodput_kbps: sum(&|run| run.goodput_kbps) / count,
            competitor_kbps: has_competitor
                .then(|| sum(&|run| run.competitor_kbps.unwrap_or_default()) / count),
        }
    }
}

impl LoopRow {
    /// A system's values on all paths, each beside the base's and the omniscient one's.
    fn of(own: &[OnPath], base: &[OnPath], omniscient: &[OnPath]) -> Self {
        let over = |reference: &[OnPath], value: fn(&OnPath) -> Option<f64>| {
            let ratio = |(own, other): (&OnPath, &OnPath)| {
                let below = value(other).filter(|&below| below > 0.0)?;
                Some(value(own)? / below)
            };
            Spread::of(own.iter().zip(reference).filter_map(ratio).collect())
        };
        let counts = |path: &&OnPath| {
            path.congestion_losses >= LEAST_CONGESTION_LOSSES as f64 && !path.is_policer
        };
        Self {
            m_c: Spread::of(own.iter().filter(counts).filter_map(|path| path.m_c).collect()),
            queue_loss_points: Spread::of(
                own.iter()
                    .zip(base)
                    .map(|(own, base)| 100.0 * (own.queue_loss - base.queue_loss))
                    .collect(),
            ),
            over_base: over(base, |path| Some(path.goodput_kbps)),
            over_omniscient: over(omniscient, |path| Some(path.goodput_kbps)),
            competitor_keeps: over(base, |path| path.competitor_kbps),
            ..Self::default()
        }
    }
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let &least = values.first()?;
        let &most = values.last()?;
        Some(Self {
            paths: values.len(),
            mean: mean(&values)?,
            median: median(&values)?,
            least,
            most,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_worked_by_hand() {
        let spread = Spread::of(vec![4.0, 1.0, 3.0, 8.0]);
        assert_eq!(
            spread,
            Some(Spread { paths: 4, mean: 4.0, median: 3.5, least: 1.0, most: 8.0 })
        );
        assert_eq!(Spread::of(Vec::new()), None);
    }

    #[test]
    fn by_default_a_few_published_ones_run_and_every_own_one() {
        let names =
            |contenders: Vec<Contender>| contenders.iter().map(Contender::name).collect::<Vec<_>>();
        let registry = losscause_study::registry();
        let default = names(chosen(&registry, &[]).expect("known names"));
        assert!(DEFAULT.iter().all(|name| default.contains(name)), "{default:?}");
        assert!(
            !default.contains(&"always wireless") && !default.contains(&"omniscient"),
            "{default:?}"
        );
        let error =
            chosen(&registry, &["Spyke".to_owned()]).map(|_| ()).expect_err("unknown").to_string();
        assert!(
            error.starts_with("--algorithms Spyke: \"Spyke\" is unknown (did you mean \"Spike\"?)"),
            "{error}"
        );
    }
}
