//! 10,000 random small networks: no panic, nothing appears or vanishes, every lost packet has a
//! cause. `PROPTEST_CASES` sets another number.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::run_to;
use losscause::{AnyAlgorithm, BuiltIn, Span, Time};
use losscause_sim::{
    AtEnd, Between, ChannelSpec, CoDelSpec, Counters, DelayPoint, DuplicationSpec, ErrorPosition,
    Event, EventKind, FlowId, FlowSpec, FqCoDelSpec, HopCounters, JitterDistribution, JitterSpec,
    Lateness, Lengths, Limit, LinkEvent, LinkId, LinkSpec, LoadPoint, Network, Oracle, PacketKind,
    PieSpec, PolicerSpec, QueueSpec, RatePoint, RateSpec, Recorder, RedSpec, ReorderingSpec,
    RetransmissionSpec, Simulation, Slots, TraceStart, Traffic, Turnover, VariationSpec,
};
use losscause_transport::{tcp, tfrc};
use proptest::prelude::*;

/// Every flow has stopped by then.
const LATEST_STOP: Span = Span::from_millis(8000);
/// Every queue has drained this much later: four links with 20 packets of 1500 bytes each, at 10
/// kb/s, or on average at 2 kb/s where the rate changes.
const DRAINED: Span = Span::from_secs(1000);

/// A rate between 10 kb/s and 10 Mb/s, as often slow as fast.
fn rate_bps() -> impl Strategy<Value = u64> {
    (0.0..1.0_f64).prop_map(|x| (10_000.0 * 1000_f64.powf(x)) as u64)
}

fn millis(range: std::ops::Range<i64>) -> impl Strategy<Value = Span> {
    range.prop_map(Span::from_millis)
}

fn channel() -> impl Strategy<Value = ChannelSpec> {
    let loss = prop_oneof![10 => Just(0.0), 20 => 0.0..0.2_f64, 1 => Just(1.0)];
    let trace = (prop::collection::vec(prop::bool::weighted(0.1), 1..50), any::<bool>()).prop_map(
        |(lost, drawn)| {
            let start = if drawn { TraceStart::Drawn } else { TraceStart::Slot(lost.len() - 1) };
            ChannelSpec::Trace { lost: Arc::from(lost), start }
        },
    );
    prop_oneof![
        Just(ChannelSpec::Perfect),
        loss.prop_map(|loss| ChannelSpec::Bernoulli { loss }),
        (0.0..0.2_f64, 1.0..5.0_f64).prop_map(|(loss, mean_burst_packets)| {
            ChannelSpec::GilbertElliott { loss, mean_burst_packets }
        }),
        trace,
        (0.0..0.2_f64, 0.0..0.5_f64, millis(1..500)).prop_map(|(idle, busy, window)| {
            let points = [(0.0, idle), (1.0, busy)];
            let points = points.map(|(load, loss)| LoadPoint { load, loss });
            ChannelSpec::Load { points: points.into(), window }
        }),
    ]
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![(0..20_u32).prop_map(Limit::Packets), (0..30_000_u64).prop_map(Limit::Bytes)]
}

fn red() -> impl Strategy<Value = QueueSpec> {
    let thresholds = (0.0..5.0_f64, 0.1..10.0_f64);
    (limit(), thresholds, 0.01..=1.0_f64, 0.002..=1.0_f64, any::<[bool; 3]>(), 1..3000_u32)
        .prop_map(|(limit, (min_th_pkts, width), max_p, w_q, flags, typical_packet_bytes)| {
            let [gentle, like_ns2, ecn] = flags;
            let max_th_pkts = min_th_pkts + width;
            QueueSpec::Red(RedSpec {
                limit,
                min_th_pkts,
                max_th_pkts,
                max_p,
                w_q,
                gentle,
                like_ns2,
                ecn,
                typical_packet_bytes,
            })
        })
}

fn codel() -> impl Strategy<Value = CoDelSpec> {
    (limit(), millis(1..50), millis(50..500), 0..2000_u32, any::<bool>()).prop_map(
        |(limit, target, interval, mtu_bytes, ecn)| CoDelSpec {
            limit,
            target,
            interval,
            mtu_bytes,
            ecn,
        },
    )
}

