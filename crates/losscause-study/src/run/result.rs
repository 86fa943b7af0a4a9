//! The JSON of one or more runs, as `losscause simulate --format json` prints it. docs/json.md
//! describes it for readers.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{
    CompletionTime, FlowMeasurements, LinkMeasurements, Measurements, Run, SeriesRow, Warning,
    are_one_run, covers_window, warnings,
};
use crate::origin::{Origin, options};
use crate::{Experiment, Scenario, Setting};

/// The result of one or more runs of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(title = "losscause simulation result"))]
pub struct SimulationResult {
    /// Version of this format, 2. It grows when a field is removed or changes its meaning; new
    /// fields, metrics and warnings do not change it.
    pub format_version: u32,
    /// The scenario, as the user named it.
    pub scenario: String,
    /// Title of the scenario.
    pub title: String,
    /// The scenario's parameters and their values, by name.
    pub parameters: BTreeMap<String, f64>,
    /// The settings that were applied to the scenario, each KEY=VALUE, in their order.
    pub settings: Vec<String>,
    /// Random seed of the first run; each further run has the next number.
    pub seed: u64,
    /// Runs made.
    pub runs: u32,
    /// Version of the program.
    pub version: String,
    /// Where the result comes from.
    #[serde(default)]
    pub origin: Origin,
    /// The metrics over all runs by name, in the order in which they are measured.
    pub metrics: IndexMap<String, MetricEstimate>,
    /// Every flow of the first run, in the order of the scenario.
    pub flows: Vec<FlowMeasurements>,
    /// Every link of the first run, in the order of the scenario, then the links that carry what
    /// comes back.
    pub links: Vec<LinkMeasurements>,
    /// What to know before drawing conclusions.
    pub warnings: Vec<Warning>,
    /// Completion times of the measured transfers of all runs, if there are several: the time by
    /// which each percentage of those that are complete was done, 1 to 100 percent; else empty.
    pub completion_times: Vec<CompletionTime>,
    /// The run over time, if `--interval` asks for it; else empty.
    pub series: Vec<SeriesRow>,
    /// Every run by itself, if there are several; else empty.
    pub each_run: Vec<RunMetrics>,
}

/// What one or more runs say about a metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MetricEstimate {
    /// Unit of `value` and `ci95`: percent, fraction, kb/s, ms, s, packets, count, or 1 for a plain
    /// number.
    pub unit: String,
    /// Mean over the runs in which the metric is defined; null if it is defined in none (M_c
    /// without a congestion loss).
    pub value: Option<f64>,
    /// Half-width of Student's 95 % interval for the mean; null below two values, and if nothing
    /// depends on the seed, so that all runs are the same.
    pub ci95: Option<f64>,
    /// Runs in which the metric has a value.
    pub runs: u32,
    /// Whether it covers the measuring window, from measure.from_s to measure.to_s; if not, it
    /// covers each flow's life.
    pub window: bool,
}

/// One run of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunMetrics {
    /// The run's random seed.
    pub seed: u64,
    /// The run's metrics by name; null where a metric is not defined.
    pub metrics: IndexMap<String, Option<f64>>,
    /// Every flow, in the order of the scenario.
    pub flows: Vec<FlowMeasurements>,
}

impl SimulationResult {
    /// What `run`, a run of `scenario` with the last `settings` applied to it, has measured up to
    /// now.
    pub fn of(scenario: &Scenario, settings: &[Setting], run: &Run) -> Self {
        Self::of_measurements(
            scenario,
            settings,
            run.experiment(),
            run.seed(),
            &[run.measurements()],
        )
    }

    /// What `runs` have measured: runs of `experiment`, which `scenario` with the last `settings`
    /// gives, with the seeds `seed`, `seed + 1`, …
    pub fn of_measurements(
        scenario: &Scenario,
        settings: &[Setting],
        experiment: &Experiment,
        seed: u64,
        runs: &[Measurements],
    ) -> Self {
        let first = runs.first().cloned().unwrap_or_default();
        let all = if runs.len() > 1 { runs } else { &[] };
        let words = ["simulate", scenario.file(), "--runs", &runs.len().to_string()];
        let words = words.map(str::to_owned).into_iter().chain(options("--set", settings));
        Self {
            format_version: FORMAT_VERSION,
            scenario: scenario.file().to_owned(),
            title: scenario.document().title.clone(),
            parameters: experiment.parameters.clone(),
            settings: settings.iter().map(Setting::to_string).collect(),
            seed,
            runs: runs.len() as u32,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            origin: Origin::of(words, seed),
            metrics: MetricEstimate::of_all(runs),
            flows: first.flows,
            links: first.links,
            warnings: warnings(experiment, runs),
            completion_times: CompletionTime::of_all(completion_times(runs)),
            series: Vec::new(),
            each_run: RunMetrics::of_all(seed, all),
        }
    }

