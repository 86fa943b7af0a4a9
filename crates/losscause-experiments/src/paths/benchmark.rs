//! All paths, every algorithm behind the same transport: how often is each wrong, and where?

use losscause::registry::{Info, Origin, Registry};
use losscause::{Algorithm, AnyAlgorithm, AtSender, LdaConfig, Loss, Verdict};
use losscause_sim::truth::Cause;
use losscause_study::run::run_recorded_stopping_at;
use losscause_study::statistics::mean;
use losscause_study::{RunError, Stop, Workers};
use serde::Serialize;

use crate::paths::panel::{Moment, Panel};
use crate::paths::path::{Level, Path, Vantage};
use crate::paths::score::{Bootstrap, Halves, Interval, LEAST_LOSSES, Tally, best_by_halves};

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
    pub best_per_path: Option<Interval>,
    /// The same if the algorithm is chosen by one half of the path's losses and scored on the
    /// other.
    pub best_by_halves: Option<Interval>,
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
    pub error: Option<Interval>,
    /// The mean of M_c over the paths with enough congestion losses, 0 to 1.
    pub m_c: Option<f64>,
    /// The mean of M_w over the paths with enough wireless losses, 0 to 1.
    pub m_w: Option<f64>,
    /// By what share its error is below that of the best published algorithm; negative if it is
    /// above.
    pub reduction: Option<Interval>,
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

/// Draws the first `paths` paths of `seed` and lets every algorithm of `registry` judge their
/// losses, except those that need the truth. `done(n)` is called after the n-th run of [`runs`].
///
/// # Errors
/// The workers were stopped.
pub fn measure(
    registry: &Registry,
    seed: u64,
    paths: u32,
    workers: &Workers,
    done: impl FnMut(usize),
) -> Result<Benchmark, RunError> {
    let drawn: Vec<Path> = (0..paths).map(|number| Path::draw(seed, number)).collect();
    let jobs: Vec<(&Path, Vantage)> = Vantage::ALL
        .iter()
        .flat_map(|&vantage| drawn.iter().map(move |path| (path, vantage)))
        .collect();
    let algorithms: Vec<Algorithms> =
        Vantage::ALL.iter().map(|&vantage| Algorithms::of(registry, vantage)).collect();
    let work = |(path, vantage): &(&Path, Vantage)| {
        let stop = workers.stop();
        algorithms[*vantage as usize].tallies(path, stop)
    };
    let mut tallies = workers.map(&jobs, work, done)?.into_iter();
    let vantages = Vantage::ALL.iter().map(|&vantage| {
        let of_paths = tallies.by_ref().take(drawn.len()).collect::<Result<Vec<_>, _>>()?;
        Ok(AtVantage::of(vantage, &algorithms[vantage as usize].infos, &drawn, &of_paths, seed))
    });
    let vantages = vantages.collect::<Result<_, RunError>>()?;
    Ok(Benchmark { seed, paths, vantages })
}

/// Runs that [`measure`] makes of so many paths.
pub fn runs(paths: u32) -> usize {
    Vantage::ALL.len() * paths as usize
}

/// The algorithms that run at one end.
struct Algorithms {
    vantage: Vantage,
    infos: Vec<&'static Info>,
    built: Vec<AtSender<AnyAlgorithm>>,
}

impl Algorithms {
    fn of(registry: &Registry, vantage: Vantage) -> Self {
        let built = registry.iter().filter_map(|entry: &LdaConfig| {
            let algorithm = entry
                .build(vantage.end())
                .ok()
                .filter(|algorithm| algorithm.needs().other.is_none())?;
            Some((entry.info(), AtSender::new(algorithm)))
        });
        let (infos, built) = built.unzip();
        Self { vantage, infos, built }
    }

