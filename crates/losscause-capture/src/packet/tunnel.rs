//! Headers between the link layer and the IP packet of a flow: tunnels, labels, PPP, LLC.
//!
//! A packet is read alike inside of a tunnel and outside of it, so both belong to one flow. Nothing
//! is copied. What a port alone announces must have a plausible header: another protocol may use
//! that port.

use super::link::announced;
use super::rest::{Header, Next, Rest, be16};
use super::{Unread, ip};

/// What an IP packet carries beside TCP, UDP and ESP.
#[cold]
pub(super) fn over_ip(protocol: u8, rest: Rest<'_>) -> Result<Next<'_>, Unread> {
    match protocol {
        4 | 41 => Ok((Header::Ip, rest)),
        GRE => gre(rest),
        // EtherIP (RFC 3378).
        97 => Ok((Header::Ethernet, rest.skip(2)?)),
        // MPLS in IP (RFC 4023), Ethernet in IP (RFC 8986).
        137 => mpls(rest),
        143 => Ok((Header::Ethernet, rest)),
        1 | 58 => Err(Unread::Icmp),
        132 => Err(Unread::Sctp),
        other => Err(Unread::Protocol(other)),
    }
}

const GRE: u8 = 47;

/// What a UDP datagram leads to, by its destination port; none if it is no tunnel's.
#[inline]
pub(super) fn over_udp(datagram: Rest<'_>) -> Option<Result<Next<'_>, Unread>> {
    let &[_, _, high, low, ..] = datagram.bytes else { return None };
    match be16(high, low) {
        port @ (VXLAN | VXLAN_OF_LINUX | GENEVE | GTP_U) => {
            below_port(port, datagram.skip(8).ok()?)
        }
        _ => None,
    }
}

const VXLAN: u16 = 4789;
/// Linux's port for VXLAN before one was assigned.
const VXLAN_OF_LINUX: u16 = 8472;
const GENEVE: u16 = 6081;
const GTP_U: u16 = 2152;

#[cold]
fn below_port<'a>(port: u16, payload: Rest<'a>) -> Option<Result<Next<'a>, Unread>> {
    match (port, payload.bytes.first_chunk::<8>()?) {
        // RFC 7348, section 5: one flag, reserved bits are zero. With a group policy
        // (draft-smith-vxlan-group-policy) there are three more flags and the group.
        (VXLAN | VXLAN_OF_LINUX, [0x08, 0, 0, 0, _, _, _, 0]) => Some(vxlan(payload)),
        (VXLAN | VXLAN_OF_LINUX, [0x88, policy, _, _, _, _, _, 0]) if policy & !0x48 == 0 => {
            Some(vxlan(payload))
        }
        // RFC 8926, section 3.4: version 0, reserved bits are zero.
        (GENEVE, [0..=0x3f, flags, _, _, _, _, _, 0]) if flags & 0x3f == 0 => Some(geneve(payload)),
        // 3GPP TS 29.281, section 5.1: version 1, a packet of a user, whose length fits.
        (GTP_U, [0x30..=0x37, 0xff, high, low, ..])
            if u32::from(be16(*high, *low)) + 8 <= payload.original =>
        {
            Some(gtp_u(payload))
        }
        _ => None,
    }
}

