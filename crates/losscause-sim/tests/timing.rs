//! Hand-worked timings, seen from outside.
#![allow(clippy::unwrap_used)]

mod common;

use common::{at_micros, at_secs, cbr, flow, one_flow, run_to, wired, wireless};
use losscause::{Span, Time};
use losscause_sim::{
    ChannelSpec, Event, EventKind, FlowId, FlowSpec, LinkEvent, LinkId, Network, PacketKind,
    Simulation, TraceStart, Traffic,
};
use losscause_transport::tcp;

fn run(network: &Network, until: Time) -> (Simulation, Vec<Event>) {
    let mut simulation = Simulation::new(network, 1).unwrap();
    let mut events = Vec::new();
    run_to(&mut simulation, until, &mut events);
    events.sort_by_key(|event| event.at);
    (simulation, events)
}

fn link_times(events: &[Event], on: LinkId, wanted: LinkEvent) -> Vec<Time> {
    let matches =
        |kind| matches!(kind, EventKind::Link { link, what, .. } if link == on && what == wanted);
    events.iter().filter(|event| matches(event.kind)).map(|event| event.at).collect()
}

/// 762 bytes take 0.6096 ms at 10 Mb/s and 40.64 ms at 150 kb/s.
fn last_hop() -> Network {
    Network {
        links: vec![wired("access", 10_000_000, 1, 50), wired("radio", 150_000, 10, 5)],
        flows: vec![flow("cbr", &[0, 1], &[], cbr(10_000_000))],
    }
}

#[test]
fn a_packet_is_transmitted_and_propagates_on_every_hop() {
    let (_, events) = run(&last_hop(), at_micros(60_000));
    let received =
        events.iter().find(|event| matches!(event.kind, EventKind::Received(_))).unwrap();
    // 0.6096 + 1 + 40.64 + 10 ms.
    assert_eq!(received.at, Time::ZERO + Span::from_nanos(52_249_600));
}

#[test]
fn of_packets_back_to_back_the_sixth_waits_the_seventh_drops() {
    let (simulation, events) = run(&last_hop(), at_micros(10_000));
    // Packet k (from 0) reaches the radio link at 1.6096 + 0.6096 k ms: the seventh at 5.2672 ms.
    let drops = link_times(&events, LinkId(1), LinkEvent::QueueDrop);
    assert_eq!(drops[0], Time::ZERO + Span::from_nanos(5_267_200));
    let radio = simulation.counters().link(LinkId(1));
    // By 10 ms, packets 0 to 13 have come: the 14th at 1.6096 + 13 x 0.6096 = 9.5344 ms.
    assert_eq!((radio.entered, radio.queue_drops, radio.transmitted), (14, 8, 0));
}

#[test]
fn the_state_is_exact_at_the_instant_of_the_stop() {
    let network = last_hop();
    let first = Time::ZERO + Span::from_nanos(52_249_600);
    let mut simulation = Simulation::new(&network, 1).unwrap();
    simulation.run_until(first - Span::from_nanos(1), &mut ());
    assert_eq!(simulation.flow(FlowId(0)).received_packets, 0);
    simulation.run_until(first, &mut ());
    assert_eq!(simulation.flow(FlowId(0)).received_packets, 1);
    assert_eq!(simulation.now(), first);
}

#[test]
fn stopping_on_the_way_changes_nothing() {
    let network = last_hop();
    let (whole, events) = run(&network, at_secs(2));
    let mut in_steps = Simulation::new(&network, 1).unwrap();
    let mut step_events = Vec::new();
    for step in 1..=2000 {
        in_steps.run_until(at_micros(step * 1000), &mut step_events);
    }
    step_events.sort_by_key(|event| event.at);
    assert_eq!(whole.counters(), in_steps.counters());
    assert_eq!(events.len(), step_events.len());
}

#[test]
fn a_window_is_the_difference_of_two_snapshots() {
    let network = last_hop();
    let mut simulation = Simulation::new(&network, 1).unwrap();
    simulation.run_until(at_secs(10), &mut ());
    let before = simulation.counters().clone();
    simulation.run_until(at_secs(20), &mut ());
    let window = (simulation.counters() - &before).link(LinkId(1));
    // A saturated link carries 10 s / 40.64 ms = 246.06 packets.
    assert_eq!((window.transmitted, window.transmitted_bytes), (246, 246 * 762));
}

