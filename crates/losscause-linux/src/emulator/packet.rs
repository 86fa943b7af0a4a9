//! The headers of the packets that cross the link: IPv4 (RFC 791) with TCP (RFC 9293), UDP (RFC
//! 768) or anything else.

use std::net::{IpAddr, Ipv4Addr, SocketAddrV4};

use losscause_sim::live::Ecn;

/// What the link reads of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The number of what IPv4 carries: 6 for TCP, 17 for UDP, 1 for ICMP.
    pub protocol: u8,
    /// Address and port of its sender; port 0 if it has no ports.
    pub source: SocketAddrV4,
    /// Address and port of its receiver.
    pub destination: SocketAddrV4,
    /// IPv4's identification.
    pub ip_id: u16,
    /// Bytes behind the headers of IPv4 and of TCP or UDP.
    pub payload_bytes: u32,
    /// TCP's sequence number: of the first byte of data.
    pub seq: Option<u32>,
    /// Whether it is a TCP SYN, which takes one sequence number.
    pub syn: bool,
}

/// Protocol numbers of IPv4.
pub(super) const TCP: u8 = 6;
/// See [`TCP`].
pub(super) const UDP: u8 = 17;

/// The header of IPv4 without options, bytes.
const IPV4_BYTES: usize = 20;

impl Header {
    /// Reads a packet, or its first bytes. None if it is not IPv4, or a length in it contradicts
    /// another. A fragment behind the first has no ports.
    pub fn of(packet: &[u8]) -> Option<Self> {
        let word =
            |place: usize| Some(u16::from_be_bytes([*packet.get(place)?, *packet.get(place + 1)?]));
        let address = |place: usize| {
            Some(Ipv4Addr::from(<[u8; 4]>::try_from(packet.get(place..place + 4)?).ok()?))
        };
        let first = *packet.first()?;
        let header_bytes = usize::from(first & 0x0f) * 4;
        if first >> 4 != 4 || header_bytes < IPV4_BYTES {
            return None;
        }
        let total = usize::from(word(2)?);
        let ip_id = word(4)?;
        let protocol = *packet.get(9)?;
        let is_first_fragment = word(6)? & 0x1fff == 0;
        let carried = total.checked_sub(header_bytes)?;
        let source = address(12)?;
        let destination = address(16)?;
        let at = |port: [u16; 2]| {
            (SocketAddrV4::new(source, port[0]), SocketAddrV4::new(destination, port[1]))
        };
        let plain = |ports, own_bytes: usize| -> Option<Self> {
            let (source, destination) = at(ports);
            let payload_bytes = carried.checked_sub(own_bytes)? as u32;
            Some(Self {
                protocol,
                source,
                destination,
                ip_id,
                payload_bytes,
                seq: None,
                syn: false,
            })
        };
        let ports = || Some([word(header_bytes)?, word(header_bytes + 2)?]);
        match protocol {
            TCP if is_first_fragment => {
                let seq = u32::from_be_bytes(
                    packet.get(header_bytes + 4..header_bytes + 8)?.try_into().ok()?,
                );
                let own_bytes = usize::from(*packet.get(header_bytes + 12)? >> 4) * 4;
                let syn = *packet.get(header_bytes + 13)? & 0x02 != 0;
                Some(Self { seq: Some(seq), syn, ..plain(ports()?, own_bytes)? })
            }
            UDP if is_first_fragment => plain(ports()?, 8),
            _ => plain([0, 0], 0),
        }
    }

    /// A number for the packet's flow: a hash of both addresses, both ports and the protocol. Other
    /// numbers for the two directions.
    pub fn flow(&self) -> u32 {
        let words = [
            u64::from(u32::from(*self.source.ip())) << 32
                | u64::from(u32::from(*self.destination.ip())),
            u64::from(self.source.port()) << 32
                | u64::from(self.destination.port()) << 8
                | u64::from(self.protocol),
        ];
        words.into_iter().fold(0_u64, |hash, word| losscause_sim::rng::scramble(hash ^ word)) as u32
    }

    /// "tcp", "udp", "icmp", or the protocol's number.
    pub fn protocol_name(&self) -> String {
        match self.protocol {
            TCP => "tcp".to_owned(),
            UDP => "udp".to_owned(),
            1 => "icmp".to_owned(),
            other => other.to_string(),
        }
    }

    /// An end of the packet as it is written: with its port, if it has one.
    pub fn end(&self, end: SocketAddrV4) -> String {
        match self.protocol {
            TCP | UDP => end.to_string(),
            _ => IpAddr::V4(*end.ip()).to_string(),
        }
    }
}

/// Whether a TUN device takes a frame: by its first four bits it is IPv4 or IPv6 (the kernel's
/// `tun_get_user`).
pub(super) fn is_ip(frame: &[u8]) -> bool {
    matches!(frame, [first, ..] if matches!(first >> 4, 4 | 6))
}

