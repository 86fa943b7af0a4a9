//! One run: the connections of a scenario with one system, and what became of them.

use losscause::Time;
use losscause_sim::{FlowSpec, Traffic};
use losscause_study::{Experiment, InputError, Stop, Stopped};

use super::network::VirtualNetwork;
use super::system::System;
use crate::live::LiveError;
use crate::live::counters::Counters;
use crate::live::experiment::is_under_test;

/// What became of the connections of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    /// Those of the system under test.
    pub(super) tested: Vec<Connection>,
    /// Those of quinn's Cubic beside it.
    pub(super) competitors: Vec<Connection>,
    /// Length of the window that the counts are from, seconds.
    pub(super) seconds: f64,
}

/// What became of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Connection {
    /// In the window of the scenario.
    pub(super) counters: Counters,
    /// The largest window right after a loss, bytes; over the whole run.
    pub(super) largest_window: u64,
    /// For a transfer that is complete, seconds.
    pub(super) completion_s: Option<f64>,
}

/// So often the run looks whether it should stop.
const STEP: losscause::Span = losscause::Span::from_secs(1);

/// Runs `system` in the scenario that was laid out as `layout`, and quinn's Cubic where a flow is
/// not of the system under test.
///
/// # Errors
/// A connection ended early, or `stop` was requested.
pub(super) fn run(
    layout: &Experiment,
    system: &System,
    seed: u64,
    stop: &Stop,
) -> Result<Outcome, LiveError> {
    let of = |flow: &FlowSpec| match is_under_test(&flow.name) {
        true => (system.clone(), true),
        false => (System::CUBIC, false),
    };
    let systems: Vec<(System, bool)> = layout.network.flows.iter().map(of).collect();
    run_each(layout, &systems, seed, stop)
}

/// Runs each flow's own system; the flags say which are under test.
///
/// # Errors
/// A connection ended early, or `stop` was requested.
pub(super) fn run_each(
    layout: &Experiment,
    systems: &[(System, bool)],
    seed: u64,
    stop: &Stop,
) -> Result<Outcome, LiveError> {
    let flows = &layout.network.flows;
    let setups = flows.iter().zip(systems).map(|(flow, (system, _))| {
        let bytes = match &flow.traffic {
            Traffic::Tcp { config, .. } => {
                config.limit_pkts.map(|pkts| pkts * u64::from(config.payload_bytes))
            }
            _ => None,
        };
        system.sender(bytes)
    });
    let setups: Vec<_> = setups.collect();
    let ledgers: Vec<_> = setups.iter().map(|setup| setup.ledger.clone()).collect();
    let mut network = VirtualNetwork::new(&layout.network, seed, setups)
        .map_err(|error| InputError::option("scenario", error.to_string()))?;

    let (from, to) = layout.window;
    advance(&mut network, Time::ZERO, from, stop)?;
    let before: Vec<Counters> = (0..flows.len()).map(|flow| network.counters(flow)).collect();
    advance(&mut network, from, to, stop)?;

    let mut outcome = Outcome { seconds: (to - from).as_secs_f64(), ..Outcome::default() };
    for (place, (_, is_tested)) in systems.iter().enumerate() {
        let connection = Connection {
            counters: network.counters(place).since(&before[place]),
            largest_window: ledgers[place].largest_window(),
            completion_s: network.completion_time(place).map(losscause::Span::as_secs_f64),
        };
        let group = if *is_tested { &mut outcome.tested } else { &mut outcome.competitors };
        group.push(connection);
    }
    Ok(outcome)
}

fn advance(
    network: &mut VirtualNetwork,
    from: Time,
    to: Time,
    stop: &Stop,
) -> Result<(), LiveError> {
    let mut until = from;
    while until < to {
        if stop.is_requested() {
            return Err(Stopped.into());
        }
        until = (until + STEP).min(to);
        network.run_until(until)?;
        if network.is_complete() {
            break;
        }
    }
    Ok(())
}
