//! Links like real radio links: their rate varies, and they repeat what their channel corrupts. And
//! policers, which lose packets without any delay.
#![allow(clippy::unwrap_used)]

mod common;

use common::{at_secs, cbr, flow, one_flow, wired};
use losscause::{Span, Time};
use losscause_sim::{
    AtEnd, ChannelSpec, Event, EventKind, FlowId, HopCounters, Limit, LinkEvent, LinkId, Network,
    PolicerSpec, QueueSpec, RatePoint, RateSpec, RetransmissionSpec, Simulation, Traffic,
};

/// The first link's counters, and all events in order of time, after so many seconds.
fn run(network: &Network, secs: i64) -> (HopCounters, Vec<Event>) {
    let mut simulation = Simulation::new(network, 1).unwrap();
    let mut events = vec![];
    simulation.run_until(at_secs(secs), &mut events);
    assert_eq!(simulation.check_conservation(), Ok(()));
    events.sort_by_key(|event| event.at);
    (simulation.counters().flow_at(FlowId(0), LinkId(0)), events)
}

/// How long packets took from their first link's queue to its far end, by sequence number.
fn delays(events: &[Event]) -> Vec<Span> {
    let mut entered = std::collections::HashMap::new();
    let mut delays = vec![];
    for event in events {
        let EventKind::Link { link: LinkId(0), what, packet, .. } = event.kind else { continue };
        match what {
            LinkEvent::Enqueue => drop(entered.insert(packet.seq, event.at)),
            LinkEvent::Deliver => delays.push(event.at - entered[&packet.seq]),
            _ => {}
        }
    }
    delays
}

#[test]
fn link_layer_retransmission_turns_loss_into_delay() {
    let channel = || ChannelSpec::Bernoulli { loss: 0.1 };
    // 10 packets of 762 bytes per second over a link that would carry 164.
    let bare = one_flow(cbr(60_960), 1_000_000, channel());
    let mut repeated = bare.clone();
    repeated.links[0].retransmission =
        Some(RetransmissionSpec { attempts: 4, delay: Span::from_millis(8) });
    let (without, _) = run(&bare, 10_000);
    let (with, events) = run(&repeated, 10_000);
    assert_eq!(without.entered, with.entered);
    // 10 % of 100,000 packets, and 10^-4 of them: 10 on average.
    assert!((9_500..10_500).contains(&without.corrupted), "{}", without.corrupted);
    assert!((1..30).contains(&with.corrupted), "{}", with.corrupted);
    // One attempt in ten is repeated once or more: 6.1 ms for the transmission, 20 ms of
    // propagation, and 14.1 ms for each attempt more.
    let delays = delays(&events);
    let late = delays.iter().filter(|&&delay| delay > Span::from_millis(40)).count();
    assert!((9_000..11_000).contains(&late), "{late}");
    assert_eq!(delays.iter().min(), Some(&Span::from_nanos(26_096_000)));
}

#[test]
fn packets_are_delivered_in_order_though_some_are_repeated() {
    let mut network = one_flow(cbr(600_000), 1_000_000, ChannelSpec::Bernoulli { loss: 0.2 });
    network.links[0].retransmission =
        Some(RetransmissionSpec { attempts: 7, delay: Span::from_millis(8) });
    let (_, events) = run(&network, 100);
    let delivered: Vec<u64> = events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Link { link: LinkId(0), what: LinkEvent::Deliver, packet, .. } => {
                Some(packet.seq)
            }
            _ => None,
        })
        .collect();
    assert!(delivered.len() > 9_000);
    assert!(delivered.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn a_link_carries_what_the_steps_of_its_rate_add_up_to() {
    let mut network = one_flow(cbr(3_000_000), 1_000_000, ChannelSpec::Perfect);
    let point = |secs, rate_bps| RatePoint { at: Span::from_secs(secs), rate_bps };
    // Each round of 10 s: 2 s at 1 Mb/s, 3 s at 2 Mb/s, an outage of 1 s, 4 s at 500 kb/s.
    let points = [point(2, 2_000_000), point(5, 0), point(6, 500_000), point(10, 7)].into();
    network.links[0].rate = RateSpec::Steps { points, at_end: AtEnd::Repeat };
    let (link, _) = run(&network, 100);
    let bits = link.transmitted_bytes as f64 * 8.0;
    // 10 Mbit per round; at the end some 100 kbit are still waiting, in transmission or in
    // propagation.
    assert!((99.8e6..=100.0e6).contains(&bits), "{bits}");
}

#[test]
fn a_mahimahi_link_carries_one_opportunity_per_line() {
    let mut network = one_flow(Traffic::cbr(3_000_000, 1504), 1_000_000, ChannelSpec::Perfect);
    // 3 opportunities in 12 ms: 3.008 Mb/s.
    let at = [4, 8, 12].map(Span::from_millis).into();
    network.links[0].rate = RateSpec::Opportunities { at, bytes: 1504 };
    network.links[0].delay = Span::ZERO;
    let (link, events) = run(&network, 12);
    assert_eq!(link.queue_drops, 0);
    assert!(link.delivered >= 2990, "{}", link.delivered);
    let delivered = events.iter().filter(|event| {
        matches!(event.kind, EventKind::Link { link: LinkId(0), what: LinkEvent::Deliver, .. })
    });
    let whole = |at: Time| (at - Time::ZERO).as_nanos() % 4_000_000 == 0;
    assert!(delivered.clone().count() > 0 && delivered.into_iter().all(|event| whole(event.at)));
}

#[test]
fn a_policer_loses_packets_without_any_delay() {
    let policer = PolicerSpec { rate_bps: 400_000, burst_bytes: 10_000, limit: Limit::Packets(50) };
    let network = Network {
        links: vec![
            losscause_sim::LinkSpec {
                queue: QueueSpec::Policer(policer),
                ..wired("policed", 10_000_000, 20, 50)
            },
            wired("back", 10_000_000, 20, 50),
        ],
        flows: vec![flow("only", &[0], &[1], cbr(500_000))],
    };
    let (link, events) = run(&network, 1000);
    // Four fifths conform, and the first burst.
    let share = link.queue_drops as f64 / link.entered as f64;
    assert!((share - 0.2).abs() < 0.001, "{share}");
    let slowest = delays(&events).into_iter().max();
    // 762 bytes at 10 Mb/s and 20 ms.
    assert_eq!(slowest, Some(Span::from_nanos(20_609_600)));
}
