//! Connections over the virtual network, as a whole.

use losscause::{Span, Time};
use losscause_sim::{ChannelSpec, FlowSpec, Limit, LinkId, LinkSpec, Network, QueueSpec, Traffic};
use losscause_study::{Experiment, Stop};

use super::network::VirtualNetwork;
use super::run::{Outcome, run};
use super::system::System;

fn secs(secs: i64) -> Time {
    Time::ZERO + Span::from_secs(secs)
}

/// 20 Mb/s and 40 ms, with room for a bandwidth-delay product, 68 packets.
fn network(flows: &[&str], loss: f64) -> Network {
    let queue = QueueSpec::DropTail { limit: Limit::Packets(68) };
    let channel = if loss > 0.0 { ChannelSpec::Bernoulli { loss } } else { ChannelSpec::Perfect };
    let link =
        LinkSpec { channel, ..LinkSpec::wired("link", 20_000_000, Span::from_millis(20), queue) };
    let back = LinkSpec::wired("link.back", 20_000_000, Span::from_millis(20), queue);
    let flow = |name: &&str| FlowSpec {
        start_spread: Span::from_secs(1),
        ..FlowSpec::new(
            *name,
            &[LinkId(0)],
            &[LinkId(1)],
            Traffic::tcp(losscause_sim::tcp::Config::default()),
        )
    };
    Network { links: vec![link, back], flows: flows.iter().map(flow).collect() }
}

fn layout(network: Network, from_s: i64, to_s: i64) -> Experiment {
    Experiment {
        network,
        duration: secs(to_s),
        window: (secs(from_s), secs(to_s)),
        bottleneck: vec![],
        cwnd: false,
        delays: false,
        quic: true,
        parameters: Default::default(),
    }
}

fn outcome(system: &str, flows: &[&str], loss: f64, seconds: i64, seed: u64) -> Outcome {
    let system = System::parse(system).expect("the tests name systems");
    run(&layout(network(flows, loss), 2, 2 + seconds), &system, seed, &Stop::new())
        .expect("no connection ends")
}

#[test]
fn a_path_without_losses_gives_quic_the_link_s_rate() {
    for system in ["quinn-newreno", "quinn-cubic", "quinn-bbr", "noq-newreno", "noq-cubic"] {
        let outcome = outcome(system, &["test.1"], 0.0, 8, 1);
        let rate_bps = outcome.tested[0].counters.delivered_bytes as f64 * 8.0 / outcome.seconds;
        // Of 1480 bytes on the wire, 1452 are QUIC, and 1420 or more of them data: 19.2 Mb/s.
        assert!((18.6e6..19.4e6).contains(&rate_bps), "{system}: {rate_bps}");
    }
}

#[test]
fn every_packet_arrives_is_lost_or_is_on_the_path() {
    let network = network(&["test.1", "competitor.1"], 0.02);
    let setups = vec![System::CUBIC.sender(None), System::CUBIC.sender(Some(300_000))];
    let mut over = VirtualNetwork::new(&network, 7, setups).unwrap();
    for until in 1..=10 {
        over.run_until(secs(until)).unwrap();
        let counters = [over.counters(0), over.counters(1)];
        let on_path: u64 = counters
            .iter()
            .map(|c| c.sent_pkts - c.delivered_pkts - c.queue_drops - c.wireless_losses)
            .sum();
        // Those on the way back are on the path as well.
        assert!(on_path <= over.in_flight() as u64, "{until} s: {on_path} of {}", over.in_flight());
    }
    assert_eq!(over.counters(1).delivered_bytes, 300_000);
    assert!(over.completion_time(1).is_some_and(|time| time < Span::from_secs(5)));
    assert_eq!(over.completion_time(0), None);
}

#[test]
fn every_declared_loss_is_the_paths_where_order_is_kept() {
    for system in ["quinn-cubic", "noq-cubic"] {
        let outcome = outcome(system, &["test.1"], 0.02, 10, 3);
        let counters = outcome.tested[0].counters;
        let judged = counters.verdicts;
        assert!(counters.batches > 20, "{system}: {counters:?}");
        assert_eq!(counters.unexplained, 0, "{system}: {counters:?}");
        // Stock Cubic takes every loss for congestion.
        assert_eq!((judged.m_w(), judged.congestion.called_wireless), (Some(1.0), 0), "{system}");
        let lost = counters.wireless_losses as i64;
        let wrong = judged.wireless.called_congestion as i64;
        assert!((wrong - lost).abs() <= 5, "{system}: {judged:?} of {lost}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    for system in ["quinn-cubic", "noq-cubic+Spike"] {
        let of = |seed| outcome(system, &["test.1", "competitor.1"], 0.005, 8, seed);
        assert_eq!(of(5), of(5), "{system}");
        assert_ne!(of(5), of(6), "{system}");
    }
}

#[test]
fn two_equal_connections_share_a_link() {
    let outcome = outcome("quinn-newreno", &["test.1", "competitor.1"], 0.0, 8, 1);
    let bytes = |of: &[super::run::Connection]| of[0].counters.delivered_bytes as f64;
    let sum = (bytes(&outcome.tested) + bytes(&outcome.competitors)) * 8.0 / outcome.seconds;
    assert!((18.0e6..19.4e6).contains(&sum), "{sum}");
}