fn vxlan(rest: Rest<'_>) -> Result<Next<'_>, Unread> {
    Ok((Header::Ethernet, rest.skip(8)?))
}

fn geneve(rest: Rest<'_>) -> Result<Next<'_>, Unread> {
    let &[first, _, high, low] = rest.first()?;
    let option_bytes = usize::from(first & 0x3f) * 4;
    Ok((announced(high, low), rest.skip(8 + option_bytes)?))
}

/// 3GPP TS 29.281, sections 5.1 and 5.2.
fn gtp_u(rest: Rest<'_>) -> Result<Next<'_>, Unread> {
    let flags = rest.first::<1>()?[0];
    let mut rest = rest.skip(8)?;
    if flags & 7 != 0 {
        let (&[_, _, _, mut next], behind) = rest.split()?;
        rest = behind;
        while flags & 4 != 0 && next != 0 {
            // An extension header says its length in words of 4 bytes, and ends with the type of
            // the next one.
            let bytes = usize::from(rest.first::<1>()?[0]) * 4;
            let header = rest.bytes.get(..bytes).ok_or_else(|| rest.ends_before(bytes))?;
            next = *header.last().ok_or(Unread::Malformed)?;
            rest = rest.skip(bytes)?;
        }
    }
    Ok((Header::Ip, rest))
}

/// What an EtherType announces beside IP and tags.
#[cold]
pub(super) fn over_ether_type(ether_type: u16, rest: Rest<'_>) -> Result<Next<'_>, Unread> {
    match ether_type {
        // A length (IEEE 802.3), or the number that cooked captures have for it.
        0..0x0600 => llc(rest),
        MPLS | 0x8848 => mpls(rest),
        PPPOE => pppoe(rest),
        PPP => ppp(rest),
        BRIDGED => Ok((Header::Ethernet, rest)),
        0x0806 | 0x8035 => Err(Unread::Arp),
        other => Err(Unread::EtherType(other)),
    }
}

pub(super) const MPLS: u16 = 0x8847;
pub(super) const PPPOE: u16 = 0x8864;
const PPP: u16 = 0x880b;
/// Transparent Ethernet bridging: an Ethernet frame.
const BRIDGED: u16 = 0x6558;

/// IEEE 802.2; with SNAP (RFC 1042) an EtherType follows.
pub(super) fn llc(rest: Rest<'_>) -> Result<Next<'_>, Unread> {
    match rest.bytes {
        // The second organisation is IEEE 802.1H's.
        &[0xaa, 0xaa, 3, 0, 0, 0 | 0xf8, high, low, ..] => {
            Ok((announced(high, low), rest.skip(8)?))
        }
        _ => Err(Unread::Llc),
    }
}

/// RFC 3032. The last label does not say what follows (RFC 4928): an IP packet, or Ethernet in a
/// pseudowire.
fn mpls(mut rest: Rest<'_>) -> Result<Next<'_>, Unread> {
    loop {
        let (label, behind) = rest.split::<4>()?;
        rest = behind;
        // The bottom of the stack.
        if label[2] & 1 == 1 {
            break;
        }
    }
    if ip::is_header(rest) {
        return Ok((Header::Ip, rest));
    }
    let is_ethernet = |rest: &Rest<'_>| {
        let known = |kind: &[u8]| {
            matches!(
                be16(kind[0], kind[1]),
                0x0800 | 0x86dd | 0x8100 | 0x88a8 | 0x0806 | MPLS | PPPOE
            )
        };
        rest.bytes.get(12..14).is_some_and(known)
    };
    // A control word begins with four zero bits (RFC 4385); it may be left out.
    let behind_word = rest.skip(4).ok().filter(|_| rest.bytes[0] >> 4 == 0);
    let frame = behind_word.into_iter().chain([rest]).find(is_ethernet);
    match frame {
        Some(frame) => Ok((Header::Ethernet, frame)),
        // The control word and Ethernet's header were not captured.
        None if rest.bytes.len() < 18 && rest.original >= 18 => Err(Unread::Cut),
        None => Err(Unread::EtherType(MPLS)),
    }
}

/// RFC 2784 and RFC 2890, and version 1 of RFC 2637.
fn gre(rest: Rest<'_>) -> Result<Next<'_>, Unread> {
    /// Type II and, without a sequence number, type I; type III (draft-foschiano-erspan).
    const ERSPAN: u16 = 0x88be;
    const ERSPAN_3: u16 = 0x22eb;
    let (&[flags, version, high, low], rest) = rest.split()?;
    let [checksum, routing, key, number] = [7, 6, 5, 4].map(|bit| usize::from(flags >> bit & 1));
    let acknowledgement = usize::from(version >> 7);
    if routing == 1 || version & 7 > 1 {
        return Err(Unread::Protocol(GRE));
    }
    let rest = rest.skip(4 * (checksum + key + number + acknowledgement))?;
    match be16(high, low) {
        // An acknowledgement of version 1 alone.
        _ if version & 7 == 1 && number == 0 => Err(Unread::Protocol(GRE)),
        ERSPAN => Ok((Header::Ethernet, rest.skip(8 * number)?)),
        ERSPAN_3 => {
            let has_more = usize::from(rest.first::<12>()?[11] & 1);
            Ok((Header::Ethernet, rest.skip(12 + 8 * has_more)?))
        }
        _ => Ok((announced(high, low), rest)),
    }
}

/// RFC 2516: a session's packets, or how it begins.
pub(super) fn pppoe(rest: Rest<'_>) -> Result<Next<'_>, Unread> {
    match rest.split::<6>()? {
        (&[0x11, 0, ..], rest) => ppp(rest),
        _ => Err(Unread::Ppp),
    }
}

/// RFC 1661, with and without the framing of RFC 1662; or Cisco's framing.
pub(super) fn ppp(rest: Rest<'_>) -> Result<Next<'_>, Unread> {
    let rest = match rest.bytes {
        [0xff, 3, ..] => rest.skip(2)?,
        &[0x0f | 0x8f, 0, high, low, ..] => return Ok((announced(high, low), rest.skip(4)?)),
        _ => rest,
    };
    let first = rest.first::<1>()?[0];
    // A protocol in one byte is odd (RFC 1661, section 6.5).
    let bytes = if first & 1 == 1 { 1 } else { 2 };
    let protocol = if bytes == 1 { u16::from(first) } else { u16::from_be_bytes(*rest.first()?) };
    let rest = rest.skip(bytes)?;
    match protocol {
        0x0021 | 0x0057 => Ok((Header::Ip, rest)),
        0x0281 | 0x0283 => mpls(rest),
        _ => Err(Unread::Ppp),
    }
}

/// Linux's packet log: attributes, one of which is the packet.
pub(super) fn nflog(rest: Rest<'_>) -> Result<Next<'_>, Unread> {
    const PAYLOAD: u8 = 9;
    let mut rest = rest.skip(4)?;
    loop {
        let &[a, b, c, d] = rest.first()?;
        // Length and type are in the byte order of the host that logged; no type is above 255.
        let (length, kind) = if d == 0 { (be16(b, a), c) } else { (be16(a, b), d) };
        if length < 4 {
            return Err(Unread::Malformed);
        }
        if kind == PAYLOAD {
            let packet = rest.up_to(length.into()).skip(4)?;
            // The length is what was logged, not what there was.
            return Ok((Header::Ip, Rest { original: u16::MAX.into(), ..packet }));
        }
        rest = rest.skip(usize::from(length).next_multiple_of(4))?;
    }
}
