//! In the loop: all test flows of a path run the algorithm, without wireless loss and with one percent.
//!
//! The same path is run with every loss as congestion (the base) and with the true causes (omniscient). What an
//! algorithm costs is what queues drop beyond the base's; what it gains is goodput.

use losscause::lda::Constant;
use losscause::registry::Registry;
use losscause::{LdaConfig, Verdict};
use losscause_sim::{Network, Oracle, TcpLda, Traffic};
use losscause_study::parallel::{Stop, Workers};
use losscause_study::run::run_stopping_at;
use losscause_study::statistics::mean;
use losscause_study::{FlowMeasurements, InputError, RunError};
use serde::Serialize;

use crate::benchmark::Origin;
use crate::path::{Loss, Path, Queue, Vantage};

/// Shares of packets that the radio loses, each independently.
pub const LOSS_RATES: [f64; 2] = [0.0, 0.01];

/// M_c counts on paths with so many congestion losses.
pub const LEAST_CONGESTION_LOSSES: u64 = 100;

/// What runs if no algorithm is named, as far as the registry has it, besides what is neither published nor a yardstick.
const DEFAULT: [&str; 5] = ["Spike", "Spike-Tobe", "ZBS", "mBiaz", "Vegas buffer"];

/// The result: equal inputs give equal results, with any number of threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InLoop {
    /// The seed of the paths.
    pub seed: u64,
    /// How many paths were drawn.
    pub paths: u32,
    /// A row per end, rate of wireless loss and algorithm.
    pub rows: Vec<LoopRow>,
    /// Every run.
    pub runs: Vec<LoopRun>,
}

/// An algorithm at one end, over all paths at one rate of wireless loss.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// Their mean.
    pub mean: f64,
    /// Their median.
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

/// What steers the flows in a run.
#[derive(Clone)]
#[allow(clippy::large_enum_variant)] // A few, all of the large kind.
enum System {
    Base,
    Omniscient,
    Algorithm(LdaConfig),
}

const BASE: &str = "always congestion";
const OMNISCIENT: &str = "omniscient";

/// The algorithms of that name, or those that run if none is named.
///
/// # Errors
/// There is no algorithm of a name.
pub fn chosen(registry: &Registry, names: &[String]) -> Result<Vec<LdaConfig>, InputError> {
    if names.is_empty() {
        let is_own = |entry: &&LdaConfig| Origin::from(entry.info()) == Origin::Other && !is_bound_or_oracle(entry);
        let published = DEFAULT.iter().filter_map(|name| registry.find(name));
        return Ok(published.chain(registry.iter().filter(is_own)).cloned().collect());
    }
    let find = |name: &String| {
        registry.find(name).cloned().ok_or_else(|| InputError::Option {
            option: format!("--algorithms {name}"),
            problem: losscause_study::error::unknown(name, &registry.infos().map(|info| info.name).collect::<Vec<_>>()),
        })
    };
    names.iter().map(find).collect()
}

/// Whether it always says the same, or is told the truth.
fn is_bound_or_oracle(entry: &LdaConfig) -> bool {
    let is_told = entry.build_at_sender().is_ok_and(|lda| losscause::SenderLda::needs(&lda).truth);
    is_told || matches!(entry, LdaConfig::Constant(_))
}

/// Runs that [`measure`] makes.
pub fn runs(paths: u32, algorithms: &[LdaConfig]) -> usize {
    let systems: usize = Vantage::ALL.iter().map(|&vantage| systems(vantage, algorithms).len()).sum();
    LOSS_RATES.len() * paths as usize * systems
}

/// The base, the omniscient one, and the algorithms that run at that end.
fn systems(vantage: Vantage, algorithms: &[LdaConfig]) -> Vec<System> {
    let runs_there = |entry: &&LdaConfig| vantage == Vantage::Sender || entry.build().is_ok();
    let algorithms = algorithms.iter().filter(runs_there).cloned().map(System::Algorithm);
    [System::Base, System::Omniscient].into_iter().chain(algorithms).collect()
}

/// Runs the first `paths` paths of `seed` with each algorithm at both ends. `done(n)` is called after the n-th run.
///
/// # Errors
/// The workers were stopped.
pub fn measure(
    algorithms: &[LdaConfig],
    seed: u64,
    paths: u32,
    workers: &Workers,
    done: impl FnMut(usize),
) -> Result<InLoop, RunError> {
    let mut jobs: Vec<(Path, Vantage, f64, System)> = Vec::new();
    for &vantage in Vantage::ALL {
        for loss_rate in LOSS_RATES {
            for system in systems(vantage, algorithms) {
                jobs.extend((0..paths).map(|number| (Path::draw(seed, number), vantage, loss_rate, system.clone())));
            }
        }
    }
    let stop = workers.stop();
    let outcomes =
        workers.map(&jobs, |(path, vantage, loss_rate, system)| run(path, *vantage, *loss_rate, system, stop), done)?;
    let runs = outcomes.into_iter().collect::<Result<Vec<LoopRun>, _>>()?;
    let mut rows = Vec::new();
    for &vantage in Vantage::ALL {
        for loss_rate in LOSS_RATES {
            let of_all: Vec<&LoopRun> =
                runs.iter().filter(|run| run.vantage == vantage.name() && run.loss_rate == loss_rate).collect();
            let of =
                |name: &str| -> Vec<&LoopRun> { of_all.iter().copied().filter(|run| run.algorithm == name).collect() };
            let (base, omniscient) = (of(BASE), of(OMNISCIENT));
            for system in systems(vantage, algorithms) {
                rows.push(row(seed, &of(system.name()), &base, &omniscient));
            }
        }
    }
    Ok(InLoop { seed, paths, rows, runs })
}

