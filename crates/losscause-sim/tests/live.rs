//! A live path and a simulation of the same network: the same packets at the same instants meet the
//! same fate.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;

use common::{at_secs, drop_tail, flow, wired, wireless};
use losscause::{Span, Time};
use losscause_sim::live::{Direction, Fate, LivePath, Offered, Passed};
use losscause_sim::truth::Cause;
use losscause_sim::{
    AtEnd, Between, ChannelSpec, CoDelSpec, DelayPoint, Detail, ErrorPosition, Event, EventKind,
    FlowId, FlowSpec, FqCoDelSpec, Header, Lengths, Limit, LinkEvent, LinkId, LinkSpec, Network,
    PacketInfo, PacketKind, PieSpec, QueueSpec, RatePoint, RateSpec, Recorder, RedSpec,
    RetransmissionSpec, Simulation, Slots, TraceStart, Traffic, VariationSpec,
};
use losscause_transport::{Ecn, tcp};
use proptest::prelude::*;

/// A packet of a simulation: its flow, whether it is data, its number, and when it was sent.
type Key = (u32, bool, u64, Time);

/// When a packet reached the end of its flow or was lost, and why.
type End = (Time, Option<Cause>);

/// The packets that ends send, in order of time, and what became of them, in a simulation of 8 s.
struct Simulated {
    /// With their sizes and ECN fields.
    sent: Vec<(Key, u32, Ecn)>,
    ends: BTreeMap<Key, End>,
}

/// Records headers too: a retransmission may not be marked where other data may.
#[derive(Default)]
struct Log(Vec<Event>);

impl Recorder for Log {
    fn detail(&self) -> Detail {
        Detail::Headers
    }

    fn record(&mut self, event: &Event) {
        self.0.push(*event);
    }
}

fn simulated(network: &Network, seed: u64) -> Simulated {
    let mut simulation = Simulation::with_every_event(network, seed).unwrap();
    let mut log = Log::default();
    simulation.run_until(at_secs(8), &mut log);
    let Log(mut events) = log;
    events.sort_by_key(|event| event.at);
    let last = |flow: FlowId, is_data: bool| {
        let FlowSpec { path, return_path, .. } = &network.flows[flow.0 as usize];
        if is_data { path.last().copied() } else { return_path.last().copied() }
    };
    let mut sent = Vec::new();
    let mut ends = BTreeMap::new();
    // The header is recorded just before its packet.
    let mut ecn = BTreeMap::new();
    for event in &events {
        let key = |packet: PacketInfo| {
            let FlowId(flow) = event.flow;
            (flow, packet.kind != PacketKind::Ack, packet.seq, packet.timing.unwrap().sent_at)
        };
        match event.kind {
            EventKind::Header(header) => {
                let field = if let Header::Segment(segment) = header {
                    segment.ecn
                } else {
                    Ecn::NotCapable
                };
                ecn.insert(event.flow, field);
            }
            EventKind::Sent(packet) => {
                sent.push((key(packet), packet.wire_bytes, ecn[&event.flow]));
            }
            EventKind::Link { link, what, packet, .. } => {
                let cause = match what {
                    LinkEvent::QueueDrop => Some(Cause::Congestion),
                    LinkEvent::Corrupted => Some(Cause::Wireless),
                    LinkEvent::Deliver
                        if last(event.flow, packet.kind != PacketKind::Ack) == Some(link) =>
                    {
                        None
                    }
                    _ => continue,
                };
                assert_eq!(ends.insert(key(packet), (event.at, cause)), None);
            }
            _ => {}
        }
    }
    Simulated { sent, ends }
}

