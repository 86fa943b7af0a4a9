//! Goodput and throughput over the flows' lives, and how evenly they are shared.

use super::{FlowMeasurements, Metrics, group, sum};
use crate::statistics::mean;

/// `goodput` and `throughput`.
pub(super) fn add_sums(metrics: &mut Metrics, flows: &[FlowMeasurements]) {
    let (goodputs, throughputs) = rates(flows, None);
    metrics.add("goodput", "kb/s", sum(goodputs.into_iter()));
    metrics.add("throughput", "kb/s", sum(throughputs.into_iter()));
}

/// Means, fairness and overhead of all measured flows, then means and fairness of each group.
pub(super) fn add_means(metrics: &mut Metrics, flows: &[FlowMeasurements]) {
    let mut groups: Vec<&str> = Vec::new();
    for flow in flows.iter().filter(|flow| flow.measured) {
        if !groups.contains(&group(&flow.flow)) {
            groups.push(group(&flow.flow));
        }
    }
    for part in [None].into_iter().chain(groups.into_iter().map(Some)) {
        let name = |metric: &str| part.map_or_else(|| metric.to_owned(), |part| format!("{metric}.{part}"));
        let (goodputs, throughputs) = rates(flows, part);
        metrics.add(name("goodput_mean"), "kb/s", mean(&goodputs));
        metrics.add(name("throughput_mean"), "kb/s", mean(&throughputs));
        metrics.add(name("fairness"), "1", jain(&throughputs));
        if part.is_none() {
            let received = sum(throughputs.into_iter()).filter(|received| *received > 0.0);
            let delivered = sum(goodputs.into_iter());
            metrics.add("overhead", "fraction", received.zip(delivered).map(|(all, useful)| 1.0 - useful / all));
        }
    }
}

/// Goodputs and throughputs, kb/s, of the measured flows that lived, or of those in one group.
fn rates(flows: &[FlowMeasurements], part: Option<&str>) -> (Vec<f64>, Vec<f64>) {
    let mine = || flows.iter().filter(|flow| flow.measured && part.is_none_or(|part| group(&flow.flow) == part));
    (mine().filter_map(|flow| flow.goodput_kbps).collect(), mine().filter_map(|flow| flow.throughput_kbps).collect())
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
    fn jains_index_is_one_for_equals_and_a_share_for_one_that_has_all() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
        // (1 + 2 + 3)^2 / (3 * (1 + 4 + 9)) = 36 / 42.
        assert!((jain(&[1.0, 2.0, 3.0]).unwrap() - 36.0 / 42.0).abs() < 1e-12);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }
}
