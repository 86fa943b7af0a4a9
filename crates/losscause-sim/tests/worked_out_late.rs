//! A sender that is paced by its own timer looks after its first link if no other flow uses that, and of what a source without feedback
//! sends nobody waits for the arrival. That is about speed alone (unless two packets set out and arrive at the very same instants): with a
//! flow that uses the same links, but never sends, every packet has its events, and everything is the same.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

mod common;

use common::{at_secs, drop_tail, flow, wired, wireless};
use losscause::{AnyLda, Span, Time, Verdict, lda};
use losscause_sim::{
    ChannelSpec, ErrorPosition, Event, EventKind, FlowId, FlowReport, FlowSpec, HopCounters, Lengths, LinkId, LinkSpec,
    Network, Recorder, Simulation, TraceStart, Traffic,
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
    let always = AnyLda::Constant(lda::Constant::new(Verdict::Congestion));
    prop_oneof![Just(tfrc::Config::ns2()), Just(tfrc::Config::rfc5348())]
        .prop_map(move |config| Traffic::Tfrc { config, lda: always.clone() })
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

/// Reports and counters of the first `flows` flows at some instants.
type Seen = (Vec<FlowReport>, Vec<(LinkId, HopCounters)>);

fn seen<R: Recorder>(network: &Network, seed: u64, flows: usize, recorder: &mut R) -> Seen {
    let mut simulation = Simulation::new(network, seed).unwrap();
    let (mut reports, mut counters) = (Vec::new(), Vec::new());
    for millis in [0, 7, 500, 501, 2500] {
        simulation.run_until(Time::ZERO + Span::from_millis(millis), recorder);
        assert_eq!(simulation.check_conservation(), Ok(()));
        for flow in (0..flows as u32).map(FlowId) {
            reports.push(simulation.flow(flow));
            counters.extend(simulation.counters().path(flow).map(|(link, hop)| (link, *hop)));
        }
    }
    (reports, counters)
}

/// The same and what happens in between.
fn recorded(network: &Network, seed: u64, flows: usize) -> (Seen, Vec<String>) {
    let mut events: Vec<Event> = Vec::new();
    let seen = seen(network, seed, flows, &mut events);
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
    (seen, events)
}

/// A flow that is alone, whose reports come at the very instants at which packets are due more often still.
fn alone() -> impl Strategy<Value = Network> {
    let ms = || prop_oneof![Just(1_i64), Just(2), Just(4), Just(8), Just(10), Just(16), Just(20), Just(40), Just(80)];
    (ms(), ms(), ms(), 0.01..0.2, tfrc()).prop_map(|(access, shared, back, loss, tfrc)| {
        let links = vec![
            wireless("shared", 80_000_000, shared, 50, ChannelSpec::Bernoulli { loss }),
            wired("back", 80_000_000, back, 50),
            wired("unused", 80_000_000, 1, 50),
            wired("unused, too", 80_000_000, 1, 50),
            wired("access", 80_000_000, access, 50),
        ];
        Network { links, flows: vec![flow("media", &[4, 0], &[1], tfrc)] }
    })
}

proptest! {
    #[test]
    fn links_without_events_are_worked_out_as_if_they_had_them(network in network(), seed in 0_u64..1000) {
        let (timely, flows) = (with_a_silent_flow(&network), network.flows.len());
        prop_assert_eq!(seen(&network, seed, flows, &mut ()), seen(&timely, seed, flows, &mut ()));
        let (late, timely) = (recorded(&network, seed, flows), recorded(&timely, seed, flows));
        let first = late.1.iter().zip(&timely.1).find(|(late, timely)| late != timely);
        prop_assert!(first.is_none(), "{:?}", first);
        prop_assert_eq!(late, timely);
    }

    #[test]
    fn a_report_and_a_packet_that_is_due_at_the_same_instant_keep_their_order(
        network in alone(),
        seed in 0_u64..1000,
    ) {
        let (timely, flows) = (with_a_silent_flow(&network), network.flows.len());
        prop_assert_eq!(seen(&network, seed, flows, &mut ()), seen(&timely, seed, flows, &mut ()));
        prop_assert_eq!(recorded(&network, seed, flows), recorded(&timely, seed, flows));
    }
}

fn micros(micros: i64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

/// 8 Mb/s: 1000 bytes take 1 ms.
fn link(name: &str, delay_us: i64, limit: u32) -> LinkSpec {
    LinkSpec { delay: Span::from_micros(delay_us), ..wired(name, 8_000_000, 1, limit) }
}

fn cbr() -> Traffic {
    Traffic::Cbr { rate_bps: 8_000, packet_bytes: 1000 } // One packet per second.
}

fn at(start_us: i64, flow: FlowSpec) -> FlowSpec {
    FlowSpec { start: micros(start_us), ..flow }
}

fn drops(network: &Network, link: u32) -> Vec<u64> {
    let mut simulation = Simulation::new(network, 1).unwrap();
    simulation.run_until(micros(100_000), &mut ());
    (0..2 + u32::from(link == 1))
        .map(|f| {
            simulation.counters().path(FlowId(f)).filter(|(l, _)| l.0 == link).map(|(_, hop)| hop.queue_drops).sum()
        })
        .collect()
}

#[test]
fn an_event_behind_an_unawaited_packet_keeps_its_place() {
    let tcp = || Traffic::tcp(tcp::Config { payload_bytes: 960, header_bytes: 40, ..tcp::Config::ns2() });
    // 0: s, 1: c (contended, no room), 2: d (behind s for the CBR), 3: x, 4, 5: back, 6: e
    let links = vec![
        link("s", 10_000, 50),
        link("c", 1_000, 0),
        link("d", 1_000, 50),
        link("x", 9_000, 50),
        link("back 1", 1_000, 50),
        link("back 2", 1_000, 50),
        link("e", 1_000, 50),
    ];
    // CBR's arrives at 11 ms; TCP one's (set out at 0.5 ms) at 12 ms behind it; TCP two's (set out at 2 ms) at 12 ms.
    let flows = vec![
        flow("cbr", &[0, 2], &[], cbr()),
        at(500, flow("one", &[0, 1], &[4], tcp())),
        at(2_000, flow("two", &[3, 1], &[5], tcp())),
    ];
    let late = Network { links, flows };
    let mut timely = late.clone();
    timely.flows.push(at(1_000_000_000, flow("silent", &[6, 2], &[], cbr())));
    assert_eq!(drops(&late, 1), drops(&timely, 1));
}

#[test]
fn an_arrival_after_a_packet_lost_before_the_queue_keeps_its_place() {
    let lossy = LinkSpec {
        channel: ChannelSpec::Trace { lost: [true, true, false].into(), start: TraceStart::Slot(0) },
        error_position: ErrorPosition::BeforeQueue,
        ..link("a", 10_000, 50)
    };
    // 0: a: 11 ms; 1: b: 1 + 9 ms; 2: shared, no room; 3: e
    let links = vec![lossy, link("b", 9_000, 50), link("shared", 1_000, 0), link("e", 1_000, 50)];
    // Every 2 ms. Two are lost; the third sets out at 4 ms, arrives at 15 ms. The other sets out at 5 ms, and arrives at 15 ms.
    let fast = Traffic::Cbr { rate_bps: 4_000_000, packet_bytes: 1000 };
    let flows = vec![
        FlowSpec { stop: Some(micros(5_000)), ..flow("one", &[0, 2], &[], fast) },
        at(5_000, flow("two", &[1, 2], &[], cbr())),
    ];
    let late = Network { links, flows };
    let mut timely = late.clone();
    timely.flows.push(at(1_000_000_000, flow("silent", &[0, 1, 3], &[], cbr())));
    assert_eq!(drops(&late, 2), drops(&timely, 2));
}