/// The same packets over the live path; polled whenever one comes, and `late` after every arrival.
fn live(network: &Network, seed: u64, simulated: &Simulated, late: Span) -> BTreeMap<Key, End> {
    let mut path = LivePath::new(network, FlowId(0), seed).unwrap();
    let mut ends = BTreeMap::new();
    let mut note = |passed: Passed<Key>| {
        let cause = match passed.fate {
            Fate::Delivered { .. } => None,
            Fate::Lost { cause, .. } => Some(cause),
        };
        assert_eq!(ends.insert(passed.content, (passed.at, cause)), None);
    };
    for &(key, wire_bytes, ecn) in &simulated.sent {
        let (flow, is_data, _, at) = key;
        while let Some(event) = path.next_event().filter(|event| *event + late < at) {
            while let Some(passed) = path.poll(event + late) {
                note(passed);
            }
        }
        let direction = if is_data { Direction::Forward } else { Direction::Back };
        path.enter(
            at,
            direction,
            Offered { content: key, wire_bytes, flow, ecn, wireless_immune: false },
        );
    }
    while let Some(passed) = path.poll(at_secs(8)) {
        note(passed);
    }
    assert_eq!(path.in_flight() + ends.len(), simulated.sent.len());
    ends
}

fn queue() -> impl Strategy<Value = QueueSpec> {
    (3_u32..30, 0..6).prop_map(|(limit, kind)| {
        let limit_pkts = Limit::Packets(limit);
        let codel = CoDelSpec { ecn: kind == 3, ..CoDelSpec::new(limit_pkts) };
        match kind {
            0 => drop_tail(limit),
            1 => QueueSpec::DropTail { limit: Limit::Bytes(u64::from(limit) * 1000) },
            2 | 3 => QueueSpec::CoDel(codel),
            4 => QueueSpec::FqCoDel(FqCoDelSpec { codel, ..FqCoDelSpec::new(limit_pkts) }),
            _ if limit % 2 == 0 => QueueSpec::Pie(PieSpec::new(limit_pkts)),
            _ => QueueSpec::Red(RedSpec { ecn: true, ..RedSpec::new(limit_pkts) }),
        }
    })
}

fn channel() -> impl Strategy<Value = (ChannelSpec, Slots)> {
    let lost: Vec<bool> = (0..97).map(|slot| slot % 11 == 0 || slot % 29 == 1).collect();
    prop_oneof![
        Just((ChannelSpec::Perfect, Slots::default())),
        Just((ChannelSpec::Bernoulli { loss: 0.03 }, Slots::default())),
        Just((
            ChannelSpec::GilbertElliott { loss: 0.05, mean_burst_packets: 3.0 },
            Slots::PerPacket(2)
        )),
        Just((
            ChannelSpec::Trace { lost: lost.into(), start: TraceStart::Drawn },
            Slots::PerTime(Span::from_micros(3100))
        )),
    ]
}

fn variation() -> impl Strategy<Value = VariationSpec> {
    let ms = Span::from_millis;
    let points = [(100, 0), (300, 15), (400, 2)]
        .map(|(at, delay)| DelayPoint { at: ms(at), delay: ms(delay) });
    prop_oneof![
        Just(VariationSpec::Constant),
        Just(VariationSpec::Sinusoid { most: ms(9), period: ms(700) }),
        Just(VariationSpec::Walk { most: ms(8), step: ms(2), every: ms(30) }),
        Just(VariationSpec::Batches { most: ms(6), drawn: true }),
        Just(VariationSpec::Trace {
            points: points.into(),
            between: Between::Linear,
            at_end: AtEnd::Repeat
        }),
    ]
}

fn rate() -> impl Strategy<Value = RateSpec> {
    let points = [(900, 700_000), (1700, 3_100_000)]
        .map(|(ms, rate_bps)| RatePoint { at: Span::from_millis(ms), rate_bps });
    let at: Vec<Span> = [3, 7, 7, 12, 20].map(Span::from_millis).into();
    prop_oneof![
        Just(RateSpec::Constant),
        Just(RateSpec::Steps { points: points.into(), at_end: AtEnd::Repeat }),
        Just(RateSpec::Opportunities { at: at.into(), bytes: 1504 }),
    ]
}

