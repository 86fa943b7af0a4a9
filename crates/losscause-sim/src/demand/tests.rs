use losscause_transport::tcp;

use super::*;
use crate::topology::{FlowId, FqCoDelSpec, LinkId, RatePoint, TcpLda};
use crate::{Simulation, topology::FlowSpec};

const QUEUE: QueueSpec = QueueSpec::DropTail { limit: Limit::Packets(10) };

fn line(name: &str, queue: QueueSpec) -> LinkSpec {
    LinkSpec::wired(name, 1_000_000, Span::from_millis(10), queue)
}

fn tcp(name: &str, config: tcp::Config) -> FlowSpec {
    let traffic = Traffic::Tcp { config, lda: TcpLda::None };
    FlowSpec::new(name, &[LinkId(0)], &[LinkId(1)], traffic)
}

fn of(links: [LinkSpec; 2], flows: Vec<FlowSpec>, seconds: i64) -> Demand {
    let network = Network { links: links.into(), flows };
    network.validate().unwrap();
    network.demand(Time::ZERO + Span::from_secs(seconds))
}

fn cbr(rate_bps: u64, packet_bytes: u32) -> FlowSpec {
    FlowSpec::new("cbr", &[LinkId(0)], &[], Traffic::cbr(rate_bps, packet_bytes))
}

#[test]
fn a_queue_holds_no_more_than_can_come() {
    let unlimited = QueueSpec::DropTail { limit: Limit::Packets(u32::MAX) };
    let links = |queue| [line("a", queue), line("b", QUEUE)];
    // 2 Mb/s for 20 s are 5,000 packets of 1,000 bytes, and one.
    let demand = of(links(unlimited), vec![cbr(2_000_000, 1_000)], 20);
    assert_eq!((demand.links[0].packets, demand.links[1].packets), (5_001.0, 0.0));
    // Ten wait, two are in transmission and propagation, 1.25 in 10 ms at 1 Mb/s.
    let demand = of(links(QUEUE), vec![cbr(2_000_000, 1_000)], 20);
    assert_eq!(demand.links[0].packets, 13.25);
    // It stops after a second.
    let short = FlowSpec { stop: Some(Time::ZERO + Span::from_secs(1)), ..cbr(2_000_000, 1_000) };
    assert_eq!(of(links(unlimited), vec![short], 20).links[0].packets, 251.0);
}

#[test]
fn flows_with_feedback_are_bounded_by_their_slowest_link_together() {
    let unlimited = QueueSpec::DropTail { limit: Limit::Packets(u32::MAX) };
    let links = || [line("a", unlimited), line("b", QUEUE)];
    let config = tcp::Config { max_rto: Span::from_secs(2), ..tcp::Config::rfc() };
    // 1 Mb/s for 12 s are 1,000 packets of 1,500 bytes, and one; per flow 3 packets at first, 64
    // timeouts, and one per second.
    let of_flows = |count: u32| {
        let flows = (0..count).map(|flow| tcp(&format!("f{flow}"), config)).collect();
        of(links(), flows, 12).links[0].packets
    };
    assert_eq!(of_flows(1), 4.0 * 1_001.0 + 79.0);
    assert_eq!(of_flows(3), 4.0 * 1_001.0 + 3.0 * 79.0);
    // The window is less: twice, and a packet per timeout.
    let config = tcp::Config { max_window_pkts: 20, ..config };
    assert_eq!(of(links(), vec![tcp("f", config)], 12).links[0].packets, 40.0 + 76.0);
    // And so is a transfer.
    let config = tcp::Config { limit_pkts: Some(5), max_window_pkts: 1_000, ..config };
    assert_eq!(of(links(), vec![tcp("f", config)], 12).links[0].packets, 20.0 + 79.0);
}

#[test]
fn sub_queues_take_memory_without_any_packet() {
    let queues = |queues| {
        let spec = FqCoDelSpec { queues, ..FqCoDelSpec::new(Limit::Packets(10)) };
        let links = [line("a", QueueSpec::FqCoDel(spec)), line("b", QUEUE)];
        of(links, vec![cbr(1, 1_000)], 1).links[0].own_bytes
    };
    assert!(queues(65_536) - queues(1) >= 65_535.0 * 64.0);
}

#[test]
fn what_a_link_does_by_itself_are_events() {
    let points =
        [(0, 1), (500, 2)].map(|(ms, rate_bps)| RatePoint { at: Span::from_millis(ms), rate_bps });
    let steps = |at_end| RateSpec::Steps { points: points.into(), at_end };
    let events = |link: LinkSpec| own_events(&link, 7.0, Span::from_secs(10));
    let link = || line("a", QUEUE);
    assert_eq!(events(link()), 0.0);
    assert_eq!(events(LinkSpec { rate: steps(AtEnd::Hold), ..link() }), 2.0);
    assert_eq!(events(LinkSpec { rate: steps(AtEnd::Repeat), ..link() }), 40.0);
    let every = Span::from_millis(20);
    let variation = VariationSpec::Walk { most: every, step: every, every };
    assert_eq!(events(LinkSpec { variation, ..link() }), 500.0);
    let channel = ChannelSpec::Bernoulli { loss: 0.5 };
    let slots = |slots| LinkSpec { channel: channel.clone(), slots, ..link() };
    assert_eq!(events(slots(Slots::PerTime(Span::from_millis(1)))), 10_000.0);
    assert_eq!(events(slots(Slots::PerPacket(3))), 21.0);
}

/// A run does what it does, and the bound was said before.
#[test]
fn no_run_has_more_packets_or_events_than_its_bound() {
    let hard = [
        tcp::Config { min_rto: Span::from_micros(1), ..tcp::Config::rfc() },
        tcp::Config { max_window_pkts: 2, ..tcp::Config::rfc() },
        tcp::Config::linux(),
        tcp::Config::ns2(),
        tcp::Config {
            min_rto: Span::from_micros(20),
            max_rto: Span::from_micros(20),
            initial_rto: Span::from_micros(20),
            ..tcp::Config::rfc()
        },
    ];
    for (place, config) in hard.into_iter().enumerate() {
        for loss in [0.0, 0.1, 1.0] {
            for limit in [2, u32::MAX] {
                let queue = QueueSpec::DropTail { limit: Limit::Packets(limit) };
                let channel = ChannelSpec::Bernoulli { loss };
                let network = Network {
                    links: vec![LinkSpec { channel, ..line("a", queue) }, line("b", QUEUE)],
                    flows: vec![tcp("f", config), tcp("g", config), cbr(400_000, 500)],
                };
                let end = Time::ZERO + Span::from_secs(1);
                let Demand { links, flows, .. } = network.demand(end);
                let mut simulation = Simulation::with_every_event(&network, 1).unwrap();
                let mut events = 0_u32;
                let mut most = 0;
                while !simulation.run_events(end, 1, &mut ()) {
                    events += 1;
                    most = most.max(simulation.waiting_pkts(LinkId(0)));
                }
                let bound: f64 = links.iter().map(|link| link.carried_events).sum::<f64>()
                    + flows.iter().map(|flow| flow.events).sum::<f64>();
                let case = format!("{place}, loss {loss}, limit {limit}");
                assert!(f64::from(events) <= bound, "{case}: {events} events, {bound} allowed");
                assert!(f64::from(most) <= links[0].packets, "{case}: {most} packets");
                assert!(simulation.flow(FlowId(2)).sent_packets as f64 <= flows[2].events);
            }
        }
    }
}
