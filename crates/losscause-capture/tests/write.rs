//! Files that are written are read by parsers of others: pcap-parser for the file, etherparse for
//! the packets.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::net::{Ipv4Addr, SocketAddrV4};

use etherparse::{NetSlice, SlicedPacket, TcpOptionElement, TransportSlice};
use losscause::Time;
use losscause_capture::write::{Packet, PcapWriter, RtcpReport, Rtp, Tcp, TcpFlags, Transport};
use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{LegacyPcapReader, PcapBlockOwned};
use proptest::prelude::*;

fn packet(transport: Transport, payload_bytes: u16) -> Packet {
    Packet {
        source: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 40_000),
        destination: SocketAddrV4::new(Ipv4Addr::new(10, 128, 0, 1), 9),
        id: 7,
        time_to_live: 64,
        ecn: 2,
        transport,
        payload_bytes,
    }
}

/// A file of these packets.
fn file(packets: &[(i64, Packet)], snap_bytes: u32) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new(), snap_bytes).unwrap();
    for (nanos, packet) in packets {
        writer.write(Time::from_nanos(*nanos), packet).unwrap();
    }
    writer.into_inner()
}

/// A record of a file: its time in nanoseconds, its bytes, and the packet's length.
type Record = (i64, Vec<u8>, u32);