/// A link of every kind, in front of a plain one; a lossy link back.
fn network() -> impl Strategy<Value = Network> {
    let link = (queue(), channel(), variation(), rate(), any::<bool>(), any::<bool>());
    (link, any::<bool>(), 1_i64..1_000_000).prop_map(|(link, ecn, nanos)| {
        let (queue, (channel, slots), variation, rate, before, repeats) = link;
        let retransmission = RetransmissionSpec { attempts: 3, delay: Span::from_millis(8) };
        let error_position =
            if before { ErrorPosition::BeforeQueue } else { ErrorPosition::AfterTransmission };
        let first = LinkSpec {
            queue,
            slots,
            variation,
            rate,
            error_position,
            retransmission: (repeats && !before).then_some(retransmission),
            delay: Span::from_millis(15) + Span::from_nanos(nanos),
            ..wireless("air", 2_000_000, 15, 10, channel)
        };
        let mean = Span::from_millis(150);
        let bursts = Traffic::OnOff {
            rate_bps: 1_500_000,
            packet_bytes: 613,
            mean_on: mean,
            mean_off: mean,
            lengths: Lengths::Exponential,
            lda: None,
        };
        let config = tcp::Config { ecn, ..tcp::Config::ns2() };
        Network {
            links: vec![
                first,
                wired("core", 2_500_000, 3, 5),
                wireless("back", 1_000_000, 17, 5, ChannelSpec::Bernoulli { loss: 0.02 }),
            ],
            flows: vec![
                flow("tcp", &[0, 1], &[2], Traffic::tcp(config)),
                flow("bursts", &[0, 1], &[], bursts),
                flow("cbr", &[0, 1], &[], Traffic::cbr(300_000 + nanos as u64 / 10, 509)),
            ],
        }
    })
}

proptest! {
    #[test]
    fn a_live_path_gives_the_drops_and_arrivals_of_a_simulation(
        network in network(),
        seed in 0_u64..1000,
        late_us in 0_i64..5000,
    ) {
        let simulated = simulated(&network, seed);
        let live = live(&network, seed, &simulated, Span::from_micros(late_us));
        // A drop by a managed queue shows once the queue is used again: the last ones may be open.
        let told = |ends: &BTreeMap<Key, End>| -> Vec<(Key, End)> {
            ends.iter().filter(|(_, (at, _))| *at < at_secs(7)).map(|(key, end)| (*key, *end)).collect()
        };
        let simulated = told(&simulated.ends);
        let live = told(&live);
        prop_assert!(simulated.len() > 300, "{}", simulated.len());
        let first = simulated.iter().zip(&live).find(|(simulated, live)| simulated != live);
        prop_assert!(first.is_none(), "{:?}", first);
        prop_assert_eq!(simulated.len(), live.len());
    }
}

fn packet(content: u32, ecn: Ecn) -> Offered<u32> {
    Offered { content, wire_bytes: 1250, flow: 0, ecn, wireless_immune: false }
}

fn one_way(link: LinkSpec) -> LivePath<u32> {
    let network =
        Network { links: vec![link], flows: vec![flow("only", &[0], &[], common::cbr(1_000_000))] };
    LivePath::new(&network, FlowId(0), 1).unwrap()
}

fn all(path: &mut LivePath<u32>, until: Time) -> Vec<(u32, i64, Fate)> {
    let micros = |at: Time| at.as_nanos() / 1000;
    std::iter::from_fn(|| path.poll(until))
        .map(|passed| (passed.content, micros(passed.at), passed.fate))
        .collect()
}

#[test]
fn a_packet_s_fate_tells_when_why_and_how_long_it_waited() {
    // 1250 bytes take 1 ms; one waits, the third finds the queue full.
    let mut path = one_way(wired("dsl", 10_000_000, 20, 1));
    for content in [7, 8, 9] {
        path.enter(Time::ZERO, Direction::Forward, packet(content, Ecn::NotCapable));
    }
    assert_eq!((path.next_event(), path.in_flight()), (Some(Time::ZERO), 2));
    let delivered = |ms| Fate::Delivered { ecn: Ecn::NotCapable, queued: Span::from_millis(ms) };
    let lost = Fate::Lost { cause: Cause::Congestion, link: LinkId(0), queue_packets: 1 };
    assert_eq!(
        all(&mut path, at_secs(1)),
        [(9, 0, lost), (7, 21_000, delivered(0)), (8, 22_000, delivered(1))]
    );
    assert_eq!((path.next_event(), path.in_flight()), (None, 0));
}

