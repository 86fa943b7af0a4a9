//! IEEE 802.11 frames, and the radiotap header before them (radiotap.org).

use super::rest::{Next, Rest};
use super::{Unread, tunnel};

/// What the radio says of a frame that carries data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Radio {
    /// Whether the frame repeats one that was not acknowledged.
    pub is_retry: bool,
    /// The rate it was sent with, bits per second; none if the capture does not say or the rate has
    /// no such number (802.11n and later).
    pub rate_bps: Option<u32>,
}

impl Radio {
    /// What a frame of 802.11 says; none if it carries no data.
    pub(super) fn of(frame: &[u8], rate_bps: Option<u32>) -> Option<Self> {
        let &[kind, flags, ..] = frame else { return None };
        carries_data(kind).then_some(Self { is_retry: flags & RETRY != 0, rate_bps })
    }
}

/// The header that a receiver puts before a frame.
pub(super) struct Radiotap {
    /// The header's length, bytes.
    pub(super) bytes: usize,
    flags: u8,
    /// Bits per second.
    pub(super) rate_bps: Option<u32>,
}

impl Radiotap {
    pub(super) fn parse(frame: &[u8]) -> Option<Self> {
        let &[0, _, low, high, ..] = frame else { return None };
        let bytes = usize::from(u16::from_le_bytes([low, high]));
        let header = frame.get(..bytes)?;
        let present = |at: usize| -> Option<u32> {
            Some(u32::from_le_bytes(*header.get(at..)?.first_chunk()?))
        };
        let fields = present(4)?;
        let mut at = 8;
        // The highest bit announces one more word of such bits.
        while present(at - 4)? >> 31 == 1 {
            at += 4;
        }
        // The first fields: a time of 8 bytes, aligned to them; flags; the rate.
        if fields & 1 != 0 {
            at = at.next_multiple_of(8) + 8;
        }
        let mut byte = |bit: u32| {
            let is_there = fields >> bit & 1 == 1;
            at += usize::from(is_there);
            if is_there { header.get(at - 1).copied() } else { None }
        };
        let flags = byte(1);
        let rate = byte(2);
        Some(Self {
            bytes,
            flags: flags.unwrap_or(0),
            rate_bps: rate.map(|rate| u32::from(rate) * RATE_UNIT_BPS),
        })
    }

    /// The frame arrived damaged: its check sequence is wrong.
    pub(super) fn is_damaged(&self) -> bool {
        self.flags & 0x40 != 0
    }

    /// The frame's header is padded to a multiple of four bytes.
    fn is_padded(&self) -> bool {
        self.flags & 0x20 != 0
    }
}

/// The unit of radiotap's rates, bits per second.
const RATE_UNIT_BPS: u32 = 500_000;

/// Reads a frame behind a radiotap header.
pub(super) fn parse_radiotap(rest: Rest<'_>) -> Result<Next<'_>, Unread> {
    let tap = Radiotap::parse(rest.bytes).ok_or(Unread::Malformed)?;
    if tap.is_damaged() {
        return Err(Unread::DamagedWifi);
    }
    parse(rest.skip(tap.bytes)?, tap.is_padded())
}

/// Reads a frame (IEEE 802.11-2020, section 9.2).
pub(super) fn parse(rest: Rest<'_>, is_padded: bool) -> Result<Next<'_>, Unread> {
    let &[kind, flags] = rest.first()?;
    if !carries_data(kind) {
        return Err(Unread::WifiWithoutData);
    }
    let header = rest.first::<24>()?;
    let has_quality = kind & 0x80 != 0;
    // Between two access points there is a fourth address.
    let fixed = if flags & 3 == 3 { 30 } else { 24 };
    let mut header_bytes = fixed;
    if has_quality {
        // With the last flag 4 bytes of HT control follow.
        header_bytes += 2 + usize::from(flags >> 7) * 4;
    }
    let padding = if is_padded { header_bytes.next_multiple_of(4) - header_bytes } else { 0 };
    let body = rest.skip(header_bytes + padding)?;
    // A driver that decrypts may leave the flag; no cipher's header begins as LLC does.
    if flags & PROTECTED != 0 && !body.bytes.starts_with(&[0xaa, 0xaa, 3]) {
        return Err(Unread::EncryptedWifi);
    }
    if flags & MORE_FRAGMENTS != 0 || header[22] & 15 != 0 {
        return Err(Unread::Fragment);
    }
    if has_quality && rest.bytes[fixed] & AGGREGATE != 0 {
        return Err(Unread::AggregatedWifi);
    }
    tunnel::llc(body)
}

/// Flags of the frame control field, second byte.
const MORE_FRAGMENTS: u8 = 0x04;
const RETRY: u8 = 0x08;
const PROTECTED: u8 = 0x40;
/// In the QoS control field: several packets in one frame (A-MSDU).
const AGGREGATE: u8 = 0x80;

/// Whether the frame control field, first byte, is that of a data frame with data.
fn carries_data(kind: u8) -> bool {
    kind & 0x0f == 0x08 && kind & 0x40 == 0
}
