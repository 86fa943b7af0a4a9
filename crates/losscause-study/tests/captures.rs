//! Captures of a run agree with the run: every packet is where the simulator says that it was, and
//! nowhere else.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use losscause_sim::{Event, EventKind, LinkEvent, PacketKind};
use losscause_study::capture_files::{CaptureFiles, CaptureSettings, FILE_NAMES};
use losscause_study::{Context, Experiment, Measurements, Run, Scenario};

#[path = "captures/reading.rs"]
mod reading;

mod common;

use reading::{Seen, Transport, packets};

/// A SACK transfer, a TFRC video and a CBR call over a wireless hop and a queue. All end two
/// seconds before the run, so that no packet is on its way at its end.
const SCENARIO: &str = r#"
title = "three kinds of flows"
duration_s = 12
packet_bytes = 1000
[measure]
bottleneck = "uplink"
[[link]]
name = "radio"
rate_bps = 5e6
delay_ms = 5
queue_packets = 50
channel = { kind = "bernoulli", loss = 0.03 }
[[link]]
name = "uplink"
rate_bps = 1e6
delay_ms = 20
queue_packets = 20
[[flow]]
name = "upload"
protocol = "tcp"
variant = "sack"
path = ["radio", "uplink"]
start_s = 0.5
stop_s = 10
[[flow]]
name = "video"
protocol = "tfrc"
lda = "Spike"
path = ["radio", "uplink"]
stop_s = 10
[[flow]]
name = "call"
protocol = "cbr"
path = ["radio", "uplink"]
rate_bps = 80e3
packet_bytes = 200
stop_s = 10
[tcp]
ecn = true
"#;

fn experiment(settings: &[&str]) -> Experiment {
    common::experiment(SCENARIO, settings)
}

/// Whole packets, so that their checksums can be checked.
const WHOLE: CaptureSettings =
    CaptureSettings { tick: losscause::Span::from_millis(1), snap_bytes: 65_535 };

/// Captures a run in `directory`; the events of the run.
fn capture(experiment: &Experiment, seed: u64, directory: &Path) -> (Vec<Event>, Measurements) {
    let mut captures = CaptureFiles::create(directory, experiment, seed, WHOLE).unwrap();
    let mut events = Vec::new();
    let mut run = Run::new(experiment, seed).unwrap();
    let end = losscause::Time::MAX;
    let _ = run.advance(end, &mut (&mut events, &mut captures), |run, (_, captures)| {
        captures.write_until(run.now());
        std::ops::ControlFlow::Continue(())
    });
    captures.finish().unwrap();
    (events, run.measurements())
}

fn drops(directory: &Path) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_path(directory.join("drops.csv"))
        .unwrap()
        .deserialize()
        .map(Result::unwrap)
        .collect()
}

fn is_data(kind: PacketKind) -> bool {
    matches!(kind, PacketKind::Data | PacketKind::Retransmission)
}

/// A packet wherever it is seen: its sender and its identification, which does not come round in
/// these runs.
fn identity(packet: &Seen) -> (String, u16) {
    (packet.src.to_string(), packet.id)
}

/// The identities of packets, of which none comes twice.
fn identities<'a>(packets: impl Iterator<Item = &'a Seen>) -> BTreeSet<(String, u16)> {
    let mut count = 0;
    let set: BTreeSet<_> = packets.inspect(|_| count += 1).map(identity).collect();
    assert_eq!(set.len(), count, "a packet is seen twice");
    set
}

