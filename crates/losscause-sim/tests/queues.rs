//! Managed queues and marks, from the queue to the transports and back.
#![allow(clippy::unwrap_used)]

mod common;

use common::{at_micros, at_secs, cbr, flow, one_flow, wired};
use losscause::{BuiltIn, End, Span};
use losscause_sim::truth::Cause;
use losscause_sim::{
    ChannelSpec, CoDelSpec, Event, EventKind, FlowId, FqCoDelSpec, Limit, LinkEvent, LinkId,
    LinkSpec, Network, PieSpec, QueueSpec, RedSpec, Simulation, Traffic,
};
use losscause_transport::{tcp, tfrc};

const LIMIT: Limit = Limit::Packets(60);

fn red(ecn: bool) -> QueueSpec {
    QueueSpec::Red(RedSpec { ecn, ..RedSpec::new(LIMIT) })
}

fn codel(ecn: bool) -> QueueSpec {
    QueueSpec::CoDel(CoDelSpec { ecn, ..CoDelSpec::new(LIMIT) })
}

fn fq_codel(ecn: bool) -> QueueSpec {
    let spec = FqCoDelSpec::new(LIMIT);
    QueueSpec::FqCoDel(FqCoDelSpec { codel: CoDelSpec { ecn, ..spec.codel }, ..spec })
}

fn pie(ecn: bool) -> QueueSpec {
    QueueSpec::Pie(PieSpec { ecn, ..PieSpec::new(LIMIT) })
}

fn marking() -> QueueSpec {
    QueueSpec::StepMark { limit: LIMIT, mark_from_pkts: 10 }
}

fn tcp(ecn: bool) -> Traffic {
    // The window bounds by how much slow start overshoots.
    Traffic::tcp(tcp::Config { ecn, max_window_pkts: 44, ..tcp::Config::rfc() })
}

/// Calls every loss wireless.
fn always_wireless(ecn: bool) -> Traffic {
    let config = tfrc::Config { ecn, ..tfrc::Config::rfc5348() };
    Traffic::Tfrc {
        config,
        lda: BuiltIn::AlwaysWireless.build(End::Receiver).expect("published parameters"),
    }
}

/// One flow over 1 Mb/s with this queue.
fn over(queue: QueueSpec, traffic: Traffic) -> Network {
    let mut network = one_flow(traffic, 1_000_000, ChannelSpec::Perfect);
    network.links[0].queue = queue;
    network
}

/// 60 seconds of it, with all events in order of time.
fn run(network: &Network) -> (Simulation, Vec<Event>) {
    let mut simulation = Simulation::new(network, 1).unwrap();
    let mut events = vec![];
    simulation.run_until(at_secs(60), &mut events);
    events.sort_by_key(|event| event.at);
    (simulation, events)
}

/// When the first link did this, to which packet, and how many waited then.
fn at_link(events: &[Event], what: LinkEvent) -> Vec<(losscause::Time, u64, u32)> {
    let link = |event: &Event| match event.kind {
        EventKind::Link { link: LinkId(0), what: it, packet, queue_packets, .. } if it == what => {
            Some((event.at, packet.seq, queue_packets))
        }
        _ => None,
    };
    events.iter().filter_map(link).collect()
}

#[test]
fn a_codel_drop_comes_at_a_packets_turn_and_the_next_one_leaves() {
    // 762 bytes at 762 kb/s: 8 ms each. They come every 4 ms, so number n waits 4 n ms.
    let network = Network {
        links: vec![LinkSpec { queue: codel(false), ..wired("out", 762_000, 20, 0) }],
        flows: vec![flow("only", &[0], &[], cbr(1_524_000))],
    };
    let (simulation, events) = run(&network);
    let drops = at_link(&events, LinkEvent::QueueDrop);
    // Number 3 is the first with 5 ms of waiting and more than an MTU behind it: it comes at 12 ms,
    // its turn is at 24 ms. 100 ms later is 124 ms, and the next turn (every 8 ms) that of number
    // 16.
    let (at, seq, waiting) = drops[0];
    assert_eq!((at, seq), (at_micros(128_000), 16));
    let sent = at_link(&events, LinkEvent::TransmitStart);
    assert_eq!(sent[15..17].iter().map(|&(_, seq, _)| seq).collect::<Vec<_>>(), [15, 17]);
    assert_eq!(sent[16].0, at, "the transmitter does not stand still");
    assert_eq!(sent[16].2 + 1, waiting);
    // The next is due 100 ms after that: at the turn of 232 ms.
    assert_eq!(drops[1].0, at_micros(232_000));
    let counters = simulation.counters().link(LinkId(0));
    assert_eq!(counters.queue_drops, drops.len() as u64);
    assert_eq!(simulation.flow(FlowId(0)).lost.congestion, counters.queue_drops);
    assert_eq!(simulation.check_conservation(), Ok(()));
}

