//! Link layers: what stands before the IP header.

use std::fmt;

use super::Direction;

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

    /// Whether [`LinkType::network`] reads it.
    pub fn is_known(self) -> bool {
        self.layer().is_some()
    }

    /// The IP packet inside a frame of this link type; none if it carries something else or is cut before.
    #[inline]
    pub fn network(self, frame: &[u8]) -> Option<&[u8]> {
        match self.layer()? {
            Layer::Ethernet => below_ether_type(frame, 12),
            Layer::Sll => below_ether_type(frame, 14),
            Layer::Sll2 => after_ether_type(be16(frame, 0)?, frame, 20),
            Layer::Family => frame.get(4..),
            Layer::Raw => Some(frame),
        }
    }

    /// What the link layer says of a frame's direction: only Linux cooked captures do.
    #[inline]
    pub fn direction(self, frame: &[u8]) -> Option<Direction> {
        let kind = match self {
            Self::LINUX_SLL => be16(frame, 0)?,
            Self::LINUX_SLL2 => u16::from(*frame.get(10)?),
            _ => return None,
        };
        match kind {
            FOR_THIS_HOST => Some(Direction::Received),
            BY_THIS_HOST => Some(Direction::Sent),
            _ => None,
        }
    }

    fn layer(self) -> Option<Layer> {
        Some(match self {
            Self::ETHERNET => Layer::Ethernet,
            Self::LINUX_SLL => Layer::Sll,
            Self::LINUX_SLL2 => Layer::Sll2,
            Self::NULL | Self::LOOP => Layer::Family,
            Self::RAW | Self::RAW_12 | Self::RAW_14 | Self::IPV4 | Self::IPV6 => Layer::Raw,
            _ => return None,
        })
    }
}

/// How a frame begins.
enum Layer {
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
}

/// Packet types of cooked captures: to the capturing host, and by it.
const FOR_THIS_HOST: u16 = 0;
const BY_THIS_HOST: u16 = 4;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// 802.1Q, 802.1ad (QinQ), and the tag that QinQ had before its standard.
const VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// More tags than this are no network's.
const MAX_TAGS: usize = 4;

fn below_ether_type(frame: &[u8], at: usize) -> Option<&[u8]> {
    after_ether_type(be16(frame, at)?, frame, at + 2)
}

#[inline]
fn after_ether_type(mut ether_type: u16, frame: &[u8], mut at: usize) -> Option<&[u8]> {
    for _ in 0..=MAX_TAGS {
        if ether_type == IPV4 || ether_type == IPV6 {
            return frame.get(at..);
        }
        if !VLAN.contains(&ether_type) {
            return None;
        }
        ether_type = be16(frame, at + 2)?;
        at += 4;
    }
    None
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

impl fmt::Display for LinkType {
    /// Number and, of some that are often met, the name: `105 (IEEE 802.11)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0 {
            6 => "IEEE 802.5 Token Ring",
            9 => "PPP",
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
            239 => "Linux netlink packet log",
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
    fn every_link_layer_leads_to_the_ip_header() {
        let ip = [0x45, 1, 2, 3];
        let with = |head: &[u8]| [head, &ip].concat();
        let mac = [0; 12];
        let cases = [
            (LinkType::ETHERNET, with(&[&mac[..], &[8, 0]].concat())),
            (LinkType::ETHERNET, with(&[&mac[..], &[0x81, 0, 0, 7, 8, 0]].concat())),
            (LinkType::ETHERNET, with(&[&mac[..], &[0x88, 0xa8, 0, 7, 0x81, 0, 0, 9, 8, 0]].concat())),
            (LinkType::LINUX_SLL, with(&[&[0; 14][..], &[8, 0]].concat())),
            (LinkType::LINUX_SLL2, with(&[&[8, 0][..], &[0; 18]].concat())),
            (LinkType::NULL, with(&[2, 0, 0, 0])),
            (LinkType::LOOP, with(&[0, 0, 0, 2])),
            (LinkType::RAW, with(&[])),
        ];
        for (link, frame) in &cases {
            assert_eq!(link.network(frame), Some(&ip[..]), "{link}");
            (0..frame.len() - 4).for_each(|cut| _ = link.network(&frame[..cut]));
        }
        assert_eq!(LinkType::ETHERNET.network(&[&mac[..], &[8, 6], &ip].concat()), None, "ARP");
    }

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
        assert!(!LinkType(127).is_known());
        assert_eq!(LinkType(127).to_string(), "127 (IEEE 802.11 with radiotap)");
        assert_eq!(LinkType(999).to_string(), "999");
    }
}
