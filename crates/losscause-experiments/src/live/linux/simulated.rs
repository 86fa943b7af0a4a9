//! A cell in the simulator: the same file, settings and seed, with `mode = "linux"`.
//!
//! The simulated values have the kernel's definitions. A loss is judged when the simulated sender
//! asks its algorithm, which is once per recovery; the kernel's programs judge every lost packet.
//! M_c and M_w of the two therefore count different things: recoveries here, packets there.

use std::collections::BTreeMap;

use losscause::Time;
use losscause_laboratory::papers::record::System;
use losscause_sim::{
    Detail, Event, EventKind, FlowId, FlowReport, PacketKind, Recorder, Simulation, VerdictTally,
};
use losscause_study::{Experiment, RunError};

use crate::live::Values;
use crate::live::experiment::is_under_test;

/// Whether the simulator has the system's variant and algorithm.
pub fn has(system: &System) -> bool {
    system.variant.is_some()
}

/// When each flow starts with this seed, in the network's order. The kernel's connections start
/// then, too.
pub fn starts(experiment: &Experiment, seed: u64) -> Vec<Time> {
    experiment.network.flows.iter().map(|flow| flow.starts_at(seed)).collect()
}

/// The values of the simulated cell, each with `simulated_` before the metric's name.
///
/// # Errors
/// The network is not valid.
pub fn run(experiment: &Experiment, seed: u64) -> Result<Values, RunError> {
    let mut simulation = Simulation::new(&experiment.network, seed)?;
    let mut waited = Waited::default();
    simulation.run_until(experiment.window.0, &mut waited);
    let before: Vec<u64> =
        flows(experiment).map(|flow| simulation.flow(flow).delivered_payload_bytes).collect();
    simulation.run_until(experiment.window.1, &mut waited);
    let reports: Vec<FlowReport> = flows(experiment).map(|flow| simulation.flow(flow)).collect();
    let seconds = (experiment.window.1 - experiment.window.0).as_secs_f64();
    let tested: Vec<bool> =
        experiment.network.flows.iter().map(|flow| is_under_test(&flow.name)).collect();
    let goodput: Vec<(bool, f64)> = (reports.iter().zip(&before).zip(&tested))
        .map(|((report, before), tested)| {
            (*tested, (report.delivered_payload_bytes - before) as f64 * 8e-3 / seconds)
        })
        .collect();
    let mut values = rates("simulated_", &goodput);
    let under_test =
        || reports.iter().zip(&tested).filter(|(_, tested)| **tested).map(|(report, _)| report);
    let retransmissions: u64 =
        under_test().filter_map(|report| report.tcp).map(|tcp| tcp.retransmissions).sum();
    values.insert("simulated_retransmissions", retransmissions as f64);
    let drops: u64 = reports.iter().map(|report| report.lost.congestion).sum();
    let delivered: u64 = reports.iter().map(|report| report.received_packets).sum();
    if delivered > 0 {
        values.insert("simulated_queue_drops", drops as f64 * 1e3 / delivered as f64);
    }
    values.extend(waited.median_ms().map(|ms| ("simulated_queueing_p50", ms)));
    let mut verdicts = VerdictTally::default();
    for report in under_test() {
        verdicts.congestion += report.verdicts.congestion;
        verdicts.wireless += report.verdicts.wireless;
    }
    values.extend(verdicts.m_c().map(|share| ("simulated_M_c", share * 100.0)));
    values.extend(verdicts.m_w().map(|share| ("simulated_M_w", share * 100.0)));
    Ok(values)
}

fn flows(experiment: &Experiment) -> impl Iterator<Item = FlowId> + use<> {
    (0..experiment.network.flows.len() as u32).map(FlowId)
}

