//! The format of the packets: RTP for data, RTCP's form for everything else.
//!
//! ```text
//! data      RTP packet                            | tag (16)
//! control   RTCP APP packet "LCMS" | number (8)   | tag (16)
//! ```
//!
//! The second byte tells them apart, as RFC 5761 (section 4) has it for RTP and RTCP on one port:
//! 192 to 223 is RTCP. The tag authenticates all bytes before it ([`crate::Key`]). The trailer of
//! control packets has the place that SRTCP gives to its own (RFC 3711, section 3.4): after the
//! RTCP packet and not part of its length. The functions here neither write nor check tags.
//! Integers are big-endian.
//!
//! - [`rtp`]: data packets, with the header extension that TFRC needs.
//! - [`control`]: the handshake, keep-alives, the end.
//! - [`feedback`]: the receiver's report.
//!
//! ```
//! use losscause_media::wire::control::{Control, Reason};
//! use losscause_media::wire::feedback::Feedback;
//! use losscause_media::wire::{Kind, kind, rtp};
//!
//! let header = rtp::Header {
//!     marker: true,
//!     payload_type: 96,
//!     seq: 70_000,
//!     media_time: 90_000,
//!     ssrc: 1,
//!     sent_us: 1_000_000,
//!     rtt_us: 40_000,
//! };
//! let mut data = Vec::new();
//! header.write(&mut data);
//! data.extend(b"a frame");
//! assert_eq!(
//!     (kind(&data), rtp::parse(&data)),
//!     (Some(Kind::Data), Some((header, &b"a frame"[..])))
//! );
//!
//! let mut report =
//!     Feedback { highest: 70_000, received: 69_990, lost_wireless: 11, ..Feedback::default() };
//! report.set_loss_event_rate(0.25);
//! for control in
//!     [Control::Feedback(report), Control::Bye { packets: 70_001, reason: Reason::Finished }]
//! {
//!     let mut bytes = Vec::new();
//!     control.write(1, 5, &mut bytes);
//!     assert_eq!(
//!         (kind(&bytes), Control::parse(&bytes)),
//!         (Some(Kind::Control), Some((1, 5, control)))
//!     );
//! }
//! ```

pub mod control;
pub mod feedback;
pub mod rtp;

/// Bytes of the tag at the end of every packet.
pub const TAG_BYTES: usize = 16;
/// Bytes of the number before the tag of a control packet.
pub const NUMBER_BYTES: usize = 8;

/// The two kinds of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An RTP packet.
    Data,
    /// A packet of RTCP's form.
    Control,
}

/// The kind of a packet; none if it is neither RTP's nor RTCP's version 2.
pub fn kind(bytes: &[u8]) -> Option<Kind> {
    let [first, second, ..] = bytes else { return None };
    match (first >> 6, second) {
        (2, 192..=223) => Some(Kind::Control),
        (2, _) => Some(Kind::Data),
        _ => None,
    }
}

/// Reads integers from the front of a packet; none where it ends.
#[derive(Clone, Copy, Debug)]
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_byte_tells_data_control_and_unknown_versions() {
        assert_eq!(kind(&[0x90, 96]), Some(Kind::Data));
        assert_eq!(kind(&[0x90, 0x80 | 96]), Some(Kind::Data), "a marker bit");
        assert_eq!(kind(&[0x84, 204]), Some(Kind::Control));
        assert_eq!(kind(&[0x50, 96]), None);
        assert_eq!(kind(&[0x80]), None);
    }
}
