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

use losscause::Span;
use losscause_laboratory::papers::record::Value;
use losscause_linux::emulator::{Host, SENDER};
use losscause_linux::kernel::Algorithm;
use losscause_study::Stop;

use super::{LIVE, OURS, simulated};
use crate::live::experiment::is_under_test;
use crate::live::{Attempt, Cell, LiveError, Stack, Values};
use programs::Programs;
pub(crate) use stack::KernelStack;
use transfer::Transferred;
pub(crate) use watched::WatchedStack;

/// The running kernel with the programs that the cells need.
pub(super) struct Kernel {
    programs: Programs,
}

/// A run counts if 99 % of the packets were late by no more: a twentieth of the shortest round
/// trip.
const LATEST: Span = Span::from_millis(2);

/// Links from this rate on get the machine for themselves.
const DEMANDING_BPS: u64 = 20_000_000;

impl Kernel {
    /// Loads the programs; they are unloaded when this is dropped.
    pub(super) fn set_up(cells: &[Cell]) -> Result<Self, LiveError> {
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
        Ok(Self { programs: Programs::load(&ours)? })
    }
}

impl Stack for Kernel {
    fn run(&self, cell: &Cell, seed: u64, stop: &Stop) -> Result<Attempt, LiveError> {
        let controls: Vec<&str> =
            cell.layout.network.flows.iter().map(|flow| control(cell, &flow.name)).collect();
        let starts = simulated::starts(cell, seed);
        let flows = cell.layout.network.flows.iter();
        let tested = flows.map(|flow| is_under_test(&flow.name)).collect();
        let transferred =
            transfer::run(&cell.layout, tested, seed, (&controls, &starts), &[], stop, |_, _| ())?;
        if let Some(why) = disturbance(&transferred) {
            return Ok(Attempt::Spoiled(why));
        }
        let records = self.programs.verdicts(&cell.system, transferred.netns)?;
        let mut values = values(cell, &transferred);
        if cell.system.starts_with(OURS) {
            let errors = join::errors(&transferred.crossing.losses, &records, |port| {
                transferred.is_under_test(port)
            });
            values.extend(errors.m_c().map(|share| ("M_c", share)));
            values.extend(errors.m_w().map(|share| ("M_w", share)));
        }
        if LIVE.record().system(&cell.system).is_some_and(simulated::has) {
            values.extend(simulated::run(cell, seed)?);
        }
        Ok(Attempt::Made(values))
    }

    fn is_demanding(&self, cell: &Cell) -> bool {
        cell.layout.network.links.iter().any(|link| link.rate_bps >= DEMANDING_BPS)
    }
}

/// The congestion control of connections that are not under test.
fn other(cell: &Cell) -> Option<&str> {
    match cell.parameters.get("against") {
        Some(Value::Text(name)) => Some(name),
        _ => None,
    }
}

/// The congestion control of a flow.
fn control<'a>(cell: &'a Cell, flow: &str) -> &'a str {
    let tested = is_under_test(flow);
    other(cell).filter(|_| !tested).unwrap_or(&cell.system)
}

/// Why the run does not count.
fn disturbance(transferred: &Transferred) -> Option<String> {
    if transferred.device_drops > 0 {
        return Some(format!(
            "a TUN device dropped {} packets by itself",
            transferred.device_drops
        ));
    }
    let late = transferred.crossing.late.quantile(0.99).filter(|late| *late > LATEST)?;
    Some(format!(
        "the emulator was late by up to {:.1} ms in 99 % of the packets, expected at most {:.0} ms",
        late.as_millis_f64(),
        LATEST.as_millis_f64()
    ))
}

fn values(cell: &Cell, transferred: &Transferred) -> Values {
    let crossing = &transferred.crossing;
    let tested = cell.layout.network.flows.iter().map(|flow| is_under_test(&flow.name));
    let goodput: Vec<(bool, f64)> = tested.zip(transferred.goodput_kbps.iter().copied()).collect();
    let mut values = simulated::rates("", &goodput);
    values.insert(
        "retransmissions",
        crossing.retransmissions(|port| transferred.is_under_test(port)) as f64,
    );
    if let Some(median) = crossing.waited.quantile(0.5) {
        values.insert("queueing_p50", median.as_millis_f64());
    }
    if let Some(worst) = crossing.late.worst() {
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
    use crate::live::{Only, Plan, Selection};

    #[test]
    fn a_flow_has_its_systems_control_and_the_other_the_pairs() {
        let only =
            ["system=lc_zbs", "against=cubic"].map(|text| Only::parse(text).unwrap()).to_vec();
        let plan =
            Plan::new(&Selection::parse(&["live/sharing"], only).unwrap(), None, 1, &[]).unwrap();
        let cell = &plan.cells()[0];
        let flows: Vec<&str> =
            cell.layout.network.flows.iter().map(|flow| control(cell, &flow.name)).collect();
        assert_eq!(flows, ["lc_zbs", "cubic"]);
        let plan =
            Plan::new(&Selection::parse(&["live/four-flows"], vec![]).unwrap(), None, 1, &[])
                .unwrap();
        let cell = &plan.cells()[0];
        assert!(cell.layout.network.flows.iter().all(|flow| control(cell, &flow.name) == "reno"));
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
