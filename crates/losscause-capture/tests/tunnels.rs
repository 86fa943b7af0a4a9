//! A packet is the same inside a tunnel and outside of it, and what is not read is named.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use common::{Segment, analysed, pcap, pcap_of, rtp};
use losscause::Time;
use losscause_capture::frames::Frame;
use losscause_capture::frames::LinkType;
use losscause_capture::packet::{Parsed, Transport, Unread};
use losscause_capture::{Analysis, Protocol};

const ETHERNET: u32 = 1;
const RAW: u32 = 101;
const WIFI: u32 = 105;
const RADIOTAP: u32 = 127;

fn analysed_of(link: u32, packets: &[Vec<u8>]) -> Analysis {
    let packets: Vec<_> =
        packets.iter().zip(1_000..).map(|(packet, us)| (us, packet.clone())).collect();
    analysed(&pcap_of(link, &packets))
}

/// Segments of IPv4, with one missing.
fn segments() -> Vec<Vec<u8>> {
    [1, 201, 301].map(|seq| Segment::data(seq, 100).bytes()).to_vec()
}

/// The same of IPv6.
fn segments_v6() -> Vec<Vec<u8>> {
    segments().iter().map(|packet| ipv6(6, &packet[20..])).collect()
}

fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let length = (20 + payload.len() as u16).to_be_bytes();
    [
        &[0x45, 0][..],
        &length,
        &[0, 0, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2],
        payload,
    ]
    .concat()
}

fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u16).to_be_bytes();
    [&[0x60, 0, 0, 0][..], &length, &[next, 64], &[7; 16], &[9; 16], payload].concat()
}

fn udp(dst_port: u16, payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len() as u16).to_be_bytes();
    ipv4(17, &[&[0xc3, 0x50][..], &dst_port.to_be_bytes(), &length, &[0, 0], payload].concat())
}

fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &ether_type.to_be_bytes(), payload].concat()
}

fn wifi(kind: u8, flags: u8, body: &[u8]) -> Vec<u8> {
    let quality: &[u8] = if kind & 0x80 == 0 { &[] } else { &[0, 0] };
    [&[kind, flags][..], &[0; 22], quality, body].concat()
}

const SNAP: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];

type Wrap = fn(&[u8]) -> Vec<u8>;