fn fq_codel() -> impl Strategy<Value = FqCoDelSpec> {
    (codel(), 1..3000_u32, 1..5_u32).prop_map(|(codel, quantum_bytes, queues)| FqCoDelSpec {
        codel,
        quantum_bytes,
        queues,
    })
}

fn pie() -> impl Strategy<Value = PieSpec> {
    (limit(), millis(1..50), millis(1..50), millis(0..200), 0..2000_u32, any::<bool>()).prop_map(
        |(limit, target, t_update, max_burst, mean_packet_bytes, ecn)| PieSpec {
            target,
            t_update,
            max_burst,
            mean_packet_bytes,
            ecn,
            ..PieSpec::new(limit)
        },
    )
}

fn queue() -> impl Strategy<Value = QueueSpec> {
    prop_oneof![
        2 => limit().prop_map(|limit| QueueSpec::DropTail { limit }),
        1 => (limit(), 1..20_u32).prop_map(|(limit, mark_from_pkts)| QueueSpec::StepMark { limit, mark_from_pkts }),
        2 => red(),
        2 => codel().prop_map(QueueSpec::CoDel),
        2 => fq_codel().prop_map(QueueSpec::FqCoDel),
        2 => pie().prop_map(QueueSpec::Pie),
        1 => (limit(), rate_bps(), 1..20_000_u64).prop_map(|(limit, rate_bps, burst_bytes)| {
            QueueSpec::Policer(PolicerSpec { rate_bps, burst_bytes, limit })
        }),
    ]
}

fn variation() -> impl Strategy<Value = VariationSpec> {
    let point = (millis(1..300), millis(0..100));
    let trace = (prop::collection::vec(point, 1..20), any::<bool>(), any::<bool>());
    let trace = trace.prop_map(|(points, linear, repeat)| {
        let points = points.into_iter().scan(Span::ZERO, |at, (after, delay)| {
            *at += after;
            Some(DelayPoint { at: *at, delay })
        });
        VariationSpec::Trace {
            points: points.collect(),
            between: if linear { Between::Linear } else { Between::Steps },
            at_end: if repeat { AtEnd::Repeat } else { AtEnd::Hold },
        }
    });
    prop_oneof![
        4 => Just(VariationSpec::Constant),
        1 => trace,
        1 => (millis(0..100), millis(1..500)).prop_map(|(most, period)| VariationSpec::Sinusoid { most, period }),
        1 => (millis(50..100), millis(0..50), millis(1..500))
            .prop_map(|(most, step, every)| VariationSpec::Walk { most, step, every }),
        1 => (millis(0..50), any::<bool>()).prop_map(|(most, drawn)| VariationSpec::Batches { most, drawn }),
        2 => jitter().prop_map(VariationSpec::Jitter),
    ]
}

fn jitter() -> impl Strategy<Value = JitterSpec> {
    let distributions = [
        JitterDistribution::Uniform,
        JitterDistribution::Normal,
        JitterDistribution::Exponential,
        JitterDistribution::Pareto,
    ];
    let distribution = prop::sample::select(distributions.to_vec());
    (distribution, millis(1..30), millis(0..30), 0.0..0.99_f64, any::<bool>()).prop_map(
        |(distribution, mean, deviation, correlation, reorders)| {
            let jitter = JitterSpec { distribution, mean, deviation, correlation, reorders };
            JitterSpec { deviation: deviation.min(jitter.most_deviation()), ..jitter }
        },
    )
}

fn reordering() -> impl Strategy<Value = Option<ReorderingSpec>> {
    let by = prop_oneof![
        (millis(0..50), any::<bool>()).prop_map(|(most, drawn)| Lateness::Time { most, drawn }),
        (1..20_u32, millis(1..500)).prop_map(|(packets, most)| Lateness::Packets { packets, most }),
    ];
    let spec = (share(), by).prop_map(|(share, by)| ReorderingSpec { share, by });
    prop::option::weighted(0.3, spec)
}

