//! What was not read, by kind: so that nothing that was not looked at is taken for nothing.

use std::fmt;

use serde::Serialize;

use super::{Packet, Transport, rtcp};
use crate::frames::LinkType;

/// Why a frame gave no packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unread {
    /// ARP or RARP.
    Arp,
    /// ICMP of either version.
    Icmp,
    /// ESP of IPsec, over IP or UDP, of no stream whose numbers follow each other.
    Esp,
    /// SCTP.
    Sctp,
    /// WireGuard: handshakes, and data of no session whose numbers follow each other.
    WireGuard,
    /// QUIC: encrypted. Its endpoints' logs are read.
    Quic,
    /// DNS over UDP, by its port.
    Dns,
    /// RTCP.
    Rtcp,
    /// UDP of any other kind.
    Udp,
    /// A fragment: its transport header is elsewhere, or its payload is not whole.
    Fragment,
    /// A protected frame of IEEE 802.11.
    EncryptedWifi,
    /// A frame of IEEE 802.11 with several packets (A-MSDU).
    AggregatedWifi,
    /// A frame of IEEE 802.11 that arrived damaged, by its check sequence.
    DamagedWifi,
    /// A frame of IEEE 802.11 that manages, controls or carries nothing.
    WifiWithoutData,
    /// IEEE 802.2 without an EtherType.
    Llc,
    /// PPP that carries no IP packet in clear.
    Ppp,
    /// More headers around the packet than are followed.
    TooDeep,
    /// The snap length cut the headers.
    Cut,
    /// A length contradicts another, or nothing of IP is where a header announces it.
    Malformed,
    /// Another EtherType.
    EtherType(u16),
    /// Another protocol over IP.
    Protocol(u8),
    /// A link type that is not read, in a file of several.
    Link(LinkType),
    /// Kinds beyond those that are counted apart.
    Other,
}

impl Unread {
    /// What a packet without TCP is that belongs to no stream.
    pub(crate) fn datagram(packet: &Packet<'_>) -> Self {
        let (payload, payload_bytes) = match packet.transport {
            Transport::Udp { payload, payload_bytes } => (payload, payload_bytes),
            Transport::Esp { .. } => return Self::Esp,
            Transport::Tcp(_) => return Self::Other,
        };
        let is_at = |port: u16| packet.src.port == port || packet.dst.port == port;
        match *payload {
            _ if packet.is_dns() => Self::Dns,
            _ if rtcp::is_compound(payload, payload_bytes) => Self::Rtcp,
            // RFC 3948: no key exchange (four zeros), no keep-alive (one byte).
            [a, b, c, d, ..] if is_at(4500) && [a, b, c, d] != [0; 4] => Self::Esp,
            // The types of the messages have fixed sizes, or multiples of 16 bytes (WireGuard,
            // section 5.4).
            [1, 0, 0, 0, ..] if payload_bytes == 148 => Self::WireGuard,
            [2, 0, 0, 0, ..] if payload_bytes == 92 => Self::WireGuard,
            [3, 0, 0, 0, ..] if payload_bytes == 64 => Self::WireGuard,
            [4, 0, 0, 0, ..] if payload_bytes >= 32 && payload_bytes % 16 == 0 => Self::WireGuard,
            // RFC 9000, sections 17.2 and 17.3: a long header has a version (1, 2 or a draft's), a
            // short one nothing.
            [0xc0..=0xff, 0, 0, 0, 1, ..] | [0xc0..=0xff, 0x6b, 0x33, 0x43, 0xcf, ..] => Self::Quic,
            [0xc0..=0xff, 0xff, 0, 0, ..] => Self::Quic,
            [0x40..=0x7f, ..] if is_at(443) => Self::Quic,
            _ => Self::Udp,
        }
    }

    /// Whether a transfer may be inside: it is not, if a frame only manages a network.
    fn may_hide_a_transfer(self) -> bool {
        !matches!(
            self,
            Self::Arp | Self::Icmp | Self::Dns | Self::Rtcp | Self::WifiWithoutData | Self::Llc
        ) && !matches!(
            self,
            Self::Protocol(IGMP | PIM | OSPF | VRRP) | Self::EtherType(LLDP | EAPOL)
        )
    }
}

