//! A sender that is paced by its own timer looks after its first link if no other flow uses that, and of what a source without feedback
//! sends nobody waits for the arrival. That is about speed alone (unless two packets set out and arrive at the very same instants): with a
//! flow that uses the same links, but never sends, every packet has its events, and everything is the same.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

mod common;

use common::{at_secs, drop_tail, flow, wired, wireless};
use losscause::{AnyLda, Span, Time, Verdict, lda};
use losscause_sim::{
    ChannelSpec, ErrorPosition, Event, EventKind, FlowId, FlowReport, FlowSpec, HopCounters, LdaSpec, Lengths, LinkId,
    LinkSpec, Network, Simulation, Traffic,
};
use losscause_transport::{tcp, tfrc};
use proptest::prelude::*;

/// Rates and sizes of which many packets come at the same nanosecond.
fn source() -> impl Strategy<Value = Traffic> {
    let packet_bytes = prop_oneof![Just(210), Just(500), Just(1000)];
    let rate_bps = prop_oneof![Just(200_000), Just(1_000_000), Just(3_000_000)];
    (packet_bytes, rate_bps, 0_i64..3).prop_map(|(packet_bytes, rate_bps, burst)| match burst {
        0 => Traffic::Cbr { rate_bps, packet_bytes },
        _ => {
            let mean = Span::from_millis(50 * burst);
            Traffic::OnOff { rate_bps, packet_bytes, mean_on: mean, mean_off: mean, lengths: Lengths::Exponential }
        }
    })
}

/// Its reports come at the very instants at which packets are due, often enough.
fn tfrc() -> impl Strategy<Value = Traffic> {
    let always = LdaSpec::Algorithm(AnyLda::Constant(lda::Constant::new(Verdict::Congestion)));
    prop_oneof![Just(tfrc::Config::ns2()), Just(tfrc::Config::rfc5348())]
        .prop_map(move |config| Traffic::Tfrc { config, lda: always })
}

fn lossy(link: LinkSpec) -> impl Strategy<Value = LinkSpec> {
    let position = prop_oneof![Just(ErrorPosition::BeforeQueue), Just(ErrorPosition::AfterTransmission)];
    (prop_oneof![Just(0.0), Just(0.1)], position).prop_map(move |(loss, error_position)| LinkSpec {
        channel: if loss == 0.0 { ChannelSpec::Perfect } else { ChannelSpec::Bernoulli { loss } },
        error_position,
        ..link.clone()
    })
}

/// Links 0 and 1 are shared, there and back. Each source has its way to them and its way from them on; two TCP flows and a TFRC flow come
/// from elsewhere.
fn network() -> impl Strategy<Value = Network> {
    let media = (lossy(wired("access", 2_000_000, 1, 3)), tfrc(), 0_i64..3);
    let way = (lossy(wired("", 2_000_000, 1, 3)), lossy(wired("", 1_000_000, 2, 3)), source(), 0_i64..3);
    (prop::collection::vec(way, 1..5), media, 1_u32..10).prop_map(|(ways, (access, tfrc, stop_s), limit)| {
        let shared = wireless("shared", 2_000_000, 10, limit, ChannelSpec::Bernoulli { loss: 0.02 });
        let mut links = vec![shared, wired("back", 2_000_000, 10, 50)];
        let mut flows: Vec<FlowSpec> = ["one", "two"]
            .map(|name| {
                let access = links.len() as u32;
                links.push(LinkSpec { queue: drop_tail(50), ..wired(name, 10_000_000, 1, 50) });
                flow(name, &[access, 0], &[1], Traffic::tcp(tcp::Config::ns2()))
            })
            .into();
        let media = flow("media", &[4, 0], &[1], tfrc);
        links.push(access);
        flows.push(FlowSpec { start: Time::from_nanos(3), stop: (stop_s > 0).then(|| at_secs(stop_s)), ..media });
        for (index, (first, last, traffic, stop_s)) in ways.into_iter().enumerate() {
            let access = links.len() as u32;
            links.push(LinkSpec { name: format!("to {index}"), ..first });
            links.push(LinkSpec { name: format!("from {index}"), ..last });
            let stop = (stop_s > 0).then(|| at_secs(stop_s));
            let source = flow(&format!("source {index}"), &[access, 0, access + 1], &[], traffic);
            // No two set out at the same instant: of such the order is not laid down.
            flows.push(FlowSpec { start: Time::from_nanos(1 + 7 * index as i64), stop, ..source });
        }
        Network { links, flows }
    })
}

/// The same with a flow that never sends over all links that only one flow uses, and on from the last of them.
fn with_a_silent_flow(network: &Network) -> Network {
    let mut network = network.clone();
    let mut path: Vec<u32> = (4..network.links.len() as u32).collect();
    path.push(network.links.len() as u32);
    network.links.push(wired("nowhere", 1_000_000, 1, 1));
    let silent = flow("silent", &path, &[], Traffic::Cbr { rate_bps: 1_000_000, packet_bytes: 500 });
    network.flows.push(FlowSpec { start: at_secs(1000), ..silent });
    network
}

/// What can be seen of the first `flows` flows, at some instants and in between.
fn seen(network: &Network, flows: usize) -> (Vec<FlowReport>, Vec<(LinkId, HopCounters)>, Vec<String>) {
    let mut simulation = Simulation::new(network, 1).unwrap();
    let mut events: Vec<Event> = Vec::new();
    let (mut reports, mut counters) = (Vec::new(), Vec::new());
    for millis in [0, 7, 500, 501, 2500] {
        simulation.run_until(Time::ZERO + Span::from_millis(millis), &mut events);
        assert_eq!(simulation.check_conservation(), Ok(()));
        for flow in (0..flows as u32).map(FlowId) {
            reports.push(simulation.flow(flow));
            counters.extend(simulation.counters().path(flow).map(|(link, hop)| (link, *hop)));
        }
    }
    // Whether a packet that comes at the instant of an arrival at the far end is counted then as one that waits is nowhere laid down.
    let mut at_once: HashMap<(LinkId, Time), u32> = HashMap::new();
    for Event { kind, at, .. } in &events {
        if let EventKind::Link { link, .. } = kind {
            *at_once.entry((*link, *at)).or_default() += 1;
        }
    }
    for Event { kind, at, .. } in &mut events {
        if let EventKind::Link { link, queue_packets, queue_bytes, .. } = kind
            && at_once[&(*link, *at)] > 1
        {
            (*queue_packets, *queue_bytes) = (0, 0);
        }
    }
    let mut events: Vec<String> =
        events.iter().map(|event| format!("{:?}", (event.at, event.flow, event.kind))).collect();
    events.sort();
    (reports, counters, events)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn links_without_events_are_worked_out_as_if_they_had_them(network in network()) {
        let flows = network.flows.len();
        let (late, timely) = (seen(&network, flows), seen(&with_a_silent_flow(&network), flows));
        let first = late.2.iter().zip(&timely.2).find(|(late, timely)| late != timely);
        prop_assert!(first.is_none(), "{:?}", first);
        prop_assert_eq!(late, timely);
    }
}
