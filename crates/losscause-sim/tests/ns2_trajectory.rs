//! A TCP flow in the simulator against a recording of ns-2.35, transmission by transmission.
//!
//! The recording is one of those that hold TCP's ends against ns-2 (`tests/ns2/` of
//! `losscause-transport`). Its tick is fine enough that it does not matter where the ticks lie,
//! which both simulators draw; its queue never fills, so that nothing hangs on the order of
//! simultaneous events.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use losscause::{Span, Time};
use losscause_sim::{
    ChannelSpec, Event, EventKind, FlowId, FlowSpec, Limit, LinkId, LinkSpec, Network, PacketKind,
    QueueSpec, Simulation, TraceStart, Traffic,
};
use losscause_transport::tcp::{Config, Quirks};

const RECORDING: &str = include_str!("ns2/five_percent_fine_clock.txt");

fn setting(key: &str) -> &'static str {
    let line =
        RECORDING.lines().find_map(|line| line.trim_start_matches("# ").strip_prefix(key)).unwrap();
    line.trim_start_matches(['=', ' '])
}

#[test]
fn a_flow_with_five_percent_errors_sends_as_and_when_ns2_does() {
    let link = |name, queue| {
        let drop_tail = QueueSpec::DropTail { limit: Limit::Packets(queue) };
        let delay = Span::from_millis(setting("delay_ms").parse().unwrap());
        LinkSpec::wired(name, setting("rate_bps").parse().unwrap(), delay, drop_tail)
    };
    let mut forward = link("forward", setting("queue_pkts").parse::<u32>().unwrap() - 1);
    let mut lost = vec![false; 10_000];
    for index in setting("lose").split(',') {
        lost[index.parse::<usize>().unwrap()] = true;
    }
    forward.channel = ChannelSpec::Trace { lost: lost.into(), start: TraceStart::Slot(0) };
    let quirks = Quirks { tick: Span::from_micros(10), ..Quirks::NS2_2_35 };
    let traffic = Traffic::tcp(Config { quirks, ..Config::ns2() });
    let flow = FlowSpec::new("flow", &[LinkId(0)], &[LinkId(1)], traffic);
    let network = Network { links: vec![forward, link("back", 1_000_000)], flows: vec![flow] };
    let mut simulation = Simulation::new(&network, 1).unwrap();
    let mut events: Vec<Event> = Vec::new();
    let duration = Span::from_secs(setting("duration_s").parse().unwrap());
    simulation.run_until(Time::ZERO + duration, &mut events);
    events.sort_by_key(|event| event.at);

    let ours = events.iter().filter_map(|event| match event.kind {
        EventKind::Sent(packet) if packet.kind != PacketKind::Ack => {
            Some((event.at.as_secs_f64(), packet.seq))
        }
        _ => None,
    });
    let ours: Vec<_> = ours.collect();
    let theirs = RECORDING.lines().filter_map(|line| line.strip_prefix("send ")?.split_once(' '));
    let theirs: Vec<(f64, u64)> =
        theirs.map(|(at, seq)| (at.parse().unwrap(), seq.parse().unwrap())).collect();
    for (ours, theirs) in ours.iter().zip(&theirs) {
        // Every timeout may shift what follows by a few ticks of 10 us.
        assert!(
            ours.1 == theirs.1 && (ours.0 - theirs.0).abs() < 2e-3,
            "ours {ours:?}, ns-2's {theirs:?}"
        );
    }
    assert_eq!(ours.len(), theirs.len());
    let stats = simulation.flow(FlowId(0)).tcp.unwrap();
    assert_eq!(stats.timeouts.to_string(), setting("timeouts"));
    assert_eq!(stats.retransmissions.to_string(), setting("retransmissions"));
}
