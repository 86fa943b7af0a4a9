//! Link layers: what stands before the IP header.

use std::fmt;

use super::ip::{self, Ip};
use super::rest::{Header, Rest, be16};
use super::wifi::{self, Radio, Radiotap};
use super::{Direction, Unread, tunnel};

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

    /// The innermost IP packet of a frame of this link type, which carries TCP, UDP or ESP.
    #[inline]
    pub(super) fn innermost(self, rest: Rest<'_>) -> Result<Ip<'_>, Unread> {
        let (mut header, mut rest) = match self.layer().ok_or(Unread::Link(self))? {
            Layer::Ethernet => (Header::Ethernet, rest),
            Layer::Sll => {
                let (head, rest) = rest.split::<16>()?;
                (announced(head[14], head[15]), rest)
            }
            Layer::Sll2 => {
                let (head, rest) = rest.split::<20>()?;
                (announced(head[0], head[1]), rest)
            }
            Layer::Family => (Header::Ip, rest.skip(4)?),
            Layer::Raw => (Header::Ip, rest),
            Layer::Ppp => tunnel::ppp(rest)?,
            Layer::PppoE => tunnel::pppoe(rest)?,
            Layer::Nflog => tunnel::nflog(rest)?,
            Layer::Wifi => wifi::parse(rest, false)?,
            Layer::Radiotap => wifi::parse_radiotap(rest)?,
        };
        // A queue marks the header of a tunnel (RFC 6040).
        let mut is_marked = false;
        for _ in 0..MAX_HEADERS {
            (header, rest) = match header {
                Header::Ethernet => {
                    let (head, rest) = rest.split::<14>()?;
                    (announced(head[12], head[13]), rest)
                }
                // 802.1Q, 802.1ad (QinQ), and the tag that QinQ had before its standard.
                Header::EtherType(0x8100 | 0x88a8 | 0x9100) => {
                    let (&[_, _, high, low], rest) = rest.split()?;
                    (announced(high, low), rest)
                }
                Header::EtherType(other) => tunnel::over_ether_type(other, rest)?,
                Header::Ip => {
                    let mut ip = ip::parse(rest)?;
                    is_marked |= ip.is_marked;
                    ip.is_marked = is_marked;
                    match ip.protocol {
                        ip::TCP | ip::ESP => return Ok(ip),
                        ip::UDP => match tunnel::over_udp(ip.rest) {
                            Some(next) => next?,
                            None => return Ok(ip),
                        },
                        other => tunnel::over_ip(other, ip.rest)?,
                    }
                }
            };
        }
        Err(Unread::TooDeep)
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

    /// What the radio says of a frame of IEEE 802.11 with data, encrypted or not; none of a damaged one.
    #[inline]
    pub fn radio(self, frame: &[u8]) -> Option<Radio> {
        match self {
            Self::IEEE802_11 => Radio::of(frame, None),
            Self::IEEE802_11_RADIOTAP => {
                let tap = Radiotap::parse(frame).filter(|tap| !tap.is_damaged())?;
                Radio::of(&frame[tap.bytes..], tap.rate_bps)
            }
            _ => None,
        }
    }

    #[inline]
    fn layer(self) -> Option<Layer> {
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
/// Headers before TCP or UDP: eight tunnels that each carry Ethernet. More are no network's.
const MAX_HEADERS: usize = 24;

/// The header that an EtherType announces.
#[inline]
pub(super) fn announced(high: u8, low: u8) -> Header {
    match be16(high, low) {
        0x0800 | 0x86dd => Header::Ip,
        other => Header::EtherType(other),
    }
}

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
