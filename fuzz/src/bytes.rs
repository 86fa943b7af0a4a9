//! Numbers from the fuzzer's bytes, in little-endian order, until they run out.

use losscause::Time;
use losscause::arrivals::MAX_JUMP_PKTS;

/// The bytes that are left.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.take().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Option<i64> {
        self.take().map(i64::from_le_bytes)
    }

    /// Any float: NaN, the infinities and negative ones too.
    pub(crate) fn f64(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes)
    }

    /// A sequence number near `near`, or any at all.
    pub(crate) fn seq(&mut self, near: u64) -> Option<u64> {
        Some(match self.u8()? % 8 {
            0..=3 => near.wrapping_add(1),
            4 => near.wrapping_add(u64::from(self.u8()?)),
            5 => near.wrapping_sub(u64::from(self.u8()?)),
            6 => near.wrapping_add(u64::from(self.u16()?)),
            _ => self.u64()?,
        })
    }

    /// An instant of a foreign clock: up to 4 s before `now`, or any at all.
    pub(crate) fn foreign_time(&mut self, now: Time) -> Option<Time> {
        Some(if self.u8()? % 4 == 0 {
            Time::from_nanos(self.i64()?)
        } else {
            Time::from_nanos(now.as_nanos().wrapping_sub(i64::from(self.u32()?)))
        })
    }

    /// The own clock moves on: up to 65 µs, 4 s or 73 min.
    pub(crate) fn later(&mut self, now: Time) -> Option<Time> {
        let nanos = match self.u8()? % 4 {
            0 => 0,
            1 => i64::from(self.u16()?),
            2 => i64::from(self.u32()?),
            _ => i64::from(self.u32()?) * 1024,
        };
        Some(Time::from_nanos(now.as_nanos() + nanos))
    }
}

/// Packets that an input may still skip. Each skipped packet is judged, so without a limit an input
/// could take seconds and the fuzzer would try few.
pub(crate) struct Skips(u64);

impl Skips {
    /// One jump of any length, and as much again.
    pub(crate) fn new() -> Self {
        Self(2 * MAX_JUMP_PKTS)
    }

    /// Takes the packets between `before` and `seq` off; whether they were left.
    pub(crate) fn take(&mut self, before: u64, seq: u64) -> bool {
        let skipped = seq.saturating_sub(before);
        if skipped <= MAX_JUMP_PKTS {
            match self.0.checked_sub(skipped) {
                Some(left) => self.0 = left,
                None => return false,
            }
        }
        true
    }
}
