//! Sender jitter delays packets by at most its own length, keeps their order, and draws from a
//! stream of its own.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use common::{at_secs, flow, run_to, wired};
use losscause::{Span, Time};
use losscause_sim::{Event, EventKind, FlowId, FlowSpec, LinkEvent, Network, Simulation, Traffic};
use losscause_transport::tcp;

/// Two CBR flows with packets of 500 bytes every 4 ms, and a TCP flow.
fn network(jitter: [Span; 2]) -> Network {
    let cbr = |name: &str, send_jitter| FlowSpec {
        send_jitter,
        ..flow(name, &[0], &[], Traffic::cbr(1_000_000, 500))
    };
    let tcp = flow("tcp", &[1, 0], &[2], Traffic::tcp(tcp::Config::ns2()));
    Network {
        links: vec![
            wired("shared", 10_000_000, 10, 30),
            wired("access", 100_000_000, 1, 100),
            wired("back", 10_000_000, 10, 30),
        ],
        flows: vec![cbr("a", jitter[0]), cbr("b", jitter[1]), tcp],
    }
}

fn events(network: &Network, seed: u64) -> Vec<Event> {
    let mut events: Vec<Event> = vec![];
    let mut simulation = Simulation::new(network, seed).unwrap();
    run_to(&mut simulation, at_secs(5), &mut events);
    events
}

/// When the flow's packets entered their first link, with their numbers.
fn departures(events: &[Event], flow: u32) -> Vec<(u64, Time)> {
    let sent = events.iter().filter(|event| event.flow == FlowId(flow));
    sent.filter_map(|event| match event.kind {
        EventKind::Sent(packet) => Some((packet.seq, event.at)),
        _ => None,
    })
    .collect()
}

#[test]
fn packets_leave_in_order_and_late_by_less_than_the_jitter() {
    let jitter = Span::from_millis(10);
    let late = departures(&events(&network([jitter, Span::ZERO]), 1), 0);
    for (place, (seq, at)) in late.iter().enumerate() {
        assert_eq!(*seq, place as u64, "in order");
        let emitted = Time::ZERO + Span::from_millis(4 * place as i64);
        assert!((emitted..emitted + jitter).contains(at), "packet {seq} left at {at}");
    }
    let delay: f64 = late
        .iter()
        .enumerate()
        .map(|(place, (_, at))| (*at - Time::ZERO).as_millis_f64() - 4.0 * place as f64)
        .sum::<f64>()
        / late.len() as f64;
    // max(U1 - 8, U2 - 4, U3) of uniform draws from 0 to 10: at x the product of the three
    // distributions. 10 - the integral of it: over [0, 2] x (x + 4)(x + 8) / 1000 = 0.1053, over
    // [2, 6] x (x + 4) / 100 = 1.4933, over [6, 10] x / 10 = 3.2.
    assert!((delay - 5.2013).abs() < 0.4, "{delay}");
}

#[test]
fn a_flow_with_jitter_changes_no_draw_of_others() {
    let without = network([Span::ZERO; 2]);
    let one = network([Span::from_micros(300), Span::ZERO]);
    assert_eq!(departures(&events(&without, 1), 1), departures(&events(&one, 1), 1));
    assert_ne!(departures(&events(&one, 1), 0), departures(&events(&one, 2), 0), "by seed");
    assert_eq!(events(&without, 1), events(&without, 2), "without it nothing is drawn");
}

#[test]
fn what_a_stopped_sender_has_emitted_still_leaves() {
    let mut network = network([Span::from_millis(50), Span::ZERO]);
    network.flows[0].stop = Some(at_secs(1));
    let mut events: Vec<Event> = vec![];
    let mut simulation = Simulation::new(&network, 1).unwrap();
    run_to(&mut simulation, at_secs(2), &mut events);
    // One packet every 4 ms before 1 s.
    assert_eq!(simulation.flow(FlowId(0)).sent_packets, 250);
    let dropped = events.iter().filter(|event| {
        event.flow == FlowId(0)
            && matches!(event.kind, EventKind::Link { what: LinkEvent::QueueDrop, .. })
    });
    let received = simulation.flow(FlowId(0)).received_packets;
    assert_eq!(received + dropped.count() as u64, 250);
    assert_eq!(simulation.check_conservation(), Ok(()));
}
