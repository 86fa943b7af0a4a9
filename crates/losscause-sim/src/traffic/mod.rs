//! Sources without feedback, one file each. TCP and TFRC are sources in their own crate.

use losscause::{Span, Time};

use crate::packet::Datagram;

mod cbr;
mod media;
mod on_off;
mod poisson;

pub(crate) use cbr::Cbr;
pub(crate) use media::{Media, MediaSource};
pub(crate) use on_off::OnOff;
pub(crate) use poisson::Poisson;

/// Packets of one size, numbered from 0, and when the next of them is due.
#[derive(Clone, Debug)]
struct Departures {
    packet_bytes: u32,
    seq: u64,
    next: Option<Time>,
}

impl Departures {
    fn new(packet_bytes: u32) -> Self {
        Self { packet_bytes, seq: 0, next: None }
    }

    /// The first packet is due at this time.
    fn start(&mut self, first: Time) {
        self.next = Some(first);
    }

    #[inline]
    fn next(&self) -> Option<Time> {
        self.next
    }

    /// The next packet, if it is due; `gap` is the time from it to the one after.
    #[inline(always)] // The hot part of a source is short.
    fn take(&mut self, now: Time, gap: impl FnOnce() -> Span) -> Option<Datagram> {
        let due = self.next.filter(|&next| next <= now)?;
        self.next = Some(due + gap());
        let seq = self.seq;
        self.seq += 1;
        Some(Datagram { seq, bytes: self.packet_bytes })
    }
}

/// Equal spacing that need not be a whole number of nanoseconds: remainders are carried over, not
/// lost.
#[derive(Clone, Debug)]
struct Spacing {
    whole: i64,
    remainder: u64,
    /// Remainders so far, in units of 1/`rate_bps` nanoseconds.
    carried: u64,
    rate_bps: u64,
}

impl Spacing {
    /// The time between the starts of packets of this size, back to back at this rate.
    fn new(rate_bps: u64, packet_bytes: u32) -> Self {
        let bits = u128::from(packet_bytes) * 8 * 1_000_000_000;
        let rate = u128::from(rate_bps);
        Self { whole: (bits / rate) as i64, remainder: (bits % rate) as u64, carried: 0, rate_bps }
    }

    #[inline]
    fn next(&mut self) -> Span {
        // Both are below rate_bps. No branch, because it could not be predicted.
        let (carried, overflown) = self.carried.overflowing_add(self.remainder);
        let full = overflown | (carried >= self.rate_bps);
        self.carried = carried.wrapping_sub(self.rate_bps * u64::from(full));
        Span::from_nanos(self.whole + i64::from(full))
    }

    /// Mean spacing, nanoseconds.
    fn mean_nanos(&self) -> f64 {
        self.whole as f64 + self.remainder as f64 / self.rate_bps as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spacing_does_not_drift() {
        // 1000 bytes at 3 Mb/s: 2,666,666.67 ns.
        let mut spacing = Spacing::new(3_000_000, 1000);
        let gaps = [(); 3].map(|()| spacing.next().as_nanos());
        assert_eq!(gaps.iter().sum::<i64>(), 8_000_000);
        assert!(gaps.iter().all(|gap| (2_666_666..=2_666_667).contains(gap)));
    }
}
