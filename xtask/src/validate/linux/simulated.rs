//! A cell in the simulator.

use anyhow::{Context, Result};
use losscause_sim::{FlowId, Simulation};

use super::Outcome;
use super::cell::Cell;

/// Simulates the transfers of a cell for `seconds`.
pub(super) fn run(cell: &Cell, seed: u64, seconds: i64) -> Result<Outcome> {
    let experiment = cell.experiment(seconds)?;
    let mut simulation =
        Simulation::new(&experiment.network, seed).with_context(|| cell.to_string())?;
    simulation.run_until(experiment.duration, &mut ());
    let mut bytes = 0;
    let mut outcome = Outcome::default();
    for flow in (0..cell.flows).map(FlowId) {
        let flow = simulation.flow(flow);
        bytes += flow.delivered_payload_bytes;
        outcome.retransmissions += flow.tcp.context("the flow is not TCP's")?.retransmissions;
        outcome.drops += flow.lost.congestion;
    }
    outcome.goodput_mbps = bytes as f64 * 8.0 / seconds as f64 / 1e6;
    Ok(outcome)
}
