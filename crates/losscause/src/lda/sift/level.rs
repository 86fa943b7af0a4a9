//! How the delay stands out of those of the last second.

use super::clues::signed;

/// The mean delay of the last second, or of the last eight rounds if they take longer, and the mean
/// deviation from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    mean: i64,
    deviation: i64,
    /// The gain is 1/2^`shift`.
    shift: u8,
}

impl Level {
    pub(super) const NEW: Self = Self { mean: 0, deviation: 0, shift: 4 };

    #[inline]
    pub(super) fn observe(&mut self, delay: i64) {
        let from_mean = delay - self.mean;
        self.mean += from_mean >> self.shift;
        self.deviation += (from_mean.abs() - self.deviation) >> self.shift;
    }

    /// A round of so many packets took so long, in nanoseconds: the means shall follow as many
    /// packets as come in a second, or in eight rounds.
    pub(super) fn follow(&mut self, packets: u32, duration: i64) {
        const SECOND: i64 = 1_000_000_000;
        let rounds = (SECOND / duration.max(1)).max(8) as u64;
        let packets = u64::from(packets.max(1)).saturating_mul(rounds);
        self.shift = packets.ilog2().clamp(4, 14) as u8;
    }

    /// How far a delay is from the mean, in 1/32 of the mean deviation (at least a microsecond),
    /// above 1,000.
    pub(super) fn contrast(&self, delay: i64) -> u16 {
        signed(delay - self.mean, self.deviation.max(1_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_compared_with_the_mean_in_mean_deviations() {
        let mut level = Level::NEW;
        // 16 ms once, gain 1/16: mean 1 ms, deviation 1 ms. Then 5 ms: 4 ms above the mean.
        level.observe(16_000_000);
        assert_eq!((level.mean, level.deviation), (1_000_000, 1_000_000));
        assert_eq!(level.contrast(5_000_000), 1_000 + 4 * 32);
        assert_eq!(level.contrast(-1_000_000), 1_000 - 2 * 32);
        assert_eq!(level.contrast(1 << 50), 1_999, "at most");
    }

    #[test]
    fn the_means_follow_a_second_or_eight_rounds() {
        let shift = |packets, ms: i64| {
            let mut level = Level::NEW;
            level.follow(packets, ms * 1_000_000);
            level.shift
        };
        assert_eq!(shift(32, 50), 9, "20 rounds of 32 packets are 640");
        assert_eq!(shift(32, 500), 8, "eight rounds of 32 packets are 256");
        assert_eq!((shift(0, 0), shift(u32::MAX, 1)), (14, 14));
        assert_eq!(shift(1, 1_000), 4, "at least 16 packets");
    }
}
