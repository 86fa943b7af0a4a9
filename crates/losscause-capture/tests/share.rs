//! A capture that is shared tells the same losses, and not whose they are.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use std::io::Read;

use common::{Segment, analysed, pcap, pcap_of, rtp};
use flate2::read::GzDecoder;
use losscause_capture::frames::Frames;
use losscause_capture::packet::{Parsed, Transport};
use losscause_capture::{Analysis, Options, Shared, analyze, annotate, share};
use proptest::prelude::*;

const KEY: u64 = 0x0123_4567_89ab_cdef;

fn shared_with(file: &[u8], options: &Options) -> (Vec<u8>, Shared) {
    let analysis = analyze(file, "f", options).unwrap();
    let mut out = Vec::new();
    let shared = share(file, &analysis, options, KEY, &mut out).unwrap();
    (out, shared)
}

fn shared(file: &[u8]) -> (Vec<u8>, Shared) {
    shared_with(file, &Options::all())
}

/// Everything about the flows but their names.
fn told(analysis: &Analysis) -> Vec<String> {
    let mut flows = serde_json::to_value(&analysis.flows).unwrap();
    for flow in flows.as_array_mut().unwrap() {
        let flow = flow.as_object_mut().unwrap();
        ["src", "dst", "id"].iter().for_each(|name| _ = flow.remove(*name));
    }
    let mut flows: Vec<String> =
        flows.as_array().unwrap().iter().map(ToString::to_string).collect();
    flows.sort();
    flows
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// A frame of Ethernet with these tags.
fn ethernet(tags: &[u8], ip: &[u8]) -> Vec<u8> {
    let kind = if ip[0] >> 4 == 4 { [8, 0] } else { [0x86, 0xdd] };
    [&[0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x00, 0x66, 0x77, 0x88, 0x99, 0xaa][..], tags, &kind, ip]
        .concat()
}

/// Segments of a flow with a gap, each with this in its payload.
fn with_payload(text: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let packet = |i: u32| {
        let mut bytes = Segment::data(1 + 100 * i, 100).at(1_000 + i, 5).bytes();
        let from = bytes.len() - 60;
        bytes[from..from + text.len()].copy_from_slice(text);
        (5_000_000 + 1_000 * u64::from(i), bytes)
    };
    [0, 1, 2, 5, 6, 7].map(packet).to_vec()
}

#[test]
fn real_captures_tell_the_same_when_they_are_shared() {
    for file in [
        &include_bytes!("captures/sender.pcap.gz")[..],
        include_bytes!("captures/receiver.pcap.gz"),
    ] {
        let (out, counts) = shared(file);
        let before = analysed(file);
        let after = analysed(&out);
        assert!(before.flows[0].lost() > 40);
        assert_eq!(told(&after), told(&before));
        assert_eq!((counts.written, counts.left_out), (before.packets, 0));
        assert_eq!(counts.told(), format!("{} packets", before.packets));
        let mut plain = Vec::new();
        GzDecoder::new(file).read_to_end(&mut plain).unwrap();
        assert!(
            out.len() * 2 < plain.len() || plain.len() < 300_000,
            "{} of {}",
            out.len(),
            plain.len()
        );
        assert!(
            after
                .flows
                .iter()
                .all(|flow| flow.src.starts_with("10.") && flow.src != before.flows[0].src)
        );
    }
}

#[test]
fn a_stream_keeps_its_header_and_other_datagrams_do_not() {
    let stream = [0_u16, 1, 2, 3, 4, 6, 7, 8]
        .map(|n| (u64::from(n) * 20_000, rtp(n, u32::from(n) * 1_800, 100)));
    let mut packets = stream.to_vec();
    // One that looks like RTP and is no stream.
    let mut other = rtp(0, 0, 100);
    other[20..22].copy_from_slice(&[9, 9]);
    other[40..46].copy_from_slice(b"secret");
    packets.push((200_000, other));
    let file = pcap(&packets);
    let (out, counts) = shared(&file);
    assert_eq!((told(&analysed(&out)), counts.written), (told(&analysed(&file)), 9));
    assert_eq!(analysed(&out).flows[0].lost(), 1);
    let mut frames = Frames::open(out.as_slice()).unwrap();
    let mut captured = Vec::new();
    while let Some(frame) = frames.next_frame() {
        assert_eq!(frame.original_bytes, 140);
        captured.push(frame.data.len());
    }
    assert_eq!(captured, [40, 40, 40, 40, 40, 40, 40, 40, 28]);
}

#[test]
fn payload_tags_and_addresses_of_the_link_are_gone() {
    let packets: Vec<_> = with_payload(b"www.example.org")
        .into_iter()
        .map(|(us, ip)| (us, ethernet(&[0x88, 0xa8, 0x0f, 0xed, 0x81, 0, 0x0c, 0xba], &ip)))
        .collect();
    let file = pcap_of(1, &packets);
    let (out, _) = shared(&file);
    assert_eq!(told(&analysed(&out)), told(&analysed(&file)));
    assert!(has(&file, b"www.example.org") && !has(&out, b"example"));
    for secret in [
        &[0x11, 0x22, 0x33, 0x44][..],
        &[0x77, 0x88, 0x99],
        &[0x0f, 0xed],
        &[0x0c, 0xba],
        &[10, 0, 0, 1, 10, 0, 0, 2],
    ] {
        assert!(has(&file, secret) && !has(&out, secret), "{secret:x?}");
    }
}

#[test]
fn an_address_of_a_group_stays_one() {
    let packet = |(us, ip): (u64, Vec<u8>)| {
        let mut bytes = ethernet(&[], &ip);
        bytes[..3].copy_from_slice(&[0x01, 0x00, 0x5e]);
        (us, bytes)
    };
    let (out, _) =
        shared(&pcap_of(1, &with_payload(b"").into_iter().map(packet).collect::<Vec<_>>()));
    let mut frames = Frames::open(out.as_slice()).unwrap();
    let data = frames.next_frame().unwrap().data;
    // Both are locally administered.
    assert_eq!((data[0], data[6]), (3, 2));
}

#[test]
fn options_of_the_network_are_padding() {
    // The route that was recorded: 203.0.113.9.
    let route = [7, 7, 8, 203, 0, 113, 9, 1];
    let packet = |(us, mut ip): (u64, Vec<u8>)| {
        ip.splice(20..20, route);
        ip[0] += 2;
        let length = u16::from_be_bytes([ip[2], ip[3]]) + 8;
        ip[2..4].copy_from_slice(&length.to_be_bytes());
        (us, ip)
    };
    let file = pcap(&with_payload(b"").into_iter().map(packet).collect::<Vec<_>>());
    let (out, counts) = shared(&file);
    assert_eq!((told(&analysed(&out)), counts.written), (told(&analysed(&file)), 6));
    assert!(has(&file, &route[3..7]) && !has(&out, &route[3..7]));
}

#[test]
fn cooked_and_loopback_frames_have_a_direction_and_no_address() {
    let mac = [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0xab, 0xcd];
    let v1 = [&[0, 4, 0, 1, 0, 6][..], &mac, &[8, 0]].concat();
    let v2 = [&[8, 0, 0, 0, 0, 0, 0, 3, 0, 1, 4, 6][..], &mac].concat();
    let other = [&[0, 0, 0, 1, 0, 8][..], &mac, &[8, 0]].concat();
    for (link, header) in [(113, v1), (276, v2), (113, other), (0, vec![2, 0, 0, 0])] {
        let packet = |(us, ip): (u64, Vec<u8>)| (us, [&header[..], &ip].concat());
        let file = pcap_of(link, &with_payload(b"").into_iter().map(packet).collect::<Vec<_>>());
        let (out, counts) = shared(&file);
        assert_eq!((told(&analysed(&out)), counts.left_out), (told(&analysed(&file)), 0), "{link}");
        assert!(!has(&out, &mac[..4]) && !has(&out, &mac[4..]), "{link}");
        let mut frames = Frames::open(out.as_slice()).unwrap();
        assert_eq!(frames.next_frame().unwrap().link.0, link);
    }
}

#[test]
fn options_that_the_analysis_does_not_read_are_padding() {
    // Fast open with a cookie, timestamps, an experiment.
    let options = [
        &[34, 10, 1, 2, 3, 4, 5, 6, 7, 8, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2][..],
        &[253, 8, 9, 9, 9, 9, 9, 9],
    ]
    .concat();
    let packets = [0, 1, 3].map(|i| {
        let segment = Segment { options: options.clone(), ..Segment::data(1 + 100 * i, 100) };
        (u64::from(i) * 1_000, segment.bytes())
    });
    let (out, _) = shared(&pcap(&packets));
    let mut frames = Frames::open(out.as_slice()).unwrap();
    let frame = frames.next_frame().unwrap();
    let made = [&[1; 10][..], &[8, 10, 0, 0, 0, 1, 0, 0, 0, 2], &[1; 8]].concat();
    assert_eq!(frame.data[40..], made);
    assert_eq!(told(&analysed(&out)), told(&analysed(&pcap(&packets))));
}

#[test]
fn the_urgent_pointer_and_an_option_that_is_cut_are_gone() {
    let packets = [0, 1, 3].map(|i| {
        // The option claims twenty bytes, and eight are there.
        let options = vec![253, 20, 0xca, 0xfe, 0xca, 0xfe, 0xca, 0xfe];
        let segment = Segment { options, ..Segment::data(1 + 100 * i, 100) };
        let mut bytes = segment.bytes();
        bytes[38..40].copy_from_slice(&[0xbe, 0xef]);
        (u64::from(i) * 1_000, bytes)
    });
    let (out, shared) = shared(&pcap(&packets));
    assert_eq!((shared.written, shared.left_out), (3, 0));
    assert!(!has(&out, &[0xbe, 0xef]), "the urgent pointer");
    assert!(!has(&out, &[0xca, 0xfe]), "the option");
}

/// An IPv6 packet with a destination option, a flow label and a segment of TCP.
fn v6(seq: u32) -> Vec<u8> {
    let tcp = Segment::data(seq, 100).bytes().split_off(20);
    let mut bytes = vec![0x60, 0x0a, 0xbc, 0xde];
    bytes.extend((tcp.len() as u16 + 8).to_be_bytes());
    bytes.extend([60, 64]);
    bytes.extend([0x20, 1, 0xd, 0xb8, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 1]);
    bytes.extend([0x20, 1, 0xd, 0xb8, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 2]);
    bytes.extend([6, 0, 0x1e, 4, 0xca, 0xfe, 0xca, 0xfe]);
    bytes.extend(tcp);
    bytes
}

#[test]
fn the_sixth_version_is_as_anonymous_as_the_fourth() {
    let packets = [0, 1, 2, 5, 6].map(|i| (u64::from(i) * 1_000, v6(1 + 100 * i)));
    let (out, counts) = shared(&pcap(&packets));
    assert_eq!((told(&analysed(&out)), counts.written), (told(&analysed(&pcap(&packets))), 5));
    assert_eq!(analysed(&out).flows[0].lost(), 2);
    assert!(analysed(&out).flows[0].src.starts_with("[fd00::"));
    assert!(
        !has(&out, &[0x20, 1, 0xd, 0xb8])
            && !has(&out, &[0xca, 0xfe])
            && !has(&out, &[0x0a, 0xbc, 0xde])
    );
}

#[test]
fn what_cannot_be_made_anonymous_is_left_out_and_counted() {
    let mut packets = with_payload(b"");
    let mut fragment = packets[0].1.clone();
    fragment[6] = 0x20;
    let mut tunnel = packets[0].1.clone();
    tunnel[9] = 47;
    packets.push((6_000_000, fragment));
    packets.extend([(6_000_001, tunnel.clone()), (6_000_002, tunnel)]);
    let (out, counts) = shared(&pcap(&packets));
    let told = "6 packets; 3 others left out, as fragments, other protocols and tunnels cannot be made anonymous";
    assert_eq!((counts.left_out, counts.told().as_str()), (3, told));
    assert_eq!(analysed(&out).packets, 6);
}

#[test]
fn what_the_options_select_is_shared() {
    let packets = with_payload(b"");
    let options = Options { from_s: Some(0.002), ..Options::all() };
    assert_eq!(shared_with(&pcap(&packets), &options).1.written, 4);
    let mut other = rtp(0, 0, 100);
    other[15] = 9;
    let file = pcap(&[packets, vec![(7_000_000, other)]].concat());
    let options = Options {
        flows: losscause_capture::Selection {
            texts: vec!["10.0.0.1:1000".to_owned()],
            ..Default::default()
        },
        ..Options::all()
    };
    assert_eq!((shared(&file).1.written, shared_with(&file, &options).1.written), (7, 6));
}

proptest! {
    #[test]
    fn damage_is_never_a_panic(
        link in prop_oneof![Just(1_u32), Just(101), Just(113), Just(276), Just(0)],
        changes in prop::collection::vec((24..1_200_usize, any::<u8>()), 0..30),
        cut in 24..1_300_usize,
    ) {
        let packets = [0, 1, 3].map(|i| (u64::from(i) * 1_000, [vec![0x81; 14], v6(1 + 100 * i)].concat()));
        let mut file = pcap_of(link, &[&packets[..], &with_payload(b"")].concat());
        for (at, byte) in changes {
            if let Some(own) = file.get_mut(at) {
                *own = byte;
            }
        }
        file.truncate(cut);
        let options = Options { notes: true, ..Options::all() };
        if let Ok(analysis) = analyze(file.as_slice(), "f", &options) {
            let mut out = Vec::new();
            annotate(file.as_slice(), &analysis, &mut out).unwrap();
            prop_assert_eq!(analysed(&out).packets, analysis.packets);
            let (out, counts) = shared(&file);
            prop_assert_eq!(analyze(out.as_slice(), "f", &options).unwrap().packets, counts.written);
        }
    }
}

#[test]
fn the_key_decides_the_names_and_checksums_are_right() {
    let file = pcap(&with_payload(b""));
    let analysis = analysed(&file);
    let ends = |key| {
        let mut out = Vec::new();
        share(file.as_slice(), &analysis, &Options::all(), key, &mut out).unwrap();
        let mut frames = Frames::open(out.as_slice()).unwrap();
        let frame = frames.next_frame().unwrap();
        let Parsed::Packet(packet) = Parsed::of(&frame) else { panic!("no packet") };
        assert!(matches!(packet.transport, Transport::Tcp(_)));
        let header = etherparse::Ipv4HeaderSlice::from_slice(frame.data).unwrap();
        assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
        (packet.src, packet.dst)
    };
    assert_eq!(ends(1), ends(1));
    assert_ne!(ends(1), ends(1 << 20 | 77));
}
