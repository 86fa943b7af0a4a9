//! Arrivals that nothing observes have no events (`src/elision.rs`), and queues with nothing to
//! mark are plain (`src/unmarked.rs`). The plain event loop gives the same results: every report,
//! counter and recorded event, in networks in which no two events happen at the very same instant.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

mod common;

use common::{at_secs, drop_tail, flow, run_to, wired, wireless};
use losscause::{AnyAlgorithm, Span, Time, Verdict, lda};
use losscause_sim::{
    ChannelSpec, ErrorPosition, Event, EventKind, FlowId, FlowReport, FlowSpec, HopCounters,
    Lengths, LinkId, LinkSpec, Network, QueueSpec, Recorder, Simulation, Traffic,
};
use losscause_transport::{tcp, tfrc};
use proptest::prelude::*;

/// Rates and sizes at which hardly two packets come at the same nanosecond.
fn source() -> impl Strategy<Value = Traffic> {
    (200_u32..1000, 200_000_u64..3_000_000, -1_i64..3).prop_map(
        |(packet_bytes, rate_bps, burst)| match burst {
            -1 => Traffic::Poisson { rate_bps, packet_bytes, lda: None },
            0 => Traffic::cbr(rate_bps, packet_bytes),
            _ => {
                let mean = Span::from_millis(50 * burst);
                Traffic::OnOff {
                    rate_bps,
                    packet_bytes,
                    mean_on: mean,
                    mean_off: mean,
                    lengths: Lengths::Exponential,
                    lda: None,
                }
            }
        },
    )
}

fn tfrc() -> impl Strategy<Value = Traffic> {
    let always = AnyAlgorithm::Constant(lda::Constant::new(Verdict::Congestion));
    prop_oneof![Just(tfrc::Config::ns2()), Just(tfrc::Config::rfc5348())]
        .prop_map(move |config| Traffic::Tfrc { config, lda: always.clone() })
}

fn lossy(link: LinkSpec) -> impl Strategy<Value = LinkSpec> {
    let position =
        prop_oneof![Just(ErrorPosition::BeforeQueue), Just(ErrorPosition::AfterTransmission)];
    (prop_oneof![Just(0.0), Just(0.1)], position).prop_map(move |(loss, error_position)| LinkSpec {
        channel: if loss == 0.0 { ChannelSpec::Perfect } else { ChannelSpec::Bernoulli { loss } },
        error_position,
        ..link.clone()
    })
}

/// A link with a delay and a rate of its own: links of one rate that are busy keep step with each
/// other.
fn delayed(link: LinkSpec, nanos: i64) -> LinkSpec {
    LinkSpec {
        delay: link.delay + Span::from_nanos(nanos),
        rate_bps: link.rate_bps + nanos as u64,
        ..link
    }
}

/// A share of the links mark, with these thresholds; which of the three flows with feedback support
/// ECN.
fn marking() -> impl Strategy<Value = (Vec<Option<u32>>, [bool; 3])> {
    let threshold = prop_oneof![Just(None), (1_u32..5).prop_map(Some)];
    (prop::collection::vec(threshold, 13), any::<[bool; 3]>())
}

/// The same network with these thresholds, in order of the links.
fn marked(mut network: Network, (thresholds, ecn): (Vec<Option<u32>>, [bool; 3])) -> Network {
    for (link, threshold) in network.links.iter_mut().zip(thresholds) {
        if let Some(mark_from_pkts) = threshold {
            link.queue = QueueSpec::StepMark { limit: link.queue.limit(), mark_from_pkts };
        }
    }
    for (flow, supported) in network.flows.iter_mut().zip(ecn) {
        match &mut flow.traffic {
            Traffic::Tcp { config, .. } => config.ecn = supported,
            Traffic::Tfrc { config, .. } => config.ecn = supported,
            Traffic::Cbr { .. } | Traffic::OnOff { .. } | Traffic::Poisson { .. } => {}
        }
    }
    network
}

