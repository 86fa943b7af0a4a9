//! IPv4 (RFC 791) and IPv6 with its extension headers (RFC 8200).

use super::{Endpoint, Packet, Parsed, Tcp, Transport};

/// Reads an IP packet. `bytes` is what was captured of it; `original_bytes` is what the frame had room for, more than
/// the packet if the link pads short frames.
#[inline]
pub(super) fn parse(bytes: &[u8], original_bytes: u32) -> Parsed<'_> {
    match bytes.first().map(|first| first >> 4) {
        Some(4) => parse_v4(bytes, original_bytes),
        Some(6) => parse_v6(bytes, original_bytes),
        _ => Parsed::Other,
    }
}

#[inline]
fn parse_v4(bytes: &[u8], original_bytes: u32) -> Parsed<'_> {
    let Some(header) = bytes.first_chunk::<20>() else { return Parsed::Other };
    let header_bytes = usize::from(header[0] & 15) * 4;
    let total = match u16::from_be_bytes([header[2], header[3]]) {
        // Segmentation offload: the card writes the length later.
        0 => original_bytes.min(LARGEST_OFFLOAD),
        total => u32::from(total).min(original_bytes),
    };
    if header_bytes < 20 || header_bytes as u32 > total || header_bytes > bytes.len() {
        return Parsed::Other;
    }
    // More fragments, or an offset.
    if u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0 {
        return Parsed::Fragment;
    }
    let captured = bytes.len().min(total as usize);
    let ends = Ends {
        src: [header[12], header[13], header[14], header[15]],
        dst: [header[16], header[17], header[18], header[19]],
        ip_id: u16::from_be_bytes([header[4], header[5]]),
        traffic_class: header[1],
    };
    let (payload, length) = (&bytes[header_bytes..captured], total - header_bytes as u32);
    ends.carrying(header[9], payload, length, Endpoint::v4)
}

fn parse_v6(bytes: &[u8], original_bytes: u32) -> Parsed<'_> {
    let Some(header) = bytes.first_chunk::<40>() else { return Parsed::Other };
    let total = match u16::from_be_bytes([header[4], header[5]]) {
        // A jumbogram, or segmentation offload.
        0 => original_bytes.min(LARGEST_OFFLOAD),
        payload => (u32::from(payload) + 40).min(original_bytes),
    };
    let address = |at: usize| -> [u8; 16] { std::array::from_fn(|i| header[at + i]) };
    let ends = Ends { src: address(8), dst: address(24), ip_id: 0, traffic_class: (header[0] << 4) | (header[1] >> 4) };
    let captured = bytes.len().min(total as usize);
    let (mut next, mut at) = (header[6], 40_usize);
    // Each extension header has at least 8 bytes, so this ends.
    loop {
        let Some(&[following, length, high, low]) = bytes[..captured].get(at..).and_then(<[u8]>::first_chunk) else {
            return Parsed::Other;
        };
        let header_bytes = match next {
            HOP_BY_HOP | ROUTING | DESTINATION => (usize::from(length) + 1) * 8,
            AUTHENTICATION => (usize::from(length) + 2) * 4,
            // An atomic fragment, with neither an offset nor more to come, is a whole packet (RFC 6946).
            FRAGMENT if u16::from_be_bytes([high, low]) & 0xfff9 == 0 => 8,
            FRAGMENT => return Parsed::Fragment,
            _ => break,
        };
        (next, at) = (following, at + header_bytes);
        if at > captured {
            return Parsed::Other;
        }
    }
    let length = total.saturating_sub(at as u32);
    ends.carrying(next, &bytes[at..captured], length, |address, port| Endpoint {
        address: u128::from_be_bytes(address),
        port,
    })
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

/// What the IP header says beside the protocol.
struct Ends<A> {
    src: A,
    dst: A,
    ip_id: u16,
    traffic_class: u8,
}

impl<A> Ends<A> {
    #[inline]
    fn carrying(self, protocol: u8, bytes: &[u8], length: u32, endpoint: impl Fn(A, u16) -> Endpoint) -> Parsed<'_> {
        let (src_port, dst_port, transport) = match protocol {
            TCP => match Tcp::parse(bytes, length) {
                Some((src, dst, tcp)) => (src, dst, Transport::Tcp(tcp)),
                None => return Parsed::Other,
            },
            UDP => match (bytes.first_chunk::<8>(), length.checked_sub(8)) {
                (Some(&[a, b, c, d, ..]), Some(payload_bytes)) => {
                    let transport = Transport::Udp { payload: &bytes[8..], payload_bytes };
                    (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]), transport)
                }
                _ => return Parsed::Other,
            },
            _ => return Parsed::Other,
        };
        Parsed::Packet(Packet {
            frame: 0,
            src: endpoint(self.src, src_port),
            dst: endpoint(self.dst, dst_port),
            ip_id: self.ip_id,
            congestion_experienced: self.traffic_class & 3 == 3,
            direction: None,
            transport,
        })
    }
}