fn duplication() -> impl Strategy<Value = Option<DuplicationSpec>> {
    let spec = (share(), millis(0..50)).prop_map(|(share, delay)| DuplicationSpec { share, delay });
    prop::option::weighted(0.3, spec)
}

fn share() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 10 => 0.0..0.3_f64, 1 => Just(1.0)]
}

/// A rate of at least 10 kb/s most of the time.
fn rate() -> impl Strategy<Value = RateSpec> {
    let point = (millis(1..2000), prop::option::weighted(0.8, rate_bps()));
    let steps = (prop::collection::vec(point, 1..8), any::<bool>()).prop_map(|(points, repeat)| {
        let mut at = Span::ZERO;
        let mut points: Vec<RatePoint> = points
            .into_iter()
            .map(|(after, rate_bps)| {
                at += after;
                RatePoint { at, rate_bps: rate_bps.unwrap_or(0) }
            })
            .collect();
        // Where the points are repeated, the last one ends the round.
        points.push(RatePoint { at: at + Span::from_millis(1), rate_bps: 50_000 });
        points.push(RatePoint { at: at + Span::from_millis(1000), rate_bps: 50_000 });
        RateSpec::Steps {
            points: points.into(),
            at_end: if repeat { AtEnd::Repeat } else { AtEnd::Hold },
        }
    });
    let opportunities =
        (prop::collection::vec(millis(0..100), 1..20), 100..3000_u32).prop_map(|(gaps, bytes)| {
            let mut at = Span::from_millis(1);
            let at: Vec<Span> = gaps
                .into_iter()
                .map(|gap| {
                    at += gap;
                    at
                })
                .collect();
            RateSpec::Opportunities { at: at.into(), bytes }
        });
    prop_oneof![6 => Just(RateSpec::Constant), 1 => steps, 1 => opportunities]
}

fn retransmission() -> impl Strategy<Value = Option<RetransmissionSpec>> {
    let spec = (2..6_u32, millis(0..10))
        .prop_map(|(attempts, delay)| RetransmissionSpec { attempts, delay });
    prop::option::weighted(0.2, spec)
}

fn link() -> impl Strategy<Value = LinkSpec> {
    let position =
        prop_oneof![Just(ErrorPosition::AfterTransmission), Just(ErrorPosition::BeforeQueue)];
    let slots = prop_oneof![2 => Just(Slots::PerPacket(1)), 1 => (2..4_u32).prop_map(Slots::PerPacket), 1 => millis(1..50).prop_map(Slots::PerTime)];
    (
        rate_bps(),
        rate(),
        (millis(0..50), variation()),
        queue(),
        channel(),
        retransmission(),
        (reordering(), duplication()),
        (position, slots),
    )
        .prop_map(
            |(
                rate_bps,
                rate,
                (delay, variation),
                queue,
                channel,
                retransmission,
                (reordering, duplication),
                (error_position, slots),
            )| {
                let by_load = matches!(channel, ChannelSpec::Load { .. });
                LinkSpec {
                    rate,
                    variation,
                    channel,
                    error_position: if retransmission.is_some() || by_load {
                        ErrorPosition::default()
                    } else {
                        error_position
                    },
                    slots: if by_load { Slots::default() } else { slots },
                    retransmission,
                    reordering,
                    duplication,
                    ..LinkSpec::wired("", rate_bps, delay, queue)
                }
            },
        )
}

fn tcp_config() -> impl Strategy<Value = tcp::Config> {
    let base = prop_oneof![
        Just(tcp::Config::rfc()),
        Just(tcp::Config::ns2()),
        Just(tcp::Config::ns2_classic()),
        Just(tcp::Config::linux())
    ];
    (base, prop::option::of(millis(1..200)), 1..1460_u32, any::<bool>()).prop_map(
        |(config, delayed_ack, payload_bytes, ecn)| tcp::Config {
            delayed_ack,
            payload_bytes,
            ecn,
            ..config
        },
    )
}

fn lda() -> impl Strategy<Value = AnyAlgorithm> {
    let algorithm = prop::sample::select(BuiltIn::at_receivers().collect::<Vec<_>>());
    prop_oneof![
        4 => algorithm.prop_map(|algorithm| algorithm.build(losscause::End::Receiver).expect("published parameters")),
        1 => Just(Oracle::OMNISCIENT.into()),
    ]
}