#[test]
fn stopping_at_any_instant_finds_the_drops_up_to_it_only() {
    let network = over(codel(false), tcp(false));
    let (_, events) = run(&network);
    let drops = at_link(&events, LinkEvent::QueueDrop);
    assert!(drops.len() > 3, "{drops:?}");
    let mut simulation = Simulation::new(&network, 1).unwrap();
    for (before, &(at, ..)) in (0..).zip(&drops) {
        simulation.run_until(at - Span::from_nanos(1), &mut ());
        assert_eq!(simulation.counters().link(LinkId(0)).queue_drops, before);
        simulation.run_until(at, &mut ());
        assert!(simulation.counters().link(LinkId(0)).queue_drops > before);
    }
}

#[test]
fn every_discipline_keeps_tcp_busy_and_managed_queues_shorter() {
    let mean_queue = |queue| {
        let (simulation, events) = run(&over(queue, tcp(false)));
        assert!(simulation.flow(FlowId(0)).delivered_payload_bytes > 5_500_000, "{queue:?}");
        let waits = at_link(&events, LinkEvent::Enqueue);
        waits.iter().map(|&(.., waiting)| f64::from(waiting)).sum::<f64>() / waits.len() as f64
    };
    let full = mean_queue(QueueSpec::DropTail { limit: Limit::Packets(20) });
    for queue in [red(false), codel(false), fq_codel(false)] {
        assert!(mean_queue(queue) < 0.9 * full, "{queue:?}");
    }
}

#[test]
fn with_ecn_a_tcp_flow_is_marked_and_loses_nothing() {
    for queue in [red(true), codel(true), fq_codel(true), marking()] {
        let (simulation, events) = run(&over(queue, tcp(true)));
        let report = simulation.flow(FlowId(0));
        let marks = at_link(&events, LinkEvent::Mark).len() as u64;
        let counters = simulation.counters().link(LinkId(0));
        let stats = report.tcp.unwrap();
        assert_eq!(counters.queue_marks, marks);
        assert!(
            stats.ecn_reductions > 5 && stats.ecn_reductions <= marks,
            "{queue:?}: {stats:?}, {marks}"
        );
        // Slow start overshoots before the first echo is back; from then on marks are enough.
        assert!(report.lost.congestion <= 30, "{queue:?}: {}", report.lost.congestion);
        assert!(report.delivered_payload_bytes > 5_500_000, "{queue:?}");
    }
}

#[test]
fn without_ecn_in_the_transport_nothing_is_marked() {
    for queue in [red(true), codel(true), fq_codel(true), pie(true), marking()] {
        let (simulation, _) = run(&over(queue, tcp(false)));
        assert_eq!(simulation.counters().link(LinkId(0)).queue_marks, 0);
        let deaf = simulation.flow(FlowId(0)).lost.congestion;
        assert!(deaf > 0 || queue == marking(), "{queue:?}");
    }
}

