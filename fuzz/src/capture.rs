//! Captures: whatever a file, a frame or an option says, the analysis ends, and what it found fits
//! the input.

use losscause_capture::frames::Frame;
use losscause_capture::frames::LinkType;
use losscause_capture::packet::{Parsed, Transport};
use losscause_capture::{Analysis, Options, analyze, analyze_both};

use super::bytes::Bytes;

/// A pcap file: any bytes behind the header of one. The first byte chooses the variant and the link
/// type.
pub fn pcap(data: &[u8]) {
    let Some((&choice, records)) = data.split_first() else { return };
    let magics: [[u8; 4]; 4] = [
        [0xd4, 0xc3, 0xb2, 0xa1],
        [0xa1, 0xb2, 0x3c, 0x4d],
        [0x34, 0xcd, 0xb2, 0xa1],
        [0x4d, 0x3c, 0xb2, 0xa1],
    ];
    let magic = magics[usize::from(choice & 3)];
    let link = u32::from(LINKS[usize::from(choice >> 2) % LINKS.len()]);
    let link = if magic[0] == 0xa1 { link.to_be_bytes() } else { link.to_le_bytes() };
    check(&[&magic[..], &[2, 0, 4, 0], &[0; 12], &link, records].concat());
}

/// A pcapng file, or any other: the bytes are the file.
pub fn pcapng(data: &[u8]) {
    check(data);
}

/// A log of QUIC: any bytes behind the header of one, JSON or a sequence of records, plain events
/// or none. The first byte chooses the header.
pub fn qlog(data: &[u8]) {
    const HEADERS: [&str; 4] = [
        "",
        "\u{1e}{\"qlog_version\":\"0.4\"}\n\u{1e}",
        "{\"qlog_version\":\"draft-01\",\"traces\":[{\"configuration\":{\"time_units\":\"us\"},\"events\":[",
        "{\"qlog_version\":\"0.3\",\"traces\":[{\"common_fields\":{\"time_format\":\"delta\"},\"events\":[",
    ];
    let Some((&choice, events)) = data.split_first() else { return };
    check(&[HEADERS[usize::from(choice & 3)].as_bytes(), events].concat());
}

/// Frames of every link type: nothing that a header says leads outside of the frame.
pub fn link_layers(data: &[u8]) {
    let Some((&[choice, more], frame)) = data.split_first_chunk::<2>() else { return };
    let link = LinkType(u32::from(LINKS[usize::from(choice) % LINKS.len()]));
    let original_bytes = (frame.len() as u32).saturating_add(u32::from(more) * 8);
    let frame = Frame {
        number: 1,
        time: losscause::Time::ZERO,
        link,
        data: frame,
        original_bytes,
        direction: None,
    };
    if let Parsed::Packet(packet) = Parsed::of(&frame) {
        let payload_bytes = match packet.transport {
            Transport::Tcp(tcp) => tcp.payload_bytes,
            Transport::Udp { payload_bytes, .. } | Transport::Esp { payload_bytes, .. } => {
                payload_bytes
            }
        };
        // What NFLOG does not say, IPv4 does.
        assert!(payload_bytes <= original_bytes.max(65_535));
    }
}

/// A connection whose segments say anything: near or far sequence numbers, any flags, any options.
pub fn tcp_options(data: &[u8]) {
    let mut bytes = Bytes(data);
    let mut packets = Vec::new();
    let mut segment = || {
        let from = bytes.u8()?;
        let flags = bytes.u8()?;
        let payload = bytes.u8()?;
        let seq = bytes.seq(u64::from(from) * 100)? as u32;
        let ack = bytes.seq(1_000)? as u32;
        let options: Vec<u8> =
            (0..from >> 4).flat_map(|_| bytes.u32()).flat_map(u32::to_le_bytes).take(40).collect();
        let header = 20 + options.len() / 4 * 4;
        let mut tcp = [[0, 1, 0, 2], [0, 2, 0, 1]][usize::from(from & 1)].to_vec();
        tcp.extend(seq.to_be_bytes());
        tcp.extend(ack.to_be_bytes());
        tcp.extend([(header / 4) as u8 * 16, flags, payload, 0, 0, 0, 0, 0]);
        tcp.extend(&options[..header - 20]);
        tcp.resize(header + usize::from(payload), 0);
        packets.push(ip_packet(6, from & 1 == 1, &tcp));
        Some(())
    };
    while segment().is_some() {}
    check(&file_of(&packets));
}

/// A stream whose packets say anything, most of them that they are RTP.
pub fn rtp(data: &[u8]) {
    let mut bytes = Bytes(data);
    let mut packets = Vec::new();
    let mut near = 0;
    let mut packet = || {
        let first = bytes.u8()?;
        near = bytes.seq(near)?;
        let timestamp = bytes.u32()?;
        let mut udp = vec![0, 7, 0, 9, 0, 0, 0, 0, if first < 250 { 0x80 } else { first }, 96];
        udp.extend((near as u16).to_be_bytes());
        udp.extend(timestamp.to_be_bytes());
        udp.extend([0, 0, 0, first & 1]);
        packets.push(ip_packet(17, false, &udp));
        Some(())
    };
    while packet().is_some() {}
    check(&file_of(&packets));
}

