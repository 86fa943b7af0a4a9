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

#[cfg(test)]
mod tests {
    use losscause_sim::Verdicts;

    use super::*;

    #[test]
    fn an_undecided_loss_is_judged_but_not_wrong_undetected_neither() {
        let verdicts = VerdictTally {
            congestion: Verdicts {
                called_congestion: 5,
                called_wireless: 3,
                undecided: 2,
                undetected: 7,
            },
            wireless: Verdicts {
                called_congestion: 1,
                called_wireless: 6,
                undecided: 1,
                undetected: 4,
            },
        };
        // 3 of 5 + 3 + 2, and 1 of 1 + 6 + 1.
        assert_eq!((verdicts.m_c(), verdicts.m_w()), (Some(0.3), Some(0.125)));
        let undecided = Verdicts { undecided: 4, ..Verdicts::default() };
        let undecided = VerdictTally { congestion: undecided, wireless: undecided };
        assert_eq!(
            (undecided.m_c(), undecided.m_w()),
            (Some(0.0), Some(0.0)),
            "judged, and none wrong"
        );
        let undetected = Verdicts { undetected: 4, ..Verdicts::default() };
        let undetected = VerdictTally { congestion: undetected, wireless: undetected };
        assert_eq!((undetected.m_c(), undetected.m_w()), (None, None));
    }

    #[test]
    fn errors_are_means_over_measured_flows_with_such_losses() {
        let flow = |measured: bool, m_c: Option<f64>, m_w: Option<f64>| FlowMeasurements {
            measured,
            m_c,
            m_w,
            ..FlowMeasurements::default()
        };
        // M_c of 10 and 40, M_w of 6: the flow without such a loss and the one that is not measured
        // do not count.
        let flows = [
            flow(true, Some(10.0), None),
            flow(true, Some(40.0), Some(6.0)),
            flow(true, None, None),
            flow(false, Some(99.0), Some(99.0)),
        ];
        let mut metrics = Metrics::default();
        add_errors(&mut metrics, &flows);
        let values: Vec<_> =
            metrics.0.iter().map(|metric| (metric.metric.as_str(), metric.value)).collect();
        assert_eq!(values, [("M_c", Some(25.0)), ("M_w", Some(6.0))]);
    }
}
