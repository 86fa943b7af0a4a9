//! What a frame begins with, by its number in the file.

use std::fmt;

/// Which way a packet passed the capturing host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The host sent it.
    Sent,
    /// The host received it.
    Received,
}

/// A link type, by its number in the registry of tcpdump.org.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkType(pub u32);

impl LinkType {
    /// Ethernet, with or without VLAN tags.
    pub const ETHERNET: Self = Self(1);
    /// BSD loopback: the address family in the host's byte order.
    pub const NULL: Self = Self(0);
    /// OpenBSD loopback: the address family in network byte order.
    pub const LOOP: Self = Self(108);
    /// An IP packet without anything before it.
    pub const RAW: Self = Self(101);
    /// The same, as a pcap file of some systems names it.
    const RAW_12: Self = Self(12);
    const RAW_14: Self = Self(14);
    const IPV4: Self = Self(228);
    const IPV6: Self = Self(229);
    /// Linux cooked capture, version 1.
    pub const LINUX_SLL: Self = Self(113);
    /// Linux cooked capture, version 2.
    pub const LINUX_SLL2: Self = Self(276);
    /// PPP, with or without HDLC's framing.
    pub const PPP: Self = Self(9);
    /// PPP in HDLC's framing, or Cisco's.
    pub const PPP_HDLC: Self = Self(50);
    /// PPP over Ethernet, from its own header on.
    pub const PPP_ETHER: Self = Self(51);
    /// IEEE 802.11.
    pub const IEEE802_11: Self = Self(105);
    /// IEEE 802.11 behind a radiotap header.
    pub const IEEE802_11_RADIOTAP: Self = Self(127);
    /// Linux's packet log (NFLOG).
    pub const NFLOG: Self = Self(239);

    /// Whether frames of it are read.
    pub fn is_known(self) -> bool {
        self.layer().is_some()
    }

    /// What the link layer says of a frame's direction: only Linux cooked captures do.
    #[inline]
    pub fn direction(self, frame: &[u8]) -> Option<Direction> {
        let kind = match self {
            Self::LINUX_SLL => u16::from_be_bytes(*frame.first_chunk()?),
            Self::LINUX_SLL2 => u16::from(*frame.get(10)?),
            _ => return None,
        };
        match kind {
            FOR_THIS_HOST => Some(Direction::Received),
            BY_THIS_HOST => Some(Direction::Sent),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn layer(self) -> Option<Layer> {
        Some(match self {
            Self::ETHERNET => Layer::Ethernet,
            Self::LINUX_SLL => Layer::Sll,
            Self::LINUX_SLL2 => Layer::Sll2,
            Self::NULL | Self::LOOP => Layer::Family,
            Self::RAW | Self::RAW_12 | Self::RAW_14 | Self::IPV4 | Self::IPV6 => Layer::Raw,
            Self::PPP | Self::PPP_HDLC => Layer::Ppp,
            Self::PPP_ETHER => Layer::PppoE,
            Self::NFLOG => Layer::Nflog,
            Self::IEEE802_11 => Layer::Wifi,
            Self::IEEE802_11_RADIOTAP => Layer::Radiotap,
            _ => return None,
        })
    }
}

/// How a frame begins: link types that are parsed alike are one.
pub(crate) enum Layer {
    /// Two addresses, then an EtherType.
    Ethernet,
    /// 14 bytes, then an EtherType.
    Sll,
    /// An EtherType, then 18 bytes.
    Sll2,
    /// Four bytes of address family; the IP header tells the version anyway.
    Family,
    /// The IP header.
    Raw,
    /// PPP's protocol, with or without framing before it.
    Ppp,
    /// PPPoE's header.
    PppoE,
    /// Attributes.
    Nflog,
    /// The frame control field.
    Wifi,
    /// A radiotap header, then 802.11's.
    Radiotap,
}

/// Packet types of cooked captures: to the capturing host, and by it.
const FOR_THIS_HOST: u16 = 0;
const BY_THIS_HOST: u16 = 4;

impl fmt::Display for LinkType {
    /// Number and, of some that are often met, the name: `105 (IEEE 802.11)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0 {
            6 => "IEEE 802.5 Token Ring",
            9 | 50 => "PPP",
            51 => "PPP over Ethernet",
            105 => "IEEE 802.11",
            119 => "IEEE 802.11 with a Prism header",
            127 => "IEEE 802.11 with radiotap",
            147..=162 => "a private use",
            163 => "IEEE 802.11 with an AVS header",
            187 | 201 => "Bluetooth HCI",
            189 | 220 | 249 => "USB",
            195 | 230 => "IEEE 802.15.4",
            227 => "CAN",
            239 => "NFLOG",
            253 => "netlink",
            _ => return write!(f, "{}", self.0),
        };
        write!(f, "{} ({name})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cooked_captures_say_which_way_a_packet_passed() {
        let mut v1 = [0; 16];
        assert_eq!(LinkType::LINUX_SLL.direction(&v1), Some(Direction::Received));
        v1[1] = 4;
        assert_eq!(LinkType::LINUX_SLL.direction(&v1), Some(Direction::Sent));
        v1[1] = 3;
        assert_eq!(LinkType::LINUX_SLL.direction(&v1), None, "to another host");
        let mut v2 = [0; 20];
        v2[10] = 4;
        assert_eq!(LinkType::LINUX_SLL2.direction(&v2), Some(Direction::Sent));
        assert_eq!(LinkType::LINUX_SLL2.direction(&v2[..10]), None, "cut");
        assert_eq!(LinkType::ETHERNET.direction(&v2), None);
    }

    #[test]
    fn an_unknown_link_type_is_named() {
        assert!(!LinkType(119).is_known());
        assert_eq!(LinkType(119).to_string(), "119 (IEEE 802.11 with a Prism header)");
        assert_eq!(LinkType(999).to_string(), "999");
    }
}
