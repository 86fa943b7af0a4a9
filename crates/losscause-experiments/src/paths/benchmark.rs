//! All paths, every algorithm behind the same transport: how often is each wrong, and where?

use losscause::registry::{Info, Origin, Registry};
use losscause_study::statistics::mean;
use serde::Serialize;

use crate::drawn::jury::Jury;
use crate::drawn::score::{Bootstrap, Estimate, Halves, LEAST_LOSSES, Tally, best_by_halves};
use crate::drawn::{End, Run, RunList};
use crate::paths::path::{Level, Path};

/// The benchmark's result. Equal seeds, numbers of paths and registries give equal results, with
/// any number of threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Benchmark {
    /// The seed of the paths.
    pub seed: u64,
    /// How many paths were drawn.
    pub paths: u32,
    /// The result at each end.
    pub vantages: Vec<AtVantage>,
}

/// The result at one end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AtVantage {
    /// The end.
    pub vantage: &'static str,
    /// Paths with enough losses; the others are left out.
    pub scored_paths: usize,
    /// The published algorithm with the smallest error.
    pub best_published: Option<&'static str>,
    /// The mean over paths of the smallest error that a published algorithm has there.
    pub best_per_path: Option<Estimate>,
    /// The same if the algorithm is chosen by one half of the path's losses and scored on the
    /// other.
    pub best_by_halves: Option<Estimate>,
    /// Every algorithm, in the order of their errors.
    pub algorithms: Vec<Row>,
    /// Errors by the level of each factor; in each, one per algorithm in the order above.
    pub levels: Vec<LevelErrors>,
    /// Every path, scored or not.
    pub by_path: Vec<PathErrors>,
}

/// An algorithm over all scored paths.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// Where it comes from.
    pub origin: Origin,
    /// The mean of the balanced errors, 0 to 1.
    pub error: Option<Estimate>,
    /// The mean of M_c over the paths with enough congestion losses, 0 to 1.
    pub m_c: Option<f64>,
    /// The mean of M_w over the paths with enough wireless losses, 0 to 1.
    pub m_w: Option<f64>,
    /// By what share its error is below that of the best published algorithm; negative if it is
    /// above.
    pub reduction: Option<Estimate>,
}

/// Errors on the paths of one level of a factor. The last factor is not drawn: which causes count
/// on a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelErrors {
    /// The factor.
    pub factor: &'static str,
    /// The level.
    pub level: &'static str,
    /// Scored paths of this level.
    pub paths: usize,
    /// The mean error of each algorithm.
    pub errors: Vec<Option<f64>>,
    /// As [`AtVantage::best_per_path`], on these paths.
    pub best_per_path: Option<f64>,
}

/// Errors on a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathErrors {
    /// The path's number.
    pub number: u32,
    /// The path's levels, in the order of the factors.
    pub levels: Vec<&'static str>,
    /// Congestion and wireless losses that were judged.
    pub losses: (u64, u64),
    /// The balanced error of each algorithm; none if the path has too few losses.
    pub errors: Vec<Option<f64>>,
}

/// The experiment: every algorithm judges the losses of drawn paths.
pub struct Plan {
    seed: u64,
    paths: Vec<Path>,
    /// One per end.
    juries: [Jury; 2],
}

impl Plan {
    /// The first `paths` paths of `seed`, whose losses all algorithms of `registry` judge, except
    /// those that need the truth.
    pub fn new(registry: &Registry, seed: u64, paths: u32) -> Self {
        let juries = End::ALL.map(|vantage| Jury::of(registry, vantage));
        Self { seed, paths: Path::all(seed, paths), juries }
    }
}

impl RunList for Plan {
    type Made = Vec<Halves>;
    type Found = Benchmark;

    fn command(&self) -> String {
        format!("paths --seed {} --paths {}", self.seed, self.paths.len())
    }

    /// Each path behind its pilot: every algorithm's verdicts.
    fn runs(&self) -> Vec<Run<'_, Vec<Halves>>> {
        let ends = self.juries.iter();
        let all = ends.flat_map(|jury| self.paths.iter().map(move |path| (jury, path)));
        let runs = all.map(|(jury, path)| {
            let vantage = jury.end;
            let name = format!("{path}/{vantage}, {}", jury.names().join(", "));
            Run::new(name, &path.scenario(vantage), move |stop| {
                let experiment = path.experiment(vantage)?;
                Ok(jury.count(&experiment, path.run_seed(), false, stop)?.concat())
            })
        });
        runs.collect()
    }

    fn found(&self, made: Vec<Vec<Halves>>) -> Benchmark {
        let count = self.paths.len();
        let of_end = |(end, jury): (usize, &Jury)| {
            let own = &made[end * count..][..count];
            AtVantage::of(jury.end, &jury.infos, &self.paths, own, self.seed)
        };
        let vantages = self.juries.iter().enumerate().map(of_end).collect();
        Benchmark { seed: self.seed, paths: count as u32, vantages }
    }
}