/// Ways in which a packet of IPv4 travels: name, link type, the frame.
const WAYS: [(&str, u32, Wrap); 35] = [
    ("Ethernet", ETHERNET, |packet| ethernet(0x0800, packet)),
    ("VLAN", ETHERNET, |packet| ethernet(0x8100, &[&[0, 7, 8, 0], packet].concat())),
    ("QinQ", ETHERNET, |packet| ethernet(0x88a8, &[&[0, 7, 0x81, 0, 0, 9, 8, 0], packet].concat())),
    ("LLC", ETHERNET, |packet| ethernet(8 + packet.len() as u16, &[&SNAP[..], packet].concat())),
    ("cooked", 113, |packet| [&[0; 14][..], &[8, 0], packet].concat()),
    ("cooked, version 2", 276, |packet| [&[8, 0][..], &[0; 18], packet].concat()),
    ("loopback", 0, |packet| [&[2, 0, 0, 0], packet].concat()),
    ("loopback of OpenBSD", 108, |packet| [&[0, 0, 0, 2], packet].concat()),
    ("PPPoE", ETHERNET, |packet| {
        let length = (packet.len() as u16 + 2).to_be_bytes();
        ethernet(0x8864, &[&[0x11, 0, 0, 5], &length[..], &[0, 0x21], packet].concat())
    }),
    ("PPPoE alone", 51, |packet| {
        let length = (packet.len() as u16 + 2).to_be_bytes();
        [&[0x11, 0, 0, 5], &length[..], &[0, 0x21], packet].concat()
    }),
    ("PPP", 9, |packet| [&[0, 0x21], packet].concat()),
    ("PPP, protocol in a byte", 9, |packet| [&[0x21], packet].concat()),
    ("PPP, framed", 50, |packet| [&[0xff, 3, 0, 0x21], packet].concat()),
    ("Cisco's HDLC", 50, |packet| [&[0x0f, 0, 8, 0], packet].concat()),
    ("MPLS", ETHERNET, |packet| ethernet(0x8847, &[&[0, 1, 0, 64, 0, 2, 1, 64], packet].concat())),
    ("a pseudowire", ETHERNET, |packet| {
        ethernet(0x8847, &[&[0, 1, 1, 64, 0, 0, 0, 0][..], &ethernet(0x0800, packet)].concat())
    }),
    ("a pseudowire without control word", ETHERNET, |packet| {
        ethernet(0x8847, &[&[0, 1, 1, 64][..], &ethernet(0x0800, packet)].concat())
    }),
    ("GRE", RAW, |packet| ipv4(47, &[&[0, 0, 8, 0], packet].concat())),
    ("GRE with checksum, key and number", RAW, |packet| {
        ipv4(47, &[&[0xb0, 0, 8, 0][..], &[0; 12], packet].concat())
    }),
    ("GRE, bridged", RAW, |packet| {
        ipv4(47, &[&[0x20, 0, 0x65, 0x58, 0, 0, 0, 1][..], &ethernet(0x0800, packet)].concat())
    }),
    ("PPTP", RAW, |packet| {
        ipv4(47, &[&[0x30, 0x81, 0x88, 0x0b][..], &[0; 12], &[0xff, 3, 0, 0x21], packet].concat())
    }),
    ("ERSPAN I", RAW, |packet| {
        ipv4(47, &[&[0, 0, 0x88, 0xbe][..], &ethernet(0x0800, packet)].concat())
    }),
    ("ERSPAN II", RAW, |packet| {
        ipv4(47, &[&[0x10, 0, 0x88, 0xbe][..], &[0; 12], &ethernet(0x0800, packet)].concat())
    }),
    ("ERSPAN III", RAW, |packet| {
        ipv4(
            47,
            &[&[0x10, 0, 0x22, 0xeb][..], &[0; 15], &[1], &[0; 8], &ethernet(0x0800, packet)]
                .concat(),
        )
    }),
    ("IP in IP", RAW, |packet| ipv4(4, packet)),
    ("IP in IPv6", RAW, |packet| ipv6(4, packet)),
    ("authentication", RAW, |packet| ipv4(51, &[&[4, 4][..], &[0; 22], packet].concat())),
    ("VXLAN", RAW, |packet| {
        udp(4789, &[&[8, 0, 0, 0, 0, 0, 42, 0][..], &ethernet(0x0800, packet)].concat())
    }),
    ("VXLAN with a policy", RAW, |packet| {
        udp(8472, &[&[0x88, 0, 0, 5, 0, 0, 42, 0][..], &ethernet(0x0800, packet)].concat())
    }),
    ("Geneve with an option", RAW, |packet| {
        udp(
            6081,
            &[&[2, 0, 0x65, 0x58, 0, 0, 42, 0][..], &[0; 8], &ethernet(0x0800, packet)].concat(),
        )
    }),
    ("GTP-U", RAW, |packet| {
        udp(
            2152,
            &[&[0x30, 0xff], &(packet.len() as u16).to_be_bytes()[..], &[0, 0, 0, 7], packet]
                .concat(),
        )
    }),
    ("GTP-U with extensions", RAW, |packet| {
        let length = (packet.len() as u16 + 12).to_be_bytes();
        let extensions = [0, 0, 0, 0x85, 1, 0, 0, 0x85, 1, 9, 0, 0];
        udp(2152, &[&[0x34, 0xff], &length[..], &[0, 0, 0, 7], &extensions, packet].concat())
    }),
    ("NFLOG", 239, |packet| {
        let length = (packet.len() as u16 + 4).to_le_bytes();
        [
            &[2, 0, 0, 5, 8, 0, 1, 0, 8, 0, 1, 0, 5, 0, 10, 0, 0x78, 0, 0, 0],
            &length[..],
            &[9, 0],
            packet,
        ]
        .concat()
    }),
    ("802.11", WIFI, |packet| wifi(0x08, 1, &[&SNAP[..], packet].concat())),
    ("802.11 with radiotap and QoS", RADIOTAP, |packet| {
        // A time, flags, a rate; in two words of presence.
        let tap =
            [&[0, 0, 26, 0, 7, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0][..], &[0; 8], &[0x20, 108]]
                .concat();
        let frame = wifi(0x88, 9, &[&[0, 0], &SNAP[..], packet].concat());
        [tap, frame].concat()
    }),
];