#[test]
fn what_is_sent_arrives_or_is_among_the_drops() {
    for settings in
        [&[][..], &["link.uplink.queue={ kind = \"codel\", ecn = true }"], &["tcp.mode=\"ns2\""]]
    {
        let directory = tempfile::tempdir().unwrap();
        let (events, _) = capture(&experiment(settings), 3, directory.path());
        let [sender, receiver] =
            ["sender.pcap", "receiver.pcap"].map(|name| packets(&directory.path().join(name)));
        let rows = drops(directory.path());
        let lost: BTreeSet<_> =
            rows.iter().map(|row| (row["src"].clone(), row["ip_id"].parse().unwrap())).collect();
        assert_eq!(lost.len(), rows.len());
        assert!(rows.iter().any(|row| row["cause"] == "congestion"), "{settings:?}");
        assert!(rows.iter().any(|row| row["cause"] == "wireless"), "{settings:?}");
        for is_forward in [true, false] {
            let (from, to) = if is_forward { (&sender, &receiver) } else { (&receiver, &sender) };
            let sent = identities(from.iter().filter(|packet| packet.is_forward() == is_forward));
            let arrived = identities(to.iter().filter(|packet| packet.is_forward() == is_forward));
            let missing: BTreeSet<_> = sent.difference(&arrived).cloned().collect();
            let lost: BTreeSet<_> =
                lost.iter().filter(|identity| sent.contains(*identity)).cloned().collect();
            assert_eq!(missing, lost, "{settings:?}");
            assert!(arrived.is_subset(&sent));
            // The simulator counts the same; it has no handshake of its own unless ns-2's rules ask
            // for one.
            let count = |what: fn(&EventKind) -> Option<PacketKind>| {
                events
                    .iter()
                    .filter_map(|event| what(&event.kind))
                    .filter(|&kind| is_data(kind) == is_forward)
                    .count()
            };
            let added = usize::from(!settings.iter().any(|setting| setting.contains("ns2")));
            let sent_events =
                count(
                    |kind| {
                        if let EventKind::Sent(packet) = kind { Some(packet.kind) } else { None }
                    },
                );
            let arrivals = count(|kind| {
                if let EventKind::Received(packet) = kind { Some(packet.kind) } else { None }
            });
            assert_eq!((sent.len(), arrived.len()), (sent_events + added, arrivals + added));
        }
    }
}

#[test]
fn what_a_link_doubles_and_reorders_arrives_so_in_the_captures() {
    let directory = tempfile::tempdir().unwrap();
    let experiment = experiment(&[
        "link.radio.duplication={ share = 0.1, delay_ms = 1 }",
        "link.uplink.reordering={ share = 0.1, packets = 2 }",
    ]);
    let (events, _) = capture(&experiment, 3, directory.path());
    let received = |event: &&Event| match event.kind {
        EventKind::Received(packet) => is_data(packet.kind),
        _ => false,
    };
    let [sent, arrived] = ["sender.pcap", "receiver.pcap"].map(|name| {
        packets(&directory.path().join(name))
            .iter()
            .filter(|packet| packet.is_forward())
            .map(identity)
            .collect::<Vec<_>>()
    });
    assert_eq!(arrived.len(), events.iter().filter(received).count() + 1, "and the SYN");
    let distinct: BTreeSet<_> = arrived.iter().collect();
    assert!(distinct.len() + 50 < arrived.len(), "copies are seen twice");
    assert!(distinct.iter().all(|packet| sent.contains(packet)));
    let order: Vec<usize> =
        arrived.iter().filter_map(|packet| sent.iter().position(|other| other == packet)).collect();
    assert!(!order.is_sorted());
}

#[test]
fn the_bottleneck_sees_what_leaves_its_queue_and_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let experiment = experiment(&[]);
    let (events, _) = capture(&experiment, 3, directory.path());
    let seen = packets(&directory.path().join("bottleneck.pcap"));
    let uplink =
        experiment.network.links.iter().position(|link| link.name == "uplink").unwrap() as u32;
    let count = |wanted: LinkEvent, link: u32| {
        let matches = |event: &&Event| match event.kind {
            EventKind::Link { link: at, what, packet, .. } => {
                what == wanted && at.0 == link && is_data(packet.kind)
            }
            _ => false,
        };
        events.iter().filter(matches).count()
    };
    let forward = seen.iter().filter(|packet| packet.is_forward()).count();
    assert_eq!(forward, count(LinkEvent::TransmitStart, uplink) + 1, "and the SYN");
    let arrived = packets(&directory.path().join("sender.pcap"));
    let back = |packets: &[Seen]| identities(packets.iter().filter(|packet| !packet.is_forward()));
    assert_eq!(back(&seen), back(&arrived), "nothing is lost on the way back");
    // Between the two links is one router.
    assert!(
        seen.iter().all(|packet| packet.time_to_live == if packet.is_forward() { 63 } else { 64 })
    );
}

#[test]
fn packets_are_in_order_of_time_and_keep_their_times_and_sizes() {
    let directory = tempfile::tempdir().unwrap();
    let (events, _) = capture(&experiment(&[]), 5, directory.path());
    for name in ["sender.pcap", "bottleneck.pcap", "receiver.pcap"] {
        assert!(
            packets(&directory.path().join(name)).is_sorted_by_key(|packet| packet.at),
            "{name}"
        );
    }
    let sent: Vec<(i64, u32)> = packets(&directory.path().join("sender.pcap"))
        .iter()
        .filter(|packet| packet.is_forward() && !packet.is_syn())
        .map(|packet| (packet.at - 1_000_000_000_000_000_000, packet.bytes))
        .collect();
    let mut expected: Vec<(i64, u32)> = events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Sent(packet) if is_data(packet.kind) => {
                Some((event.at.as_nanos(), packet.wire_bytes))
            }
            _ => None,
        })
        .collect();
    expected.sort_by_key(|(at, _)| *at);
    assert_eq!(sent, expected);
}

