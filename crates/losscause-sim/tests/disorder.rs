//! Links that reorder packets, have them arrive twice, or lose them by their load.
#![allow(clippy::unwrap_used)]

mod common;

use common::{at_secs, flow, one_flow, wired};
use losscause::{AnyAlgorithm, BuiltIn, Span, Time};
use losscause_sim::live::{Direction, Ecn, Fate, LivePath, Offered};
use losscause_sim::truth::Cause;
use losscause_sim::{
    ChannelSpec, DuplicationSpec, Event, EventKind, FlowId, FlowReport, JitterDistribution,
    JitterSpec, Lateness, Limit, LinkEvent, LinkId, LinkSpec, LoadPoint, LossCounts, Network,
    QueueSpec, ReorderingSpec, Simulation, Traffic, VariationSpec,
};
use losscause_transport::{tcp, tfrc};

fn ms(ms: i64) -> Span {
    Span::from_millis(ms)
}

/// Every packet of 125 bytes takes 1 ms, and 10 ms to the far end.
fn plain() -> LinkSpec {
    wired("way", 1_000_000, 10, 1_000)
}

fn reordering(share: f64, by: Lateness) -> LinkSpec {
    LinkSpec { reordering: Some(ReorderingSpec { share, by }), ..plain() }
}

fn duplication(share: f64, delay: Span) -> LinkSpec {
    LinkSpec { duplication: Some(DuplicationSpec { share, delay }), ..plain() }
}

/// A packet every `every_ms` over these links.
fn network(links: Vec<LinkSpec>, every_ms: u64) -> Network {
    let path: Vec<u32> = (0..links.len() as u32).collect();
    let traffic = Traffic::cbr(1_000_000 / every_ms, 125);
    Network { links, flows: vec![flow("cbr", &path, &[], traffic)] }
}

/// Sequence numbers and arrivals at the far end of the first link in milliseconds, in the order of
/// the events.
fn arrivals(network: &Network, until: Time) -> Vec<(u64, f64)> {
    let mut simulation = Simulation::new(network, 1).unwrap();
    let mut events = Vec::new();
    simulation.run_until(until, &mut events);
    let arrival = |event: &Event| match event.kind {
        EventKind::Link { link: LinkId(0), what: LinkEvent::Deliver, packet, .. } => {
            Some((packet.seq, (event.at - Time::ZERO).as_millis_f64()))
        }
        _ => None,
    };
    events.iter().filter_map(arrival).collect()
}

fn report(network: &Network, seconds: i64) -> FlowReport {
    let mut simulation = Simulation::new(network, 1).unwrap();
    simulation.run_until(at_secs(seconds), &mut ());
    simulation.check_conservation().unwrap();
    simulation.flow(FlowId(0))
}

/// Whether a share of draws is within five standard errors of what was asked for.
#[track_caller]
fn assert_share(found: usize, of: usize, share: f64) {
    let error = (share * (1.0 - share) / of as f64).sqrt();
    let found = found as f64 / of as f64;
    assert!((found - share).abs() <= 5.0 * error, "{found}, expected {share}");
}

#[test]
fn each_late_packet_lets_exactly_three_punctual_ones_pass() {
    let by = Lateness::Packets { packets: 3, most: ms(100) };
    let arrived = arrivals(&network(vec![reordering(0.1, by)], 2), at_secs(60));
    assert_eq!(arrived.len(), 29_995);
    let is_late = |seq: u64, at: f64| at > 2.0 * seq as f64 + 11.5;
    let mut late = 0;
    for (place, &(seq, at)) in arrived.iter().enumerate() {
        if !is_late(seq, at) {
            assert!((at - 2.0 * seq as f64 - 11.0).abs() < 1e-6, "packet {seq}: {at}");
            continue;
        }
        late += 1;
        let before = &arrived[place.saturating_sub(50)..place];
        let passed =
            before.iter().filter(|&&(other, then)| other > seq && !is_late(other, then)).count();
        assert_eq!(passed, 3, "packet {seq}");
        let (_, then) = arrived[place - 1];
        assert!((at - then).abs() < 1e-6, "it follows the last of them");
    }
    assert_share(late, arrived.len(), 0.1);
}

