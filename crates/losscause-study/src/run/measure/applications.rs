//! What the clients of applications over TCP got.

use losscause::Span;
use losscause_sim::{ApplicationReport, FlowSpec, Waits};
use serde::{Deserialize, Serialize};

use super::completions::{CompletionTime, PERCENTILES};
use super::{FlowMeasurements, Metrics, State, measured, sum};
use crate::statistics::{mean, nearest_rank};

/// What the client of an application got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ApplicationMeasurements {
    /// Complete responses, or chunks of video.
    pub responses: u64,
    /// Mean time from a request to the last byte of its response, seconds; null if none is
    /// complete.
    pub response_s: Option<f64>,
    /// The distribution of these times, 1 to 100 percent; empty below two.
    pub response_times: Vec<CompletionTime>,
    /// From the start of the flow to the end of the first chunk, seconds; null before, and if it is
    /// no video.
    pub startup_s: Option<f64>,
    /// How often the player had nothing left to play after its start; null if it is no video.
    pub stalls: Option<u64>,
    /// How long in all, seconds; null if it is no video.
    pub rebuffering_s: Option<f64>,
}

impl ApplicationMeasurements {
    /// Of `flow`, whose application achieved what `report` says; none if it has no application.
    pub(super) fn of(flow: &FlowSpec, report: Option<ApplicationReport>) -> Option<Self> {
        let (spec, report) = flow.application.zip(report)?;
        let times = seconds(&report);
        let plays = matches!(spec.waits, Waits::Play { .. });
        Some(Self {
            responses: times.len() as u64,
            response_s: mean(&times),
            startup_s: times.first().copied().filter(|_| plays),
            response_times: CompletionTime::of_all(times),
            stalls: plays.then_some(report.stalls),
            rebuffering_s: plays.then(|| report.stalled.as_secs_f64()),
        })
    }
}

/// `response_time` with its percentiles and `responses`, if a measured flow has an application;
/// with video also `startup`, `stalls` and `rebuffering`.
pub(super) fn add(metrics: &mut Metrics, state: State<'_>, flows: &[FlowMeasurements]) {
    let reports = measured(state.network()).filter_map(|flow| state.simulation.application(flow));
    let reports: Vec<ApplicationReport> = reports.collect();
    if reports.is_empty() {
        return;
    }
    let mut times: Vec<f64> = reports.iter().flat_map(seconds).collect();
    metrics.add("response_time", "s", mean(&times));
    times.sort_by(f64::total_cmp);
    for (name, share) in PERCENTILES {
        metrics.add(format!("response_time_{name}"), "s", nearest_rank(&times, share));
    }
    metrics.add("responses", "count", Some(times.len() as f64));
    let clients =
        || flows.iter().filter(|flow| flow.measured).filter_map(|flow| flow.application.as_ref());
    if let Some(stalls) = sum(clients().filter_map(|client| client.stalls).map(|n| n as f64)) {
        let startups: Vec<f64> = clients().filter_map(|client| client.startup_s).collect();
        metrics.add("startup", "s", mean(&startups));
        metrics.add("stalls", "count", Some(stalls));
        metrics.add("rebuffering", "s", sum(clients().filter_map(|client| client.rebuffering_s)));
    }
}

/// The response times, seconds, in their order.
fn seconds(report: &ApplicationReport) -> Vec<f64> {
    report.response_times.iter().copied().map(Span::as_secs_f64).collect()
}