/// Goodput, share and fairness from each connection's goodput, kb/s; the flag says whether it is
/// under test.
pub(super) fn rates(prefix: &str, goodput: &[(bool, f64)]) -> Values {
    let name = |metric: &'static str| match (prefix.is_empty(), metric) {
        (true, metric) => metric,
        (false, "goodput") => "simulated_goodput",
        (false, "share") => "simulated_share",
        (false, _) => "simulated_fairness",
    };
    let own: Vec<f64> =
        goodput.iter().filter(|(tested, _)| *tested).map(|(_, rate)| *rate).collect();
    let (sum, all): (f64, f64) = (own.iter().sum(), goodput.iter().map(|(_, rate)| rate).sum());
    let mut values = Values::from([(name("goodput"), sum)]);
    if own.len() < goodput.len() && all > 0.0 {
        values.insert(name("share"), sum * 100.0 / all);
    }
    // Jain, Chiu and Hawe 1984: (sum of x)^2 / (n times the sum of x^2).
    let squares: f64 = own.iter().map(|rate| rate * rate).sum();
    if own.len() > 1 && squares > 0.0 {
        values.insert(name("fairness"), sum * sum / (own.len() as f64 * squares));
    }
    values
}

/// How long data packets waited in the queue, in steps of 10 µs.
#[derive(Default)]
struct Waited {
    counts: BTreeMap<i64, u64>,
}

const STEP_NS: i64 = 10_000;

impl Recorder for Waited {
    fn detail(&self) -> Detail {
        Detail::Arrivals
    }

    fn record(&mut self, event: &Event) {
        if let EventKind::Received(packet) = event.kind
            && matches!(packet.kind, PacketKind::Data | PacketKind::Retransmission)
            && let Some(timing) = packet.timing
        {
            *self.counts.entry(timing.queued.as_nanos() / STEP_NS).or_default() += 1;
        }
    }
}

impl Waited {
    fn median_ms(&self) -> Option<f64> {
        let half = self.counts.values().sum::<u64>().div_ceil(2);
        let mut seen = 0;
        let median = self.counts.iter().find(|(_, count)| {
            seen += **count;
            seen >= half
        });
        median.map(|(step, _)| (*step * STEP_NS) as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use losscause::Span;

    use super::*;
    use crate::live::testing::cells;

    fn cell(name: &str, only: &[&str]) -> Experiment {
        cells(name, only)[0].experiment.clone()
    }

    #[test]
    fn shares_and_fairness_worked_by_hand() {
        let values = rates("", &[(true, 3.0), (false, 1.0)]);
        assert_eq!(values, Values::from([("goodput", 3.0), ("share", 75.0)]));
        // (1 + 3)^2 / (2 * (1 + 9)) = 0.8.
        let values = rates("simulated_", &[(true, 1.0), (true, 3.0)]);
        assert_eq!(values, Values::from([("simulated_goodput", 4.0), ("simulated_fairness", 0.8)]));
    }

    #[test]
    fn the_median_is_the_wait_that_half_of_the_packets_stay_within() {
        let waited = Waited { counts: [(0, 2), (100, 1), (200, 2)].into() };
        assert_eq!(waited.median_ms(), Some(1.0));
        assert_eq!(Waited::default().median_ms(), None);
    }

    #[test]
    fn spike_keeps_its_window_where_reno_loses_it() {
        let goodput = |system: &str| {
            let cell = cell("live", &[&format!("system={system}"), "loss=0.01"]);
            run(&cell, 1).unwrap()
        };
        let reno = goodput("reno");
        let spike = goodput("lc_spike");
        assert!(
            spike["simulated_goodput"] > 2.0 * reno["simulated_goodput"],
            "{reno:?}, {spike:?}"
        );
        assert!(!reno.contains_key("simulated_M_w") && spike["simulated_M_w"] < 50.0, "{spike:?}");
    }

    #[test]
    fn a_pair_starts_within_a_second_and_its_shares_add_up() {
        let cell = cell("live/sharing", &["system=reno", "against=cubic"]);
        let starts = starts(&cell, 3);
        assert!(
            starts.iter().all(|at| *at <= Time::ZERO + Span::from_secs(1))
                && starts[0] != starts[1],
            "{starts:?}"
        );
        let mut simulation = Simulation::new(&cell.network, 3).unwrap();
        simulation.run_until(Time::ZERO + Span::from_secs(1), &mut ());
        let simulated: Vec<Option<Time>> =
            flows(&cell).map(|flow| simulation.flow(flow).started_at).collect();
        assert_eq!(starts.into_iter().map(Some).collect::<Vec<_>>(), simulated);
        let values = run(&cell, 3).unwrap();
        assert!(values["simulated_share"] > 20.0 && values["simulated_share"] < 80.0, "{values:?}");
    }
}
