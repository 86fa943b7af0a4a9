//! The JSON of a run, as `losscause simulate --format json` prints it. docs/json.md describes it for readers.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{FlowMeasurements, LinkMeasurements, Metric, Run};
use crate::{Scenario, Setting};

/// The result of one run of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(title = "losscause simulation result"))]
pub struct SimulationResult {
    /// Version of this format, 1. It grows when a field is removed or changes its meaning; new fields, metrics and notes
    /// do not change it.
    pub format_version: u32,
    /// The scenario, as the user named it.
    pub scenario: String,
    /// Title of the scenario.
    pub title: String,
    /// The scenario's parameters and their values, by name.
    pub parameters: BTreeMap<String, f64>,
    /// The settings that were applied to the scenario, each KEY=VALUE, in their order.
    pub settings: Vec<String>,
    /// Random seed.
    pub seed: u64,
    /// Version of the program.
    pub version: String,
    /// The metrics of the run by name, in the order in which they are measured.
    pub metrics: IndexMap<String, MetricEstimate>,
    /// Every flow, in the order of the scenario.
    pub flows: Vec<FlowMeasurements>,
    /// Every link, in the order of the scenario, then the links that carry what comes back.
    pub links: Vec<LinkMeasurements>,
    /// Warnings about the numbers, one sentence each.
    pub notes: Vec<String>,
}

/// What one or more runs say about a metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MetricEstimate {
    /// Unit of `value` and `ci95`: percent, fraction, kb/s, packets, count, or 1 for a plain number.
    pub unit: String,
    /// Mean over the runs in which the metric is defined; null if it is defined in none (M_c without a congestion loss).
    pub value: Option<f64>,
    /// Half-width of Student's 95 % interval for the mean; null below two values.
    pub ci95: Option<f64>,
    /// Runs made.
    pub runs: u32,
}

impl SimulationResult {
    /// What `run`, a run of `scenario` with the last `settings` applied to it, has measured up to now.
    pub fn of(scenario: &Scenario, settings: &[Setting], run: &Run) -> Self {
        let measurements = run.measurements();
        let one_run = |Metric { metric, unit, value }| {
            (metric, MetricEstimate { unit: unit.to_owned(), value, ci95: None, runs: 1 })
        };
        Self {
            format_version: 1,
            scenario: scenario.file().to_owned(),
            title: scenario.document().title.clone(),
            parameters: run.experiment().parameters.clone(),
            settings: settings.iter().map(Setting::to_string).collect(),
            seed: run.seed(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            metrics: measurements.metrics.into_iter().map(one_run).collect(),
            flows: measurements.flows,
            links: measurements.links,
            notes: measurements.notes,
        }
    }

    /// The JSON schema of the result.
    #[cfg(feature = "schema")]
    pub fn schema() -> serde_json::Value {
        let generator = schemars::generate::SchemaSettings::default().for_serialize().into_generator();
        generator.into_root_schema_for::<Self>().to_value()
    }
}
