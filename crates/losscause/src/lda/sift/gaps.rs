//! How gaps follow each other.

use super::average::{Mean, Spread};
use super::clues::ratio;
use crate::Time;

/// What is remembered of the gaps before: when, how many packets arrived between them, and how much
/// they looked wireless.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaps {
    /// When the last one showed.
    pub(super) last: Option<Time>,
    /// Packets that had arrived when the last burst of gaps began.
    burst: u64,
    /// Packets that arrived from one burst to the next.
    between: Spread<32>,
    pub(super) earlier: Earlier,
}

impl Gaps {
    /// Packets between two gaps of one burst, at most.
    const WITHIN_A_BURST: u32 = 3;
    pub(super) const NEW: Self =
        Self { last: None, burst: 0, between: Spread::NEW, earlier: Earlier::NEW };

    /// A gap shows behind so many packets that arrived.
    pub(super) fn observe_gap(&mut self, at: Time, arrived: u64) {
        let is_first = self.last.replace(at).is_none();
        let since_burst = self.since(arrived);
        if is_first || since_burst > Self::WITHIN_A_BURST {
            if !is_first {
                self.between.observe(since_burst);
            }
            self.burst = arrived;
        }
    }

    fn since(&self, arrived: u64) -> u32 {
        u32::try_from(arrived - self.burst).unwrap_or(u32::MAX)
    }

    /// Packets since the last burst, of so many that arrived, in 1/32 of the mean from burst to
    /// burst; 32 before the second.
    pub(super) fn since_burst(&self, arrived: u64) -> u16 {
        if self.between.seen == 0 {
            32
        } else {
            ratio(i64::from(self.since(arrived)) << 4, self.between.mean.into(), 32)
        }
    }

    /// The mean deviation of the packets from burst to burst, in 1/256 of their mean. Before two
    /// distances, what random losses have: 2/e.
    pub(super) fn evenness(&self) -> u16 {
        self.between.evenness(188)
    }
}

/// How much the earlier gaps looked wireless.
#[derive(Clone, Copy, Debug)]
pub struct Earlier {
    /// In 1/16 of a tenth of a decibel.
    mean: Mean<8>,
}

impl Earlier {
    /// Before the first gap.
    pub const NEW: Self = Self { mean: Mean::NEW };

    /// A gap with this sum of evidence of its own ([`Weight::own`](super::Weight::own)).
    pub fn observe(&mut self, own: i16) {
        self.mean.observe(i32::from(own) * 16);
    }

    /// The mean of their sums, in tenths of a decibel above -100 dB; 0 dB before the first.
    pub fn reading(&self) -> u16 {
        (1_000 + (self.mean.get() >> 4)).clamp(0, 2_000) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(after: &[u32]) -> Gaps {
        let mut gaps = Gaps::NEW;
        let mut arrived = 0;
        for &packets in after {
            arrived += u64::from(packets);
            gaps.observe_gap(Time::ZERO, arrived);
        }
        gaps
    }

    #[test]
    fn gaps_at_equal_distances_are_even_and_those_of_a_burst_one() {
        let even = gaps(&[7, 100, 100, 2, 98, 100]);
        assert_eq!(
            (even.since_burst(7 + 400 + 50), even.evenness()),
            (16, 0),
            "50 of 100 packets, all gaps 100 apart"
        );
        // 100, 300, 200: means 100, 200, 200; deviations 0, 200, 0.
        let uneven = gaps(&[7, 100, 300, 200]);
        assert_eq!(
            (uneven.since_burst(7 + 600), uneven.evenness()),
            (0, 85),
            "a mean deviation of 66.7 in 200"
        );
    }

    #[test]
    fn before_three_gaps_the_readings_are_those_of_random_losses() {
        for after in [&[][..], &[9], &[9, 100]] {
            assert_eq!(gaps(after).evenness(), 188);
        }
        assert_eq!((gaps(&[]).since_burst(5), gaps(&[9]).since_burst(9)), (32, 32));
    }

    #[test]
    fn the_sums_of_earlier_gaps_are_averaged() {
        let mut earlier = Earlier::NEW;
        assert_eq!(earlier.reading(), 1_000);
        earlier.observe(-40);
        earlier.observe(20);
        assert_eq!(earlier.reading(), 990, "-1 dB");
        (0..200).for_each(|_| earlier.observe(i16::MIN));
        assert_eq!(earlier.reading(), 0);
    }
}
