//! One seed, one run; and what one flow draws is no other flow's business.
#![allow(clippy::unwrap_used)]

mod common;

use common::{at_secs, cbr, flow, wired, wireless};
use losscause::Span;
use losscause_sim::{
    ChannelSpec, Event, EventKind, FlowId, FlowSpec, Lengths, LinkEvent, LinkId, Network,
    Simulation, Traffic,
};
use losscause_transport::{tcp, tfrc};

fn on_off(rate_bps: u64) -> Traffic {
    let mean = Span::from_millis(200);
    Traffic::OnOff {
        rate_bps,
        packet_bytes: 500,
        mean_on: mean,
        mean_off: mean,
        lengths: Lengths::Exponential,
        lda: None,
    }
}

fn tfrc() -> Traffic {
    Traffic::Tfrc { config: tfrc::Config::rfc5348(), lda: losscause_sim::Oracle::OMNISCIENT.into() }
}

/// Three flows over a bursty radio link.
fn network() -> Network {
    let bursty = ChannelSpec::GilbertElliott { loss: 0.05, mean_burst_packets: 2.0 };
    let spread = |spec| FlowSpec { start_spread: Span::from_secs(1), ..spec };
    Network {
        links: vec![wireless("air", 2_000_000, 10, 10, bursty), wired("back", 2_000_000, 10, 10)],
        flows: vec![
            spread(flow("tcp", &[0], &[1], Traffic::tcp(tcp::Config::ns2()))),
            spread(flow("tfrc", &[0], &[1], tfrc())),
            spread(flow("on-off", &[0], &[], on_off(1_000_000))),
        ],
    }
}

fn run(network: &Network, seed: u64) -> (Simulation, Vec<Event>) {
    let mut simulation = Simulation::new(network, seed).unwrap();
    let mut events = Vec::new();
    simulation.run_until(at_secs(30), &mut events);
    (simulation, events)
}

/// Which transmissions on the link were corrupted, in order.
fn pattern(events: &[Event], on: LinkId) -> Vec<bool> {
    let outcome = |event: &Event| match event.kind {
        EventKind::Link { link, what: LinkEvent::Corrupted, .. } if link == on => Some(true),
        EventKind::Link { link, what: LinkEvent::Deliver, .. } if link == on => Some(false),
        _ => None,
    };
    events.iter().filter_map(outcome).collect()
}

fn sent_at(events: &[Event], flow: u32) -> Vec<losscause::Time> {
    let by_flow =
        |event: &&Event| event.flow == FlowId(flow) && matches!(event.kind, EventKind::Sent(_));
    events.iter().filter(by_flow).map(|event| event.at).collect()
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let first = run(&network(), 7);
    let second = run(&network(), 7);
    assert_eq!(first.1, second.1);
    assert_eq!(first.0.counters(), second.0.counters());
    assert!(first.1.len() > 1000);
}

#[test]
fn another_seed_gives_another_run() {
    assert_ne!(run(&network(), 7).1, run(&network(), 8).1);
}

#[test]
fn nobody_watching_changes_nothing() {
    let mut unwatched = Simulation::new(&network(), 7).unwrap();
    unwatched.run_until(at_secs(30), &mut ());
    assert_eq!(unwatched.counters(), run(&network(), 7).0.counters());
}

#[test]
fn a_copy_goes_on_as_the_original_does() {
    let mut original = Simulation::new(&network(), 7).unwrap();
    original.run_until(at_secs(10), &mut ());
    let mut copy = original.clone();
    original.run_until(at_secs(30), &mut ());
    copy.run_until(at_secs(30), &mut ());
    assert_eq!(original.counters(), copy.counters());
}

#[test]
fn adding_a_flow_changes_no_other_draw() {
    let before = network();
    let mut after = network();
    after.links.insert(0, wired("elsewhere", 1_000_000, 1, 5));
    for flow in &mut after.flows {
        flow.path[0].0 += 1;
        flow.return_path.iter_mut().for_each(|link| link.0 += 1);
    }
    after.flows.insert(0, flow("newcomer", &[1], &[], cbr(50_000)));
    let before = run(&before, 7);
    let after = run(&after, 7);
    // Starts and bursts are the flow's own draws. The pattern is the channel's, by packet slot.
    for index in 0..3 {
        let started = |of: &(Simulation, _), index| of.0.flow(FlowId(index)).started_at.unwrap();
        assert_eq!(started(&before, index), started(&after, index + 1));
    }
    assert_eq!(sent_at(&before.1, 2), sent_at(&after.1, 3));
    let short = pattern(&before.1, LinkId(0));
    let long = pattern(&after.1, LinkId(1));
    let common = short.len().min(long.len());
    assert!(common > 1000 && short.contains(&true));
    assert_eq!(short[..common], long[..common]);
}

#[test]
fn swapping_the_protocol_keeps_start_times_and_error_pattern() {
    let before = network();
    let mut after = network();
    after.flows[0].traffic = tfrc();
    let before = run(&before, 7);
    let after = run(&after, 7);
    assert_eq!(before.0.flow(FlowId(0)).started_at, after.0.flow(FlowId(0)).started_at);
    let one = pattern(&before.1, LinkId(0));
    let other = pattern(&after.1, LinkId(0));
    let common = one.len().min(other.len());
    assert_eq!(one[..common], other[..common]);
}
