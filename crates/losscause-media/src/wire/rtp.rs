//! Data packets: RTP (RFC 3550, section 5.1) with a header extension (RFC 8285, one-byte form).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! |V=2|P|1|  CC=0 |M| payload type|       sequence number         |
//! |                       media timestamp                         |
//! |                             SSRC                              |
//! |            0xBEDE             |           length = 5          |
//! | ID=1  | L=7   |          send timestamp, µs (64 bits) …       |
//! |   …                           | ID=2  | L=3   |  RTT, µs  …   |
//! |   …                           | ID=3  | L=3   |  cycles   …   |
//! |   …                           |    padding (0), 1 byte …      |
//! |                          payload …                            |
//! ```
//!
//! TFRC's data packets carry three things (RFC 5348, section 3.2.1): a sequence number, the time of
//! sending, and the sender's estimate of the round-trip time. An expired draft of the AVT working
//! group (draft-ietf-avt-tfrc-profile, "RTP with TCP Friendly Rate Control") put them into RTP's
//! fixed header; a header extension leaves that as it is.
//!
//! | element | ID | bytes | unit | |
//! |---|---|---|---|---|
//! | send timestamp | 1 | 8 | µs | by the sender's clock, whose zero is arbitrary |
//! | RTT | 2 | 4 | µs | 0: no estimate yet |
//! | cycles | 3 | 4 | 2^16 packets | the upper bits of the sequence number, so that it never wraps |
//!
//! Deviations: the cycles are sent and not estimated as in RFC 3550, appendix A.1, so a long outage
//! cannot confuse the receiver. Sequence numbers begin at 0: their random start (RFC 3550, section
//! 5.1) hinders attacks on encryption, and there is none. The parser takes what RTP allows (CSRCs,
//! padding, other elements) and ignores it.

use super::Fields;

/// Bytes before the payload.
pub const HEADER_BYTES: usize = 12 + 4 + ELEMENTS_BYTES;
/// The three elements, a byte more for each, and padding to a multiple of four.
const ELEMENTS_BYTES: usize = 20;

/// The profile of RFC 8285, section 4.2.
const ONE_BYTE_FORM: u16 = 0xBEDE;
const SEND_TIME: u8 = 1;
const RTT: u8 = 2;
const CYCLES: u8 = 3;
/// An element with this ID ends the extension (RFC 8285, section 4.2).
const STOP: u8 = 15;

/// The largest payload type.
pub const MAX_PAYLOAD_TYPE: u8 = 127;
/// The largest sequence number, 2^48 - 1.
pub const MAX_SEQ: u64 = (1 << 48) - 1;

/// What stands before the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// M: the last packet of a frame, by most payload formats.
    pub marker: bool,
    /// 0 to 127.
    pub payload_type: u8,
    /// One per packet, 48 bits.
    pub seq: u64,
    /// Timestamp of the media, in the payload format's own unit.
    pub media_time: u32,
    /// The stream.
    pub ssrc: u32,
    /// When the packet was sent, µs by the sender's clock.
    pub sent_us: u64,
    /// The sender's estimate of the round-trip time, µs; 0 if it has none.
    pub rtt_us: u32,
}

impl Header {
    /// Appends the header to `out`. Higher bits of fields that are too large are cut off.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(0x90);
        out.push(u8::from(self.marker) << 7 | self.payload_type & MAX_PAYLOAD_TYPE);
        out.extend((self.seq as u16).to_be_bytes());
        out.extend(self.media_time.to_be_bytes());
        out.extend(self.ssrc.to_be_bytes());
        out.extend(ONE_BYTE_FORM.to_be_bytes());
        out.extend((ELEMENTS_BYTES as u16 / 4).to_be_bytes());
        element(out, SEND_TIME, &self.sent_us.to_be_bytes());
        element(out, RTT, &self.rtt_us.to_be_bytes());
        element(out, CYCLES, &((self.seq >> 16) as u32).to_be_bytes());
        out.push(0);
    }
}

fn element(out: &mut Vec<u8>, id: u8, data: &[u8]) {
    out.push(id << 4 | (data.len() - 1) as u8);
    out.extend(data);
}

/// Reads a packet without its tag: header and payload. None if it is no RTP packet, or one of the
/// three elements is missing or of another length.
pub fn parse(bytes: &[u8]) -> Option<(Header, &[u8])> {
    let mut fields = Fields(bytes);
    let [first, second] = fields.array()?;
    let version = first >> 6;
    let padded = first & 0x20 != 0;
    let extended = first & 0x10 != 0;
    let sources = first & 0x0F;
    if version != 2 || !extended {
        return None;
    }
    let seq = fields.u16()?;
    let media_time = fields.u32()?;
    let ssrc = fields.u32()?;
    fields.0 = fields.0.get(4 * usize::from(sources)..)?;
    if fields.u16()? != ONE_BYTE_FORM {
        return None;
    }
    let words = usize::from(fields.u16()?);
    let (extension, mut payload) = fields.0.split_at_checked(4 * words)?;
    let elements = Elements::parse(extension)?;
    if padded {
        // The last byte counts the padding, itself included (RFC 3550, section 5.1).
        let padding = usize::from(*payload.last()?);
        let end = payload.len().checked_sub(padding).filter(|_| padding > 0)?;
        payload = payload.get(..end)?;
    }
    let header = Header {
        marker: second & 0x80 != 0,
        payload_type: second & MAX_PAYLOAD_TYPE,
        seq: u64::from(elements.cycles?) << 16 | u64::from(seq),
        media_time,
        ssrc,
        sent_us: elements.sent_us?,
        rtt_us: elements.rtt_us?,
    };
    Some((header, payload))
}

