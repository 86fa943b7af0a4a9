//! A cell over the running kernel.
//!
//! ```text
//! programs   loads the congestion controls that the cells need, reads their verdicts, unloads them
//! transfer   the connections of a cell over the emulator's link
//! ends       the sockets of a connection
//! crossing   what the link saw: drops, retransmissions, waits, lateness
//! join       the programs' verdicts with the true causes of the drops
//! stack      the same for sweeps, whose scenarios say what each flow runs
//! captures   the same, captured at both hosts
//! watched    the same, watched by `losscause watch`
//! ```

pub mod captures;
mod crossing;
mod ends;
mod join;
mod programs;
mod stack;
mod transfer;
mod watched;

use std::sync::Arc;

use losscause_laboratory::papers::record::Value;
use losscause_laboratory::papers::reproduce::Configuration;
use losscause_laboratory::stack::{Attempt, Stack};
use losscause_linux::emulator::{Host, SENDER};
use losscause_linux::kernel::Algorithm;
use losscause_study::{Experiment, Metric, RunError, Stop};

use super::{LIVE, OURS, simulated};
use crate::live::counters::{m_c, m_w};
use crate::live::experiment::is_under_test;
use crate::live::{LiveError, Values};
use programs::Programs;
pub(crate) use stack::KernelStack;
use transfer::Transferred;
pub(crate) use watched::WatchedStack;

/// One system of the running kernel, perhaps against another.
pub(super) struct KernelCell {
    system: String,
    /// The congestion control of connections that are not under test; none for the system's.
    other: Option<String>,
    is_alone: bool,
    /// The programs that the cells need.
    programs: Arc<Programs>,
}

/// Links from this rate on get the machine for themselves.
const DEMANDING_BPS: u64 = 20_000_000;

impl KernelCell {
    /// Loads the programs; they are unloaded when the last stack is dropped.
    pub(super) fn of(cells: &[Configuration]) -> Result<Vec<Box<dyn Stack>>, LiveError> {
        // The first to fail without root or TUN.
        drop(Host::new(SENDER, &[])?);
        let mut ours: Vec<&'static Algorithm> = Vec::new();
        for name in
            cells.iter().flat_map(|cell| [Some(cell.system.as_str()), other(cell)]).flatten()
        {
            if !name.starts_with(OURS) {
                ends::with_control(name)?;
            } else if !ours.iter().any(|known| known.name == name) {
                ours.push(Algorithm::find(name)?);
            }
        }
        let programs = Arc::new(Programs::load(&ours)?);
        let stack = |cell| Box::new(Self::new(cell, Arc::clone(&programs))) as _;
        Ok(cells.iter().map(stack).collect())
    }

    fn new(cell: &Configuration, programs: Arc<Programs>) -> Self {
        let mut links = cell.experiment.network.links.iter();
        Self {
            system: cell.system.clone(),
            other: other(cell).map(str::to_owned),
            is_alone: links.any(|link| link.rate_bps >= DEMANDING_BPS),
            programs,
        }
    }

    /// The congestion control of a flow.
    fn control(&self, flow: &str) -> &str {
        let other = self.other.as_deref().filter(|_| !is_under_test(flow));
        other.unwrap_or(&self.system)
    }

    fn attempt(
        &self,
        experiment: &Experiment,
        seed: u64,
        stop: &Stop,
    ) -> Result<Attempt, LiveError> {
        let flows = &experiment.network.flows;
        let controls: Vec<&str> = flows.iter().map(|flow| self.control(&flow.name)).collect();
        let starts = simulated::starts(experiment, seed);
        let tested = flows.iter().map(|flow| is_under_test(&flow.name)).collect();
        let transferred =
            transfer::run(experiment, tested, seed, (&controls, &starts), &[], stop, |_, _| ())?;
        if let Some(why) = transferred.disturbance() {
            return Ok(Attempt::Spoiled(why));
        }
        let records = self.programs.verdicts(&self.system, transferred.netns)?;
        let mut values = values(experiment, &transferred);
        if self.system.starts_with(OURS) {
            let judged = transferred.verdicts(&records);
            values.extend(m_c(&judged).map(|share| ("M_c", share)));
            values.extend(m_w(&judged).map(|share| ("M_w", share)));
        }
        if LIVE.record().system(&self.system).is_some_and(simulated::has) {
            values.extend(simulated::run(experiment, seed)?);
        }
        Ok(Attempt::Made(LIVE.metrics(&values)))
    }
}

impl Stack for KernelCell {
    fn identity(&self) -> String {
        stack::release()
    }

    fn metrics(&self, _: &Experiment) -> Result<Vec<Metric>, RunError> {
        Ok(LIVE.metrics(&Values::new()))
    }

    fn run(&self, experiment: &Experiment, seed: u64, stop: &Stop) -> Result<Attempt, RunError> {
        Ok(self.attempt(experiment, seed, stop)?)
    }

    fn is_alone(&self) -> bool {
        self.is_alone
    }
}

/// The congestion control that a cell is against.
fn other(cell: &Configuration) -> Option<&str> {
    match cell.parameters.get("against") {
        Some(Value::Text(name)) => Some(name),
        _ => None,
    }
}

fn values(experiment: &Experiment, transferred: &Transferred) -> Values {
    let crossing = &transferred.crossing;
    let tested = experiment.network.flows.iter().map(|flow| is_under_test(&flow.name));
    let goodput: Vec<(bool, f64)> = tested.zip(transferred.goodput_kbps.iter().copied()).collect();
    let mut values = simulated::rates("", &goodput);
    values.insert(
        "retransmissions",
        crossing.retransmissions(|port| transferred.is_under_test(port)) as f64,
    );
    if let Some(median) = crossing.waited.quantile(0.5) {
        values.insert("queueing_p50", median.as_millis_f64());
    }
    if let Some(worst) = crossing.late.greatest() {
        values.insert("late_worst", worst.as_millis_f64());
    }
    if crossing.delivered > 0 {
        values
            .insert("queue_drops", crossing.queue_drops() as f64 * 1e3 / crossing.delivered as f64);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::testing::cells;

    fn controls(name: &str, only: &[&str]) -> Vec<String> {
        let cell = &cells(name, only)[0];
        let stack = KernelCell::new(cell, Arc::new(Programs::load(&[]).unwrap()));
        let flows = cell.experiment.network.flows.iter();
        flows.map(|flow| stack.control(&flow.name).to_owned()).collect()
    }

    #[test]
    fn a_flow_has_its_systems_control_and_the_other_the_pairs() {
        let pair = controls("live/sharing", &["system=lc_zbs", "against=cubic"]);
        assert_eq!(pair, ["lc_zbs", "cubic"]);
        assert_eq!(controls("live/four-flows", &[]), ["reno"; 4]);
    }

    #[test]
    fn a_congestion_control_that_the_kernel_lacks_is_named() {
        assert!(ends::with_control("reno").is_ok());
        let error = ends::with_control("no_such_control").unwrap_err();
        assert!(error.is_bad_input());
        assert!(
            error.to_string().starts_with("this kernel has no congestion control no_such_control")
        );
    }
}
