//! Hosts have the names that a capture has for them, and no other text of the network is shown.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use common::{Segment, pcap};
use losscause_capture::{Analysis, Options, analyze};

/// A packet of UDP from port 53 to 10.0.0.1.
fn dns(message: &[u8]) -> Vec<u8> {
    let total = (28 + message.len() as u16).to_be_bytes();
    let length = (8 + message.len() as u16).to_be_bytes();
    let ip =
        [&[0x45, 0][..], &total, &[0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 53, 10, 0, 0, 1]].concat();
    [&ip[..], &[0, 53, 0x30, 0x39], &length, &[0, 0], message].concat()
}

fn labels(name: &str) -> Vec<u8> {
    let label = |label: &str| [&[label.len() as u8][..], label.as_bytes()].concat();
    name.split('.').flat_map(label).chain([0]).collect()
}

/// A record whose name is the question's.
fn record(kind: u16, data: &[u8]) -> Vec<u8> {
    let head = [
        &[0xc0, 12][..],
        &kind.to_be_bytes(),
        &[0, 1, 0, 0, 0, 60],
        &(data.len() as u16).to_be_bytes(),
    ]
    .concat();
    [head, data.to_vec()].concat()
}

/// An answer to a question for `name`.
fn answer(name: &str, records: &[Vec<u8>]) -> Vec<u8> {
    let head = [0, 7, 0x81, 0x80, 0, 1, 0, records.len() as u8, 0, 0, 0, 0];
    [&head[..], &labels(name), &[0, 1, 0, 1], &records.concat()].concat()
}

