//! Link layers: what stands before the IP header.

use super::ip::{self, Ip};
use super::rest::{Header, Rest, be16};
use super::wifi::{self, Radio, Radiotap};
use super::{Unread, tunnel};
use crate::link_type::{Layer, LinkType};

impl LinkType {
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

    /// What the radio says of a frame of IEEE 802.11 with data, encrypted or not; none of a damaged
    /// one.
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
}

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