/// An answer of DNS, or the beginning of a TLS connection in one or two packets: any bytes behind
/// the first ones of such. What is shown as a name has nothing that a terminal obeys.
pub fn names(data: &[u8]) {
    let Some((&[choice, cut], message)) = data.split_first_chunk::<2>() else { return };
    let udp = |payload: &[u8]| ip_packet(17, true, &[&[0, 53, 4, 0, 0, 0, 0, 0], payload].concat());
    let mut seq = 1_u32;
    let mut tcp = |payload: &[u8]| {
        let header =
            [&[0, 1, 0, 2][..], &seq.to_be_bytes(), &[0, 0, 0, 1, 0x50, 16, 1, 0, 0, 0, 0, 0]]
                .concat();
        seq += payload.len() as u32;
        ip_packet(6, false, &[&header, payload].concat())
    };
    let message = &message[..message.len().min(20_000)];
    let mut packets = Vec::new();
    if choice & 1 == 0 {
        packets.push(udp(&[&[0, 0, 0x80, 0][..], message].concat()));
    } else {
        let hello = [&[0x16, 3, 1, 0, 0, 1][..], message].concat();
        let (first, second) = hello.split_at(hello.len().min(usize::from(cut) * 8));
        packets.extend([tcp(first), tcp(second)]);
    }
    packets.extend([tcp(&[7; 9]), tcp(&[7; 9])]);
    let file = file_of(&packets);
    check(&file);
    let Ok(analysis) = analyze(&file[..], "fuzz", &Options::all()) else { return };
    for name in analysis.flows.iter().flat_map(|flow| [&flow.src_name, &flow.dst_name]).flatten() {
        assert!(
            !name.is_empty() && name.len() <= 253 && name.chars().all(|c| c.is_ascii_graphic())
        );
    }
}

/// Packets of WireGuard, ESP and SRT whose numbers are near each other or far, once captured and
/// joined with a part of themselves.
pub fn numbered(data: &[u8]) {
    let mut bytes = Bytes(data);
    let mut packets = Vec::new();
    let mut arrived = Vec::new();
    let mut near = 0;
    let mut packet = || {
        let choice = bytes.u8()?;
        near = bytes.seq(near)?;
        let number = (near as u32).to_be_bytes();
        let stream = [1, 0, 0, choice & 1];
        let udp = |port: u16, payload: &[u8]| {
            let port = port.to_be_bytes();
            ip_packet(17, choice & 2 == 2, &[&port[..], &port, &[0; 4], payload].concat())
        };
        let packet = match choice >> 4 & 3 {
            0 => udp(51_820, &[&[4, 0, 0, 0][..], &stream, &near.to_le_bytes(), &[0; 16]].concat()),
            1 => ip_packet(50, false, &[stream, number].concat()),
            2 => udp(4_500, &[stream, number, number].concat()),
            _ => {
                let flags =
                    (0b11 << 30) | (u32::from(choice & 4) << 24) | (near as u32 % 1_000 + 1);
                udp(9_000, &[number, flags.to_be_bytes(), number, stream].concat())
            }
        };
        if choice & 8 == 0 {
            arrived.push(packet.clone());
        }
        packets.push(packet);
        Some(())
    };
    while packet().is_some() {}
    let sent = file_of(&packets);
    let arrived = file_of(&arrived);
    check(&sent);
    if let Ok(joined) = analyze_both((&sent[..], "a"), (&arrived[..], "b"), &Options::all()) {
        let Analysis { flows, .. } = joined.both;
        assert!(flows.iter().all(|flow| flow.losses.len() as u64 <= flow.packets));
    }
}

/// Ethernet, Linux cooked, raw IP, loopback, PPP, NFLOG, 802.11, and one that is not read.
const LINKS: [u16; 13] = [1, 113, 276, 101, 0, 108, 12, 127, 9, 51, 105, 239, 119];

fn ip_packet(protocol: u8, backwards: bool, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0];
    packet.extend((20 + payload.len() as u16).to_be_bytes());
    packet.extend([0, 0, 0, 0, 64, protocol, 0, 0]);
    packet.extend(if backwards { [2, 0, 0, 1, 1, 0, 0, 1] } else { [1, 0, 0, 1, 2, 0, 0, 1] });
    packet.extend(payload);
    packet
}

/// A pcap file of raw IP packets, one every millisecond.
fn file_of(packets: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101]
        .iter()
        .for_each(|word| file.extend(word.to_le_bytes()));
    for (index, packet) in packets.iter().enumerate() {
        let second = index / 1_000;
        let micros = index % 1_000 * 1_000;
        let length = packet.len();
        [second, micros, length, length]
            .iter()
            .for_each(|&word| file.extend((word as u32).to_le_bytes()));
        file.extend(packet);
    }
    file
}

/// Analyses a file, if it is one.
fn check(file: &[u8]) {
    let Ok(analysis) = analyze(file, "fuzz", &Options::all()) else { return };
    let Analysis { flows, packets, fragments, other_packets, unread, .. } = &analysis;
    assert!(fragments + other_packets <= *packets && unread.total() <= fragments + other_packets);
    for flow in flows {
        assert!(flow.packets <= *packets);
        for loss in &flow.losses {
            assert_eq!(loss.verdicts.iter().count(), flow.summary.len());
        }
        let judged = |name: &String| {
            let summary = flow.summary[name];
            summary.wireless + summary.congestion + summary.undecided
        };
        assert!(flow.summary.keys().all(|name| judged(name) == flow.losses.len() as u64));
    }
}