fn lengths() -> impl Strategy<Value = Lengths> {
    prop_oneof![Just(Lengths::Exponential), (1.01..4.0).prop_map(|shape| Lengths::Pareto { shape })]
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let tfrc_config = prop_oneof![Just(tfrc::Config::rfc5348()), Just(tfrc::Config::ns2())];
    let source = (10_000..1_000_000_u64, 100..1500_u32);
    prop_oneof![
        tcp_config().prop_map(Traffic::tcp),
        (tfrc_config, lda(), any::<bool>()).prop_map(|(config, lda, ecn)| Traffic::Tfrc {
            config: tfrc::Config { ecn, ..config },
            lda
        }),
        (source.clone(), proptest::option::of(lda())).prop_map(
            |((rate_bps, packet_bytes), lda)| Traffic::Cbr { rate_bps, packet_bytes, lda }
        ),
        (source, millis(1..500), millis(0..500), lengths()).prop_map(
            |((rate_bps, packet_bytes), mean_on, mean_off, lengths)| Traffic::OnOff {
                rate_bps,
                packet_bytes,
                mean_on,
                mean_off,
                lengths,
                lda: None,
            }
        ),
    ]
}

/// Some of the links, in any order, each once.
fn path(links: u32) -> impl Strategy<Value = Vec<LinkId>> {
    let all = Just((0..links).map(LinkId).collect::<Vec<_>>()).prop_shuffle();
    (all, 1..=links as usize).prop_map(|(mut path, length)| {
        path.truncate(length);
        path
    })
}

fn flow(links: u32) -> impl Strategy<Value = FlowSpec> {
    let times = (millis(0..1000), millis(0..500), millis(500..LATEST_STOP.as_nanos() / 1_000_000));
    // The first of its kind: what stands before it in the list is not known here.
    let turnover = (millis(1..500), millis(1..3000), lengths()).prop_map(
        |(mean_gap, mean_duration, durations)| Turnover {
            after: None,
            mean_gap,
            mean_duration: Some(mean_duration),
            durations,
        },
    );
    (
        path(links),
        path(links),
        traffic(),
        times,
        any::<bool>(),
        prop_oneof![Just(Span::ZERO), millis(0..20)],
        prop::option::weighted(0.3, turnover),
    )
        .prop_map(
            |(
                path,
                return_path,
                traffic,
                (start, start_spread, stop),
                wireless_immune,
                send_jitter,
                turnover,
            )| FlowSpec {
                name: String::new(),
                path,
                return_path,
                traffic,
                application: None,
                start: Time::ZERO + start,
                start_spread,
                stop: Some(Time::ZERO + stop),
                send_jitter,
                turnover,
                wireless_immune,
                measured: true,
            },
        )
}

fn network() -> impl Strategy<Value = Network> {
    (1..=4_u32)
        .prop_flat_map(|links| {
            let links_specs = prop::collection::vec(link(), links as usize);
            (links_specs, prop::collection::vec(flow(links), 1..=4))
        })
        .prop_map(|(mut links, mut flows)| {
            links.iter_mut().enumerate().for_each(|(i, link)| link.name = format!("link {i}"));
            flows.iter_mut().enumerate().for_each(|(i, flow)| flow.name = format!("flow {i}"));
            Network { links, flows }
        })
}

/// What the events say, to be held against what the counters say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    enqueued: u64,
    queue_drops: u64,
    queue_marks: u64,
    corrupted: u64,
    duplicated: u64,
    delivered: u64,
    /// Data packets of one flow, lost for either reason, copies included.
    lost: [u64; 4],
    sent: [u64; 4],
    received: [u64; 4],
}