fn records(file: &[u8]) -> Vec<Record> {
    let mut reader = LegacyPcapReader::new(1 << 17, file).unwrap();
    let mut records = Vec::new();
    loop {
        match reader.next() {
            Ok((read, block)) => {
                match block {
                    PcapBlockOwned::LegacyHeader(header) => {
                        assert!(header.is_nanosecond_precision());
                        assert_eq!(header.network.0, 101);
                    }
                    PcapBlockOwned::Legacy(block) => {
                        let nanos =
                            i64::from(block.ts_sec) * 1_000_000_000 + i64::from(block.ts_usec);
                        records.push((nanos, block.data.to_vec(), block.origlen));
                    }
                    PcapBlockOwned::NG(_) => panic!("a block of pcapng"),
                }
                reader.consume(read);
            }
            Err(pcap_parser::PcapError::Eof) => return records,
            Err(pcap_parser::PcapError::Incomplete(_)) => reader.refill().unwrap(),
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Checks lengths and checksums of a packet of which the file has every byte.
fn check(bytes: &[u8]) {
    let sliced = SlicedPacket::from_ip(bytes).unwrap();
    let Some(NetSlice::Ipv4(ip)) = &sliced.net else { panic!("not IPv4") };
    let header = ip.header();
    assert_eq!(usize::from(header.total_len()), bytes.len());
    assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
    match sliced.transport.unwrap() {
        TransportSlice::Tcp(tcp) => {
            let expected = tcp.calc_checksum_ipv4(header.source(), header.destination()).unwrap();
            assert_eq!(tcp.checksum(), expected);
        }
        TransportSlice::Udp(udp) => {
            assert_eq!(usize::from(udp.length()), bytes.len() - 20);
            let expected = udp
                .to_header()
                .calc_checksum_ipv4_raw(header.source(), header.destination(), udp.payload())
                .unwrap();
            assert_eq!(udp.checksum(), if expected == 0 { 0xffff } else { expected });
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_syn_offers_what_linux_offers() {
    let tcp = Tcp {
        sequence: 0xdead_beef,
        flags: TcpFlags { syn: true, ..TcpFlags::default() },
        window: 65_535,
        max_segment_bytes: Some(1460),
        sack_permitted: true,
        window_scale: Some(7),
        timestamps: Some((5, 0)),
        ..Tcp::default()
    };
    let records =
        records(&file(&[(1_000_000_000_123_456_789, packet(Transport::Tcp(tcp), 0))], 128));
    let (nanos, bytes, original) = &records[0];
    assert_eq!((*nanos, *original), (1_000_000_000_123_456_789, 64));
    check(bytes);
    let sliced = SlicedPacket::from_ip(bytes).unwrap();
    let Some(TransportSlice::Tcp(read)) = sliced.transport else { panic!("not TCP") };
    assert!(read.syn() && !read.ack());
    assert_eq!((read.sequence_number(), read.window_size()), (0xdead_beef, 65_535));
    let options: Vec<_> = read.options_iterator().map(Result::unwrap).collect();
    let options: Vec<_> =
        options.iter().filter(|option| **option != TcpOptionElement::Noop).collect();
    assert_eq!(
        options,
        [
            &TcpOptionElement::MaximumSegmentSize(1460),
            &TcpOptionElement::SelectiveAcknowledgementPermitted,
            &TcpOptionElement::Timestamp(5, 0),
            &TcpOptionElement::WindowScale(7),
        ]
    );
}

#[test]
fn an_acknowledgement_carries_three_blocks_and_its_flags() {
    let flags = TcpFlags { ack: true, ece: true, reserved: true, ..TcpFlags::default() };
    let tcp = Tcp {
        acknowledgement: 100,
        flags,
        timestamps: Some((9, 8)),
        sack: [(300, 400), (u32::MAX - 10, 10), (200, 250)],
        ..Tcp::default()
    };
    let records = records(&file(&[(0, packet(Transport::Tcp(tcp), 0))], 128));
    check(&records[0].1);
    assert_eq!(records[0].2, 80, "20 of IPv4, 20 of TCP, 12 of timestamps, 28 of blocks");
    let sliced = SlicedPacket::from_ip(&records[0].1).unwrap();
    let Some(TransportSlice::Tcp(read)) = sliced.transport else { panic!("not TCP") };
    assert!(read.ack() && read.ece() && !read.cwr() && !read.syn());
    let blocks = read.options_iterator().map(Result::unwrap).last().unwrap();
    let expected = TcpOptionElement::SelectiveAcknowledgement(
        (300, 400),
        [Some((u32::MAX - 10, 10)), Some((200, 250)), None],
    );
    assert_eq!(blocks, expected);
}

#[test]
fn a_cut_packet_keeps_its_true_length() {
    let tcp = Tcp { timestamps: Some((1, 2)), ..Tcp::default() };
    let records = records(&file(&[(0, packet(Transport::Tcp(tcp), 1448))], 128));
    assert_eq!((records[0].1.len(), records[0].2), (128, 1500));
    assert!(records[0].1[52..].iter().all(|&byte| byte == 0));
}

#[test]
fn rtp_and_its_reports_have_the_fields_of_rfc_3550() {
    let rtp = Rtp { sequence: 0xfffe, timestamp: 90_000, source: 0x1234_5678, payload_type: 96 };
    let report = RtcpReport {
        source: 1,
        echo: 90_000,
        hold_us: 500,
        receive_rate: 125_000,
        loss_event_rate: 1 << 31,
    };
    let file = file(
        &[(0, packet(Transport::Rtp(rtp), 100)), (5, packet(Transport::Rtcp(report), 0))],
        65_535,
    );
    let records = records(&file);
    let [(_, data, data_bytes), (_, control, _)] = records.as_slice() else {
        panic!("two packets")
    };
    [data, control].into_iter().for_each(|bytes| check(bytes));
    assert_eq!(*data_bytes, 20 + 8 + 12 + 100);
    assert_eq!(data[28..40], [0x80, 96, 0xff, 0xfe, 0, 1, 0x5f, 0x90, 0x12, 0x34, 0x56, 0x78]);
    assert_eq!(control[28..40], [0x80, 204, 0, 6, 0, 0, 0, 1, b'T', b'F', b'R', b'C']);
    assert_eq!(control[40..], [0, 1, 0x5f, 0x90, 0, 0, 1, 0xf4, 0, 1, 0xe8, 0x48, 0x80, 0, 0, 0]);
}

fn any_tcp() -> impl Strategy<Value = Transport> {
    let options =
        (any::<Option<u16>>(), any::<bool>(), any::<Option<u8>>(), any::<Option<(u32, u32)>>());
    let blocks = prop_oneof![Just([(0, 0); 3]), any::<[(u32, u32); 3]>()];
    (any::<(u32, u32, u16)>(), any::<[bool; 5]>(), options, blocks).prop_map(
        |(numbers, flags, options, sack)| {
            let (sequence, acknowledgement, window) = numbers;
            let [syn, ack, ece, cwr, reserved] = flags;
            let (max_segment_bytes, sack_permitted, window_scale, timestamps) = options;
            // A SYN has no blocks, and other segments have none of its options: 40 bytes hold all
            // of either.
            let (mss, permitted, scale) = if syn {
                (max_segment_bytes, sack_permitted, window_scale)
            } else {
                (None, false, None)
            };
            let flags = TcpFlags { syn, ack, ece, cwr, reserved };
            Transport::Tcp(Tcp {
                sequence,
                acknowledgement,
                flags,
                window,
                max_segment_bytes: mss,
                sack_permitted: permitted,
                window_scale: scale,
                timestamps,
                sack: if syn { [(0, 0); 3] } else { sack },
            })
        },
    )
}

fn any_udp() -> impl Strategy<Value = Transport> {
    prop_oneof![
        any::<(u16, u32, u32, u8)>().prop_map(|(sequence, timestamp, source, payload_type)| {
            Transport::Rtp(Rtp { sequence, timestamp, source, payload_type })
        }),
        any::<[u32; 5]>().prop_map(|[source, echo, hold_us, receive_rate, loss_event_rate]| {
            Transport::Rtcp(RtcpReport { source, echo, hold_us, receive_rate, loss_event_rate })
        }),
    ]
}

proptest! {
    #[test]
    fn every_packet_has_valid_lengths_and_checksums(
        transport in prop_oneof![any_tcp(), any_udp()],
        payload_bytes in prop_oneof![0..2000_u16, 60_000..65_400_u16],
        addresses in any::<[(u32, u16); 2]>(),
        id in any::<u16>(),
        snap_bytes in prop_oneof![Just(65_535_u32), 0..200_u32],
    ) {
        let [source, destination] = addresses.map(|(address, port)| SocketAddrV4::new(address.into(), port));
        let packet = Packet { source, destination, id, ..packet(transport, payload_bytes) };
        let records = records(&file(&[(12, packet)], snap_bytes));
        prop_assert_eq!(records.len(), 1);
        let (nanos, bytes, original) = &records[0];
        prop_assert_eq!((*nanos, *original), (12, u32::from(packet.bytes())));
        prop_assert_eq!(bytes.len(), (*original).min(snap_bytes) as usize);
        if snap_bytes == 65_535 {
            check(bytes);
        }
    }
}
