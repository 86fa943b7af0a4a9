//! Calibration: finds parameters that a paper gives by their effect, by bisection on the mean of a
//! few runs.
//!
//! All searches of a plan run in parallel: in every round each search names the values to try, and
//! all their runs share one queue of jobs. The result does not depend on the number of threads.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::known_metric;
use super::settings::{bad_item, filled_in};
use crate::papers::record::{Calibration, ItemSpec, Paper, Parameters};
use losscause_study::run::run_stopping_at;
use losscause_study::statistics::mean;
use losscause_study::{InputError, RunError, Scenario, Setting, Workers};

/// A calibrated parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// Short name of the paper.
    pub paper: String,
    /// The scenario of the calibration, by its name in the paper.
    pub scenario: String,
    /// The system that ran in it.
    pub system: String,
    /// The other settings of the scenario.
    pub at: Vec<String>,
    /// The parameter of the scenario's file.
    pub parameter: String,
    /// The value that was found.
    pub value: f64,
    /// The metric that was compared with the target.
    pub metric: String,
    /// The target of the metric.
    pub target: f64,
    /// The metric's mean at the value found.
    pub reached: f64,
    /// Whether the mean is within the tolerance of the target.
    pub met: bool,
}

impl fmt::Display for Calibrated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parameter, value, metric, reached, system, scenario, target, .. } = self;
        write!(
            f,
            "{parameter} = {value:.6} gives {metric} = {reached:.4} for {system} in {scenario}"
        )?;
        self.at.iter().try_for_each(|setting| write!(f, ", {setting}"))?;
        match self.met {
            true => write!(f, " (wanted: {target})"),
            false => {
                write!(f, " (wanted: {target}, which was not met; the nearest value is taken)")
            }
        }
    }
}

/// A search under way.
#[derive(Debug)]
pub(super) struct Search {
    paper: &'static Paper,
    calibration: &'static Calibration,
    /// The scenario, by the paper's name.
    name: String,
    /// The scenario with all settings but the one sought.
    reference: Scenario,
    at: Vec<String>,
    target: f64,
    pub(super) tried: Tried,
    /// What it is known to cost, thousands of packet-hops; 0 if that is not recorded.
    pub(super) cost: u64,
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { paper, calibration, name, target, .. } = self;
        let Calibration { parameter, metric, .. } = calibration;
        write!(f, "{}/{name}: {parameter} for {metric} {target}", paper.key())
    }
}

/// What a search has tried so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Tried {
    /// The values with the metric's means, in the order of trial.
    seen: Vec<(f64, f64)>,
    /// Packet-hops of the runs.
    pub(super) packet_hops: u64,
}

/// Most halvings of the interval: a millionth of it is left.
const MOST_HALVINGS: usize = 20;

/// The target of a calibration for an item at `parameters`.
pub(super) fn target(
    paper: &Paper,
    item: &ItemSpec,
    calibration: &Calibration,
    parameters: &Parameters,
) -> Result<f64, InputError> {
    let text = filled_in(&calibration.target.to_string(), parameters);
    let text = text.map_err(|problem| bad_item(paper, item, "parameters", problem))?;
    let target = text.parse::<f64>().ok().filter(|target| target.is_finite());
    target.ok_or_else(|| {
        let problem = format!(
            "the calibration of {} aims at \"{text}\", expected a number",
            calibration.parameter
        );
        bad_item(paper, item, "parameters", problem)
    })
}

impl Search {
    /// A search that has tried nothing yet. `reference` is the scenario called `name` with the
    /// reference system's settings applied to it.
    pub(super) fn new(
        paper: &'static Paper,
        calibration: &'static Calibration,
        name: &str,
        (reference, settings): (Scenario, &[Setting]),
        target: f64,
    ) -> Result<Self, InputError> {
        let of_network = settings.iter().filter(|setting| !setting.key().starts_with("flow."));
        let at = of_network.map(ToString::to_string).collect();
        let name = name.to_owned();
        let search = Self {
            paper,
            calibration,
            name,
            reference,
            at,
            target,
            tried: Tried::default(),
            cost: 0,
        };
        let (from, to) = calibration.between;
        let problem = if !(from < to && from.is_finite() && to.is_finite()) {
            format!(
                "between {from} and {to}, expected the smaller end of an interval and the larger one"
            )
        } else if !(calibration.tolerance > 0.0 && calibration.tolerance.is_finite()) {
            format!("tolerance {}, expected a number above 0", calibration.tolerance)
        } else if calibration.runs == 0 {
            "runs 0, expected 1 or more".to_owned()
        } else {
            // If both ends are valid settings, so is everything between them.
            search.scenario(from)?.experiment()?;
            search.scenario(to)?.experiment()?;
            return Ok(search);
        };
        let file = format!("papers/{}/items.toml", paper.key());
        Err(InputError::key(file, format!("calibration.{}", calibration.parameter), problem))
    }

    /// Whether it is the one that [`Search::new`] would make of these.
    pub(super) fn is_of(
        &self,
        calibration: &Calibration,
        reference: &Scenario,
        target: f64,
    ) -> bool {
        std::ptr::eq(self.calibration, calibration)
            && self.target.to_bits() == target.to_bits()
            && self.reference.is_same(reference)
    }