fn run(path: &Path, vantage: Vantage, loss_rate: f64, system: &System, stop: &Stop) -> Result<LoopRun, RunError> {
    let loss = if loss_rate > 0.0 { Loss::Independent } else { Loss::None };
    let mut experiment = Path { loss, loss_rate, ..path.clone() }.experiment(vantage)?;
    system.steer(&mut experiment.network)?;
    let measured = run_stopping_at(&experiment, path.run_seed(), stop)?;
    let tests: Vec<&FlowMeasurements> = measured.flows.iter().filter(|flow| flow.measured).collect();
    let stock = measured.flows.iter().filter(|flow| flow.flow.starts_with("stock"));
    let stock: Vec<f64> = stock.filter_map(|flow| flow.goodput_kbps).collect();
    let congestion_losses = tests.iter().map(|flow| flow.judged_congestion).sum();
    Ok(LoopRun {
        vantage: vantage.name(),
        number: path.number,
        loss_rate,
        algorithm: system.name(),
        congestion_losses,
        m_c: (congestion_losses > 0).then(|| measured.metric("P_WC")).flatten(),
        queue_loss: measured.metric("congestion_loss").unwrap_or_default(),
        goodput_kbps: tests.iter().filter_map(|flow| flow.goodput_kbps).sum(),
        competitor_kbps: (!stock.is_empty()).then(|| stock.iter().sum()),
    })
}

impl System {
    fn name(&self) -> &'static str {
        match self {
            Self::Base => BASE,
            Self::Omniscient => OMNISCIENT,
            Self::Algorithm(config) => config.info().name,
        }
    }

    /// Replaces the pilot of every test flow.
    fn steer(&self, network: &mut Network) -> Result<(), RunError> {
        let problem = |error: losscause::ConfigError| InputError::Option {
            option: self.name().to_owned(),
            problem: error.to_string(),
        };
        for flow in network.flows.iter_mut().filter(|flow| flow.measured) {
            let constant = LdaConfig::Constant(Constant::new(Verdict::Congestion));
            match &mut flow.traffic {
                Traffic::Tfrc { lda, .. } => {
                    *lda = match self {
                        Self::Base => constant.build().map_err(problem)?,
                        Self::Omniscient => Oracle::OMNISCIENT.into(),
                        Self::Algorithm(config) => config.build().map_err(problem)?,
                    };
                }
                Traffic::Tcp { lda, .. } => {
                    *lda = TcpLda::Sender(match self {
                        Self::Base => constant.build_at_sender().map_err(problem)?,
                        Self::Omniscient => Oracle::OMNISCIENT.into(),
                        Self::Algorithm(config) => config.build_at_sender().map_err(problem)?,
                    });
                }
                Traffic::Cbr { .. } | Traffic::OnOff { .. } => {}
            }
        }
        Ok(())
    }
}

/// An algorithm's runs, path by path beside the base's and the omniscient one's.
fn row(seed: u64, own: &[&LoopRun], base: &[&LoopRun], omniscient: &[&LoopRun]) -> LoopRow {
    let over = |reference: &[&LoopRun], value: fn(&LoopRun) -> Option<f64>| {
        let ratio = |(own, other): (&&LoopRun, &&LoopRun)| {
            let below = value(other).filter(|&below| below > 0.0)?;
            Some(value(own)? / below)
        };
        Spread::of(own.iter().zip(reference).filter_map(ratio).collect())
    };
    let judged = |run: &&&LoopRun| {
        run.congestion_losses >= LEAST_CONGESTION_LOSSES && Path::draw(seed, run.number).queue != Queue::Policer
    };
    LoopRow {
        vantage: own.first().map_or("", |run| run.vantage),
        loss_rate: own.first().map_or(0.0, |run| run.loss_rate),
        algorithm: own.first().map_or("", |run| run.algorithm),
        m_c: Spread::of(own.iter().filter(judged).filter_map(|run| run.m_c).collect()),
        queue_loss_points: Spread::of(
            own.iter().zip(base).map(|(own, base)| 100.0 * (own.queue_loss - base.queue_loss)).collect(),
        ),
        over_base: over(base, |run| Some(run.goodput_kbps)),
        over_omniscient: over(omniscient, |run| Some(run.goodput_kbps)),
        competitor_keeps: over(base, |run| run.competitor_kbps),
    }
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (&least, &most) = (values.first()?, values.last()?);
        let (upper, lower) = (values[values.len() / 2], values[(values.len() - 1) / 2]);
        Some(Self { paths: values.len(), mean: mean(&values)?, median: (upper + lower) / 2.0, least, most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_worked_by_hand() {
        let spread = Spread::of(vec![4.0, 1.0, 3.0, 8.0]);
        assert_eq!(spread, Some(Spread { paths: 4, mean: 4.0, median: 3.5, least: 1.0, most: 8.0 }));
        assert_eq!(Spread::of(Vec::new()), None);
    }

    #[test]
    fn by_default_a_few_published_ones_run_and_every_own_one() {
        let names = |algorithms: Vec<LdaConfig>| algorithms.iter().map(|entry| entry.info().name).collect::<Vec<_>>();
        let registry = losscause_study::registry();
        let default = names(chosen(&registry, &[]).expect("known names"));
        assert!(DEFAULT.iter().all(|name| default.contains(name)), "{default:?}");
        assert!(!default.contains(&"always wireless") && !default.contains(&"omniscient"), "{default:?}");
        let error = chosen(&registry, &["Spyke".to_owned()]).map(|_| ()).expect_err("unknown").to_string();
        assert!(error.starts_with("--algorithms Spyke: \"Spyke\" is unknown (did you mean \"Spike\"?)"), "{error}");
    }
}