#[test]
fn a_packet_that_too_few_overtake_goes_on_after_the_longest_time() {
    // A packet every 100 ms: none overtakes within 50 ms.
    let by = Lateness::Packets { packets: 1, most: ms(50) };
    let arrived = arrivals(&network(vec![reordering(1.0, by)], 100), at_secs(1));
    let expected: Vec<(u64, f64)> = (0..10).map(|k| (k, 100.0 * k as f64 + 61.0)).collect();
    assert_eq!(arrived, expected);
}

#[test]
fn a_share_of_packets_is_late_by_a_time() {
    let by = Lateness::Time { most: ms(25), drawn: false };
    let arrived = arrivals(&network(vec![reordering(0.05, by)], 2), at_secs(60));
    let late = |&&(seq, at): &&(u64, f64)| {
        let late = at - 2.0 * seq as f64 - 11.0;
        assert!(late.abs() < 1e-6 || (late - 25.0).abs() < 1e-6, "{late}");
        late > 1.0
    };
    assert_share(arrived.iter().filter(late).count(), arrived.len(), 0.05);
    assert!(!arrived.is_sorted_by_key(|(seq, _)| *seq));
    let drawn = reordering(0.05, Lateness::Time { most: ms(25), drawn: true });
    let arrived = arrivals(&network(vec![drawn], 2), at_secs(60));
    let late: Vec<f64> = arrived
        .iter()
        .map(|&(seq, at)| at - 2.0 * seq as f64 - 11.0)
        .filter(|&late| late > 1e-6)
        .collect();
    assert!(late.iter().all(|&late| late <= 25.0 + 1e-6));
    // Five standard errors of the mean of a uniform draw.
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    assert!((mean - 12.5).abs() < 5.0 * 7.22 / (late.len() as f64).sqrt(), "{mean}");
}

#[test]
fn jitter_reorders_only_if_it_may() {
    let jitter = |reorders| {
        let variation = VariationSpec::Jitter(JitterSpec {
            distribution: JitterDistribution::Normal,
            mean: ms(20),
            deviation: ms(4),
            correlation: 0.0,
            reorders,
        });
        arrivals(&network(vec![LinkSpec { variation, ..plain() }], 2), at_secs(60))
    };
    let [kept, lost] = [false, true].map(jitter);
    assert!(kept.is_sorted_by_key(|(seq, _)| *seq));
    assert!(!lost.is_sorted_by_key(|(seq, _)| *seq) && lost.is_sorted_by(|a, b| a.1 <= b.1));
    let delay = |&(seq, at): &(u64, f64)| at - 2.0 * seq as f64 - 11.0;
    let mean = lost.iter().map(delay).sum::<f64>() / lost.len() as f64;
    assert!((mean - 20.0).abs() < 5.0 * 4.0 / (lost.len() as f64).sqrt(), "{mean}");
    // In order, a packet waits for those before it.
    assert!(kept.iter().map(delay).sum::<f64>() / kept.len() as f64 > 22.0);
}

#[test]
fn packets_that_are_late_by_jitter_overtake_too() {
    let variation = VariationSpec::Jitter(JitterSpec {
        distribution: JitterDistribution::Normal,
        mean: ms(20),
        deviation: ms(1),
        correlation: 0.0,
        reorders: true,
    });
    let by = Lateness::Packets { packets: 3, most: ms(1_000) };
    let link = LinkSpec { variation, ..reordering(0.1, by) };
    let arrived = arrivals(&network(vec![link], 2), at_secs(5));
    let late = arrived.iter().map(|&(seq, at)| at - 2.0 * seq as f64 - 11.0);
    // Once the first is there, about every 2 ms one overtakes.
    assert!(late.fold(0.0, f64::max) < 50.0);
}

#[test]
fn a_share_of_packets_arrives_twice_and_counts_once() {
    for delay in [0, 7] {
        let network = network(vec![duplication(0.1, ms(delay))], 2);
        let arrived = arrivals(&network, at_secs(60));
        let mut first = std::collections::BTreeMap::new();
        let mut copies = 0;
        for (seq, at) in arrived {
            if let Some(before) = first.insert(seq, at) {
                assert!((at - before - delay as f64).abs() < 1e-6);
                copies += 1;
            }
        }
        assert_share(copies, first.len(), 0.1);
        let report = report(&network, 60);
        assert_eq!(report.received_packets as usize, first.len());
        assert_eq!(report.received_copies as usize, copies);
        assert_eq!(report.delivered_packets, report.received_packets);
    }
}

