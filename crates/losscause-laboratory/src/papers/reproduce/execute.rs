//! Executes a plan.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use losscause::Time;

use super::calibrate::{self, Calibrated, Tried};
use super::configuration::Configuration;
use super::cost::thousands;
use super::kept::{Found, Kept, Made};
use super::plan::{Divisor, Plan, Plot, Reading, Sample, Values as PlannedValues};
use super::recording::{Recorded, Recording, Recordings};
use super::{Event, Progress, Repetitions, Reproduction, Sheet, conclude_of, known_metric};
use crate::papers::record::{self, Item, Paper, QuotientOf, Shown};
use crate::papers::score;
use crate::stack::{Stack, Turns};
use crate::store::Store;
use losscause_study::origin::options;
use losscause_study::statistics::{Estimate, mean};
use losscause_study::{Metric, Origin, Run, RunError, Setting, Stop, Stopped, Workers};

impl Plan {
    /// Makes every run and summarises. `observe` is called after every run, and for every table or
    /// figure, in their order, as soon as it and those before it are complete. The events do not
    /// depend on `jobs`; only their times do.
    ///
    /// # Errors
    /// A run fails, or the workers are stopped before the last run.
    pub fn execute(
        self,
        jobs: impl Into<Workers>,
        observe: impl FnMut(Event<'_>),
    ) -> Result<Reproduction, RunError> {
        self.execute_on(&[], jobs, None, observe)
    }

    /// [`Plan::execute`] by stacks, one for each of [`Plan::configurations`]; without any, by the
    /// simulator. First every configuration is run once, then once more, and so on, so that what
    /// changes on a machine over time meets all alike. The first failure ends the others.
    ///
    /// With a `store`, every finished run and calibration is kept there at once, and one that it has
    /// is not made again: the result is the same to the byte. No event tells of a run that is
    /// resumed, but the first [`Event::Progress`] counts it.
    ///
    /// # Errors
    /// As [`Plan::execute`], or the store cannot be written or holds another experiment.
    pub fn execute_on(
        mut self,
        stacks: &[Box<dyn Stack>],
        jobs: impl Into<Workers>,
        store: Option<&Store>,
        mut observe: impl FnMut(Event<'_>),
    ) -> Result<Reproduction, RunError> {
        let mut workers = jobs.into();
        if !stacks.is_empty() {
            let part = workers.stop().for_a_part();
            workers = workers.stopping_at(&part);
        }
        let opened = store.map(|store| Kept::open(&self, stacks, store)).transpose()?;
        let (kept, mut found) = opened.map_or((None, Found::default()), |(k, f)| (Some(k), f));
        let kept = kept.as_ref();
        let of_searches = self.cost_of_searches();
        let mut cost = 0;
        let mut ran = |packet_hops: u64| {
            cost += packet_hops;
            observe(Event::Progress(Progress { runs: 0, cost: thousands(cost).min(of_searches) }));
        };
        for (search, tried) in std::mem::take(&mut found.searches) {
            self.searches[search].tried = tried;
        }
        let calibrated = self.calibrate(&workers, &mut ran, &|search, tried| {
            kept.map_or(Ok(()), |kept| kept.keep_calibration(search, tried))
        })?;
        calibrated.iter().for_each(|found| observe(Event::Calibrated(found)));
        // All runs are in one queue, in the order of the sheets, so that no thread is idle before
        // the queue is empty.
        let mut tasks: Vec<(usize, u32)> = (0..self.configurations.len())
            .flat_map(|c| (0..self.configurations[c].runs).map(move |k| (c, k)))
            .collect();
        if !stacks.is_empty() {
            tasks.sort_by_key(|(_, k)| *k);
        }
        let mut results = Results::new(&self);
        let read_from: Vec<String> = self.variation.metrics.values().cloned().collect();
        let configurations = std::mem::take(&mut self.configurations);
        let seed = self.seed;
        let plots = if self.draws { std::mem::take(&mut self.plots) } else { vec![] };
        // The first repetition of a run that is drawn is recorded while it is measured.
        let drawn = |c: usize, k: u32| {
            plots.iter().enumerate().filter(move |(_, p)| p.configuration == c && k == 0)
        };
        let turns = Turns::default();
        let is_full = AtomicBool::new(false);
        let keep = |run: (usize, u32), made: &Made| {
            let outcome = kept.map_or(Ok(()), |kept| kept.keep_run(run, made));
            outcome.inspect_err(|_| is_full.store(true, Ordering::Relaxed))
        };
        let work = |&(c, k): &(usize, u32), tell: &dyn Fn(Told)| {
            let configuration = &configurations[c];
            let seed = seed.wrapping_add(u64::from(k));
            let outcome = match stacks.get(c) {
                // What cannot be kept need not be measured.
                _ if is_full.load(Ordering::Relaxed) => Err(Stopped.into()),
                None => {
                    let network = &configuration.experiment.network;
                    let plots = drawn(c, k).map(|(_, planned)| &planned.plot);
                    let mut recordings = Recordings::new(plots, network);
                    measure(configuration, seed, &read_from, &mut recordings, workers.stop())
                        .map(|values| Made { values, recorded: recordings.finish() })
                }
                Some(stack) => {
                    let disturbed = |why: &str| tell(Told::Disturbed(why.to_owned()));
                    let experiment = &configuration.experiment;
                    turns
                        .run(stack.as_ref(), experiment, seed, workers.stop(), disturbed)
                        .map(|made| values_of(made, configuration, &disturbed))
                        .map(|values| Made { values, recorded: vec![] })
                }
            };
            let outcome = outcome.and_then(|made| keep((c, k), &made).map(|()| made));
            // A run's own algorithm may have requested the stop.
            let outcome = outcome.map_err(|error| (error, workers.stop().is_requested_here()));
            if outcome.is_err() && !stacks.is_empty() {
                workers.stop().request();
            }
            tell(Told::Done(outcome));
        };
        let mut recorded: Vec<Option<Recorded>> = plots.iter().map(|_| None).collect();
        let mut done = Progress { runs: 0, cost: of_searches };
        tasks.retain(|run| !found.runs.contains_key(run));
        for ((c, k), made) in found.runs {
            done.runs += 1;
            done.cost += configurations[c].cost;
            drawn(c, k).zip(made.recorded).for_each(|((plot, _), of)| recorded[plot] = Some(of));
            results.take((c, k), 0, Ok(made.values));
        }
        if done.runs > 0 {
            observe(Event::Progress(done));
        }
        let mut shown = 0;
        self.show_complete(&results, &mut shown, &mut observe);
        let ended = workers.stream(&tasks, work, |index, told| {
            let (c, k) = tasks[index];
            let outcome = match told {
                Told::Disturbed(why) => {
                    return observe(Event::Disturbed(&configurations[c], &why));
                }
                Told::Done(outcome) => outcome,
            };
            if let Ok(made) = &outcome {
                observe(Event::Ran(&configurations[c], &made.values));
            }
            done.runs += 1;
            done.cost += configurations[c].cost;
            observe(Event::Progress(done));
            let values = outcome.map(|made| {
                let plots = drawn(c, k).zip(made.recorded);
                plots.for_each(|((plot, _), found)| recorded[plot] = Some(found));
                made.values
            });
            let values = values.map_err(|(error, is_here)| match is_here {
                true => RunError::StoppedIn { place: self.place_of_run(c, k) },
                false => error,
            });
            results.take((c, k), index, values);
            self.show_complete(&results, &mut shown, &mut observe);
        });
        match (results.failure, ended) {
            (Some((_, error)), _) => Err(error),
            (None, Err(stopped)) => Err(stopped.into()),
            // The last runs were under way when the stop was requested.
            (None, Ok(())) if results.left.iter().any(|&left| left > 0) => Err(Stopped.into()),
            (None, Ok(())) => {
                let found = plots.into_iter().zip(recorded);
                let recordings =
                    found.filter_map(|(plot, found)| Some(plot.recording(seed, found?))).collect();
                let concluded = conclude_of(self.records(), &self.values.items, self.seed);
                let origin = Origin::of(self.words(), self.seed);
                let Self { beside, left_out, .. } = self;
                Ok(Reproduction {
                    origin,
                    calibrated,
                    recordings,
                    beside: beside.items,
                    left_out,
                    ..concluded
                })
            }
        }
    }

    /// The command's words.
    fn words(&self) -> impl Iterator<Item = String> {
        let runs = match self.repetitions {
            Repetitions::AsPublished => None,
            Repetitions::Exactly(runs) => Some(runs),
        };
        let words = ["reproduce".to_owned()].into_iter().chain(self.selection.words());
        words.chain(options("--runs", runs))
    }

    /// Calibrates the parameters that configurations wait for, applies the values, and records them
    /// in the items. `ran` gets the packet-hops of each of its runs, and `over` each search that is
    /// over.
    pub(super) fn calibrate(
        &mut self,
        workers: &Workers,
        ran: &mut impl FnMut(u64),
        over: &dyn Fn(usize, &Tried) -> Result<(), RunError>,
    ) -> Result<Vec<Calibrated>, RunError> {
        let calibrated = calibrate::find(&mut self.searches, self.seed, workers, ran, over)?;
        let setting = |search: &usize| {
            let Calibrated { parameter, value, .. } = &calibrated[*search];
            Setting::new(parameter.as_str(), *value)
        };
        for configuration in self.configurations.iter_mut().filter(|c| !c.waits_for.is_empty()) {
            let found: Vec<Setting> = configuration.waits_for.iter().map(setting).collect();
            configuration.experiment = configuration.scenario.with(&found)?.experiment()?;
        }
        let all = [&mut self.values, &mut self.beside];
        for (item, reading) in
            all.into_iter().flat_map(|values| values.items.iter_mut().zip(&values.readings))
        {
            let of_item = reading.samples().flat_map(|sample| &sample.configurations);
            for &search in of_item.flat_map(|&c| &self.configurations[c].waits_for) {
                let Calibrated { parameter, value, .. } = &calibrated[search];
                item.calibrated.entry(parameter.clone()).or_insert(*value);
            }
        }
        Ok(calibrated)
    }

    /// The papers, and behind them the records of our own experiments in the plan.
    fn records(&self) -> impl Iterator<Item = &'static Paper> {
        let is_paper = |paper: &Paper| record::all().iter().any(|known| known.key() == paper.key());
        let mut own: Vec<&'static Paper> = self.sheets.iter().map(|sheet| sheet.paper).collect();
        own.retain(|paper| !is_paper(paper));
        own.dedup_by(|one, other| std::ptr::eq(*one, *other));
        record::all().iter().chain(own)
    }

    /// Everything that a table or figure is read from.
    fn samples(&self, sheet: &Sheet) -> impl Iterator<Item = &Sample> {
        let beside = sheet.beside.iter().flat_map(|(_, items)| self.beside.samples(items));
        self.values.samples(&sheet.items).chain(beside)
    }

    /// What repetition `k` of a configuration is, by the first value that is read from it:
    /// `cen2003: Table II, also mine, WLH, N 1, loss high, seed 3`.
    fn place_of_run(&self, configuration: usize, k: u32) -> String {
        let values = [&self.beside, &self.values];
        let reads = |reading: &Reading| {
            reading.samples().any(|of| of.configurations.contains(&configuration))
        };
        let of = |values: &&PlannedValues| {
            values.readings.iter().position(reads).map(|item| values.items[item].clone())
        };
        let what = values.iter().find_map(of).map(|item| {
            let at = item.parameters.iter().map(|(name, value)| format!("{name} {value}"));
            let of = [item.source, item.system, item.scenario]
                .into_iter()
                .chain(at)
                .collect::<Vec<_>>()
                .join(", ");
            format!("{}: {of}, ", item.paper)
        });
        format!("{}seed {}", what.unwrap_or_default(), self.seed.wrapping_add(u64::from(k)))
    }

    /// Reports the sheets from `shown` on that are complete, and fills in their items.
    fn show_complete(
        &mut self,
        results: &Results,
        shown: &mut usize,
        observe: &mut impl FnMut(Event<'_>),
    ) {
        while let Some(sheet) = self.sheets.get(*shown) {
            let is_complete =
                |sample: &Sample| sample.configurations.iter().all(|&c| results.left[c] == 0);
            if !self.samples(sheet).all(is_complete) {
                return;
            }
            results.fill_in_all(&mut self.values, &sheet.items);
            sheet.beside.iter().for_each(|(_, items)| results.fill_in_all(&mut self.beside, items));
            let mut items: Vec<Item> =
                sheet.items.iter().map(|&i| self.values.items[i].clone()).collect();
            score::settle(sheet.paper.published(), &mut items);
            observe(Event::Sheet(sheet, &items, &sheet.columns_beside(&self.beside.items)));
            *shown += 1;
        }
    }
}

impl Plot {
    /// What was recorded of it.
    fn recording(self, seed: u64, Recorded { curves, events }: Recorded) -> Recording {
        let Self { paper, spec, plot, system, parameters, configuration: _ } = self;
        let paper = paper.key().to_owned();
        let item = spec.id.clone();
        Recording {
            paper,
            item,
            system,
            parameters,
            seed,
            from_s: plot.from_s,
            to_s: plot.to_s,
            curves,
            events,
        }
    }
}

/// The metrics of one run that items read; the rest of the run is dropped.
pub(super) type Values = Vec<Option<f64>>;

/// What a worker tells about a run.
enum Told {
    /// It was disturbed, and how.
    Disturbed(String),
    /// It was made. Of a failure: whether the run itself requested the stop.
    Done(Result<Made, (RunError, bool)>),
}

/// The metrics that are read of what a stack made; none if it was disturbed the last time, too.
fn values_of(
    made: Result<Vec<Metric>, String>,
    configuration: &Configuration,
    disturbed: &impl Fn(&str),
) -> Values {
    let found = made.map_err(|why| disturbed(&why)).unwrap_or_default();
    if found.is_empty() {
        return vec![];
    }
    let value = |name: &String| found.iter().find(|one| one.metric == *name)?.value;
    configuration.metrics.iter().map(value).collect()
}

fn measure(
    configuration: &Configuration,
    seed: u64,
    read_from: &[String],
    recordings: &mut Recordings<'_>,
    stop: &Stop,
) -> Result<Values, RunError> {
    let mut run = Run::new(&configuration.experiment, seed)?;
    let go_on =
        || if stop.is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let mut ended = run.advance(recordings.end(), recordings, |_, _| go_on());
    // Most of the time goes by without a plot: what is not recorded is faster.
    if ended.is_continue() {
        ended = run.advance(Time::MAX, &mut (), |_, ()| go_on());
    }
    if ended.is_break() {
        return Err(Stopped.into());
    }
    let measurements = run.measurements();
    let wanted = &configuration.metrics;
    read_from.iter().chain(wanted).try_for_each(|name| known_metric(&measurements, name))?;
    Ok(wanted.iter().map(|metric| measurements.metric(metric)).collect())
}

/// The results of the runs so far.
struct Results {
    /// Per configuration, the names of the metrics that are read from its runs.
    wanted: Vec<Vec<String>>,
    /// Per configuration, the values of every run by repetition; empty until the run is done, and
    /// of a run that is left out.
    values: Vec<Vec<Values>>,
    /// Per configuration, the runs that are not done yet.
    left: Vec<u32>,
    /// The failed run that is first in the queue.
    failure: Option<(usize, RunError)>,
}

impl Results {
    fn new(plan: &Plan) -> Self {
        let wanted = plan.configurations.iter().map(|c| c.metrics.clone()).collect();
        let left: Vec<u32> = plan.configurations.iter().map(|c| c.runs).collect();
        let values = left.iter().map(|&runs| vec![vec![]; runs as usize]).collect();
        Self { wanted, values, left, failure: None }
    }

    fn take(&mut self, (c, k): (usize, u32), index: usize, values: Result<Values, RunError>) {
        match values {
            Ok(values) => {
                self.values[c][k as usize] = values;
                self.left[c] -= 1;
            }
            // A configuration with a failed run is never complete.
            // Runs that were stopped because of another tell nothing.
            Err(RunError::Stopped(_)) => {}
            Err(error) if self.failure.as_ref().is_none_or(|(first, _)| index < *first) => {
                self.failure = Some((index, error));
            }
            Err(_) => {}
        }
    }

    fn fill_in_all(&self, values: &mut PlannedValues, items: &[usize]) {
        for &item in items {
            self.fill_in(&mut values.items[item], &values.readings[item]);
        }
    }

    fn fill_in(&self, item: &mut Item, reading: &Reading) {
        match reading {
            Reading::Counted(value) => item.measured = *value,
            Reading::Runs { value, over: None, times, summary } => {
                let is_made = |k: &u32| value.configurations.iter().all(|&c| self.is_made(c, *k));
                let made = (0..item.runs).filter(is_made).map(|k| self.value(value, k));
                item.measure(*summary, made);
                item.scale(*times);
            }
            Reading::Runs { value, over: Some(over), times, .. } => {
                let estimate = self.quotient(value, over, item.runs).scaled(*times, 0.0);
                (item.measured, item.ci95, item.runs) =
                    (estimate.mean, estimate.ci95, estimate.runs);
            }
        }
    }

    /// Whether the run was made, in contrast to one that is left out.
    fn is_made(&self, c: usize, k: u32) -> bool {
        !self.values[c][k as usize].is_empty()
    }

    /// The quotient from the first `runs` repetitions.
    fn quotient(&self, value: &Sample, over: &Divisor, runs: u32) -> Estimate {
        let Divisor { sample: below, shown, of } = over;
        let pairs = (0..runs).map(|k| (self.value(value, k), self.value(below, k)));
        let quotient = match of {
            QuotientOf::Means => Estimate::of_quotient(pairs),
            QuotientOf::Runs => {
                let defined = |y: &f64| *y != 0.0;
                Estimate::from_runs(pairs.map(|(x, y)| Some(x? / y.filter(defined)?)))
            }
        };
        match shown {
            Shown::Ratio => quotient,
            Shown::Gain => quotient.scaled(100.0, -100.0),
        }
    }

    /// The metric in repetition `k`, the mean over the configurations in which it exists.
    fn value(&self, Sample { configurations, metric }: &Sample, k: u32) -> Option<f64> {
        let of = |c: &usize| {
            let place = self.wanted[*c].iter().position(|wanted| wanted == metric)?;
            *self.values[*c][k as usize].get(place)?
        };
        match configurations.as_slice() {
            [one] => of(one),
            several => mean(&several.iter().filter_map(of).collect::<Vec<f64>>()),
        }
    }
}
