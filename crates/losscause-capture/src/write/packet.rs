//! An IPv4 packet (RFC 791) and the bytes of its headers.

use std::net::SocketAddrV4;

use super::checksum::Checksum;
use super::rtp::{RtcpReport, Rtp};
use super::tcp::Tcp;

/// Most bytes that the headers of a [`Packet`] can have: IPv4 without options, TCP with 40 bytes of
/// options.
pub const LARGEST_HEADERS: usize = 20 + 60;

/// Bytes of an IPv4 header without options.
const IPV4_BYTES: usize = 20;

/// A packet with a payload of zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Address and port of the end that sent it.
    pub source: SocketAddrV4,
    /// Address and port of the other end.
    pub destination: SocketAddrV4,
    /// IPv4's identification.
    pub id: u16,
    /// IPv4's time to live.
    pub time_to_live: u8,
    /// IPv4's ECN field (RFC 3168, section 5): 0 not capable, 1 and 2 capable, 3 congestion
    /// experienced.
    pub ecn: u8,
    /// What it carries.
    pub transport: Transport,
    /// Bytes of payload behind the headers. A packet is cut at IPv4's limit of 65,535 bytes in all.
    pub payload_bytes: u16,
}

/// What an IPv4 packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A TCP segment.
    Tcp(Tcp),
    /// UDP with an RTP packet.
    Rtp(Rtp),
    /// UDP with a report of RTP's control protocol.
    Rtcp(RtcpReport),
}

impl Packet {
    /// Bytes of the headers of IPv4 and what it carries.
    pub fn header_bytes(&self) -> usize {
        IPV4_BYTES + self.transport.header_bytes()
    }

    /// Bytes of the whole packet, IPv4's header included.
    pub fn bytes(&self) -> u16 {
        u16::try_from(self.header_bytes() + usize::from(self.payload_bytes)).unwrap_or(u16::MAX)
    }

    /// Writes the headers to the start of `out` and returns their length.
    pub fn write_headers(&self, out: &mut [u8; LARGEST_HEADERS]) -> usize {
        let header_bytes = self.header_bytes();
        let (ipv4, transport) = out[..header_bytes].split_at_mut(IPV4_BYTES);
        self.write_ipv4(ipv4);
        let protocol = u16::from(self.transport.protocol());
        let transport_bytes = self.bytes() - IPV4_BYTES as u16;
        // The pseudo header of RFC 9293, section 3.1, and RFC 768: addresses, protocol, length.
        let pseudo = Checksum::default()
            .add(&self.source.ip().octets())
            .add(&self.destination.ip().octets())
            .add_word(protocol)
            .add_word(transport_bytes);
        let ports = [self.source.port(), self.destination.port()];
        match &self.transport {
            Transport::Tcp(tcp) => tcp.write(ports, pseudo, transport),
            Transport::Rtp(rtp) => {
                write_udp(ports, transport_bytes, pseudo, transport, |payload| rtp.write(payload));
            }
            Transport::Rtcp(report) => {
                write_udp(ports, transport_bytes, pseudo, transport, |payload| {
                    report.write(payload);
                });
            }
        }
        header_bytes
    }

    fn write_ipv4(&self, out: &mut [u8]) {
        /// Bit 1 of the flags: do not fragment.
        const DO_NOT_FRAGMENT: u16 = 0x4000;
        out.fill(0);
        // Version 4, and a header of five 32-bit words.
        out[0] = 0x45;
        out[1] = self.ecn & 3;
        out[2..4].copy_from_slice(&self.bytes().to_be_bytes());
        out[4..6].copy_from_slice(&self.id.to_be_bytes());
        out[6..8].copy_from_slice(&DO_NOT_FRAGMENT.to_be_bytes());
        out[8] = self.time_to_live;
        out[9] = self.transport.protocol();
        out[12..16].copy_from_slice(&self.source.ip().octets());
        out[16..20].copy_from_slice(&self.destination.ip().octets());
        let checksum = Checksum::default().add(out).finish();
        out[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
}

impl Transport {
    /// The protocol number of IPv4's header.
    fn protocol(&self) -> u8 {
        match self {
            Self::Tcp(_) => 6,
            Self::Rtp(_) | Self::Rtcp(_) => 17,
        }
    }

    fn header_bytes(&self) -> usize {
        match self {
            Self::Tcp(tcp) => tcp.header_bytes(),
            Self::Rtp(_) => UDP_BYTES + Rtp::BYTES,
            Self::Rtcp(_) => UDP_BYTES + RtcpReport::BYTES,
        }
    }
}

/// Bytes of a UDP header.
const UDP_BYTES: usize = 8;

/// Writes UDP's header (RFC 768) and the headers in its payload.
fn write_udp(
    ports: [u16; 2],
    bytes: u16,
    pseudo: Checksum,
    out: &mut [u8],
    payload: impl FnOnce(&mut [u8]),
) {
    out[0..2].copy_from_slice(&ports[0].to_be_bytes());
    out[2..4].copy_from_slice(&ports[1].to_be_bytes());
    out[4..6].copy_from_slice(&bytes.to_be_bytes());
    out[6..8].fill(0);
    payload(&mut out[UDP_BYTES..]);
    // RFC 768: a checksum of zero means that there is none, so all ones stand for it.
    let checksum = match pseudo.add(out).finish() {
        0 => 0xffff,
        checksum => checksum,
    };
    out[6..8].copy_from_slice(&checksum.to_be_bytes());
}