    /// Indented JSON with a new line at its end, as `losscause simulate --format json` prints it.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("results have text keys and finite or no numbers")
            + "\n"
    }

    /// The JSON schema of the result. It is generated from the types: `cargo run -p losscause-study
    /// --features schema --example schema result`.
    pub const SCHEMA: &str = include_str!("../../schema/simulate.schema.json");

    /// [`SimulationResult::SCHEMA`], generated from the types.
    #[cfg(feature = "schema")]
    pub fn generated_schema() -> serde_json::Value {
        let generator =
            schemars::generate::SchemaSettings::default().for_serialize().into_generator();
        generator.into_root_schema_for::<Self>().to_value()
    }
}

/// The metrics that users judge a link by, the most telling first.
pub const JUDGED_BY: [&str; 29] = [
    "goodput",
    "thput",
    "beside",
    "completion_time",
    "completion_time_p50",
    "completion_time_p95",
    "completion_time_p99",
    "transfers",
    "incomplete",
    "offered_load",
    "response_time",
    "response_time_p50",
    "response_time_p95",
    "response_time_p99",
    "responses",
    "startup",
    "stalls",
    "rebuffering",
    "rtt_p50",
    "rtt_p95",
    "delay_p95",
    "queueing_p95",
    "jitter",
    "congestion_loss",
    "queue_drops",
    "wireless_drops",
    "timeouts",
    "M_c",
    "M_w",
];

/// The version of the JSON.
const FORMAT_VERSION: u32 = 2;

/// Completion times of the measured transfers of all `runs`, seconds.
fn completion_times(runs: &[Measurements]) -> Vec<f64> {
    let measured = runs.iter().flat_map(|run| &run.flows).filter(|flow| flow.measured);
    measured.filter_map(|flow| flow.completion_s).collect()
}

impl RunMetrics {
    /// Every one of `runs`, which have the seeds `seed`, `seed + 1`, …
    pub fn of_all(seed: u64, runs: &[Measurements]) -> Vec<Self> {
        let one = |(run, place): (&Measurements, u64)| Self {
            seed: seed.wrapping_add(place),
            metrics: run
                .metrics
                .iter()
                .map(|metric| (metric.metric.clone(), metric.value))
                .collect(),
            flows: run.flows.clone(),
        };
        runs.iter().zip(0..).map(one).collect()
    }
}

impl MetricEstimate {
    /// Every metric of `runs`, which have the same metrics, by name.
    pub fn of_all(runs: &[Measurements]) -> IndexMap<String, Self> {
        let names = runs.first().into_iter().flat_map(|run| &run.metrics);
        let one_run = are_one_run(runs);
        let estimate = |(place, metric): (usize, &super::Metric)| {
            let values: Vec<Option<f64>> =
                runs.iter().map(|run| run.metrics[place].value).collect();
            let (value, ci95) = mean_and_interval(&values);
            let ci95 = ci95.filter(|_| !one_run);
            let with_value = values.iter().flatten().count() as u32;
            let window = covers_window(&metric.metric);
            (
                metric.metric.clone(),
                Self { unit: metric.unit.to_string(), value, ci95, runs: with_value, window },
            )
        };
        names.enumerate().map(estimate).collect()
    }
}

/// The mean of the values there are, and its 95 % interval.
#[cfg(feature = "estimates")]
pub(super) fn mean_and_interval(values: &[Option<f64>]) -> (Option<f64>, Option<f64>) {
    let estimate = crate::statistics::Estimate::from_runs(values.iter().copied());
    (estimate.mean, estimate.ci95)
}

/// Without estimates there is one run.
#[cfg(not(feature = "estimates"))]
pub(super) fn mean_and_interval(values: &[Option<f64>]) -> (Option<f64>, Option<f64>) {
    let present: Vec<f64> = values.iter().copied().flatten().collect();
    (crate::statistics::mean(&present), None)
}
