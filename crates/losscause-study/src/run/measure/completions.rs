//! How long transfers take, and how much they ask of the network.

use losscause_sim::FlowId;
use serde::{Deserialize, Serialize};

use super::{FlowMeasurements, Metrics, State, measured};
use crate::statistics::{mean, nearest_rank};

/// The percentiles of completion times that are metrics: the end of the name, and the share.
pub(super) const PERCENTILES: [(&str, f64); 3] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)];

/// A point of the distribution of the completion times of transfers, or of response times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CompletionTime {
    /// Percentage of the transfers or responses, 1 to 100.
    pub percent: u32,
    /// So many were done within this time of their start, or of the request (nearest rank), seconds.
    pub time_s: f64,
}

impl CompletionTime {
    /// The distribution of these times, seconds; nothing below two.
    pub(crate) fn of_all(mut times: Vec<f64>) -> Vec<Self> {
        if times.len() < 2 {
            return Vec::new();
        }
        times.sort_by(f64::total_cmp);
        let point = |percent: u32| {
            let time_s = nearest_rank(&times, f64::from(percent) / 100.0)?;
            Some(Self { percent, time_s })
        };
        (1..=100).filter_map(point).collect()
    }
}

/// `completion_time` and `incomplete`, if a measured flow is a transfer; with several, also
/// `transfers`, the percentiles and `offered_load`.
pub(super) fn add(metrics: &mut Metrics, state: State<'_>, flows: &[FlowMeasurements]) {
    let sized = || flows.iter().filter(|flow| flow.measured && flow.offered_bytes.is_some());
    if sized().next().is_none() {
        return;
    }
    let started = sized().filter(|flow| flow.start_s.is_some()).count();
    let mut times: Vec<f64> = sized().filter_map(|flow| flow.completion_s).collect();
    metrics.add("completion_time", "s", mean(&times));
    let several = sized().nth(1).is_some();
    if several {
        times.sort_by(f64::total_cmp);
        for (name, share) in PERCENTILES {
            metrics.add(format!("completion_time_{name}"), "s", nearest_rank(&times, share));
        }
        metrics.add("transfers", "count", Some(started as f64));
    }
    metrics.add("incomplete", "count", Some((started - times.len()) as f64));
    if several {
        metrics.add("offered_load", "percent", offered_load(state, flows));
    }
}

/// The payload of the measured transfers that start in the window over what the link that gets
/// most of it, relative to its rate, can carry in that time, percent; none before the window.
fn offered_load(state: State<'_>, flows: &[FlowMeasurements]) -> Option<f64> {
    let network = state.network();
    let seconds = state.window.length().as_secs_f64();
    let window = state.window.from.as_secs_f64()..state.window.to.as_secs_f64();
    let mut offered = vec![0_u64; network.links.len()];
    for FlowId(flow) in measured(network) {
        let FlowMeasurements { start_s, offered_bytes, .. } = flows[flow as usize];
        if start_s.is_some_and(|start| window.contains(&start)) {
            for link in &network.flows[flow as usize].path {
                offered[link.0 as usize] += offered_bytes.unwrap_or(0);
            }
        }
    }
    let load = |(bytes, link): (u64, &losscause_sim::LinkSpec)| {
        bytes as f64 * 8.0 / (link.rate_bps as f64 * seconds) * 100.0
    };
    (seconds > 0.0).then(|| offered.into_iter().zip(&network.links).map(load).fold(0.0, f64::max))
}