impl Recorder for Seen {
    fn record(&mut self, event: &Event) {
        let flow = event.flow.0 as usize;
        let is_data = |kind| matches!(kind, PacketKind::Data | PacketKind::Retransmission);
        match event.kind {
            EventKind::Link { what, packet, .. } => match what {
                LinkEvent::Enqueue => self.enqueued += 1,
                LinkEvent::Deliver => self.delivered += 1,
                LinkEvent::Mark => {
                    assert!(is_data(packet.kind), "only data may be marked");
                    self.queue_marks += 1;
                }
                LinkEvent::TransmitStart => {}
                LinkEvent::Duplicate => self.duplicated += 1,
                LinkEvent::QueueDrop | LinkEvent::Corrupted => {
                    let count = if what == LinkEvent::QueueDrop {
                        &mut self.queue_drops
                    } else {
                        &mut self.corrupted
                    };
                    *count += 1;
                    self.lost[flow] += u64::from(is_data(packet.kind));
                }
            },
            EventKind::Sent(packet) => self.sent[flow] += u64::from(is_data(packet.kind)),
            EventKind::Received(packet) => self.received[flow] += u64::from(is_data(packet.kind)),
            EventKind::Header(_)
            | EventKind::Cwnd(_)
            | EventKind::Rate(_)
            | EventKind::Verdict { .. } => {}
        }
    }
}

fn check(network: &Network, simulation: &Simulation, seen: &Seen) {
    assert_eq!(simulation.check_conservation(), Ok(()));
    let counters = simulation.counters();
    let links: Vec<HopCounters> =
        (0..network.links.len()).map(|link| counters.link(LinkId(link as u32))).collect();
    assert_eq!(counters.links(), links);
    let sum = |of: fn(&HopCounters) -> u64| links.iter().map(of).sum::<u64>();
    assert_eq!(seen.queue_drops, sum(|hop| hop.queue_drops));
    assert_eq!(seen.queue_marks, sum(|hop| hop.queue_marks));
    assert_eq!(seen.corrupted, sum(|hop| hop.corrupted));
    let duplicated: u64 = counters.duplicated().iter().sum();
    assert_eq!(seen.duplicated, duplicated);
    assert_eq!(seen.delivered, sum(|hop| hop.delivered));
    for index in 0..network.flows.len() {
        let report = simulation.flow(FlowId(index as u32));
        let lost = report.lost.congestion + report.lost.wireless;
        assert!(lost <= seen.lost[index] && seen.lost[index] - lost <= duplicated, "flow {index}");
        assert_eq!(report.sent_packets, seen.sent[index]);
        assert_eq!(report.received_packets + report.received_copies, seen.received[index]);
        assert!(report.delivered_packets <= report.received_packets);
        assert!(report.received_packets + lost <= report.sent_packets);
        let verdicts = report.verdicts;
        if verdicts != losscause_sim::VerdictTally::default() {
            assert_eq!(
                verdicts.congestion.judged() + verdicts.congestion.undetected,
                report.lost.congestion
            );
            assert_eq!(
                verdicts.wireless.judged() + verdicts.wireless.undetected,
                report.lost.wireless
            );
        }
        if network.flows[index].wireless_immune {
            assert_eq!(report.lost.wireless, 0);
        }
    }
}

fn is_drained(counters: &Counters) -> bool {
    counters.links().iter().zip(counters.duplicated()).all(|(link, duplicated)| {
        link.entered + duplicated == link.delivered + link.queue_drops + link.corrupted
    })
}

fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 10_000 };
    ProptestConfig { cases, ..default }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn random_networks_conserve_packets_and_name_every_cause(
        network in network(),
        seed in any::<u64>(),
        stops in prop::collection::vec(millis(0..9000), 0..3),
    ) {
        let mut simulation = Simulation::new(&network, seed).unwrap();
        let mut seen = Seen::default();
        for stop in stops {
            run_to(&mut simulation, Time::ZERO + stop, &mut seen);
            check(&network, &simulation, &seen);
        }
        run_to(&mut simulation, Time::ZERO + LATEST_STOP + DRAINED, &mut seen);
        check(&network, &simulation, &seen);
        prop_assert!(is_drained(simulation.counters()));
        for index in 0..network.flows.len() {
            let report = simulation.flow(FlowId(index as u32));
            let lost = report.lost.congestion + report.lost.wireless;
            prop_assert_eq!(report.received_packets + lost, report.sent_packets);
        }
    }
}