#[test]
fn the_rows_of_drops_have_the_numbers_of_the_headers() {
    let directory = tempfile::tempdir().unwrap();
    let (events, _) = capture(&experiment(&[]), 3, directory.path());
    let sender: BTreeMap<_, _> = packets(&directory.path().join("sender.pcap"))
        .into_iter()
        .map(|packet| (identity(&packet), packet))
        .collect();
    let rows = drops(directory.path());
    let mut counts = [0, 0];
    for row in
        rows.iter().filter(|row| ["data", "retransmission"].contains(&row["packet"].as_str()))
    {
        let packet = &sender[&(row["src"].clone(), row["ip_id"].parse().unwrap())];
        let (seq, bytes) = match packet.transport {
            Transport::Tcp { seq, payload, .. } => (seq, payload as usize),
            Transport::Udp { rtp_seq, payload } => (rtp_seq.into(), payload - 12),
        };
        assert_eq!((&row["seq"], &row["bytes"]), (&seq.to_string(), &bytes.to_string()), "{row:?}");
        assert_eq!(row["dst"], packet.dst.to_string());
        assert_eq!(row["link"], if row["cause"] == "wireless" { "radio" } else { "uplink" });
        counts[usize::from(row["cause"] == "wireless")] += 1;
    }
    let count = |wanted| {
        let matches =
            |event: &&Event| matches!(event.kind, EventKind::Link { what, .. } if what == wanted);
        events.iter().filter(matches).count()
    };
    assert_eq!(counts, [count(LinkEvent::QueueDrop), count(LinkEvent::Corrupted)]);
}

#[test]
fn the_gaps_of_an_rtp_receiver_are_the_drops_of_its_flow() {
    let directory = tempfile::tempdir().unwrap();
    capture(&experiment(&[]), 3, directory.path());
    let received: Vec<u16> = packets(&directory.path().join("receiver.pcap"))
        .iter()
        .filter(|packet| packet.src.to_string() == "10.0.0.3:5004")
        .map(|packet| match packet.transport {
            Transport::Udp { rtp_seq, .. } => rtp_seq,
            Transport::Tcp { .. } => panic!("the call is RTP"),
        })
        .collect();
    let mut gaps = Vec::new();
    for pair in received.windows(2) {
        gaps.extend((1..pair[1].wrapping_sub(pair[0])).map(|step| pair[0].wrapping_add(step)));
    }
    let inside = |seq: &u16| {
        seq.wrapping_sub(received[0]) < received[received.len() - 1].wrapping_sub(received[0])
    };
    let lost: Vec<u16> = drops(directory.path())
        .iter()
        .filter(|row| row["flow"] == "call")
        .map(|row| row["seq"].parse().unwrap())
        .filter(inside)
        .collect();
    assert!(!gaps.is_empty());
    assert_eq!(BTreeSet::from_iter(gaps), BTreeSet::from_iter(lost));
}

#[test]
fn a_handshake_precedes_the_data_by_the_time_of_an_empty_path() {
    let directory = tempfile::tempdir().unwrap();
    capture(&experiment(&[]), 3, directory.path());
    let sender = packets(&directory.path().join("sender.pcap"));
    let upload: Vec<&Seen> =
        sender.iter().filter(|packet| packet.src.port() == 9 || packet.dst.port() == 9).collect();
    let [syn, answer, data, ..] = upload.as_slice() else { panic!("{upload:?}") };
    assert!(
        syn.is_syn()
            && syn.is_forward()
            && answer.is_syn()
            && !answer.is_forward()
            && !data.is_syn()
    );
    // Twice 25 ms and 60 bytes at 5 and at 1 Mb/s; the way back has the links of the way there.
    assert_eq!(answer.at - syn.at, 2 * (25_000_000 + 96_000 + 480_000));
    assert_eq!(data.at, answer.at);
    let Transport::Tcp { stamps: (syn_value, _), seq: first, .. } = syn.transport else {
        panic!("{syn:?}")
    };
    let Transport::Tcp { stamps: (value, echo), ack, .. } = answer.transport else {
        panic!("{answer:?}")
    };
    let Transport::Tcp { stamps: (_, data_echo), seq, payload, .. } = data.transport else {
        panic!("{data:?}")
    };
    assert_eq!((echo, data_echo, ack, seq), (syn_value, value, seq, first.wrapping_add(1)));
    assert_eq!(payload, 948);
}