#[test]
fn jitter_does_not_add_to_the_longest_time() {
    let variation = VariationSpec::Jitter(JitterSpec {
        distribution: JitterDistribution::Exponential,
        mean: ms(80),
        deviation: Span::ZERO,
        correlation: 0.0,
        reorders: true,
    });
    let by = Lateness::Packets { packets: 5, most: ms(50) };
    let arrived =
        arrivals(&network(vec![LinkSpec { variation, ..reordering(1.0, by) }], 10), at_secs(1));
    let expected: Vec<(u64, f64)> = (0..94).map(|k| (k, 10.0 * k as f64 + 61.0)).collect();
    assert_eq!(arrived, expected);
}

#[test]
fn a_copy_takes_no_time_on_its_own_link_but_on_the_next() {
    // The second link is as fast: with every packet doubled it carries twice as many.
    let network = network(vec![duplication(1.0, Span::ZERO), wired("next", 1_000_000, 5, 100)], 10);
    let mut simulation = Simulation::new(&network, 1).unwrap();
    simulation.run_until(at_secs(10), &mut ());
    let [first, next] = [0, 1].map(|link| simulation.counters().link(LinkId(link)));
    // Two are on their way.
    assert_eq!((first.entered, first.transmitted), (1001, 999));
    assert_eq!(simulation.counters().duplicated(), [999, 0]);
    assert_eq!(first.transmitted_bytes, 999 * 125);
    assert_eq!((first.delivered, next.entered), (1998, 1998));
    assert_eq!(next.transmitted, 1998);
}

#[test]
fn a_packet_is_lost_only_with_its_last_copy() {
    // Half of what comes to the second link is lost there: of two copies, a quarter.
    let air = LinkSpec {
        channel: ChannelSpec::Bernoulli { loss: 0.5 },
        ..wired("air", 10_000_000, 5, 100)
    };
    let lda = BuiltIn::Spike.build(losscause::End::Receiver).unwrap();
    let mut network = network(vec![duplication(1.0, ms(1)), air], 5);
    network.flows[0].traffic =
        Traffic::Cbr { rate_bps: 200_000, packet_bytes: 125, lda: Some(lda) };
    network.flows[0].stop = Some(at_secs(100));
    let report = report(&network, 110);
    assert_eq!(report.sent_packets, 20_000);
    let LossCounts { congestion, wireless } = report.lost;
    assert_eq!((congestion, report.received_packets + wireless), (0, 20_000));
    assert_share(wireless as usize, 20_000, 0.25);
    assert_share(report.received_copies as usize, 20_000, 0.25);
    assert_eq!(report.verdicts.wireless.judged() + report.verdicts.wireless.undetected, wireless);
}

#[test]
fn shares_of_zero_change_nothing() {
    let by = Lateness::Packets { packets: 3, most: ms(100) };
    let zero = LinkSpec {
        reordering: Some(ReorderingSpec { share: 0.0, by }),
        duplication: Some(DuplicationSpec { share: 0.0, delay: ms(3) }),
        ..plain()
    };
    let spike = BuiltIn::Spike.build(losscause::End::Receiver).unwrap();
    let kinds = [
        Traffic::tcp(tcp::Config::rfc()),
        Traffic::Tfrc { config: tfrc::Config::rfc5348(), lda: spike },
        Traffic::cbr(1_100_000, 125),
    ];
    for traffic in kinds {
        let events = |link: &LinkSpec| {
            let air = LinkSpec { channel: ChannelSpec::Bernoulli { loss: 0.01 }, ..link.clone() };
            let network = Network {
                links: vec![air, link.mirrored("back")],
                flows: vec![flow("only", &[0], &[1], traffic.clone())],
            };
            let mut simulation = Simulation::new(&network, 1).unwrap();
            let mut events = Vec::new();
            simulation.run_until(at_secs(10), &mut events);
            (format!("{events:?}"), simulation.flow(FlowId(0)))
        };
        assert!(events(&plain()) == events(&zero));
    }
}