/// A ClientHello that asks for `name` behind an extension of so many bytes.
fn hello(name: &str, before: usize) -> Vec<u8> {
    let counted = |bytes: &[u8]| [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat();
    let host = [&[0][..], &counted(name.as_bytes())].concat();
    let padding = [&[0, 21][..], &counted(&vec![0; before])].concat();
    let server = [&[0, 0][..], &counted(&counted(&host))].concat();
    let body = [
        &[3, 3][..],
        &[9; 32],
        &[0],
        &counted(&[0x13, 1]),
        &[1, 0],
        &counted(&[padding, server].concat()),
    ]
    .concat();
    let message = [&[1, 0][..], &counted(&body)].concat();
    [&[0x16, 3, 1][..], &counted(&message)].concat()
}

/// Segments of data from 10.0.0.1:1000 to 10.0.0.2:2000, which begin with these payloads.
fn segments(payloads: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut seq = 1;
    let mut all = Vec::new();
    for payload in payloads.iter().copied().chain([&[7; 100][..]; 5]) {
        let mut packet = Segment::data(seq, payload.len()).bytes();
        let at = packet.len() - payload.len();
        packet[at..].copy_from_slice(payload);
        seq += payload.len() as u32;
        all.push(packet);
    }
    all
}

fn analysed(packets: Vec<Vec<u8>>) -> Analysis {
    let packets: Vec<_> =
        packets.into_iter().zip(1..).map(|(packet, ms)| (ms * 1_000, packet)).collect();
    analyze(&pcap(&packets)[..], "f", &Options::all()).unwrap()
}

/// The names of the first flow's ends.
fn names(packets: Vec<Vec<u8>>) -> [Option<String>; 2] {
    let analysis = analysed(packets);
    let flow = analysis.flows.iter().find(|flow| flow.src == "10.0.0.1:1000").unwrap();
    [flow.src_name.clone(), flow.dst_name.clone()]
}

fn only_dst(name: &str) -> [Option<String>; 2] {
    [None, Some(name.to_owned())]
}

#[test]
fn an_address_has_the_name_that_was_asked_for() {
    let alias = record(5, &labels("edge.cdn.example"));
    let message =
        answer("WWW.Example.org", &[alias, record(1, &[10, 0, 0, 2]), record(1, &[10, 0, 0, 3])]);
    let packets = [vec![dns(&message)], segments(&[])].concat();
    assert_eq!(names(packets.clone()), only_dst("www.example.org"));
    let analysis = analysed(packets);
    let flow = &analysis.flows[0];
    assert_eq!(flow.cells()[2], "10.0.0.2:2000 (www.example.org)");
    assert_eq!(flow.dst, "10.0.0.2:2000", "the end stays what it was");
    assert_eq!(serde_json::to_value(flow).unwrap()["dst_name"], "www.example.org");
}

#[test]
fn a_name_stands_once_behind_its_end_in_the_answer() {
    let message = answer("www.example.org", &[record(1, &[10, 0, 0, 2])]);
    let syn = || Segment { flags: common::SYN, ack: 0, ..Segment::data(0, 0) }.bytes();
    let packets: Vec<_> =
        [(0, dns(&message)), (1_000, syn()), (1_001_000, syn()), (3_001_000, syn())]
            .into_iter()
            .collect();
    let told = analyze(&pcap(&packets)[..], "f", &Options::all()).unwrap().answer();
    assert_eq!(told.matches("10.0.0.2:2000 (www.example.org)").count(), 1, "{told}");
}

#[test]
fn a_server_has_the_name_that_its_client_asks_for() {
    let whole = hello("shop.example.net", 0);
    assert_eq!(names(segments(&[&whole])), only_dst("shop.example.net"));
    let long = hello("shop.example.net", 1_500);
    let (first, second) = long.split_at(1_400);
    assert_eq!(names(segments(&[first, second])), only_dst("shop.example.net"), "in two packets");
    // The handshake says more than another host's answer.
    let message = answer("host7.example", &[record(1, &[10, 0, 0, 2])]);
    assert_eq!(
        names([vec![dns(&message)], segments(&[&whole])].concat()),
        only_dst("shop.example.net")
    );
}

#[test]
fn what_is_no_name_is_not_shown() {
    let none = [None, None];
    assert_eq!(names(segments(&[&hello("a\u{1b}[31mb", 0)])), none);
    assert_eq!(names(segments(&[&hello("", 0)])), none);
    assert_eq!(names(segments(&[&hello(&"a".repeat(300), 0)])), none);
    let odd = answer("ex\u{7}ample.org", &[record(1, &[10, 0, 0, 2])]);
    let mut question = answer("www.example.org", &[record(1, &[10, 0, 0, 2])]);
    question[2] = 1;
    let mut failed = answer("www.example.org", &[record(1, &[10, 0, 0, 2])]);
    failed[3] |= 3;
    // A pointer to itself.
    let endless = [&[0, 7, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0][..], &[0xc0, 12], &[0; 40]].concat();
    for message in [odd, question, failed, endless] {
        assert_eq!(names([vec![dns(&message)], segments(&[])].concat()), none);
    }
}

#[test]
fn a_cut_anywhere_gives_the_name_or_none() {
    let whole = hello("shop.example.net", 40);
    for cut in 0..whole.len() {
        assert_eq!(names(segments(&[&whole[..cut]])), [None, None], "{cut}");
    }
    let message = answer("www.example.org", &[record(1, &[10, 0, 0, 2])]);
    for cut in 0..message.len() {
        assert_eq!(
            names([vec![dns(&message[..cut])], segments(&[])].concat()),
            [None, None],
            "{cut}"
        );
    }
}

#[test]
fn a_capture_with_many_names_keeps_a_bounded_number() {
    let answers = (0..20_000_u32).map(|k| {
        let [_, a, b, c] = k.to_be_bytes();
        dns(&answer("many.example", &[record(1, &[11, a, b, c])]))
    });
    let first = dns(&answer("first.example", &[record(1, &[10, 0, 0, 2])]));
    let late = dns(&answer("late.example", &[record(1, &[10, 0, 0, 1])]));
    let packets: Vec<_> =
        [first].into_iter().chain(answers).chain([late]).chain(segments(&[])).collect();
    assert_eq!(names(packets), only_dst("first.example"));
}