#[test]
fn every_way_leads_to_the_same_flow() {
    let plain = analysed_of(RAW, &segments());
    assert_eq!(plain.flows[0].losses.len(), 1);
    let expected = serde_json::to_string(&plain.flows).unwrap();
    for (name, link, wrap) in WAYS {
        let frames: Vec<_> = segments().iter().map(|packet| wrap(packet)).collect();
        let analysis = analysed_of(link, &frames);
        assert_eq!(
            serde_json::to_string(&analysis.flows).unwrap(),
            expected,
            "{name}: {:?}",
            analysis.unread
        );
        assert_eq!(analysis.unread.total(), 0, "{name}");
    }
}

#[test]
fn a_flow_that_enters_a_tunnel_stays_one_flow() {
    let expected = serde_json::to_string(&analysed_of(RAW, &segments()).flows).unwrap();
    let mut half = segments();
    half[1] = ipv4(47, &[&[0, 0, 8, 0], &half[1][..]].concat());
    assert_eq!(serde_json::to_string(&analysed_of(RAW, &half).flows).unwrap(), expected);
}

#[test]
fn ipv6_is_read_inside_of_either_version() {
    let expected = serde_json::to_string(&analysed_of(RAW, &segments_v6()).flows).unwrap();
    assert!(expected.contains("[707:707:"), "{expected}");
    let ways: [(&str, u32, Wrap); 4] = [
        ("6in4", RAW, |packet| ipv4(41, packet)),
        ("6in6", RAW, |packet| ipv6(41, packet)),
        ("PPP", 9, |packet| [&[0, 0x57], packet].concat()),
        ("MPLS", ETHERNET, |packet| ethernet(0x8847, &[&[0, 1, 1, 64], packet].concat())),
    ];
    for (name, link, wrap) in ways {
        let frames: Vec<_> = segments_v6().iter().map(|packet| wrap(packet)).collect();
        assert_eq!(
            serde_json::to_string(&analysed_of(link, &frames).flows).unwrap(),
            expected,
            "{name}"
        );
    }
}

#[test]
fn the_packet_inside_says_its_length() {
    // A tunnel whose header was made for what a snap length left of the packet.
    let frame = ipv4(47, &[&[0, 0, 8, 0], &segments()[0][..50]].concat());
    let Parsed::Packet(packet) = parsed(RAW, &frame, frame.len() + 90) else { panic!() };
    let Transport::Tcp(tcp) = packet.transport else { panic!() };
    assert_eq!(tcp.payload_bytes, 100);
}

#[test]
fn a_mark_on_a_tunnel_is_a_mark() {
    let mut frames: Vec<_> = segments().iter().map(|packet| ipv4(4, packet)).collect();
    frames[1][1] = 3;
    assert_eq!(analysed_of(RAW, &frames).flows[0].marked, 1);
}

fn parsed(link: u32, data: &[u8], original: usize) -> Parsed<'_> {
    let time = Time::ZERO;
    let link = LinkType(link);
    Parsed::of(&Frame {
        number: 1,
        time,
        link,
        data,
        original_bytes: original as u32,
        direction: None,
    })
}

#[test]
fn a_cut_frame_gives_the_same_packet_or_says_that_it_is_cut() {
    let packet = &segments()[0];
    for (name, link, wrap) in WAYS {
        let frame = wrap(packet);
        let Parsed::Packet(whole) = parsed(link, &frame, frame.len()) else { panic!("{name}") };
        for cut in 0..frame.len() {
            match parsed(link, &frame[..cut], frame.len()) {
                Parsed::Packet(packet) => match packet.transport {
                    Transport::Udp { payload, .. } => {
                        assert!(payload.len() < 8, "{name}, {cut} bytes: a tunnel's header is cut");
                    }
                    transport => assert_eq!(transport, whole.transport, "{name}, {cut} bytes"),
                },
                Parsed::Unread(Unread::Cut | Unread::Malformed | Unread::Llc) => {}
                // The first bytes of framing alone may be a protocol.
                Parsed::Unread(Unread::Ppp) => {
                    assert!(name.starts_with("PP") || name.starts_with("Cisco"), "{name}");
                }
                Parsed::Unread(other) => panic!("{name}, {cut} bytes: {other:?}"),
            }
        }
    }
}

