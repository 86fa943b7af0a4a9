//! Control packets: RTCP APP packets (RFC 3550, section 6.7) with the name "LCMS", then a number.
//!
//! ```text
//! |V=2|P=0| subtype |    PT=204     |            length           |
//! |                             SSRC                              |
//! |                            "LCMS"                             |
//! |                            body …                             |
//! |                   number (64 bits), after the RTCP packet     |
//! ```
//!
//! | subtype | packet | direction | body |
//! |---|---|---|---|
//! | 0 | Hello | to the receiver | packet size (2), 22 bytes of 0, nonce (16) |
//! | 1 | Challenge | to the sender | nonce (16), cookie (24) |
//! | 2 | Start | to the receiver | packet size (2), 2 bytes of 0, nonce (16), cookie (24) |
//! | 3 | Accept | to the sender | none |
//! | 4 | Feedback | to the sender | see [`super::feedback`] |
//! | 5 | Alive | both | none |
//! | 6 | Bye | both | packets sent (8), reason (4) |
//!
//! Hello is as long as Challenge, and Start longer than Accept: whoever forges a source address
//! gets no more bytes sent there than were sent here. The number counts the control packets of one
//! direction; a packet whose number is not above the last one is a replay. In the handshake it is
//! 0, and nonce and cookie take its place.
//!
//! APP is RTCP's form for experiments; there is no number to be assigned. Deviations: packets are
//! not compound (RFC 5506 allows that for feedback).

use super::feedback::Feedback;
use super::{Fields, NUMBER_BYTES};

/// Bytes of a nonce: random, new for each stream.
pub const NONCE_BYTES: usize = 16;
/// Bytes of a cookie, which only the receiver that made it understands.
pub const COOKIE_BYTES: usize = 24;

/// A sender's random choice.
pub type Nonce = [u8; NONCE_BYTES];
/// A receiver's proof that a sender is at its address.
pub type Cookie = [u8; COOKIE_BYTES];

/// PT of APP.
const APP: u8 = 204;
const NAME: [u8; 4] = *b"LCMS";
/// Header, SSRC and name.
const HEAD_BYTES: usize = 12;

/// A control packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The sender asks for a stream.
    Hello {
        /// Size of its data packets, bytes of UDP payload.
        packet_bytes: u16,
        /// The sender's random choice.
        nonce: Nonce,
    },
    /// The receiver asks for proof that the sender is at its address.
    Challenge {
        /// As in Hello.
        nonce: Nonce,
        /// To be returned.
        cookie: Cookie,
    },
    /// The sender proves it.
    Start {
        /// As in Hello.
        packet_bytes: u16,
        /// As in Hello.
        nonce: Nonce,
        /// As in Challenge.
        cookie: Cookie,
    },
    /// The receiver takes the stream: data may follow.
    Accept,
    /// The receiver's report.
    Feedback(Feedback),
    /// The peer is still there.
    Alive,
    /// The stream ends; answered with Bye.
    Bye {
        /// Data packets that the sender sent; 0 from a receiver.
        packets: u64,
        /// Why.
        reason: Reason,
    },
}

/// Why a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Reason {
    /// All was sent.
    Finished = 0,
    /// The peer was stopped.
    Stopped = 1,
}

impl Control {
    /// Appends the packet and its number, without a tag, to `out`.
    pub fn write(&self, ssrc: u32, number: u64, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend([0x80 | self.subtype(), APP, 0, 0]);
        out.extend(ssrc.to_be_bytes());
        out.extend(NAME);
        match self {
            Self::Hello { packet_bytes, nonce } => {
                out.extend(packet_bytes.to_be_bytes());
                out.extend([0; 22]);
                out.extend(nonce);
            }
            Self::Challenge { nonce, cookie } => {
                out.extend(nonce);
                out.extend(cookie);
            }
            Self::Start { packet_bytes, nonce, cookie } => {
                out.extend(packet_bytes.to_be_bytes());
                out.extend([0; 2]);
                out.extend(nonce);
                out.extend(cookie);
            }
            Self::Accept | Self::Alive => {}
            Self::Feedback(feedback) => feedback.write(out),
            Self::Bye { packets, reason } => {
                out.extend(packets.to_be_bytes());
                out.extend((*reason as u32).to_be_bytes());
            }
        }
        // In words of four bytes, less one (RFC 3550, section 6.4.1).
        let words = (out.len() - start) / 4 - 1;
        out[start + 2..start + 4].copy_from_slice(&(words as u16).to_be_bytes());
        out.extend(number.to_be_bytes());
    }