const IGMP: u8 = 2;
const OSPF: u8 = 89;
const PIM: u8 = 103;
const VRRP: u8 = 112;
const EAPOL: u16 = 0x888e;
const LLDP: u16 = 0x88cc;

impl fmt::Display for Unread {
    /// What such packets are: `ESP`, `EtherType 0x88e5 (MACsec)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arp => "ARP",
            Self::Icmp => "ICMP",
            Self::Esp => "ESP",
            Self::Sctp => "SCTP",
            Self::WireGuard => "WireGuard",
            Self::Quic => "QUIC",
            Self::Dns => "DNS",
            Self::Rtcp => "RTCP",
            Self::Udp => "other UDP",
            Self::Fragment => "fragmented",
            Self::EncryptedWifi => "encrypted 802.11",
            Self::AggregatedWifi => "802.11 with several packets in a frame (A-MSDU)",
            Self::DamagedWifi => "802.11 that arrived damaged",
            Self::WifiWithoutData => "802.11 without data",
            Self::Llc => "LLC without IP",
            Self::Ppp => "PPP without IP",
            Self::TooDeep => "in too many tunnels",
            Self::Cut => "cut by the snap length",
            Self::Malformed => "malformed",
            Self::Protocol(IGMP) => "IGMP",
            Self::Protocol(47) => "GRE without IP",
            Self::Protocol(OSPF) => "OSPF",
            Self::Protocol(PIM) => "PIM",
            Self::Protocol(VRRP) => "VRRP",
            Self::Protocol(other) => return write!(f, "IP protocol {other}"),
            Self::EtherType(0x8847) => "MPLS without IP",
            Self::EtherType(EAPOL) => "EAPOL",
            Self::EtherType(LLDP) => "LLDP",
            Self::EtherType(0x88e5) => "MACsec",
            Self::EtherType(other) => return write!(f, "EtherType {other:#06x}"),
            Self::Link(link) => return write!(f, "link type {link}"),
            Self::Other => "of other kinds",
        })
    }
}

/// How many packets of each kind were not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnreadCounts(Vec<(Unread, u64)>);

/// Kinds that are counted apart: a capture has a few, a hostile one every EtherType.
const MAX_KINDS: usize = 24;

impl UnreadCounts {
    /// Counts packets of one kind.
    pub(crate) fn add(&mut self, kind: Unread, packets: u64) {
        if packets == 0 {
            return;
        }
        let is_new = !self.0.iter().any(|(known, _)| *known == kind);
        let kind = if is_new && self.0.len() >= MAX_KINDS { Unread::Other } else { kind };
        match self.0.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += packets,
            None => self.0.push((kind, packets)),
        }
    }

    /// Each kind with its packets, most of them first; those that are not counted apart are last.
    pub fn iter(&self) -> impl Iterator<Item = (Unread, u64)> {
        let mut sorted = self.0.clone();
        let last = |kind: &Unread| *kind == Unread::Other;
        sorted.sort_by_key(|(kind, packets)| {
            (last(kind), std::cmp::Reverse(*packets), kind.to_string())
        });
        sorted.into_iter()
    }

    /// Packets of one kind.
    pub fn of(&self, kind: Unread) -> u64 {
        self.0.iter().find(|(known, _)| *known == kind).map_or(0, |(_, packets)| *packets)
    }

    /// Packets of all kinds.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|(_, packets)| packets).sum()
    }

    /// Those that may have carried a transfer.
    pub(crate) fn hiding(&self) -> Self {
        Self(self.0.iter().copied().filter(|(kind, _)| kind.may_hide_a_transfer()).collect())
    }

    /// Both counts together.
    pub(crate) fn joined(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        other.0.iter().for_each(|&(kind, packets)| sum.add(kind, packets));
        sum
    }
}

impl Serialize for UnreadCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(kind, packets)| (kind.to_string(), packets)))
    }
}
