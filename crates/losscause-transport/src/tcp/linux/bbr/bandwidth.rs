//! Bandwidth in packets, and gains, as fixed-point numbers.

use losscause::Span;

/// Packets per microsecond, in 2^-24 (the kernel's `BW_UNIT`): 715 b/s at 1500 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bandwidth(u64);

/// A factor in 1/256 (the kernel's `BBR_UNIT`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Gain(u64);

const BANDWIDTH_BITS: u32 = 24;

/// The rate is 1 % below the estimate, so that a queue drains in the long run.
const MARGIN_PERCENT: u64 = 1;

impl Gain {
    pub(super) const ONE: Self = Self::of(1, 1);

    /// A ratio, rounded down.
    pub(super) const fn of(numerator: u64, denominator: u64) -> Self {
        Self(256 * numerator / denominator)
    }

    /// The next larger gain.
    pub(super) const fn rounded_up(self) -> Self {
        Self(self.0 + 1)
    }

    /// That much of `value`, rounded down.
    pub(super) fn times(self, value: u64) -> u64 {
        u64::try_from((u128::from(value) * u128::from(self.0)) >> 8).unwrap_or(u64::MAX)
    }
}

impl Bandwidth {
    /// `pkts` within `interval`, which is above zero; rounded down, at most 3 Tb/s.
    pub(super) fn of(pkts: u64, interval: Span) -> Self {
        let scaled = u128::from(pkts) << BANDWIDTH_BITS;
        let bandwidth = scaled / u128::from(micros(interval).max(1));
        Self(u64::try_from(bandwidth).unwrap_or(u64::MAX).min(u32::MAX.into()))
    }

    /// Packets within `time`, rounded down.
    pub(super) fn pkts_in(self, time: Span) -> u64 {
        u64::try_from((u128::from(self.0) * u128::from(micros(time))) >> BANDWIDTH_BITS)
            .unwrap_or(u64::MAX)
    }

    /// The product with `time` and `gain`, rounded up to whole packets.
    pub(super) fn product(self, time: Span, gain: Gain) -> u64 {
        let product = (u128::from(self.0) * u128::from(micros(time)) * u128::from(gain.0)) >> 8;
        u64::try_from(product.div_ceil(1 << BANDWIDTH_BITS)).unwrap_or(u64::MAX)
    }

    /// The sending rate with `gain`, payload in bytes per second, less the margin.
    pub(super) fn bytes_per_s(self, payload_bytes: u32, gain: Gain) -> u64 {
        let rate = (u128::from(self.0) * u128::from(payload_bytes) * u128::from(gain.0)) >> 8;
        let rate = (rate * u128::from(10_000 * (100 - MARGIN_PERCENT))) >> BANDWIDTH_BITS;
        u64::try_from(rate).unwrap_or(u64::MAX)
    }

    pub(super) fn scaled(self, gain: Gain) -> Self {
        Self(gain.times(self.0))
    }

    pub(super) fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }

    pub(super) fn mean_with(self, other: Self) -> Self {
        Self(self.0.midpoint(other.0))
    }
}

/// Whole microseconds, which the kernel's clock has.
fn micros(time: Span) -> u64 {
    u64::try_from(time.as_nanos() / 1_000).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bandwidth_counts_packets_of_any_time() {
        // 10 packets in 12 ms, 10 Mb/s of 1500 bytes: 10 * 2^24/12,000 = 13,981.01.
        let bandwidth = Bandwidth::of(10, Span::from_millis(12));
        assert_eq!(bandwidth, Bandwidth(13_981));
        // 33.33 packets in 40 ms.
        assert_eq!(bandwidth.pkts_in(Span::from_millis(40)), 33);
        assert_eq!(bandwidth.product(Span::from_millis(40), Gain::ONE), 34);
        assert_eq!(bandwidth.product(Span::from_millis(40), Gain::of(2, 1)), 67);
    }

    #[test]
    fn the_sending_rate_is_one_percent_lower() {
        let bandwidth = Bandwidth::of(1_000, Span::from_secs(1));
        // 1000 packets per second are 16,777 units, or 999.987 of them; 99 % of 1,448,000 bytes.
        assert_eq!(bandwidth.bytes_per_s(1_448, Gain::ONE), 1_433_501);
        assert_eq!(bandwidth.bytes_per_s(1_448, Gain::of(5, 4)), 1_791_876);
    }
}