#[test]
fn a_tcp_flow_alone_fills_the_link() {
    let config = tcp::Config { max_window_pkts: 40, ..tcp::Config::ns2() };
    let network = one_flow(losscause_sim::Traffic::tcp(config), 1_000_000, ChannelSpec::Perfect);
    let (simulation, _) = run(&network, at_secs(100));
    let report = simulation.flow(FlowId(0));
    // 1000 bytes of payload in 1040 on the wire; Reno with a queue of four times the pipe keeps the
    // link busy.
    let share = report.delivered_payload_bytes as f64 * 8.0 / 100e6 * 1.04;
    assert!((0.95..=1.0).contains(&share), "{share}");
    assert!(report.lost.congestion > 0 && report.lost.wireless == 0, "{:?}", report.lost);
    assert_eq!(report.tcp.unwrap().segments_sent, report.sent_packets);
}

#[test]
fn a_flow_starts_within_its_spread_and_stops_at_its_stop() {
    let spec = FlowSpec {
        start: at_secs(3),
        start_spread: Span::from_secs(2),
        stop: Some(at_secs(6)),
        ..flow("cbr", &[0], &[], cbr(100_000))
    };
    let network = Network { links: vec![wired("out", 1_000_000, 5, 5)], flows: vec![spec] };
    let (simulation, events) = run(&network, at_secs(20));
    let started_at = simulation.flow(FlowId(0)).started_at.unwrap();
    assert!((at_secs(3)..at_secs(5)).contains(&started_at), "{started_at}");
    let sent: Vec<Time> = events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Sent(_)))
        .map(|event| event.at)
        .collect();
    assert_eq!(sent[0], started_at);
    assert!(sent[sent.len() - 1] < at_secs(6));
    // 60.96 ms apart until the stop.
    let expected = (at_secs(6) - started_at).as_nanos() / 60_960_000 + 1;
    assert_eq!(sent.len() as i64, expected);
}

#[test]
fn a_stopped_sender_sends_nothing_although_acks_still_arrive() {
    let mut network = one_flow(Traffic::tcp(tcp::Config::rfc()), 1_000_000, ChannelSpec::Perfect);
    network.flows[0].stop = Some(at_secs(2));
    let (_, events) = run(&network, at_secs(10));
    let times = |wanted: fn(EventKind) -> bool| -> Vec<Time> {
        events.iter().filter(|event| wanted(event.kind)).map(|event| event.at).collect()
    };
    let sent =
        times(|kind| matches!(kind, EventKind::Sent(packet) if packet.kind != PacketKind::Ack));
    let acks =
        times(|kind| matches!(kind, EventKind::Received(packet) if packet.kind == PacketKind::Ack));
    // The link is busy from the start: packets wait, and their ACKs arrive for 20 ms of propagation
    // and more.
    assert!(acks[acks.len() - 1] > at_secs(2) + Span::from_millis(20), "{}", acks[acks.len() - 1]);
    assert!(sent[sent.len() - 1] < at_secs(2), "{}", sent[sent.len() - 1]);
}

#[test]
fn a_flow_that_stops_before_it_starts_sends_nothing() {
    let spec = FlowSpec {
        start: at_secs(3),
        stop: Some(at_secs(3)),
        ..flow("cbr", &[0], &[], cbr(100_000))
    };
    let network = Network { links: vec![wired("out", 1_000_000, 5, 5)], flows: vec![spec] };
    let (simulation, _) = run(&network, at_secs(20));
    let report = simulation.flow(FlowId(0));
    assert_eq!((report.started_at, report.sent_packets), (None, 0));
}

#[test]
fn an_immune_flow_uses_slots_up_but_loses_nothing() {
    // Every second slot is bad. Two flows take turns: the immune one meets all of the bad slots.
    let channel = ChannelSpec::Trace { lost: [true, false].into(), start: TraceStart::Slot(0) };
    let later = FlowSpec { start: at_micros(30_000), ..flow("second", &[0], &[], cbr(100_000)) };
    let immune = FlowSpec { wireless_immune: true, ..flow("first", &[0], &[], cbr(100_000)) };
    let network = Network {
        links: vec![wireless("air", 1_000_000, 5, 5, channel)],
        flows: vec![immune, later],
    };
    let (simulation, _) = run(&network, at_secs(10));
    let lost = |flow| simulation.flow(FlowId(flow)).lost.wireless;
    assert_eq!((lost(0), lost(1)), (0, 0));
    let mut exposed = network;
    exposed.flows[0].wireless_immune = false;
    let (simulation, _) = run(&exposed, at_secs(10));
    assert_eq!(simulation.flow(FlowId(0)).received_packets, 0);
    assert_eq!(simulation.flow(FlowId(1)).lost.wireless, 0);
}