#[test]
fn tunnels_in_tunnels_end() {
    let mut packet = segments().remove(0);
    (0..8).for_each(|_| packet = ipv4(4, &packet));
    assert!(matches!(parsed(RAW, &packet, packet.len()), Parsed::Packet(_)));
    (0..1_000).for_each(|_| packet = ipv4(4, &packet));
    assert_eq!(parsed(RAW, &packet, packet.len()), Parsed::Unread(Unread::TooDeep));
    let tags = [&[2; 12][..], &[0x81, 0, 0, 5].repeat(1_000)].concat();
    assert_eq!(parsed(ETHERNET, &tags, tags.len()), Parsed::Unread(Unread::TooDeep));
    let llc = [&[2; 12][..], &[0, 40], &[0xaa, 0xaa, 3, 0, 0, 0, 0, 40].repeat(1_000)].concat();
    assert_eq!(parsed(ETHERNET, &llc, llc.len()), Parsed::Unread(Unread::TooDeep));
}

#[test]
fn a_stream_on_the_port_of_a_tunnel_is_a_stream() {
    for port in [4789_u16, 8472, 6081, 2152] {
        let mut packets: Vec<_> = (0..10).map(|i| rtp(i, u32::from(i) * 160, 160)).collect();
        packets.iter_mut().for_each(|packet| packet[22..24].copy_from_slice(&port.to_be_bytes()));
        let analysis = analysed_of(RAW, &packets);
        assert_eq!(analysis.flows[0].protocol, Protocol::Rtp, "port {port}");
    }
}

#[test]
fn frames_of_a_radio_tell_of_its_retries() {
    let data = |flags, body: &[u8]| wifi(0x08, flags, &[&SNAP[..], body].concat());
    let [first, second, third] = [1, 101, 301].map(|seq| Segment::data(seq, 100).bytes());
    let beacon = wifi(0x80, 0, &[0; 20]);
    let encrypted = wifi(0x08, 0x48, &[1, 2, 0, 0x20, 0, 0, 0, 0, 77, 78]);
    let decrypted = data(0x41, &second);
    let aggregated = [&[0x88, 1][..], &[0; 22], &[0x80, 0], &[0; 40]].concat();
    let fragment = data(0x04, &first);
    let frames =
        [data(1, &first), beacon, encrypted, decrypted, data(9, &third), aggregated, fragment];
    let analysis = analysed_of(WIFI, &frames);
    assert_eq!(analysis.flows[0].packets, 3);
    let radio = analysis.radio.unwrap();
    assert_eq!((radio.data_frames, radio.retries), (6, 2));
    let kinds =
        [Unread::WifiWithoutData, Unread::EncryptedWifi, Unread::AggregatedWifi, Unread::Fragment];
    assert_eq!(kinds.map(|kind| analysis.unread.of(kind)), [1; 4]);
    let notes = analysis.notes();
    assert!(
        notes.iter().any(|note| note.starts_with("2 of 6 data frames of 802.11 repeat one")),
        "{notes:?}"
    );
}

#[test]
fn a_damaged_frame_of_a_radio_is_not_believed() {
    let frame = |flags: u8| {
        let tap = [0, 0, 10, 0, 6, 0, 0, 0, flags, 22];
        [&tap[..], &wifi(0x08, 9, &[&SNAP[..], &segments()[0]].concat())].concat()
    };
    let good = frame(0);
    let damaged = frame(0x40);
    let Parsed::Packet(packet) = parsed(RADIOTAP, &good, good.len()) else { panic!() };
    let radio = packet.radio.unwrap();
    assert_eq!((radio.is_retry, radio.rate_bps), (true, Some(11_000_000)));
    assert_eq!(parsed(RADIOTAP, &damaged, damaged.len()), Parsed::Unread(Unread::DamagedWifi));
    assert_eq!(LinkType(RADIOTAP).radio(&damaged), None);
}

/// The sentence about a capture without a flow.
fn sentence(link: u32, frames: &[Vec<u8>]) -> String {
    analysed_of(link, frames).no_flow(false)
}

