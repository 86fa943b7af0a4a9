//! Networks for the tests.
#![allow(dead_code)] // Every test file uses some of it.

use losscause::{Span, Time};
use losscause_sim::{
    ChannelSpec, FlowSpec, Limit, LinkId, LinkSpec, Network, QueueSpec, Recorder, Simulation,
    Traffic,
};

/// A queue in which this many packets may wait.
pub(crate) fn drop_tail(limit_pkts: u32) -> QueueSpec {
    QueueSpec::DropTail { limit: Limit::Packets(limit_pkts) }
}

/// A link without errors.
pub(crate) fn wired(name: &str, rate_bps: u64, delay_ms: i64, limit_pkts: u32) -> LinkSpec {
    LinkSpec::wired(name, rate_bps, Span::from_millis(delay_ms), drop_tail(limit_pkts))
}

/// A link with errors.
pub(crate) fn wireless(
    name: &str,
    rate_bps: u64,
    delay_ms: i64,
    limit_pkts: u32,
    channel: ChannelSpec,
) -> LinkSpec {
    LinkSpec { channel, ..wired(name, rate_bps, delay_ms, limit_pkts) }
}

/// A flow from time zero on.
pub(crate) fn flow(name: &str, path: &[u32], return_path: &[u32], traffic: Traffic) -> FlowSpec {
    let links = |path: &[u32]| path.iter().copied().map(LinkId).collect::<Vec<_>>();
    FlowSpec::new(name, &links(path), &links(return_path), traffic)
}

/// Constant bit rate in packets of 762 bytes.
pub(crate) fn cbr(rate_bps: u64) -> Traffic {
    Traffic::cbr(rate_bps, 762)
}

/// One flow over one cable with this channel on the way out.
pub(crate) fn one_flow(traffic: Traffic, rate_bps: u64, channel: ChannelSpec) -> Network {
    Network {
        links: vec![wireless("out", rate_bps, 20, 20, channel), wired("back", rate_bps, 20, 20)],
        flows: vec![flow("only", &[0], &[1], traffic)],
    }
}

/// [`Simulation::run_until`] that fails, instead of running for ever, if the clock stands still.
pub(crate) fn run_to<R: Recorder>(simulation: &mut Simulation, until: Time, recorder: &mut R) {
    const EVENTS_AT_AN_INSTANT: u64 = 100_000;
    let mut before = None;
    while !simulation.run_events(until, EVENTS_AT_AN_INSTANT, recorder) {
        let now = Some(simulation.now());
        assert!(now > before, "{EVENTS_AT_AN_INSTANT} events at {}", simulation.now());
        before = now;
    }
}

/// An instant.
pub(crate) fn at_secs(secs: i64) -> Time {
    Time::ZERO + Span::from_secs(secs)
}

/// An instant.
pub(crate) fn at_micros(micros: i64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}
