//! How long a transmission takes.

use losscause::Span;

/// A rate that never changes.
#[derive(Clone, Debug)]
pub(super) struct ConstantRate {
    /// The last packet's size and transmission time: most packets are alike.
    last: (u32, Span),
    rate_bps: u64,
}

impl ConstantRate {
    pub(super) fn new(rate_bps: u64) -> Self {
        Self { last: (0, Span::ZERO), rate_bps }
    }

    /// Of a packet of this size.
    #[inline]
    pub(super) fn transmission_time(&mut self, wire_bytes: u32) -> Span {
        if self.last.0 != wire_bytes {
            self.last = (wire_bytes, transmission_time_rounded(wire_bytes, self.rate_bps));
        }
        self.last.1
    }
}

/// Of a packet of this size at this rate, rounded to the nearest nanosecond.
pub(super) fn transmission_time_rounded(wire_bytes: u32, rate_bps: u64) -> Span {
    let rate = u128::from(rate_bps);
    let nanos = (u128::from(wire_bytes) * 8 * 1_000_000_000 + rate / 2) / rate;
    Span::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_takes_size_over_rate() {
        assert_eq!(transmission_time_rounded(762, 150_000), Span::from_micros(40_640));
        assert_eq!(transmission_time_rounded(1040, 1_600_000), Span::from_micros(5_200));
        // 2,666,666.67 ns.
        assert_eq!(transmission_time_rounded(1000, 3_000_000), Span::from_nanos(2_666_667));
        assert_eq!(transmission_time_rounded(u32::MAX, 1), Span::MAX);
    }
}
