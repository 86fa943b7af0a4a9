//! Earlier delays, for ranks.

/// Every 32nd of the last 1,024 delays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// In 128 ns, since the first delay; `i32::MAX` where there is none yet.
    delays: [i32; Self::SIZE],
    /// Delays so far.
    pub(super) seen: u32,
}

impl Sample {
    const SIZE: usize = 32;
    const EVERY: u32 = 32;
    pub(super) const NEW: Self = Self { delays: [i32::MAX; Self::SIZE], seen: 0 };

    fn units(delay: i64) -> i32 {
        (delay >> 7).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    }

    #[inline]
    pub(super) fn observe(&mut self, delay: i64) {
        if self.seen.is_multiple_of(Self::EVERY) {
            self.delays[(self.seen / Self::EVERY) as usize % Self::SIZE] = Self::units(delay);
        }
        self.seen = self.seen.checked_add(1).unwrap_or(Self::EVERY * Self::SIZE as u32);
    }

    /// How many of 32 are below `delay`; in proportion while there are fewer.
    pub(super) fn below(&self, delay: i64) -> u16 {
        let delay = Self::units(delay);
        let taken = (self.seen.div_ceil(Self::EVERY) as usize).clamp(1, Self::SIZE);
        let below = self.delays.iter().filter(|earlier| **earlier < delay).count();
        (below * Self::SIZE / taken) as u16
    }
}