/// The ECN field of an IPv4 packet (RFC 3168, section 5).
pub(super) fn ecn_of(packet: &[u8]) -> Ecn {
    match packet {
        [version, field, ..] if version >> 4 == 4 => match field & 3 {
            0 => Ecn::NotCapable,
            3 => Ecn::Marked,
            _ => Ecn::Capable,
        },
        _ => Ecn::NotCapable,
    }
}

/// Writes "congestion experienced" into an IPv4 packet and corrects its checksum (RFC 1624,
/// equation 3).
pub(super) fn mark(packet: &mut [u8]) {
    if packet.len() < IPV4_BYTES {
        return;
    }
    let word = |packet: &[u8], place: usize| u16::from_be_bytes([packet[place], packet[place + 1]]);
    let before = word(packet, 0);
    let checksum = word(packet, 10);
    packet[1] |= 3;
    let mut sum = u32::from(!checksum) + u32::from(!before) + u32::from(word(packet, 0));
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    packet[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten bytes of data from 10.77.0.1:5001 to 10.77.0.2:80, number 7; with timestamps.
    fn tcp() -> Vec<u8> {
        let mut packet =
            vec![0x45, 2, 0, 62, 0, 9, 0x40, 0, 64, TCP, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2];
        packet.extend([0x13, 0x89, 0, 80, 0, 0, 0, 7, 0, 0, 0, 0, 0x80, 0x10]);
        packet.resize(62, 0);
        packet
    }

    #[test]
    fn a_segment_s_fields_are_read_from_its_headers_alone() {
        let expected = Header {
            protocol: TCP,
            source: "10.77.0.1:5001".parse().unwrap(),
            destination: "10.77.0.2:80".parse().unwrap(),
            ip_id: 9,
            payload_bytes: 10,
            seq: Some(7),
            syn: false,
        };
        assert_eq!(Header::of(&tcp()), Some(expected));
        assert_eq!(Header::of(&tcp()[..34]), Some(expected));
        assert_eq!(Header::of(&tcp()[..33]), None);
        let mut syn = tcp();
        syn[33] = 2;
        assert!(Header::of(&syn).unwrap().syn);
    }

    #[test]
    fn a_later_fragment_has_no_ports_and_a_contradiction_no_header() {
        let mut fragment = tcp();
        fragment[7] = 10;
        let header = Header::of(&fragment).unwrap();
        assert_eq!((header.source.port(), header.seq, header.payload_bytes), (0, None, 42));
        let mut short = tcp();
        short[3] = 50;
        assert_eq!(Header::of(&short), None, "the headers alone take 52 bytes");
        assert_eq!(Header::of(&[0x60; 60]), None);
        assert_eq!(Header::of(&[]), None);
    }

    #[test]
    fn a_udp_packet_s_payload_begins_behind_8_bytes() {
        let mut packet = tcp();
        packet[9] = UDP;
        let header = Header::of(&packet).unwrap();
        assert_eq!((header.payload_bytes, header.seq, header.source.port()), (34, None, 5001));
        assert_eq!(
            (header.protocol_name(), header.end(header.source)),
            ("udp".into(), "10.77.0.1:5001".into())
        );
        packet[9] = 1;
        let header = Header::of(&packet).unwrap();
        assert_eq!(
            (header.protocol_name(), header.end(header.source)),
            ("icmp".into(), "10.77.0.1".into())
        );
    }

    #[test]
    fn packets_of_a_connection_are_one_flow_and_other_ports_another() {
        let flow = |packet: &[u8]| Header::of(packet).unwrap().flow();
        let mut other = tcp();
        other[27] = 9;
        assert_eq!(flow(&tcp()), flow(&other), "only the sequence number differs");
        other[23] = 81;
        assert_ne!(flow(&tcp()), flow(&other));
    }

    #[test]
    fn a_frame_is_ip_by_its_first_four_bits() {
        assert!(is_ip(&tcp()) && is_ip(&[0x45]) && is_ip(&[0x60; 40]));
        assert!(!is_ip(&[]) && !is_ip(&[0]) && !is_ip(&[0x50, 0, 0, 0]) && !is_ip(&[0xff; 60]));
    }

    #[test]
    fn a_mark_leaves_a_valid_checksum() {
        // With ECN field 1, the words without the checksum add up to 0x479f; b860 is its
        // complement.
        let mut packet = vec![
            0x45, 0x01, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x60, 0xc0, 0xa8, 0, 1, 0xc0,
            0xa8, 0, 0xc7,
        ];
        assert_eq!(ecn_of(&packet), Ecn::Capable);
        mark(&mut packet);
        assert_eq!(ecn_of(&packet), Ecn::Marked);
        // Two more in the first word, two less in the checksum.
        assert_eq!((packet[1], &packet[10..12]), (0x03, &[0xb8, 0x5e][..]));
        assert_eq!((ecn_of(&[0x45, 0]), ecn_of(&[0x60, 1])), (Ecn::NotCapable, Ecn::NotCapable));
    }
}