    /// The parameter at one end of its interval, to see whether a scenario takes it.
    pub(super) fn at_an_end(&self) -> Setting {
        self.setting(self.calibration.between.0)
    }

    fn setting(&self, value: f64) -> Setting {
        Setting::new(self.calibration.parameter.as_str(), value)
    }

    fn scenario(&self, value: f64) -> Result<Scenario, InputError> {
        self.reference.with(&[self.setting(value)])
    }

    fn distance(&self, mean: f64) -> f64 {
        (mean - self.target).abs()
    }

    /// The value whose mean is nearest to the target; of equals the one tried first.
    fn nearest(&self) -> Option<(f64, f64)> {
        self.tried
            .seen
            .iter()
            .copied()
            .min_by(|a, b| self.distance(a.1).total_cmp(&self.distance(b.1)))
    }

    fn is_met(&self) -> bool {
        self.nearest().is_some_and(|(_, mean)| self.distance(mean) <= self.calibration.tolerance)
    }

    /// The values to try next; none when the search is over.
    fn next(&self) -> Vec<f64> {
        let (from, to) = self.calibration.between;
        let [(_, first), (_, last), ..] = self.tried.seen.as_slice() else { return vec![from, to] };
        let lowest = first.min(*last);
        let highest = first.max(*last);
        let halvings = self.tried.seen.len() - 2;
        if self.is_met() || halvings >= MOST_HALVINGS || !(lowest..=highest).contains(&self.target)
        {
            return vec![];
        }
        // The ends show whether the metric rises or falls; every value tried moves one end.
        let rises = last > first;
        let mut low = from;
        let mut high = to;
        for &(value, mean) in &self.tried.seen[2..] {
            if (mean < self.target) == rises { low = value } else { high = value }
        }
        vec![f64::midpoint(low, high)]
    }

    fn outcome(&self) -> Calibrated {
        let (value, reached) = self.nearest().expect("a search that is over has seen both ends");
        Calibrated {
            paper: self.paper.key().to_owned(),
            scenario: self.name.clone(),
            system: self.calibration.system.clone(),
            at: self.at.clone(),
            parameter: self.calibration.parameter.clone(),
            value,
            metric: self.calibration.metric.clone(),
            target: self.target,
            reached,
            met: self.is_met(),
        }
    }
}

/// Performs all searches. Repetition k runs with `seed` + k. After every round `ran` gets the
/// packet-hops of each of its runs, and `over` each search that is over, with its number.
///
/// # Errors
/// A run fails, or has no such metric, the workers are stopped, or `over` fails.
pub(super) fn find(
    searches: &mut [Search],
    seed: u64,
    workers: &Workers,
    ran: &mut impl FnMut(u64),
    over: &dyn Fn(usize, &Tried) -> Result<(), RunError>,
) -> Result<Vec<Calibrated>, RunError> {
    loop {
        let wanted: Vec<(usize, f64)> = searches
            .iter()
            .enumerate()
            .flat_map(|(s, search)| search.next().into_iter().map(move |v| (s, v)))
            .collect();
        if wanted.is_empty() {
            return Ok(searches.iter().map(Search::outcome).collect());
        }
        let runs =
            |place: usize| (0..searches[wanted[place].0].calibration.runs).map(move |k| (place, k));
        let tasks: Vec<(usize, u32)> = (0..wanted.len()).flat_map(runs).collect();
        let look = |&(place, k): &(usize, u32)| -> Result<(Option<f64>, u64), RunError> {
            let (s, value) = wanted[place];
            let experiment = searches[s].scenario(value)?.experiment()?;
            let measured =
                run_stopping_at(&experiment, seed.wrapping_add(u64::from(k)), workers.stop())?;
            known_metric(&measured, &searches[s].calibration.metric)?;
            Ok((measured.metric(&searches[s].calibration.metric), measured.packet_hops()))
        };
        let results = workers.map(&tasks, look, |_| ())?;
        let mut values: Vec<Vec<f64>> = vec![vec![]; wanted.len()];
        for ((place, _), result) in tasks.iter().zip(results) {
            let (value, packet_hops) = result?;
            values[*place].extend(value);
            searches[wanted[*place].0].tried.packet_hops += packet_hops;
            ran(packet_hops);
        }
        for ((s, value), values) in wanted.into_iter().zip(values) {
            let search = &mut searches[s];
            let Some(mean) = mean(&values) else { return Err(undefined(search, value).into()) };
            search.tried.seen.push((value, mean));
            if search.next().is_empty() {
                over(s, &search.tried)?;
            }
        }
    }
}

fn undefined(search: &Search, value: f64) -> InputError {
    let Calibration { parameter, metric, .. } = search.calibration;
    let file = format!("papers/{}/items.toml", search.paper.key());
    let problem =
        format!("no run has a value of {metric} at {value}, expected one that every run has");
    InputError::key(file, format!("calibration.{parameter}"), problem)
}
