//! IPv4 (RFC 791) and IPv6 with its extension headers (RFC 8200).

use super::Unread;
use super::rest::{Rest, be16};

/// What the header of an IP packet says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ip<'a> {
    /// The addresses, those of IPv4 as mapped ones.
    pub(super) src: u128,
    pub(super) dst: u128,
    pub(super) ip_id: u16,
    /// Whether a queue marked it.
    pub(super) is_marked: bool,
    pub(super) protocol: u8,
    /// The frame behind the header and its extensions.
    pub(super) rest: Rest<'a>,
    /// Bytes of it that are behind the packet.
    padding: u32,
}

impl<'a> Ip<'a> {
    /// What the packet carries, by its own length. A packet inside of a tunnel says its length
    /// itself.
    #[inline]
    pub(super) fn payload(&self) -> Rest<'a> {
        self.rest.up_to(self.rest.original.saturating_sub(self.padding))
    }
}

/// Reads the header of an IP packet.
#[inline]
pub(super) fn parse(rest: Rest<'_>) -> Result<Ip<'_>, Unread> {
    match rest.first::<1>()?[0] >> 4 {
        4 => parse_v4(rest),
        6 => parse_v6(rest),
        _ => Err(Unread::Malformed),
    }
}

#[inline]
fn parse_v4(rest: Rest<'_>) -> Result<Ip<'_>, Unread> {
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
    let mut protocol = header[9];
    let mut payload = rest.skip(header_bytes)?;
    while protocol == AUTHENTICATION {
        let &[following, length, ..] = payload.first::<4>()?;
        (protocol, payload) = (following, payload.skip(authentication_bytes(length))?);
    }
    let mapped = |address: [u8; 4]| 0xffff_0000_0000 | u128::from(u32::from_be_bytes(address));
    Ok(Ip {
        src: mapped([header[12], header[13], header[14], header[15]]),
        dst: mapped([header[16], header[17], header[18], header[19]]),
        ip_id: u16::from_be_bytes([header[4], header[5]]),
        is_marked: header[1] & MARKED == MARKED,
        protocol,
        rest: payload,
        padding: rest.original - total,
    })
}

fn parse_v6(rest: Rest<'_>) -> Result<Ip<'_>, Unread> {
    let header = rest.first::<40>()?;
    let total = match u16::from_be_bytes([header[4], header[5]]) {
        // A jumbogram, or segmentation offload.
        0 => rest.original.min(LARGEST_OFFLOAD),
        payload => (u32::from(payload) + 40).min(rest.original),
    };
    let mut next = header[6];
    let mut payload = rest.skip(40)?;
    // Each extension header has at least 8 bytes, so this ends.
    while let HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION = next {
        let &[following, length, high, low] = payload.first()?;
        let header_bytes = match next {
            AUTHENTICATION => authentication_bytes(length),
            // An atomic fragment, with neither an offset nor more to come, is a whole packet (RFC
            // 6946).
            FRAGMENT if be16(high, low) & 0xfff9 == 0 => 8,
            FRAGMENT => return Err(Unread::Fragment),
            _ => (usize::from(length) + 1) * 8,
        };
        (next, payload) = (following, payload.skip(header_bytes)?);
    }
    let address = |at: usize| u128::from_be_bytes(std::array::from_fn(|i| header[at + i]));
    Ok(Ip {
        src: address(8),
        dst: address(24),
        ip_id: 0,
        is_marked: header[1] >> 4 & MARKED == MARKED,
        protocol: next,
        rest: payload,
        padding: rest.original - total,
    })
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

/// The largest segment that Linux hands to a card (GSO_MAX_SIZE), bytes. A frame that claims more
/// is not believed: it would count as millions of packets.
const LARGEST_OFFLOAD: u32 = 8 * 65_536;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;
pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;
pub(super) const ESP: u8 = 50;
/// ECN's codepoint CE (RFC 3168).
const MARKED: u8 = 3;

/// The length of an authentication header, by its field (RFC 4302, section 2.2).
fn authentication_bytes(length: u8) -> usize {
    (usize::from(length) + 2) * 4
}
