//! One bit per packet of a window, in storage that grows as the window is used.

/// A ring of words with one bit per packet number. Numbers that were not reserved together may
/// share a bit.
#[derive(Clone, Debug)]
pub(super) struct Bits {
    words: Vec<u64>,
}

/// Bits in a word.
pub(super) const BITS: u64 = u64::BITS as u64;

impl Bits {
    /// Room for a few packets, all clear.
    pub(super) fn new() -> Self {
        Self { words: vec![0; 2] }
    }

    /// Reserves a bit for each packet of `from..to`. Bits already reserved from `from` on keep
    /// their values. The storage doubles, so an opening window costs only a few copies.
    #[inline]
    pub(super) fn reserve(&mut self, from: u64, to: u64) {
        if from < to && to - from > BITS * (self.words.len() as u64 - 1) {
            self.grow(from, to);
        }
    }

    #[cold]
    fn grow(&mut self, from: u64, to: u64) {
        let old = std::mem::take(&mut self.words);
        // A range that does not start at a word boundary needs one more word.
        let words = (to - from).div_ceil(BITS) + 1;
        self.words = vec![0; words.next_power_of_two() as usize];
        for word in (from / BITS..).take(old.len()) {
            *self.word_mut(word) = old[word as usize & (old.len() - 1)];
        }
    }

    #[inline]
    pub(super) fn has(&self, seq: u64) -> bool {
        self.word(seq / BITS) >> (seq % BITS) & 1 == 1
    }

    #[inline]
    pub(super) fn put(&mut self, seq: u64, set: bool) {
        let bit = 1 << (seq % BITS);
        let word = self.word_mut(seq / BITS);
        *word = if set { *word | bit } else { *word & !bit };
    }

    /// The word of bits whose first packet is 64 times `word`.
    #[inline]
    pub(super) fn word(&self, word: u64) -> u64 {
        self.words[word as usize & (self.words.len() - 1)]
    }

    #[inline]
    pub(super) fn word_mut(&mut self, word: u64) -> &mut u64 {
        let place = word as usize & (self.words.len() - 1);
        &mut self.words[place]
    }

    /// The half-open run of set bits around `seq`, which must be set, within the reserved range
    /// `from..to`.
    pub(super) fn run(&self, seq: u64, from: u64, to: u64) -> (u64, u64) {
        (self.run_start(seq, from), self.run_end(seq, to))
    }

    fn run_start(&self, seq: u64, from: u64) -> u64 {
        let mut word = seq / BITS;
        // The clear bits at or below `seq` in its word.
        let mut gaps = !self.word(word) & (u64::MAX >> (BITS - 1 - seq % BITS));
        while gaps == 0 && word > from / BITS {
            word -= 1;
            gaps = !self.word(word);
        }
        let after_gap = if gaps == 0 {
            word * BITS
        } else {
            (word + 1) * BITS - u64::from(gaps.leading_zeros())
        };
        after_gap.max(from)
    }

    fn run_end(&self, seq: u64, to: u64) -> u64 {
        let last = (to - 1) / BITS;
        let mut word = seq / BITS;
        let mut gaps = !self.word(word) & (u64::MAX << (seq % BITS));
        while gaps == 0 && word < last {
            word += 1;
            gaps = !self.word(word);
        }
        let gap = if gaps == 0 { to } else { word * BITS + u64::from(gaps.trailing_zeros()) };
        gap.min(to)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A window that moves and opens, against a set of numbers.
        #[test]
        fn bits_survive_growth_and_runs_are_found(start in 0_u64..500, sets in prop::collection::vec((0_u64..700, any::<bool>()), 1..200)) {
            let mut bits = Bits::new();
            let mut set = BTreeSet::new();
            let mut end = start;
            for (offset, on) in sets {
                let seq = start + offset;
                bits.reserve(start, seq + 1);
                bits.put(seq, on);
                if on { set.insert(seq); } else { set.remove(&seq); }
                end = end.max(seq + 1);
                prop_assert!((start..end).all(|seq| bits.has(seq) == set.contains(&seq)));
                if on {
                    let first = (start..seq).rev().find(|below| !set.contains(below)).map_or(start, |gap| gap + 1);
                    let after = (seq..end).find(|above| !set.contains(above)).unwrap_or(end);
                    prop_assert_eq!(bits.run(seq, start, end), (first, after));
                }
            }
        }
    }

    #[test]
    fn room_grows_with_the_reservation_not_with_the_largest_window() {
        let mut bits = Bits::new();
        bits.reserve(1_000, 1_064);
        assert_eq!(bits.words.len(), 2);
        bits.reserve(1_000, 1_065);
        assert_eq!(bits.words.len(), 4);
        bits.reserve(1_000, 11_000);
        assert_eq!(bits.words.len(), 256, "10,000 packets take 158 words");
    }
}