#[test]
fn sack_blocks_tell_of_what_arrived_behind_a_hole() {
    let directory = tempfile::tempdir().unwrap();
    capture(&experiment(&[]), 4, directory.path());
    let mut received = BTreeSet::new();
    let mut blocks_seen = 0;
    for packet in packets(&directory.path().join("receiver.pcap")) {
        let Transport::Tcp { seq, ack, ref blocks, payload, .. } = packet.transport else {
            continue;
        };
        if packet.is_forward() {
            received.extend((payload > 0).then_some(seq));
            continue;
        }
        for &(start, end) in blocks {
            blocks_seen += 1;
            assert!(start.wrapping_sub(ack) < 1 << 30 && end.wrapping_sub(start) < 1 << 30);
            let mut segment = start;
            while segment != end {
                assert!(received.contains(&segment), "{segment} never arrived");
                segment = segment.wrapping_add(948);
            }
        }
    }
    assert!(blocks_seen > 100, "{blocks_seen}");
}

#[test]
fn marks_are_where_the_queue_made_them_and_are_echoed() {
    let directory = tempfile::tempdir().unwrap();
    let settings =
        ["link.uplink.queue={ kind = \"codel\", ecn = true }", "link.radio.channel.loss=0"];
    let (events, _) = capture(&experiment(&settings), 3, directory.path());
    let is_mark =
        |event: &&Event| matches!(event.kind, EventKind::Link { what: LinkEvent::Mark, .. });
    let marks = events.iter().filter(is_mark).count();
    assert!(marks > 0);
    for (name, expected) in
        [("sender.pcap", 0), ("bottleneck.pcap", marks), ("receiver.pcap", marks)]
    {
        let seen = packets(&directory.path().join(name));
        assert_eq!(seen.iter().filter(|packet| packet.is_marked).count(), expected, "{name}");
    }
    let echoes = packets(&directory.path().join("sender.pcap"))
        .iter()
        .filter(|packet| !packet.is_forward())
        .filter(|packet| matches!(packet.transport, Transport::Tcp { ece: true, syn: false, .. }))
        .count();
    assert!(echoes > 0);
}

#[test]
fn the_seed_fixes_the_bytes_and_captures_change_no_measurement() {
    let experiment = experiment(&[]);
    let directories = [3, 3, 4].map(|seed| {
        let directory = tempfile::tempdir().unwrap();
        let (_, measurements) = capture(&experiment, seed, directory.path());
        assert_eq!(measurements, losscause_study::run(&experiment, seed).unwrap());
        directory
    });
    let [first, again, other] = directories.each_ref().map(|directory| {
        FILE_NAMES.map(|name| std::fs::read(directory.path().join(name)).unwrap())
    });
    assert_eq!(first, again);
    assert!(first.iter().zip(&other).all(|(one, two)| one != two));
}

#[test]
fn a_return_path_of_other_length_is_not_seen_at_the_bottleneck() {
    let directory = tempfile::tempdir().unwrap();
    capture(&experiment(&["flow.upload.return_path=[\"uplink\"]"]), 3, directory.path());
    let seen = packets(&directory.path().join("bottleneck.pcap"));
    assert!(seen.iter().any(|packet| packet.is_forward() && packet.dst.port() == 9));
    assert!(!seen.iter().any(|packet| packet.src.port() == 9));
}

#[test]
fn a_scenario_without_a_bottleneck_has_no_capture_there() {
    let text = SCENARIO.replace("bottleneck = \"uplink\"", "");
    let experiment =
        Scenario::parse(&text, "three.toml", &Context::default()).unwrap().experiment().unwrap();
    let directory = tempfile::tempdir().unwrap();
    capture(&experiment, 1, directory.path());
    assert!(!directory.path().join("bottleneck.pcap").exists());
    assert!(directory.path().join("receiver.pcap").exists());
}

#[test]
fn packets_larger_than_ipv4_allows_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let below = directory.path().join("captures");
    // A scenario cannot ask for such packets, a program can.
    let mut experiment = experiment(&[]);
    let call = experiment.network.flows.iter_mut().find(|flow| flow.name == "call").unwrap();
    call.traffic = losscause_sim::Traffic::cbr(80_000, 65_536);
    let error =
        CaptureFiles::create(&below, &experiment, 1, CaptureSettings::default()).unwrap_err();
    assert!(error.is_bad_input());
    let said = error.to_string();
    assert!(
        said.contains("the packets of flow call have 65536 bytes, expected at most 65535"),
        "{said}"
    );
    assert!(!below.exists(), "nothing is left behind");
}