#[test]
fn a_queue_marks_what_may_be_marked_and_drops_nothing_for_it() {
    let queue = QueueSpec::StepMark { limit: Limit::Packets(10), mark_from_pkts: 1 };
    let mut path = one_way(LinkSpec { queue, ..wired("dsl", 10_000_000, 20, 1) });
    for (content, ecn) in
        [(1, Ecn::Capable), (2, Ecn::Capable), (3, Ecn::Capable), (4, Ecn::NotCapable)]
    {
        path.enter(Time::ZERO, Direction::Forward, packet(content, ecn));
    }
    let fates: Vec<Ecn> = all(&mut path, at_secs(1))
        .into_iter()
        .map(|(_, _, fate)| match fate {
            Fate::Delivered { ecn, .. } => ecn,
            Fate::Lost { .. } => panic!("{fate:?}"),
        })
        .collect();
    // The first finds nothing waiting and neither does the second.
    assert_eq!(fates, [Ecn::Capable, Ecn::Capable, Ecn::Marked, Ecn::NotCapable]);
}

#[test]
fn a_corrupted_packet_is_lost_at_the_far_end_unless_immune() {
    let air = || wireless("air", 10_000_000, 20, 5, ChannelSpec::Bernoulli { loss: 1.0 });
    let mut path = one_way(air());
    path.enter(Time::ZERO, Direction::Forward, packet(1, Ecn::NotCapable));
    let lost = Fate::Lost { cause: Cause::Wireless, link: LinkId(0), queue_packets: 0 };
    assert_eq!(all(&mut path, at_secs(1)), [(1, 21_000, lost)]);
    path.enter(
        at_secs(1),
        Direction::Forward,
        Offered { wireless_immune: true, ..packet(2, Ecn::NotCapable) },
    );
    path.enter(at_secs(1), Direction::Forward, packet(3, Ecn::NotCapable));
    let ends = all(&mut path, at_secs(2));
    assert!(
        matches!(ends[..], [(2, 1_021_000, Fate::Delivered { .. }), (3, 1_022_000, end)] if end == lost),
        "{ends:?}"
    );
    let immune =
        FlowSpec { wireless_immune: true, ..flow("only", &[0], &[], common::cbr(1_000_000)) };
    let network = Network { links: vec![air()], flows: vec![immune] };
    let mut path = LivePath::new(&network, FlowId(0), 1).unwrap();
    path.enter(Time::ZERO, Direction::Forward, packet(1, Ecn::NotCapable));
    assert!(matches!(all(&mut path, at_secs(1))[..], [(1, 21_000, Fate::Delivered { .. })]));
}

#[test]
fn a_path_that_is_polled_late_tells_the_exact_instants() {
    let network = Network {
        links: vec![wired("first", 10_000_000, 5, 5), wired("second", 5_000_000, 10, 5)],
        flows: vec![flow("only", &[0, 1], &[], common::cbr(1_000_000))],
    };
    let mut path = LivePath::new(&network, FlowId(0), 1).unwrap();
    for content in [1, 2] {
        path.enter(Time::ZERO, Direction::Forward, packet(content, Ecn::NotCapable));
    }
    // 1 ms and 5 ms, then 2 ms and 10 ms; the second waits for 1 ms on each.
    let delivered = |ms| Fate::Delivered { ecn: Ecn::NotCapable, queued: Span::from_millis(ms) };
    assert_eq!(all(&mut path, at_secs(5)), [(1, 18_000, delivered(0)), (2, 20_000, delivered(2))]);
}
