//! How good the verdicts were.

use losscause_sim::VerdictTally;

use super::{FlowMeasurements, Metrics, State, measured, share};
use crate::statistics::mean;

/// `M_c` and `M_w`: means of the flows' shares of wrong verdicts.
pub(super) fn add_errors(metrics: &mut Metrics, flows: &[FlowMeasurements]) {
    let mean_of = |error: fn(&FlowMeasurements) -> Option<f64>| {
        mean(&flows.iter().filter(|flow| flow.measured).filter_map(error).collect::<Vec<_>>())
    };
    metrics.add("M_c", "percent", mean_of(|flow| flow.m_c));
    metrics.add("M_w", "percent", mean_of(|flow| flow.m_w));
}

/// `P_CC`, `P_WW` and `P_WC`: shares of the verdicts on all measured flows' losses together.
pub(super) fn add_probabilities(metrics: &mut Metrics, state: State<'_>) {
    let mut verdicts = VerdictTally::default();
    measured(state.network()).for_each(|flow| verdicts += state.simulation.flow(flow).verdicts);
    let VerdictTally { congestion, wireless } = verdicts;
    metrics.add("P_CC", "fraction", share(congestion.called_congestion, congestion.judged()));
    metrics.add("P_WW", "fraction", share(wireless.called_wireless, wireless.judged()));
    metrics.add("P_WC", "fraction", share(congestion.called_wireless, congestion.judged()));
}