#[test]
fn a_run_repeats_and_the_channel_keeps_its_draws() {
    let by = Lateness::Time { most: ms(10), drawn: true };
    let air = |link: LinkSpec| LinkSpec { channel: ChannelSpec::Bernoulli { loss: 0.1 }, ..link };
    let lost = |link: LinkSpec| {
        let mut simulation = Simulation::new(&network(vec![air(link)], 2), 7).unwrap();
        let mut events = Vec::new();
        simulation.run_until(at_secs(10), &mut events);
        let lost = |event: &Event| match event.kind {
            EventKind::Link { what: LinkEvent::Corrupted, packet, .. } => Some(packet.seq),
            _ => None,
        };
        (events.iter().filter_map(lost).collect::<Vec<_>>(), format!("{events:?}"))
    };
    let both = LinkSpec {
        duplication: Some(DuplicationSpec { share: 0.2, delay: ms(1) }),
        ..reordering(0.2, by)
    };
    assert!(lost(both.clone()) == lost(both.clone()));
    assert_eq!(lost(both).0, lost(plain()).0);
}

/// Every packet of TCP or TFRC crosses a link that reorders and doubles, both ways.
fn transfer(traffic: Traffic, by: Lateness) -> FlowReport {
    let disordered = |name| LinkSpec {
        reordering: Some(ReorderingSpec { share: 0.05, by }),
        duplication: Some(DuplicationSpec { share: 0.02, delay: ms(2) }),
        ..wired(name, 5_000_000, 20, 50)
    };
    let links = vec![disordered("out"), disordered("back")];
    report(&Network { links, flows: vec![flow("only", &[0], &[1], traffic)] }, 30)
}

#[test]
fn transports_survive_reordering_and_copies() {
    let spike: AnyAlgorithm = BuiltIn::Spike.build(losscause::End::Receiver).unwrap();
    for by in [
        Lateness::Packets { packets: 2, most: ms(50) },
        Lateness::Packets { packets: 8, most: ms(50) },
        Lateness::Time { most: ms(30), drawn: true },
    ] {
        let lda = spike.clone();
        for traffic in [
            Traffic::tcp(tcp::Config::rfc()),
            Traffic::tcp(tcp::Config::ns2()),
            Traffic::tcp(tcp::Config::ns2_classic()),
            Traffic::Tfrc { config: tfrc::Config::rfc5348(), lda: lda.clone() },
            Traffic::Tfrc { config: tfrc::Config::ns2(), lda },
        ] {
            let found = transfer(traffic, by);
            assert!(found.delivered_packets > 300, "{by:?}: {found:?}");
            assert!(found.delivered_packets <= found.received_packets);
            assert!(found.received_copies > 0);
        }
    }
}

#[test]
fn three_duplicate_acks_repeat_a_packet_that_only_two_may_overtake_never() {
    let of = |packets| {
        let by = Lateness::Packets { packets, most: ms(500) };
        let mut link = wired("out", 5_000_000, 20, 1_000);
        link.reordering = Some(ReorderingSpec { share: 0.002, by });
        let config = tcp::Config { max_window_pkts: 20, delayed_ack: None, ..tcp::Config::rfc() };
        let links = vec![link, wired("back", 5_000_000, 20, 1_000)];
        let flows = vec![flow("only", &[0], &[1], Traffic::tcp(config))];
        let found = report(&Network { links, flows }, 60);
        assert_eq!(found.lost, LossCounts::default());
        found.tcp.unwrap().fast_retransmits
    };
    assert_eq!(of(2), 0);
    assert!(of(3) > 10);
}

#[test]
fn the_loss_follows_the_load() {
    // Half of the link's time is used: a packet of 1 ms every 2 ms.
    let points = [(0.0, 0.0), (0.25, 0.0), (0.75, 0.2), (1.0, 0.4)];
    let points = points.map(|(load, loss)| LoadPoint { load, loss });
    let channel = ChannelSpec::Load { points: points.into(), window: ms(500) };
    for (every_ms, expected) in [(10, 0.0), (2, 0.1), (1, 0.4)] {
        let link = LinkSpec { channel: channel.clone(), ..plain() };
        let mut network = network(vec![link], every_ms);
        network.flows[0].stop = Some(at_secs(60));
        let report = report(&network, 61);
        assert_eq!(report.lost.congestion, 0, "the air is the cause");
        if expected == 0.0 {
            assert_eq!(report.lost.wireless, 0);
            continue;
        }
        // The first half second fills the window.
        let lost = report.lost.wireless as f64 / report.sent_packets as f64;
        assert!((lost / expected - 1.0).abs() < 0.06, "{lost}, expected {expected}");
    }
}

