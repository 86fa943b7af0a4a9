//! Goodput and throughput, and how evenly they are shared.

use indexmap::IndexMap;
use losscause_sim::FlowReport;

use super::flows::lifetime;
use super::{FlowMeasurements, Metrics, State, group, measured, sum};
use crate::statistics::mean;

/// `goodput` and `throughput`: the payload of all measured flows over the time from the first start
/// to the last stop of one of them.
pub(super) fn add_sums(metrics: &mut Metrics, state: State<'_>) {
    let simulation = state.simulation;
    let reports: Vec<FlowReport> =
        measured(state.network()).map(|flow| simulation.flow(flow)).collect();
    let lives = || reports.iter().filter_map(|report| lifetime(report, simulation.now()));
    let first = lives().map(|(start, _)| start).min();
    let last = lives().map(|(_, end)| end).max();
    let seconds = first.zip(last).map(|(first, last)| (last - first).as_secs_f64());
    let kbps = |bytes: fn(&FlowReport) -> u64| {
        let bytes: u64 = reports.iter().map(bytes).sum();
        seconds.map(|seconds| bytes as f64 * 8e-3 / seconds)
    };
    metrics.add("goodput", "kb/s", kbps(|report| report.delivered_payload_bytes));
    metrics.add("throughput", "kb/s", kbps(|report| report.received_payload_bytes));
}

/// Means, fairness and overhead of all measured flows, then means and fairness of each group.
pub(super) fn add_means(metrics: &mut Metrics, flows: &[FlowMeasurements]) {
    let all: Vec<&FlowMeasurements> = flows.iter().filter(|flow| flow.measured).collect();
    let mut groups: IndexMap<&str, Vec<&FlowMeasurements>> = IndexMap::new();
    all.iter().for_each(|flow| groups.entry(group(&flow.flow)).or_default().push(flow));
    let groups = groups.into_iter().map(|(name, flows)| (Some(name), flows));
    for (part, flows) in [(None, all)].into_iter().chain(groups) {
        let name = |metric: &str| {
            part.map_or_else(|| metric.to_owned(), |part| format!("{metric}.{part}"))
        };
        // Of the flows that lived.
        let goodputs: Vec<f64> = flows.iter().filter_map(|flow| flow.goodput_kbps).collect();
        let throughputs: Vec<f64> = flows.iter().filter_map(|flow| flow.throughput_kbps).collect();
        metrics.add(name("goodput_mean"), "kb/s", mean(&goodputs));
        metrics.add(name("throughput_mean"), "kb/s", mean(&throughputs));
        metrics.add(name("fairness"), "1", jain(&throughputs));
        if part.is_none() {
            let received = sum(throughputs.into_iter()).filter(|received| *received > 0.0);
            let delivered = sum(goodputs.into_iter());
            metrics.add(
                "overhead",
                "fraction",
                received.zip(delivered).map(|(all, useful)| 1.0 - useful / all),
            );
        }
    }
}

/// Jain's index: 1 if all are equal, 1 / n if one has all; none if all are zero.
fn jain(values: &[f64]) -> Option<f64> {
    let squares: f64 = values.iter().map(|value| value * value).sum();
    let sum: f64 = values.iter().sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_one_for_equals_and_a_share_for_one_with_all() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
        // (1 + 2 + 3)^2 / (3 * (1 + 4 + 9)) = 36 / 42.
        assert!((jain(&[1.0, 2.0, 3.0]).unwrap() - 36.0 / 42.0).abs() < 1e-12);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }

    #[test]
    fn jains_index_counts_every_flow_of_many() {
        // (1 + 2 + 3 + 4 + 5)^2 / (5 * (1 + 4 + 9 + 16 + 25)) = 225 / 275.
        assert!((jain(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap() - 225.0 / 275.0).abs() < 1e-12);
        // One of eight has all.
        assert_eq!(jain(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]), Some(0.125));
        // Six that have 3 and six that have 1: 24^2 / (12 * 60).
        let halves: Vec<f64> = [3.0; 6].into_iter().chain([1.0; 6]).collect();
        assert!((jain(&halves).unwrap() - 0.8).abs() < 1e-12);
    }

    #[test]
    fn overhead_is_the_share_of_received_payload_that_was_not_new() {
        // 300 + 100 delivered of 320 + 180 received: 1 - 400 / 500; an unmeasured flow counts
        // nowhere.
        let flows =
            [("a", true, 300.0, 320.0), ("b", true, 100.0, 180.0), ("c", false, 1.0, 900.0)].map(
                |(name, measured, goodput, throughput)| FlowMeasurements {
                    flow: name.to_owned(),
                    measured,
                    goodput_kbps: Some(goodput),
                    throughput_kbps: Some(throughput),
                    ..FlowMeasurements::default()
                },
            );
        let mut metrics = Metrics::default();
        add_means(&mut metrics, &flows);
        let value = |name: &str| {
            metrics.0.iter().find(|metric| metric.metric == name).unwrap().value.unwrap()
        };
        assert!((value("overhead") - 0.2).abs() < 1e-12);
        assert_eq!(
            (value("goodput_mean"), value("throughput_mean"), value("goodput_mean.b")),
            (200.0, 250.0, 100.0)
        );
        // (320 + 180)^2 / (2 * (320^2 + 180^2)) = 250000 / 269600.
        assert!((value("fairness") - 250_000.0 / 269_600.0).abs() < 1e-12);
    }
}
