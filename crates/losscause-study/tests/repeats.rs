//! In a network that reorders nothing, a sender with selective acknowledgements repeats what was
//! lost, and nothing else.
//!
//! Two repetitions need no loss: those of a retransmission timeout, which takes all in flight for
//! lost, and a tail loss probe, which repeats the newest packet to learn more. Networks in which a
//! timer expired are left out; of the newest packet, one repetition is allowed.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::collections::HashMap;

use losscause_sim::{EventKind, LinkEvent, PacketKind};
use losscause_study::{Context, Scenario, run_recorded};
use proptest::prelude::*;

/// Two flows at most over one link, as `validation/linux/transfer.toml`.
fn scenario(rate_mbps: f64, rtt_ms: f64, bdps: f64, loss: f64, flows: u32, queue: &str) -> String {
    let packets = (rate_mbps * rtt_ms * 125.0 / 1500.0 * bdps).ceil().max(3.0);
    format!(
        r#"
title = "transfers"
duration_s = 4
[measure]
bottleneck = "link"
[tcp]
mode = "linux"
variant = "reno"
[[link]]
name = "link"
rate_bps = {}
delay_ms = {}
queue_packets = {packets}
{queue}
channel = {{ kind = "bernoulli", loss = {loss} }}
[[flow]]
name = "transfer"
protocol = "tcp"
path = ["link"]
count = {flows}
"#,
        rate_mbps * 1e6,
        rtt_ms / 2.0
    )
}

/// A packet of a flow.
type Packet = (losscause_sim::FlowId, u64);

/// Copies of packets that were sent again though every earlier one had arrived or was on its way.
fn needless(text: &str, seed: u64) -> Option<Vec<Packet>> {
    let experiment =
        Scenario::parse(text, "test.toml", &Context::default()).unwrap().experiment().unwrap();
    let mut events: Vec<losscause_sim::Event> = vec![];
    let measured = run_recorded(&experiment, seed, &mut events).unwrap();
    if measured.metric("timeouts") != Some(0.0) {
        return None;
    }
    let mut lost: HashMap<Packet, u32> = HashMap::new();
    let mut newest: HashMap<_, u64> = HashMap::new();
    let mut needless = vec![];
    for event in &events {
        match event.kind {
            EventKind::Link {
                what: LinkEvent::QueueDrop | LinkEvent::Corrupted, packet, ..
            } if packet.kind != PacketKind::Ack => {
                *lost.entry((event.flow, packet.seq)).or_default() += 1;
            }
            EventKind::Sent(packet) if packet.kind == PacketKind::Data => {
                newest.insert(event.flow, packet.seq);
            }
            EventKind::Sent(packet) if packet.kind == PacketKind::Retransmission => {
                let copies = lost.entry((event.flow, packet.seq)).or_default();
                if *copies == 0 && newest[&event.flow] != packet.seq {
                    needless.push((event.flow, packet.seq));
                }
                *copies = copies.saturating_sub(1);
            }
            _ => {}
        }
    }
    Some(needless)
}

#[test]
fn several_blocks_within_a_compressed_ack_are_all_reported() {
    // At 50 Mb/s a packet comes every 0.24 ms, and a receiver may wait for 1 ms.
    let text = scenario(50.0, 100.0, 1.0, 0.0, 1, "");
    assert_eq!(needless(&text, 1), Some(vec![]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn only_lost_packets_are_sent_again(
        rate_mbps in 3.0..100.0,
        rtt_ms in 10.0..150.0,
        bdps in 0.25..4.0,
        loss in prop_oneof![Just(0.0), 0.0..0.005],
        flows in 1u32..=2,
        queue in prop_oneof![Just(""), Just("queue = { kind = \"codel\" }")],
        seed in 1u64..1000,
    ) {
        if let Some(needless) = needless(&scenario(rate_mbps, rtt_ms, bdps, loss, flows, queue), seed) {
            prop_assert_eq!(needless, vec![]);
        }
    }
}
