//! RTCP (RFC 3550, section 6), told from other datagrams by its structure.

/// The types that are assigned (RFC 3550, 4585, 3611): 200 is a sender's report, 201 a receiver's.
const TYPES: std::ops::RangeInclusive<u8> = 200..=207;
const RECEIVER_REPORT: u8 = 201;
/// Bytes of a header with its source.
const HEADER_BYTES: usize = 8;

/// The type of a packet and its bytes; none if it is no RTCP. `left` is what the datagram has from
/// here on.
fn header(payload: &[u8], left: usize) -> Option<(u8, usize)> {
    let &[first, kind, high, low] = payload.first_chunk()?;
    let bytes = 4 * (usize::from(u16::from_be_bytes([high, low])) + 1);
    let is_one = first >> 6 == 2 && TYPES.contains(&kind) && bytes <= left;
    is_one.then_some((kind, bytes))
}

/// Whether a datagram of `bytes`, of which `payload` was captured, is RTCP: packets whose lengths add
/// up (section 6.1; alone too: RFC 5506).
pub(super) fn is_compound(payload: &[u8], bytes: u32) -> bool {
    let bytes = bytes as usize;
    let mut at = 0;
    while at < bytes {
        let rest = payload.get(at..).unwrap_or_default();
        if at > 0 && rest.len() < 4 && payload.len() < bytes {
            return true;
        }
        match header(rest, bytes - at) {
            Some((_, own)) => at += own,
            None => return false,
        }
    }
    at > 0
}

/// Whether a datagram may be RTCP that is encrypted behind its first header, a report's (RFC 3711,
/// section 3.4): only beside RTP.
pub(crate) fn may_be_secured(payload: &[u8], bytes: u32) -> bool {
    let report = header(payload, bytes as usize).filter(|(kind, _)| *kind <= RECEIVER_REPORT);
    report.is_some_and(|(_, own)| own >= HEADER_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sender's report without blocks, then a source's description of two words.
    fn compound() -> Vec<u8> {
        [&[0x80, 200, 0, 6][..], &[9; 24], &[0x81, 202, 0, 1], &[7; 4]].concat()
    }

    #[test]
    fn lengths_of_a_compound_add_up() {
        let whole = compound();
        assert!(is_compound(&whole, 36) && is_compound(&whole[28..], 8));
        assert!(is_compound(&whole[..30], 36), "the snap length cut it");
        for (what, payload) in [
            ("a byte more", [&whole[..], &[0]].concat()),
            ("a byte less", whole[..35].to_vec()),
            ("another version", [&[0x40], &whole[1..]].concat()),
            ("a type that is not assigned", [&[0x80, 192], &whole[2..]].concat()),
            ("RTP", vec![0x80, 96, 0, 7, 0, 0, 0, 9, 0, 0, 0, 5]),
            ("nothing", vec![]),
        ] {
            assert!(!is_compound(&payload, payload.len() as u32), "{what}");
        }
    }

    #[test]
    fn encrypted_reports_have_one_header_in_clear() {
        let mut secured = compound();
        secured[28..].fill(0xee);
        secured.extend([1; 14]);
        assert!(!is_compound(&secured, 50) && may_be_secured(&secured, 50));
        assert!(!may_be_secured(&[0x81, 202, 0, 1, 0, 0, 0, 0], 8), "no report");
    }
}