#[derive(Default)]
struct Elements {
    sent_us: Option<u64>,
    rtt_us: Option<u32>,
    cycles: Option<u32>,
}

impl Elements {
    fn parse(extension: &[u8]) -> Option<Self> {
        let mut found = Self::default();
        let mut rest = extension;
        while let [head, after @ ..] = rest {
            let id = head >> 4;
            let bytes = usize::from(head & 0x0F) + 1;
            match id {
                // Padding has no length.
                0 => {
                    rest = after;
                    continue;
                }
                STOP => break,
                _ => {}
            }
            let (data, next) = after.split_at_checked(bytes)?;
            match id {
                SEND_TIME => found.sent_us = Some(u64::from_be_bytes(data.try_into().ok()?)),
                RTT => found.rtt_us = Some(u32::from_be_bytes(data.try_into().ok()?)),
                CYCLES => found.cycles = Some(u32::from_be_bytes(data.try_into().ok()?)),
                _ => {}
            }
            rest = next;
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: Header = Header {
        marker: true,
        payload_type: 96,
        seq: 0x0001_0002_0304,
        media_time: 90_000,
        ssrc: 0xAABB_CCDD,
        sent_us: 0x0102_0304_0506_0708,
        rtt_us: 40_000,
    };

    #[test]
    fn a_packet_has_the_bytes_that_the_drawing_shows() {
        let mut bytes = Vec::new();
        HEADER.write(&mut bytes);
        let expected = [
            0x90, 0xE0, 0x03, 0x04, 0x00, 0x01, 0x5F, 0x90, 0xAA, 0xBB, 0xCC, 0xDD, 0xBE, 0xDE,
            0x00, 0x05, 0x17, 1, 2, 3, 4, 5, 6, 7, 8, 0x23, 0x00, 0x00, 0x9C, 0x40, 0x33, 0x00,
            0x01, 0x00, 0x02, 0x00,
        ];
        assert_eq!((bytes.len(), &bytes[..]), (HEADER_BYTES, &expected[..]));
        bytes.extend(b"frame");
        assert_eq!(parse(&bytes), Some((HEADER, &b"frame"[..])));
    }

    #[test]
    fn sources_padding_and_unknown_elements_are_skipped() {
        let mut bytes = Vec::new();
        HEADER.write(&mut bytes);
        // Two CSRCs, an element of ID 5 instead of the padding byte, and three bytes of padding.
        bytes[0] |= 0x22;
        bytes.splice(12..12, [9; 8]);
        let end = bytes.len();
        bytes.splice(end - 1..end, [0x50, 7, 0, 0, 0]);
        bytes[23] = 6;
        bytes.extend([b'x', 0, 0, 3]);
        assert_eq!(parse(&bytes), Some((HEADER, &b"x"[..])));
    }

    #[test]
    fn a_packet_that_lacks_tfrcs_needs_or_contradicts_is_refused() {
        let mut good = Vec::new();
        HEADER.write(&mut good);
        let changed = |at: usize, value: u8| {
            let mut bytes = good.clone();
            bytes[at] = value;
            parse(&bytes).map(|_| ())
        };
        assert_eq!(changed(0, 0x50), None, "version 1");
        assert_eq!(changed(0, 0x80), None, "no extension");
        assert_eq!(changed(12, 0x10), None, "another form of extension");
        assert_eq!(changed(15, 6), None, "longer than the packet");
        assert_eq!(changed(16, 0x47), None, "no send timestamp");
        assert_eq!(changed(25, 0x22), None, "a round-trip time of three bytes");
        assert_eq!(changed(0, 0xB0), None, "padding without a payload");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            marker in any::<bool>(), payload_type in 0..=MAX_PAYLOAD_TYPE, seq in 0..=MAX_SEQ, media_time in any::<u32>(),
            ssrc in any::<u32>(), sent_us in any::<u64>(), rtt_us in any::<u32>(),
            payload in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let header = Header { marker, payload_type, seq, media_time, ssrc, sent_us, rtt_us };
            let mut bytes = Vec::new();
            header.write(&mut bytes);
            bytes.extend(&payload);
            prop_assert_eq!(parse(&bytes), Some((header, &payload[..])));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut bytes = bytes;
            parse(&bytes);
            // Again with a head that leads deeper.
            if bytes.len() > 16 {
                bytes[0] = 0x90;
                bytes[12..14].copy_from_slice(&[0xBE, 0xDE]);
                parse(&bytes);
            }
        }
    }
}
