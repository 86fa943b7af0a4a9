//! A cell in the simulator.

use anyhow::{Context, Result};
use losscause_sim::{FlowId, Simulation};

use super::Outcome;
use super::cell::Cell;

/// Simulates a transfer of `seconds`.
pub(super) fn run(cell: &Cell, seed: u64, seconds: i64) -> Result<Outcome> {
    let experiment = cell.experiment(seconds)?;
    let mut simulation =
        Simulation::new(&experiment.network, seed).with_context(|| cell.to_string())?;
    simulation.run_until(experiment.duration, &mut ());
    let flow = simulation.flow(FlowId(0));
    let retransmissions = flow.tcp.context("the flow is not TCP's")?.retransmissions;
    let bits = flow.delivered_payload_bytes * 8;
    Ok(Outcome { goodput_mbps: bits as f64 / seconds as f64 / 1e6, retransmissions })
}