fn live(link: LinkSpec) -> LivePath<u32> {
    let traffic = Traffic::cbr(1_000_000, 125);
    let network = Network { links: vec![link], flows: vec![flow("only", &[0], &[], traffic)] };
    LivePath::new(&network, FlowId(0), 1).unwrap()
}

fn offered(content: u32) -> Offered<u32> {
    let ecn = Ecn::NotCapable;
    Offered { content, wire_bytes: 125, flow: 0, ecn, wireless_immune: false }
}

#[test]
fn a_live_path_reorders_and_doubles_too() {
    let by = Lateness::Packets { packets: 2, most: ms(100) };
    let both = LinkSpec {
        duplication: Some(DuplicationSpec { share: 0.1, delay: ms(3) }),
        ..reordering(0.1, by)
    };
    let mut path = live(both);
    let mut arrived = Vec::new();
    for content in 0..1_000 {
        let at = Time::ZERO + ms(2 * i64::from(content));
        while let Some(passed) = path.poll(at) {
            arrived.push((passed.content, passed.is_copy));
        }
        path.enter(at, Direction::Forward, offered(content));
    }
    while let Some(passed) = path.poll(at_secs(10)) {
        assert!(matches!(passed.fate, Fate::Delivered { .. }));
        arrived.push((passed.content, passed.is_copy));
    }
    assert_eq!((path.in_flight(), path.next_event()), (0, None));
    let mut firsts: Vec<u32> =
        arrived.iter().filter(|(_, is_copy)| !is_copy).map(|(content, _)| *content).collect();
    assert!(!firsts.is_sorted());
    firsts.sort_unstable();
    assert_eq!(firsts, (0..1_000).collect::<Vec<_>>());
    assert_share(arrived.len() - 1_000, 1_000, 0.1);
}

#[test]
fn of_a_live_packet_and_its_copy_one_counts_whatever_becomes_of_them() {
    let air = LinkSpec {
        channel: ChannelSpec::Bernoulli { loss: 0.5 },
        ..wired("air", 10_000_000, 5, 100)
    };
    let links = vec![duplication(1.0, ms(1)), air];
    let flows = vec![flow("only", &[0, 1], &[], Traffic::cbr(1_000_000, 125))];
    let mut path = LivePath::new(&Network { links, flows }, FlowId(0), 1).unwrap();
    for content in 0..1_000 {
        path.enter(Time::ZERO + ms(5 * i64::from(content)), Direction::Forward, offered(content));
    }
    let passed: Vec<_> = std::iter::from_fn(|| path.poll(at_secs(100))).collect();
    assert_eq!(passed.len(), 2_000);
    let counts: Vec<_> = passed.iter().filter(|passed| !passed.is_copy).collect();
    assert_eq!(counts.len(), 1_000);
    let lost = |fate: &Fate| matches!(fate, Fate::Lost { cause: Cause::Wireless, .. });
    assert_share(counts.iter().filter(|passed| lost(&passed.fate)).count(), 1_000, 0.25);
}

#[test]
fn managed_queues_serve_links_that_reorder() {
    let by = Lateness::Time { most: ms(40), drawn: false };
    let queue = QueueSpec::StepMark { limit: Limit::Packets(20), mark_from_pkts: 5 };
    let link = LinkSpec { queue, ..reordering(0.2, by) };
    let mut network = one_flow(Traffic::cbr(1_500_000, 125), 1_000_000, ChannelSpec::Perfect);
    network.links[0] = link;
    let found = report(&network, 20);
    // The transmitter is never idle: 1000 packets a second, less what is on its way.
    let simulated = 20 * 1000;
    assert!((simulated - 60..simulated).contains(&(found.received_packets as i64)), "{found:?}");
}