#[test]
fn what_was_not_read_is_named() {
    let esp = ipv4(50, &[7; 60]);
    let arp = ethernet(0x0806, &[0; 28]);
    let mut frames: Vec<_> = (0..5).map(|_| ethernet(0x0800, &esp)).collect();
    frames.push(arp);
    assert_eq!(
        sentence(ETHERNET, &frames),
        "no TCP, RTP or QUIC data among its 6 packets: 5 are ESP, 1 is ARP"
    );
    let wireguard = [&[4, 0, 0, 0][..], &[9; 60]].concat();
    let cases: [(u32, Vec<u8>, &str); 16] = [
        (RAW, ipv4(1, &[0; 20]), "ICMP"),
        (RAW, ipv6(58, &[0; 20]), "ICMP"),
        (RAW, ipv4(132, &[0; 20]), "SCTP"),
        (RAW, ipv4(2, &[0; 20]), "IGMP"),
        (RAW, ipv4(99, &[0; 20]), "IP protocol 99"),
        (RAW, udp(51_820, &wireguard), "WireGuard"),
        (RAW, udp(4_500, &[7; 40]), "ESP"),
        (RAW, udp(53, &[0x80; 40]), "DNS"),
        (RAW, udp(5_005, &[&[0x80, 200, 0, 6][..], &[1; 24]].concat()), "RTCP"),
        (RAW, udp(9_999, &[0; 40]), "other UDP"),
        (RAW, udp(9_999, &[0x80; 40]), "other UDP"),
        (ETHERNET, ethernet(0x88e5, &[0; 40]), "MACsec"),
        (ETHERNET, ethernet(0x1234, &[0; 40]), "EtherType 0x1234"),
        (ETHERNET, ethernet(38, &[0x42; 38]), "LLC without IP"),
        (9, vec![0xff, 3, 0xc0, 0x21, 1, 1, 0, 4], "PPP without IP"),
        (RAW, vec![0x10; 40], "malformed"),
    ];
    for (link, frame, kind) in cases {
        let read = match kind {
            "other UDP" => "; of UDP, streams of RTP, SRT, WireGuard and ESP are read",
            _ => "",
        };
        assert_eq!(
            sentence(link, &[frame]),
            format!("no TCP, RTP or QUIC data among its 1 packet: 1 is {kind}{read}")
        );
    }
    let quic = udp(443, &[0xc3, 0, 0, 0, 1, 8, 1, 2, 3]);
    assert!(
        sentence(RAW, &[quic])
            .starts_with("no TCP or RTP data among its 1 packet: 1 is QUIC; what QUIC lost")
    );
    let bare = sentence(RAW, &[Segment::ack(7).bytes()]);
    assert!(!bare.contains("ESP"), "{bare}");
}

#[test]
fn what_was_not_read_beside_flows_is_named_too() {
    let mut packets = segments();
    packets.extend([ipv4(50, &[7; 60]), ipv4(1, &[0; 20]), udp(53, &[0; 40])]);
    let analysis = analysed_of(RAW, &packets);
    assert!(
        analysis.notes().contains(&"1 of 6 packets were not read: 1 ESP".to_owned()),
        "{:?}",
        analysis.notes()
    );
    let json = serde_json::to_value(&analysis).unwrap();
    assert_eq!(json["unread"], serde_json::json!({ "DNS": 1, "ESP": 1, "ICMP": 1 }));
    assert_eq!(analysis.unread.total(), analysis.fragments + analysis.other_packets);
    packets.extend(vec![ipv4(50, &[7; 60]); 9]);
    let analysis = analysed_of(RAW, &packets);
    assert!(
        analysis.answer().ends_with(" 10 of 15 packets were not read: 10 ESP."),
        "{}",
        analysis.answer()
    );
    assert!(analysis.notes().iter().all(|note| !note.contains("not read")), "once is enough");
}

#[test]
fn every_ether_type_at_once_stays_a_short_table() {
    let frames: Vec<_> =
        (0x9200..0xa200).map(|ether_type| ethernet(ether_type, &[0; 40])).collect();
    let analysis = analysed_of(ETHERNET, &frames);
    assert_eq!(analysis.unread.total(), 0x1000);
    assert!(analysis.unread.iter().count() <= 25);
    assert!(
        analysis.no_flow(false).ends_with("4091 are of other kinds"),
        "{}",
        analysis.no_flow(false)
    );
}

#[test]
fn damage_before_the_first_packet_is_what_is_said() {
    let mut file = pcap(&[]);
    [1_u32, 2, u32::MAX, u32::MAX].iter().for_each(|word| file.extend(word.to_le_bytes()));
    assert_eq!(
        analysed(&file).no_flow(false),
        "is damaged: a record claims more than 16 MiB at byte 24, before its first packet"
    );
    let mut file = pcap_of(ETHERNET, &[(5, ethernet(0x0806, &[0; 28]))]);
    file.extend([0; 7]);
    assert_eq!(
        analysed(&file).no_flow(false),
        "no TCP, RTP or QUIC data among its 1 packet: 1 is ARP; it ends inside a packet at byte 82"
    );
}
