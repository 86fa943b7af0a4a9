//! How served packets are spaced.

use super::window::Divisor;

/// How far apart two packets arrived that have one between them, in halves of the least spacing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pairs {
    counts: [u8; Self::BINS],
    total: u8,
}

impl Pairs {
    const BINS: usize = 32;
    pub(super) const NEW: Self = Self { counts: [0; Self::BINS], total: 0 };

    fn bin(span: i64, least_spacing: Divisor) -> usize {
        least_spacing.halves_in(span, Self::BINS as i64 - 1) as usize
    }

    #[inline]
    pub(super) fn observe(&mut self, span: i64, least_spacing: Divisor) {
        self.counts[Self::bin(span, least_spacing)] += 1;
        self.total += 1;
        if self.total == 250 {
            self.counts.iter_mut().for_each(|count| *count /= 2);
            self.total = self.counts.iter().sum();
        }
    }

    /// The share of pairs that were so far apart, in 1/1000.
    pub(super) fn share(&self, span: i64, least_spacing: Divisor) -> u16 {
        let count = u16::from(self.counts[Self::bin(span, least_spacing)]);
        (u32::from(count) * 1_000 / u32::from(self.total.max(1))) as u16
    }
}
