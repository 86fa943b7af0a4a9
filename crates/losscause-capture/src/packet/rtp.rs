//! The RTP header (RFC 3550, section 5.1).

/// What an RTP packet says, as far as losses need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rtp {
    /// Sequence number; one more with every packet.
    pub seq: u16,
    /// Sampling instant of the first byte, in ticks of the payload's clock.
    pub timestamp: u32,
    /// Synchronisation source: one stream of a sender.
    pub ssrc: u32,
    /// Payload type, 0 to 127.
    pub payload_type: u8,
}

impl Rtp {
    /// Reads a header; none if the payload cannot be RTP. A UDP payload that passes may still be
    /// something else, so a stream must prove itself with several packets.
    #[inline]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let header = payload.first_chunk::<12>()?;
        // Version 2. RTCP shares the version; its packet types are 192 to 223 (RFC 5761, section
        // 4).
        if header[0] >> 6 != 2 || (192..=223).contains(&header[1]) {
            return None;
        }
        Some(Self {
            seq: u16::from_be_bytes([header[2], header[3]]),
            timestamp: u32::from_be_bytes([header[4], header[5], header[6], header[7]]),
            ssrc: u32::from_be_bytes([header[8], header[9], header[10], header[11]]),
            payload_type: header[1] & 0x7f,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rtp_is_told_from_rtcp_quic_and_noise() {
        let packet = |first: u8, second: u8| [first, second, 0, 7, 0, 0, 0, 9, 0, 0, 0, 5];
        let rtp = Rtp { seq: 7, timestamp: 9, ssrc: 5, payload_type: 96 };
        assert_eq!(Rtp::parse(&packet(0x80, 96)), Some(rtp));
        assert_eq!(Rtp::parse(&packet(0x90, 0x80 | 96)), Some(rtp), "with extension and marker");
        assert_eq!(Rtp::parse(&packet(0x80, 200)), None, "an RTCP sender report");
        assert_eq!(Rtp::parse(&packet(0x40, 96)), None, "a QUIC packet");
        assert_eq!(Rtp::parse(&packet(0x80, 96)[..11]), None);
    }
}