/// Links 0 and 1 are shared, there and back. Each one-way source has an access link and an exit
/// link of its own; two TCP flows and a TFRC flow end behind the shared link.
fn network() -> impl Strategy<Value = Network> {
    let nanos = || 1_i64..1_000_000;
    let media = (lossy(wired("access", 2_000_000, 1, 3)), tfrc(), 0_i64..3, nanos());
    let way = (
        lossy(wired("", 2_000_000, 1, 3)),
        lossy(wired("", 1_000_000, 2, 3)),
        source(),
        0_i64..3,
        nanos(),
    );
    let tcp = [nanos(), nanos()];
    (prop::collection::vec(way, 1..5), media, 1_u32..10, tcp).prop_map(
        |(ways, media, limit, tcp_nanos)| {
            let shared =
                wireless("shared", 2_000_000, 10, limit, ChannelSpec::Bernoulli { loss: 0.02 });
            let mut links = vec![shared, wired("back", 2_000_000, 10, 50)];
            let mut flows: Vec<FlowSpec> = Vec::new();
            for (name, nanos) in ["one", "two"].into_iter().zip(tcp_nanos) {
                let access = links.len() as u32;
                links.push(delayed(
                    LinkSpec { queue: drop_tail(50), ..wired(name, 10_000_000, 1, 50) },
                    nanos,
                ));
                let tcp = flow(name, &[access, 0], &[1], Traffic::tcp(tcp::Config::ns2()));
                let send_jitter = Span::from_nanos(nanos);
                flows.push(FlowSpec { start: Time::from_nanos(nanos), send_jitter, ..tcp });
            }
            let (access, tfrc, stop_s, nanos) = media;
            let media = flow("media", &[4, 0], &[1], tfrc);
            links.push(delayed(access, nanos));
            let stop = (stop_s > 0).then(|| at_secs(stop_s));
            flows.push(FlowSpec { start: Time::from_nanos(nanos), stop, ..media });
            for (index, (first, last, traffic, stop_s, nanos)) in ways.into_iter().enumerate() {
                let access = links.len() as u32;
                links.push(delayed(LinkSpec { name: format!("to {index}"), ..first }, nanos));
                links.push(delayed(LinkSpec { name: format!("from {index}"), ..last }, nanos));
                let stop = (stop_s > 0).then(|| at_secs(stop_s));
                let source =
                    flow(&format!("source {index}"), &[access, 0, access + 1], &[], traffic);
                flows.push(FlowSpec { start: Time::from_nanos(nanos), stop, ..source });
            }
            Network { links, flows }
        },
    )
}

/// Reports and counters of all flows at some instants.
type Seen = (Vec<FlowReport>, Vec<(LinkId, HopCounters)>);

fn seen<R: Recorder>(mut simulation: Simulation, flows: usize, recorder: &mut R) -> Seen {
    let mut reports = Vec::new();
    let mut counters = Vec::new();
    for millis in [0, 7, 500, 501, 2500] {
        run_to(&mut simulation, Time::ZERO + Span::from_millis(millis), recorder);
        assert_eq!(simulation.check_conservation(), Ok(()));
        for flow in (0..flows as u32).map(FlowId) {
            reports.push(simulation.flow(flow));
            counters.extend(simulation.counters().path(flow).map(|(link, hop)| (link, *hop)));
        }
    }
    (reports, counters)
}

/// The same and every recorded event, in order of time. Whether a packet counts as waiting that
/// comes at the very instant of a departure depends on the order of the two, so such events are
/// compared without their queue lengths.
fn recorded(simulation: Simulation, flows: usize) -> (Seen, Vec<Event>) {
    let mut events: Vec<Event> = Vec::new();
    let seen = seen(simulation, flows, &mut events);
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
    events.sort_by_key(|event| (event.at, event.flow));
    // Kinds have no order of their own; only those of one flow at one instant need any.
    for at_once in events
        .chunk_by_mut(|a, b| (a.at, a.flow) == (b.at, b.flow))
        .filter(|events| events.len() > 1)
    {
        at_once.sort_by_cached_key(|event| format!("{:?}", event.kind));
    }
    (seen, events)
}

/// The event loop and the plain one give the same run.
fn assert_same(network: &Network, seed: u64) -> Result<(), TestCaseError> {
    let flows = network.flows.len();
    let short = || Simulation::new(network, seed).unwrap();
    let plain = || Simulation::with_every_event(network, seed).unwrap();
    prop_assert_eq!(seen(short(), flows, &mut ()), seen(plain(), flows, &mut ()));
    let short = recorded(short(), flows);
    let plain = recorded(plain(), flows);
    let first = short.1.iter().zip(&plain.1).find(|(short, plain)| short != plain);
    prop_assert!(first.is_none(), "{:?}", first);
    prop_assert_eq!(short, plain);
    Ok(())
}

proptest! {
    #[test]
    fn arrivals_without_events_change_no_result(network in network(), seed in 0_u64..1000) {
        assert_same(&network, seed)?;
    }

    #[test]
    fn a_queue_with_nothing_to_mark_gives_the_run_of_a_plain_one(
        network in network(),
        marking in marking(),
        seed in 0_u64..1000,
    ) {
        assert_same(&marked(network, marking), seed)?;
    }
}
