//! What losses cost, which flows count beside a transfer, and what follows, on connections of a few
//! segments.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use common::{SYN, Segment, ack, data, pcap};
use losscause_capture::{Analysis, Cost, Options, analyze};

/// Times are in milliseconds; the port's low byte of the first host tells connections apart.
fn analysis(packets: &[(u64, u8, Segment)]) -> Analysis {
    let bytes = |port: u8, segment: &Segment| {
        let mut bytes = segment.bytes();
        bytes[if segment.from_first { 21 } else { 23 }] += port;
        bytes
    };
    let mut packets: Vec<_> =
        packets.iter().map(|(ms, port, segment)| (ms * 1_000, bytes(*port, segment))).collect();
    packets.sort_by_key(|packet| packet.0);
    analyze(pcap(&packets).as_slice(), "f", &Options::all()).unwrap()
}

/// A capture at the sender: the SYN is answered after 40 ms.
fn handshake(port: u8) -> [(u64, u8, Segment); 3] {
    common::handshake().map(|(ms, segment)| (ms, port, segment))
}

fn cost(rest: Vec<(u64, u8, Segment)>) -> Cost {
    let analysis = analysis(&[handshake(0).to_vec(), rest].concat());
    analysis.flows[0].diagnosis.as_ref().unwrap().cost.unwrap()
}

#[test]
fn a_lost_packet_is_awaited_from_its_sending_until_it_is_resent() {
    let again = |number: u32| Segment::data(1 + 100 * number, 100).at(1_060, 5);
    let sack = |end| ack(1).sack(&[(301, end)]);
    let sent = (0..6).map(|i| (50 + u64::from(i), 0, data(i)));
    let answers = [(90, ack(1)), (93, sack(401)), (94, sack(501)), (95, sack(601))];
    // Segments 1 and 2, sent at 51 and 52 ms, are sent again at 96 and 97 ms.
    let rest = [(96, again(1)), (97, again(2)), (137, ack(6))];
    let all = sent.chain(answers.into_iter().chain(rest).map(|(ms, segment)| (ms, 0, segment)));
    let cost = cost(all.collect());
    assert!((cost.repair_s.unwrap() - 0.046).abs() < 1e-9, "{cost:?}");
    assert_eq!(
        (cost.timer_s, cost.path_rate_bps, cost.used, cost.slow_s),
        (Some(0.0), None, None, None),
        "{cost:?}"
    );
    assert!(cost.told().contains("what the path takes was not seen"), "{}", cost.told());
}

#[test]
fn the_time_until_a_timer_is_told_apart() {
    let again = Segment::data(101, 100).at(1_400, 5);
    let sent = [
        (50, data(0)),
        (90, ack(1)),
        (91, data(1)),
        (491, again),
        (531, ack(2)),
        (532, data(2)),
        (572, ack(3)),
    ];
    let cost = cost(sent.into_iter().map(|(ms, segment)| (ms, 0, segment)).collect());
    assert!(
        (cost.repair_s.unwrap() - 0.4).abs() < 1e-9 && cost.timer_s == cost.repair_s,
        "{cost:?}"
    );
}

#[test]
fn where_the_sender_is_not_seen_its_waiting_is_not_known() {
    // A capture at the receiver: what is missing in front of a packet is lost.
    let syn = Segment { flags: SYN, ack: 0, ..Segment::data(0, 0) };
    let syn_ack = Segment { flags: SYN | 16, seq: 0, ..Segment::ack(1) };
    let mut packets = vec![(0, 0, syn), (0, 0, syn_ack), (40, 0, Segment::data(1, 0))];
    packets.extend([
        (50, 0, data(0)),
        (50, 0, ack(1)),
        (60, 0, data(2)),
        (60, 0, ack(1).sack(&[(201, 301)])),
    ]);
    packets.extend([(120, 0, Segment::data(101, 100).at(1_090, 5)), (120, 0, ack(3))]);
    let flow = &analysis(&packets).flows[0];
    let cost = flow.diagnosis.as_ref().unwrap().cost.unwrap();
    assert_eq!((flow.lost(), cost.repair_s, cost.timer_s), (1, None, None), "{cost:?}");
}

/// A transfer of 2,000 segments, and one of `small` segments between the same hosts.
fn beside(small: u32) -> Analysis {
    let transfer = |port: u8, count: u32| {
        (0..count).flat_map(move |i| {
            let ms = 50 + u64::from(i);
            [(ms, port, data(i)), (ms + 40, port, ack(i + 1))]
        })
    };
    let packets = handshake(0)
        .into_iter()
        .chain(handshake(1))
        .chain(transfer(0, 2_000))
        .chain(transfer(1, small));
    analysis(&packets.collect::<Vec<_>>())
}

#[test]
fn a_nearly_idle_connection_is_listed_and_not_counted() {
    let analysis = beside(19);
    assert!(
        analysis.answer().starts_with("No data packet of 1 flow was lost."),
        "{}",
        analysis.answer()
    );
    let small = analysis.flows.iter().find(|flow| flow.bytes == 1_900).unwrap();
    assert!(
        small.minor
            && small.cells()[0] == "(2)"
            && analysis.notes().iter().any(|note| note.contains("brackets"))
    );
}

#[test]
fn a_connection_that_carries_one_percent_counts() {
    let analysis = beside(20);
    assert!(
        analysis.answer().starts_with("No data packet of 2 flows was lost."),
        "{}",
        analysis.answer()
    );
    assert!(analysis.flows.iter().all(|flow| !flow.minor));
}

#[test]
fn a_small_connection_that_lost_something_counts() {
    let mut packets = handshake(1).to_vec();
    packets.extend(
        (0..2_000)
            .flat_map(|i| [(50 + u64::from(i), 1, data(i)), (90 + u64::from(i), 1, ack(i + 1))]),
    );
    packets.extend(handshake(0));
    let again = (491, Segment::data(101, 100).at(1_400, 5));
    let sent = [
        (50, data(0)),
        (90, ack(1)),
        (91, data(1)),
        again,
        (531, ack(2)),
        (532, data(2)),
        (572, ack(3)),
    ];
    packets.extend(sent.into_iter().map(|(ms, segment)| (ms, 0, segment)));
    let analysis = analysis(&packets);
    assert!(analysis.answer().starts_with("1 lost packet in 2 flows."), "{}", analysis.answer());
}
