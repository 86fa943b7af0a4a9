//! IPv4 (RFC 791) and IPv6 with its extension headers (RFC 8200).

use super::rest::{Depth, Rest, be16};
use super::{Endpoint, Packet, Tcp, Transport, Unread, tunnel};

/// Reads an IP packet, or the one inside of it.
#[inline]
pub(super) fn parse(rest: Rest<'_>, depth: Depth) -> Result<Packet<'_>, Unread> {
    match rest.first::<1>()?[0] >> 4 {
        4 => parse_v4(rest, depth),
        6 => parse_v6(rest, depth),
        _ => Err(Unread::Malformed),
    }
}

#[inline]
fn parse_v4(rest: Rest<'_>, depth: Depth) -> Result<Packet<'_>, Unread> {
    let header = rest.first::<20>()?;
    let header_bytes = usize::from(header[0] & 15) * 4;
    let total = match u16::from_be_bytes([header[2], header[3]]) {
        // Segmentation offload: the card writes the length later.
        0 => rest.original.min(LARGEST_OFFLOAD),
        total => u32::from(total).min(rest.original),
    };
    if header_bytes < 20 || header_bytes as u32 > total {
        return Err(Unread::Malformed);
    }
    // More fragments, or an offset.
    if u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0 {
        return Err(Unread::Fragment);
    }
    let ends = Ends {
        padding: rest.original - total,
        src: [header[12], header[13], header[14], header[15]],
        dst: [header[16], header[17], header[18], header[19]],
        ip_id: u16::from_be_bytes([header[4], header[5]]),
        traffic_class: header[1],
    };
    let mut payload = rest.skip(header_bytes)?;
    let mut protocol = header[9];
    while protocol == AUTHENTICATION {
        let &[following, length, ..] = payload.first::<4>()?;
        (protocol, payload) = (following, payload.skip(authentication_bytes(length))?);
    }
    ends.carrying(protocol, payload, depth, Endpoint::v4)
}

fn parse_v6(rest: Rest<'_>, depth: Depth) -> Result<Packet<'_>, Unread> {
    let header = rest.first::<40>()?;
    let total = match u16::from_be_bytes([header[4], header[5]]) {
        // A jumbogram, or segmentation offload.
        0 => rest.original.min(LARGEST_OFFLOAD),
        payload => (u32::from(payload) + 40).min(rest.original),
    };
    let address = |at: usize| -> [u8; 16] { std::array::from_fn(|i| header[at + i]) };
    let ends = Ends {
        padding: rest.original - total,
        src: address(8),
        dst: address(24),
        ip_id: 0,
        traffic_class: (header[0] << 4) | (header[1] >> 4),
    };
    let (mut next, mut payload) = (header[6], rest.skip(40)?);
    // Each extension header has at least 8 bytes, so this ends.
    while let HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION = next {
        let &[following, length, high, low] = payload.first()?;
        let header_bytes = match next {
            AUTHENTICATION => authentication_bytes(length),
            // An atomic fragment, with neither an offset nor more to come, is a whole packet (RFC 6946).
            FRAGMENT if be16(high, low) & 0xfff9 == 0 => 8,
            FRAGMENT => return Err(Unread::Fragment),
            _ => (usize::from(length) + 1) * 8,
        };
        (next, payload) = (following, payload.skip(header_bytes)?);
    }
    ends.carrying(next, payload, depth, |address, port| Endpoint { address: u128::from_be_bytes(address), port })
}

/// Whether it begins with the header of an IP packet that fits into it.
pub(super) fn is_header(rest: Rest<'_>) -> bool {
    match rest.bytes {
        [first @ 0x45..=0x4f, _, high, low, ..] => {
            (u32::from(first & 15) * 4..=rest.original).contains(&be16(*high, *low).into())
        }
        [0x60..=0x6f, _, _, _, high, low, ..] => u32::from(be16(*high, *low)) + 40 <= rest.original,
        _ => false,
    }
}

/// The largest segment that Linux hands to a card (GSO_MAX_SIZE), bytes. A frame that claims more is not believed: it
/// would count as millions of packets.
const LARGEST_OFFLOAD: u32 = 8 * 65_536;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// The length of an authentication header, by its field (RFC 4302, section 2.2).
fn authentication_bytes(length: u8) -> usize {
    (usize::from(length) + 2) * 4
}

/// What the IP header says beside the protocol.
struct Ends<A> {
    /// Bytes behind the packet.
    padding: u32,
    src: A,
    dst: A,
    ip_id: u16,
    traffic_class: u8,
}

impl<A> Ends<A> {
    #[inline]
    fn carrying(
        self,
        protocol: u8,
        rest: Rest<'_>,
        depth: Depth,
        endpoint: impl Fn(A, u16) -> Endpoint,
    ) -> Result<Packet<'_>, Unread> {
        let is_marked = self.traffic_class & 3 == 3;
        let own = rest.up_to(rest.original.saturating_sub(self.padding));
        let (src_port, dst_port, transport) = match protocol {
            TCP => {
                own.first::<20>()?;
                let (src, dst, tcp) = Tcp::parse(own.bytes, own.original).ok_or(Unread::Malformed)?;
                (src, dst, Transport::Tcp(tcp))
            }
            UDP => {
                let (&[a, b, c, d, ..], payload) = own.split::<8>()?;
                if let Some(inside) = tunnel::over_udp(be16(c, d), rest.skip(8)?, depth) {
                    return around(inside, is_marked);
                }
                let transport = Transport::Udp { payload: payload.bytes, payload_bytes: payload.original };
                (be16(a, b), be16(c, d), transport)
            }
            _ => return around(tunnel::over_ip(protocol, rest, depth), is_marked),
        };
        Ok(Packet {
            frame: 0,
            src: endpoint(self.src, src_port),
            dst: endpoint(self.dst, dst_port),
            ip_id: self.ip_id,
            congestion_experienced: is_marked,
            direction: None,
            radio: None,
            transport,
        })
    }
}

/// The packet inside of a tunnel, which says its own length. A queue marks the tunnel's header (RFC 6040).
fn around(inside: Result<Packet<'_>, Unread>, is_marked: bool) -> Result<Packet<'_>, Unread> {
    inside.map(|packet| Packet { congestion_experienced: packet.congestion_experienced | is_marked, ..packet })
}