    /// Reads a packet without its tag: SSRC, number and content. None if it is of another form or
    /// length.
    pub fn parse(bytes: &[u8]) -> Option<(u32, u64, Self)> {
        let (packet, number) = bytes.split_last_chunk::<NUMBER_BYTES>()?;
        let mut fields = Fields(packet);
        let [first, second] = fields.array()?;
        let words = usize::from(fields.u16()?);
        if first >> 5 != 0b100 || second != APP || packet.len() != 4 * (words + 1) {
            return None;
        }
        let ssrc = fields.u32()?;
        if fields.array()? != NAME {
            return None;
        }
        let control = Self::body(first & 0x1F, &mut fields)?;
        fields.0.is_empty().then_some((ssrc, u64::from_be_bytes(*number), control))
    }

    fn body(subtype: u8, body: &mut Fields<'_>) -> Option<Self> {
        Some(match subtype {
            0 => {
                let packet_bytes = body.u16()?;
                let _reserved: [u8; 22] = body.array()?;
                Self::Hello { packet_bytes, nonce: body.array()? }
            }
            1 => Self::Challenge { nonce: body.array()?, cookie: body.array()? },
            2 => {
                let packet_bytes = body.u16()?;
                let _reserved = body.u16()?;
                Self::Start { packet_bytes, nonce: body.array()?, cookie: body.array()? }
            }
            3 => Self::Accept,
            4 => Self::Feedback(Feedback::parse(body)?),
            5 => Self::Alive,
            6 => {
                let packets = body.u64()?;
                let reason = if body.u32()? == 0 { Reason::Finished } else { Reason::Stopped };
                Self::Bye { packets, reason }
            }
            _ => return None,
        })
    }

    fn subtype(&self) -> u8 {
        match self {
            Self::Hello { .. } => 0,
            Self::Challenge { .. } => 1,
            Self::Start { .. } => 2,
            Self::Accept => 3,
            Self::Feedback(_) => 4,
            Self::Alive => 5,
            Self::Bye { .. } => 6,
        }
    }
}

/// The smallest control packet without its tag, bytes.
pub const LEAST_BYTES: usize = HEAD_BYTES + NUMBER_BYTES;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NONCE: Nonce = [7; NONCE_BYTES];
    const COOKIE: Cookie = [9; COOKIE_BYTES];

    fn bytes(control: Control) -> Vec<u8> {
        let mut bytes = Vec::new();
        control.write(0x0102_0304, 5, &mut bytes);
        bytes
    }

    fn all() -> [Control; 7] {
        [
            Control::Hello { packet_bytes: 1200, nonce: NONCE },
            Control::Challenge { nonce: NONCE, cookie: COOKIE },
            Control::Start { packet_bytes: 1200, nonce: NONCE, cookie: COOKIE },
            Control::Accept,
            Control::Feedback(Feedback {
                highest: 1,
                echo_us: 2,
                hold_us: 3,
                receive_rate: 4,
                ..Feedback::default()
            }),
            Control::Alive,
            Control::Bye { packets: 70_000, reason: Reason::Stopped },
        ]
    }

    #[test]
    fn every_packet_is_read_as_it_was_written() {
        for control in all() {
            assert_eq!(Control::parse(&bytes(control)), Some((0x0102_0304, 5, control)));
        }
    }

    #[test]
    fn a_bye_has_the_bytes_that_the_drawing_shows() {
        let expected = [
            0x86, 204, 0, 5, 1, 2, 3, 4, b'L', b'C', b'M', b'S', 0, 0, 0, 0, 0, 1, 0x11, 0x70, 0,
            0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5,
        ];
        assert_eq!(bytes(all()[6]), expected);
    }

    #[test]
    fn an_answer_before_validation_is_no_longer_than_its_question() {
        let [hello, challenge, start, accept, ..] = all().map(|control| bytes(control).len());
        assert_eq!((hello, challenge, start, accept), (60, 60, 64, 20));
    }

    #[test]
    fn another_name_length_version_or_subtype_is_refused() {
        let good = bytes(Control::Alive);
        assert_eq!(good.len(), LEAST_BYTES);
        for (at, value) in [(0, 0x45), (0, 0xA5), (0, 0x87), (1, 203), (3, 3), (8, b'X')] {
            let mut bad = good.clone();
            bad[at] = value;
            assert_eq!(Control::parse(&bad), None, "byte {at} = {value}");
        }
        assert_eq!(Control::parse(&good[1..]), None);
        let mut longer = bytes(Control::Accept);
        longer.splice(12..12, [0; 4]);
        longer[3] = 3;
        assert_eq!(Control::parse(&longer), None, "a body where none belongs");
    }

    proptest! {
        #[test]
        fn no_bytes_panic_and_what_is_read_is_written_again(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            if let Some((ssrc, number, control)) = Control::parse(&bytes) {
                let mut again = Vec::new();
                control.write(ssrc, number, &mut again);
                prop_assert_eq!(Control::parse(&again), Some((ssrc, number, control)));
            }
        }
    }
}