    /// Runs the path behind its pilot. Returns every algorithm's tally.
    fn tallies(&self, path: &Path, stop: &Stop) -> Result<Vec<Halves>, RunError> {
        let experiment = path.experiment(self.vantage)?;
        let mut tallies = vec![Halves::default(); self.infos.len()];
        let mut events = Events::new(path.flows as usize);
        let take =
            |flow: usize, moment: Moment<'_>, algorithms: &[AtSender<AnyAlgorithm>]| match self
                .vantage
            {
                Vantage::Receiver => {
                    let Moment::Lost(loss, Some(cause)) = moment else { return };
                    for (tally, algorithm) in tallies.iter_mut().zip(algorithms) {
                        tally.count(cause, algorithm.judge(loss).verdict.is_wireless());
                    }
                }
                Vantage::Sender => events.take(flow, moment, algorithms, &mut tallies),
            };
        let mut panel =
            Panel::new(&experiment.network, self.vantage.end(), |_| self.built.clone(), take);
        run_recorded_stopping_at(&experiment, path.run_seed(), &mut panel, stop)?;
        drop(panel);
        events.end(&mut tallies);
        Ok(tallies)
    }
}

/// The open loss events of a path's senders.
///
/// An algorithm has called an event wireless if a transport that follows it would have kept its
/// window in the end: the loss that opens the event was called wireless, and so was, by an
/// algorithm that judges every loss, each further loss among the packets that were in flight; or
/// the verdict was revised to wireless at the recovery's end.
struct Events {
    open: Vec<Option<Event>>,
}

struct Event {
    cause: Cause,
    /// One above the last packet that belongs to it.
    end: u64,
    /// Whether each algorithm calls it wireless so far.
    called_wireless: Vec<bool>,
}

impl Events {
    fn new(flows: usize) -> Self {
        Self { open: (0..flows).map(|_| None).collect() }
    }

    fn take(
        &mut self,
        flow: usize,
        moment: Moment<'_>,
        ldas: &[AtSender<AnyAlgorithm>],
        tallies: &mut [Halves],
    ) {
        match moment {
            Moment::Lost(loss, cause) => {
                self.close(flow, tallies);
                let Some(cause) = cause else { return };
                let called_wireless = ldas.iter().map(|lda| calls_wireless(lda, loss)).collect();
                let end = loss.seq().unwrap_or(0) + loss.in_flight_pkts;
                self.open[flow] = Some(Event { cause, end, called_wireless });
            }
            Moment::Follows(loss) => {
                let Some(event) = &mut self.open[flow] else { return };
                if loss.seq().is_some_and(|seq| seq >= event.end) {
                    return;
                }
                for (called_wireless, lda) in event.called_wireless.iter_mut().zip(ldas) {
                    if *called_wireless && lda.scope().judges_every_loss {
                        *called_wireless = calls_wireless(lda, loss);
                    }
                }
            }
            Moment::Ends(revised) => {
                if let Some(event) = &mut self.open[flow] {
                    for (called_wireless, revised) in event.called_wireless.iter_mut().zip(revised)
                    {
                        *called_wireless |=
                            revised.is_some_and(|judgement| judgement.verdict == Verdict::Wireless);
                    }
                }
                self.close(flow, tallies);
            }
        }
    }

    fn close(&mut self, flow: usize, tallies: &mut [Halves]) {
        let Some(Event { cause, called_wireless, .. }) = self.open[flow].take() else { return };
        for (tally, called_wireless) in tallies.iter_mut().zip(called_wireless) {
            tally.count(cause, called_wireless);
        }
    }

    /// The run is over.
    fn end(&mut self, tallies: &mut [Halves]) {
        (0..self.open.len()).for_each(|flow| self.close(flow, tallies));
    }
}

fn calls_wireless(lda: &AtSender<AnyAlgorithm>, loss: &Loss) -> bool {
    lda.judge(&loss.within(lda.scope())).verdict.is_wireless()
}

impl AtVantage {
    /// Scores the verdicts: one list per path, with one entry per algorithm.
    fn of(
        vantage: Vantage,
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
    vantage: Vantage,
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
