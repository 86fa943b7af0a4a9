//! In the loop: all test flows of a path run the algorithm, or the congestion control, without
//! wireless loss and with one percent.
//!
//! The same path is run with every loss as congestion (the base) and with the true causes
//! (omniscient). What an algorithm costs is what queues drop beyond the base's; what it gains is
//! goodput. The base runs once more, with other seeds: what differs there is chance, and so may be
//! what an algorithm shows of that size. Means over several runs of each path tell more.

use losscause::registry::Origin;
use losscause_study::statistics::{mean, median};
use losscause_study::{FlowMeasurements, InputError, Registry};
use serde::{Deserialize, Serialize};

use crate::drawn::steering::Steering;
use crate::drawn::{self, Contender, End, Run, RunList};
use crate::paths::path::{Loss, Path, Queue};

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
    pub algorithm: String,
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
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct LoopRun {
    /// The end.
    pub vantage: String,
    /// The path's number.
    pub number: u32,
    /// The seed of the run; `losscause simulate --seed` with it makes the same run of the path.
    pub run_seed: u64,
    /// The share of packets that the radio loses, 0 to 1.
    pub loss_rate: f64,
    /// The algorithm; `always congestion` is the base.
    pub algorithm: String,
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

const BASE: &str = "always congestion";
/// The base, with other seeds.
const BASE_AGAIN: &str = "always congestion, other seeds";
const OMNISCIENT: &str = "omniscient";

impl LoopRow {
    /// Whether it is neither a base nor the omniscient one.
    pub fn is_algorithm(&self) -> bool {
        ![BASE, BASE_AGAIN, OMNISCIENT].contains(&self.algorithm.as_str())
    }
}

/// The experiment: contenders steer the flows of drawn paths, at the ends where they run.
pub struct Plan {
    seed: u64,
    paths: Vec<Path>,
    runs_per_path: u32,
    /// At each end the base twice, the omniscient one, and what is compared there.
    systems: [Vec<Steering>; 2],
    /// The contenders, as the user named them.
    named: Vec<String>,
}

impl Plan {
    /// The first `paths` paths of `seed`, each `runs_per_path` times, with each contender of these
    /// names; without names, with a few.
    ///
    /// # Errors
    /// There is neither an algorithm nor a TCP of a user of a name.
    pub fn new(
        registry: &Registry,
        names: &[String],
        seed: u64,
        paths: u32,
        runs_per_path: u32,
    ) -> Result<Self, InputError> {
        let contenders = Contender::chosen(registry, names, &DEFAULT, Origin::is_unpublished)?;
        let systems = End::ALL.map(|vantage| {
            let bounds =
                [Steering::unaware(BASE), Steering::unaware(BASE_AGAIN), Steering::omniscient()];
            let there = contenders.iter().filter(|contender| contender.runs_at(vantage));
            bounds.into_iter().chain(there.map(Steering::by)).collect()
        });
        let paths = Path::all(seed, paths);
        Ok(Self { seed, paths, runs_per_path, systems, named: names.to_vec() })
    }
}

impl RunList for Plan {
    type Made = LoopRun;
    type Found = InLoop;

    fn command(&self) -> String {
        let Self { seed, paths, runs_per_path, named, .. } = self;
        let command =
            format!("paths/loop --seed {seed} --paths {} --runs {runs_per_path}", paths.len());
        command + &drawn::algorithms(named)
    }

    /// All of a system at an end and a rate of loss stand together.
    fn runs(&self) -> Vec<Run<'_, LoopRun>> {
        let mut runs = Vec::new();
        for vantage in End::ALL {
            for loss_rate in LOSS_RATES {
                for system in &self.systems[vantage as usize] {
                    let first = if system.name == BASE_AGAIN { self.runs_per_path } else { 0 };
                    for path in &self.paths {
                        for run in first..first + self.runs_per_path {
                            let run_seed = path.run_seed().wrapping_add(u64::from(run) << 32);
                            runs.push(run_of(path, vantage, loss_rate, system, run_seed));
                        }
                    }
                }
            }
        }
        runs
    }

    fn found(&self, runs: Vec<LoopRun>) -> InLoop {
        let mut systems = runs.chunks((self.paths.len() * self.runs_per_path as usize).max(1));
        let mut rows = Vec::new();
        for vantage in End::ALL {
            for loss_rate in LOSS_RATES {
                let names = self.systems[vantage as usize].iter().map(|system| &system.name);
                let own = systems.by_ref().take(names.len()).map(|runs| self.on_paths(runs));
                let own: Vec<Vec<OnPath>> = own.collect();
                let [base, _, omniscient, ..] = &own[..] else { continue };
                rows.extend(names.zip(&own).map(|(name, own)| LoopRow {
                    vantage: vantage.name(),
                    loss_rate,
                    algorithm: name.clone(),
                    ..LoopRow::of(own, base, omniscient)
                }));
            }
        }
        let Self { seed, runs_per_path, .. } = *self;
        let paths = self.paths.len() as u32;
        InLoop { seed, paths, runs_per_path, rows, runs }
    }
}