#[test]
fn a_marked_packet_is_never_wireless_and_holds_the_rate_down() {
    for queue in [red(true), codel(true), fq_codel(true), marking()] {
        let (simulation, events) = run(&over(queue, always_wireless(true)));
        let marked: Vec<u64> =
            at_link(&events, LinkEvent::Mark).iter().map(|&(_, seq, _)| seq).collect();
        assert!(marked.len() > 5, "{queue:?}");
        let dropped: Vec<u64> =
            at_link(&events, LinkEvent::QueueDrop).iter().map(|&(_, seq, _)| seq).collect();
        for event in &events {
            if let EventKind::Verdict { seq, cause, .. } = event.kind {
                assert_eq!(cause, Some(Cause::Congestion));
                assert!(dropped.contains(&seq), "packet {seq} was judged, but not dropped");
            }
        }
        let heard = simulation.flow(FlowId(0)).lost.congestion;
        let deaf = run(&over(queue, always_wireless(false))).0.flow(FlowId(0)).lost.congestion;
        assert!(heard * 5 < deaf, "{queue:?}: {heard} losses with marks, {deaf} without");
    }
}

#[test]
fn with_fq_codel_a_call_waits_for_no_upload() {
    // 762 bytes every 76 ms beside a TCP flow that fills 1 Mb/s; both leave through one link.
    let longest_wait = |queue| {
        let mut network = over(queue, tcp(false));
        let call = cbr(80_000);
        network.flows.push(flow("call", &[0], &[], call));
        let (_, events) = run(&network);
        let of_call = |what| {
            let mut at = events.iter().filter_map(move |event| match event.kind {
                EventKind::Link { link: LinkId(0), what: it, packet, .. }
                    if it == what && event.flow == FlowId(1) =>
                {
                    Some((packet.seq, event.at))
                }
                _ => None,
            });
            std::iter::from_fn(move || at.next())
        };
        let began: std::collections::BTreeMap<u64, losscause::Time> =
            of_call(LinkEvent::TransmitStart).collect();
        let waits =
            of_call(LinkEvent::Enqueue).filter_map(|(seq, at)| Some(*began.get(&seq)? - at));
        let drops = of_call(LinkEvent::QueueDrop).count();
        (waits.max().unwrap(), drops)
    };
    let (own_queue, drops) = longest_wait(fq_codel(false));
    // At most three packets of 1040 bytes, 8.32 ms each: one in transmission, and an upload's first
    // quantum.
    assert!(own_queue <= Span::from_micros(24_960), "{own_queue}");
    assert_eq!(drops, 0);
    let (shared, _) = longest_wait(codel(false));
    assert!(shared > own_queue * 2, "{shared}");
}

/// PIE's target is 15 ms: two packets at 1 Mb/s, too few for a TCP flow, but 18 at 10 Mb/s.
fn over_ten_megabits(ecn: bool) -> (Simulation, Vec<Event>) {
    let tcp = Traffic::tcp(tcp::Config { ecn, max_window_pkts: 200, ..tcp::Config::rfc() });
    let mut network =
        over(QueueSpec::Pie(PieSpec { ecn, ..PieSpec::new(Limit::Packets(500)) }), tcp);
    network.links.iter_mut().for_each(|link| link.rate_bps = 10_000_000);
    run(&network)
}

#[test]
fn pie_holds_a_tcp_flows_delay_near_its_target() {
    let (simulation, events) = over_ten_megabits(false);
    let waits: Vec<f64> = at_link(&events, LinkEvent::Enqueue)
        .iter()
        .filter(|(at, ..)| *at > at_secs(10))
        .map(|&(.., waiting)| f64::from(waiting) * 0.832)
        .collect();
    let mean_ms = waits.iter().sum::<f64>() / waits.len() as f64;
    assert!((5.0..20.0).contains(&mean_ms), "{mean_ms}");
    assert!(simulation.flow(FlowId(0)).delivered_payload_bytes > 60_000_000);
    assert!(simulation.counters().link(LinkId(0)).queue_drops > 0);
    assert_eq!(simulation.check_conservation(), Ok(()));
}

#[test]
fn pie_marks_instead_of_dropping_while_its_probability_is_low() {
    let (_, events) = over_ten_megabits(true);
    let late = |what| at_link(&events, what).iter().filter(|(at, ..)| *at > at_secs(10)).count();
    assert!(late(LinkEvent::Mark) > 5);
    assert_eq!(late(LinkEvent::QueueDrop), 0, "slow start overshoots before");
}
