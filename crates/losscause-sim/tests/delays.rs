//! A propagation delay that varies: later or earlier, but never out of order, and never a loss.
#![allow(clippy::unwrap_used)]

mod common;

use common::{at_secs, flow, wired};
use losscause::{Span, Time};
use losscause_sim::{
    AtEnd, Between, DelayPoint, Event, EventKind, FlowId, LinkEvent, LinkSpec, Network, Simulation,
    Traffic, VariationSpec,
};

/// 125 bytes at 10 kb/s, a packet each 100 ms, over a link of 1 Mb/s (1 ms each) with a constant
/// delay of 10 ms.
fn network(variation: VariationSpec) -> Network {
    let link = LinkSpec { variation, ..wired("way", 1_000_000, 10, 5) };
    let traffic = Traffic::cbr(10_000, 125);
    Network { links: vec![link], flows: vec![flow("cbr", &[0], &[], traffic)] }
}

fn steps(points: &[(i64, i64)]) -> VariationSpec {
    let point =
        |&(at, delay)| DelayPoint { at: Span::from_millis(at), delay: Span::from_millis(delay) };
    let points = points.iter().map(point).collect();
    VariationSpec::Trace { points, between: Between::Steps, at_end: AtEnd::Hold }
}

/// Sequence numbers and arrivals in milliseconds, in the order of the events.
fn arrivals(network: &Network, until: Time) -> Vec<(u64, f64)> {
    let mut simulation = Simulation::new(network, 1).unwrap();
    let mut events = Vec::new();
    simulation.run_until(until, &mut events);
    assert_eq!(simulation.flow(FlowId(0)).lost, losscause_sim::LossCounts::default());
    let arrival = |event: &Event| match event.kind {
        EventKind::Link { what: LinkEvent::Deliver, packet, queue_packets, .. } => {
            assert_eq!(queue_packets, 0, "no queue takes part");
            Some((packet.seq, event.at.as_secs_f64() * 1e3))
        }
        _ => None,
    };
    events.iter().filter_map(arrival).collect()
}

#[test]
fn a_delay_counts_from_the_end_of_a_packets_transmission() {
    // Packet k leaves the transmitter at 100 k + 1 ms. The step at 201 ms comes just in time for
    // the third.
    let found = arrivals(
        &network(steps(&[(0, 0), (201, 30), (301, 5)])),
        Time::ZERO + Span::from_millis(350),
    );
    assert_eq!(found, [(0, 11.0), (1, 111.0), (2, 241.0), (3, 316.0)]);
}

#[test]
fn a_packet_on_a_shorter_way_does_not_overtake_the_one_before() {
    // The first two set out on a way of 510 ms, the third, at 201 ms, on one of 10 ms; so do the
    // others. They would be there before the second and arrive with it, at 611 ms.
    let found =
        arrivals(&network(steps(&[(0, 500), (150, 0)])), Time::ZERO + Span::from_millis(800));
    let expected = [
        (0, 511.0),
        (1, 611.0),
        (2, 611.0),
        (3, 611.0),
        (4, 611.0),
        (5, 611.0),
        (6, 611.0),
        (7, 711.0),
    ];
    assert_eq!(found, expected);
}

#[test]
fn packets_of_a_batch_arrive_together() {
    // Packet k leaves the transmitter at 100 k + 1 ms. The first is held until 251 ms, the fourth
    // from 301 to 551 ms.
    let batches = VariationSpec::Batches { most: Span::from_millis(250), drawn: false };
    let found = arrivals(&network(batches), Time::ZERO + Span::from_millis(700));
    assert_eq!(found, [(0, 261.0), (1, 261.0), (2, 261.0), (3, 561.0), (4, 561.0), (5, 561.0)]);
}

#[test]
fn a_queue_goes_on_while_packets_stand_still_on_the_way() {
    // Twice as much as the link takes: the way changes nothing about the transmitter's work.
    let loaded = |variation| {
        let mut network = network(variation);
        network.flows[0].traffic = Traffic::cbr(2_000_000, 125);
        let mut simulation = Simulation::new(&network, 1).unwrap();
        simulation.run_until(at_secs(10), &mut ());
        let counters = simulation.counters().link(losscause_sim::LinkId(0));
        (counters.entered, counters.queue_drops)
    };
    let swinging =
        VariationSpec::Sinusoid { most: Span::from_millis(200), period: Span::from_millis(150) };
    assert_eq!(loaded(swinging), loaded(VariationSpec::Constant));
}

#[test]
fn a_walk_belongs_to_its_link_and_seed() {
    let most = Span::from_millis(50);
    let step = Span::from_millis(10);
    let every = Span::from_millis(100);
    let walk = VariationSpec::Walk { most, step, every };
    let mut first = network(walk.clone());
    let arrived = arrivals(&first, at_secs(20));
    assert_ne!(arrived, arrivals(&network(VariationSpec::Constant), at_secs(20)));
    // Another link and another flow change nothing.
    first.links.push(LinkSpec { variation: walk, ..wired("other", 1_000_000, 10, 5) });
    let other = first.flows[0].traffic.clone();
    first.flows.push(flow("other", &[1], &[], other));
    let mut simulation = Simulation::new(&first, 1).unwrap();
    let mut events = Vec::new();
    simulation.run_until(at_secs(20), &mut events);
    let of_first = events.iter().filter(|event| event.flow == FlowId(0));
    let delivered = of_first
        .filter(|event| matches!(event.kind, EventKind::Link { what: LinkEvent::Deliver, .. }));
    let times: Vec<f64> = delivered.map(|event| event.at.as_secs_f64() * 1e3).collect();
    assert_eq!(times, arrived.iter().map(|(_, at)| *at).collect::<Vec<_>>());
}