impl Plan {
    /// The means of a system's runs, path by path.
    fn on_paths(&self, runs: &[LoopRun]) -> Vec<OnPath> {
        let by_path = runs.chunks(self.runs_per_path as usize).zip(&self.paths);
        by_path.map(|(runs, path)| OnPath::of(path, runs)).collect()
    }
}

/// A run of the path with this wireless loss.
fn run_of<'a>(
    path: &Path,
    vantage: End,
    loss_rate: f64,
    system: &'a Steering,
    run_seed: u64,
) -> Run<'a, LoopRun> {
    let name = format!("{path}/{vantage}, loss {loss_rate}, seed {run_seed}, {}", system.name);
    let loss = if loss_rate > 0.0 { Loss::Independent } else { Loss::None };
    let path = Path { loss, loss_rate, ..path.clone() };
    Run::new(name, &path.scenario(vantage), move |stop| {
        let measured = system.run(path.experiment(vantage)?, run_seed, stop)?;
        let tests: Vec<&FlowMeasurements> =
            measured.flows.iter().filter(|flow| flow.measured).collect();
        let stock = measured.flows.iter().filter(|flow| flow.flow.starts_with("stock"));
        let stock: Vec<f64> = stock.filter_map(|flow| flow.goodput_kbps).collect();
        let congestion_losses = tests.iter().map(|flow| flow.judged_congestion).sum();
        Ok(LoopRun {
            vantage: vantage.name().to_owned(),
            number: path.number,
            run_seed,
            loss_rate,
            algorithm: system.name.clone(),
            congestion_losses,
            m_c: (congestion_losses > 0).then(|| measured.metric("P_WC")).flatten(),
            queue_loss: measured.metric("congestion_loss").unwrap_or_default(),
            goodput_kbps: tests.iter().filter_map(|flow| flow.goodput_kbps).sum(),
            competitor_kbps: (!stock.is_empty()).then(|| stock.iter().sum()),
        })
    })
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
    fn of(path: &Path, runs: &[LoopRun]) -> Self {
        let sum = |value: &dyn Fn(&LoopRun) -> f64| runs.iter().map(value).sum::<f64>();
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
        let registry = losscause_study::registry();
        let plan = |names: &[String]| Plan::new(&registry, names, 1, 1, 1);
        let default = plan(&[]).expect("known names");
        let [_, senders] = &default.systems;
        let default: Vec<&str> = senders[3..].iter().map(|system| system.name.as_str()).collect();
        assert!(DEFAULT.iter().all(|name| default.contains(name)), "{default:?}");
        assert!(
            !default.contains(&"always wireless") && !default.contains(&"omniscient"),
            "{default:?}"
        );
        let error = plan(&["Spyke".to_owned()]).map(|_| ()).expect_err("unknown").to_string();
        assert!(
            error.starts_with("--algorithms Spyke: \"Spyke\" is unknown (did you mean \"Spike\"?)"),
            "{error}"
        );
    }
}