impl AtVantage {
    /// Scores the verdicts: one list per path, with one entry per algorithm.
    fn of(
        vantage: End,
        infos: &[&'static Info],
        paths: &[Path],
        halves: &[Vec<Halves>],
        seed: u64,
    ) -> Self {
        let whole = |of_path: &Vec<Halves>| of_path.iter().map(|halves| halves.whole()).collect();
        let tallies: Vec<Vec<Tally>> = halves.iter().map(whole).collect();
        let errors = |algorithm: usize| -> Vec<Option<f64>> {
            tallies.iter().map(|of_path| of_path[algorithm].balanced_error()).collect()
        };
        let of_all: Vec<Vec<Option<f64>>> = (0..infos.len()).map(errors).collect();
        // All algorithms judge the same losses, so a path counts for all of them or for none.
        let is_scored = |path: usize| of_all.first().is_some_and(|errors| errors[path].is_some());
        let scored: Vec<usize> = (0..paths.len()).filter(|&path| is_scored(path)).collect();
        let of_scored = |algorithm: usize| -> Vec<f64> {
            scored.iter().map(|&path| of_all[algorithm][path].unwrap_or_default()).collect()
        };
        let bootstrap = Bootstrap::new(scored.len(), seed);
        let published: Vec<usize> =
            (0..infos.len()).filter(|&index| infos[index].origin == Origin::Published).collect();
        let average = |algorithm: usize| mean(&of_scored(algorithm)).unwrap_or(f64::INFINITY);
        let best = published.iter().copied().min_by(|&a, &b| average(a).total_cmp(&average(b)));
        let least = |path: usize| {
            let errors = published.iter().filter_map(|&algorithm| of_all[algorithm][path]);
            errors.min_by(f64::total_cmp)
        };
        let least: Vec<Option<f64>> = (0..paths.len()).map(least).collect();
        let per_path: Option<Vec<f64>> = scored.iter().map(|&path| least[path]).collect();
        let by_halves = |path: &usize| {
            let errors = published
                .iter()
                .filter_map(|&algorithm| halves[*path][algorithm].balanced_errors());
            best_by_halves(&errors.collect::<Vec<_>>())
        };
        let by_halves: Option<Vec<f64>> = scored.iter().map(by_halves).collect();
        let mut order: Vec<usize> = (0..infos.len()).collect();
        order.sort_by(|&a, &b| average(a).total_cmp(&average(b)));
        let rate = |algorithm: usize, of: fn(&Tally) -> Option<f64>| {
            mean(
                &tallies.iter().filter_map(|of_path| of(&of_path[algorithm])).collect::<Vec<f64>>(),
            )
        };
        let row = |&algorithm: &usize| Row {
            algorithm: infos[algorithm].name,
            origin: infos[algorithm].origin,
            error: bootstrap.mean(&of_scored(algorithm)),
            m_c: rate(algorithm, |tally| tally.congestion.error()),
            m_w: rate(algorithm, |tally| tally.wireless.error()),
            reduction: best
                .and_then(|best| bootstrap.reduction(&of_scored(algorithm), &of_scored(best))),
        };
        let by_path = paths.iter().enumerate().map(|(index, path)| PathErrors {
            number: path.number,
            levels: path.levels(vantage).iter().map(|level| level.level).collect(),
            losses: tallies[index]
                .first()
                .map_or((0, 0), |tally| (tally.congestion.losses, tally.wireless.losses)),
            errors: order.iter().map(|&algorithm| of_all[algorithm][index]).collect(),
        });
        let by_path: Vec<PathErrors> = by_path.collect();
        Self {
            vantage: vantage.name(),
            scored_paths: scored.len(),
            best_published: best.map(|best| infos[best].name),
            best_per_path: per_path.and_then(|errors| bootstrap.mean(&errors)),
            best_by_halves: by_halves.and_then(|errors| bootstrap.mean(&errors)),
            algorithms: order.iter().map(row).collect(),
            levels: levels(vantage, paths, &by_path, &least),
            by_path,
        }
    }
}

/// Mean errors by level, in the order of the factors and their levels. `least` is the best
/// published error of each path.
fn levels(
    vantage: End,
    paths: &[Path],
    by_path: &[PathErrors],
    least: &[Option<f64>],
) -> Vec<LevelErrors> {
    let of_path = |(path, errors): (&Path, &PathErrors)| -> Vec<Level> {
        path.levels(vantage).into_iter().chain(causes_that_count(errors.losses)).collect()
    };
    let of_paths: Vec<Vec<Level>> = paths.iter().zip(by_path).map(of_path).collect();
    let mut drawn: Vec<(usize, Level)> = Vec::new();
    for level in of_paths.iter().flat_map(|levels| levels.iter().copied().enumerate()) {
        if !drawn.contains(&level) {
            drawn.push(level);
        }
    }
    drawn.sort_by_key(|(factor, level)| (*factor, level.rank));
    let algorithms = by_path.first().map_or(0, |path| path.errors.len());
    let errors_of = |(factor, level): (usize, Level)| {
        let has_level = |path: &usize| {
            of_paths[*path].get(factor) == Some(&level)
                && by_path[*path].errors.iter().any(Option::is_some)
        };
        let of_level: Vec<usize> = (0..paths.len()).filter(has_level).collect();
        let over = |error: &dyn Fn(usize) -> Option<f64>| {
            mean(&of_level.iter().filter_map(|&path| error(path)).collect::<Vec<f64>>())
        };
        LevelErrors {
            factor: level.factor,
            level: level.level,
            paths: of_level.len(),
            errors: (0..algorithms)
                .map(|algorithm| over(&|path| by_path[path].errors[algorithm]))
                .collect(),
            best_per_path: over(&|path| least[path]),
        }
    };
    drawn.into_iter().map(errors_of).collect()
}

/// Which causes count on a path with so many congestion and wireless losses; none if neither does.
fn causes_that_count((congestion, wireless): (u64, u64)) -> Option<Level> {
    let (level, rank) = match (congestion >= LEAST_LOSSES, wireless >= LEAST_LOSSES) {
        (true, true) => ("congestion and wireless", 0),
        (true, false) => ("congestion alone", 1),
        (false, true) => ("wireless alone", 2),
        (false, false) => return None,
    };
    Some(Level { factor: "losses", level, rank })
}
