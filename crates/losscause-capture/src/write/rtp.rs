//! RTP and the report of its receiver (RFC 3550).

/// An RTP header without contributing sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rtp {
    /// Sequence number.
    pub sequence: u16,
    /// Timestamp, in ticks of the clock of the payload type.
    pub timestamp: u32,
    /// The source (SSRC).
    pub source: u32,
    /// Payload type, 0 to 127. From 96 on it has no fixed meaning.
    pub payload_type: u8,
}

impl Rtp {
    /// Bytes of the header.
    pub const BYTES: usize = 12;

    /// Section 5.1. `out` has the header's length.
    pub(super) fn write(&self, out: &mut [u8]) {
        out[0] = VERSION_2;
        out[1] = self.payload_type & 0x7f;
        out[2..4].copy_from_slice(&self.sequence.to_be_bytes());
        out[4..8].copy_from_slice(&self.timestamp.to_be_bytes());
        out[8..12].copy_from_slice(&self.source.to_be_bytes());
    }
}

/// A TFRC report (RFC 5348, section 3.2.2) in a packet of RTCP's type APP, which is meant for what
/// RTCP does not define (RFC 3550, section 6.7). It stands alone in its datagram (RFC 5506).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtcpReport {
    /// The reporter (SSRC).
    pub source: u32,
    /// RTP timestamp of the last data packet received.
    pub echo: u32,
    /// How long ago that packet arrived, microseconds (t_delay).
    pub hold_us: u32,
    /// Receive rate, bytes per second (X_recv).
    pub receive_rate: u32,
    /// Loss event rate times 2^32, at most 2^32 - 1 (p).
    pub loss_event_rate: u32,
}

impl RtcpReport {
    /// Bytes of the report.
    pub const BYTES: usize = 28;

    /// Section 6.7: header, source, name, then the four fields in the order above. `out` has the
    /// report's length.
    pub(super) fn write(&self, out: &mut [u8]) {
        const TYPE_APP: u8 = 204;
        // Length in words, minus one.
        const WORDS: u8 = (RtcpReport::BYTES / 4 - 1) as u8;
        out[0..4].copy_from_slice(&[VERSION_2, TYPE_APP, 0, WORDS]);
        out[4..8].copy_from_slice(&self.source.to_be_bytes());
        out[8..12].copy_from_slice(b"TFRC");
        let fields = [self.echo, self.hold_us, self.receive_rate, self.loss_event_rate];
        for (place, field) in out[12..].chunks_exact_mut(4).zip(fields) {
            place.copy_from_slice(&field.to_be_bytes());
        }
    }
}

/// Version 2, no padding, no extension, no sources.
const VERSION_2: u8 = 0x80;
