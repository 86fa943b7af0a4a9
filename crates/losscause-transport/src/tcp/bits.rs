//! A bit for every packet of a window.

/// Bits of so many packets in a row, wherever they begin: bit `seq` modulo the size.
#[derive(Clone, Debug)]
pub(super) struct Bits {
    words: Box<[u64]>,
}

impl Bits {
    /// Room for `pkts` or more, all clear.
    pub(super) fn new(pkts: u32) -> Self {
        let words = pkts.div_ceil(u64::BITS).next_power_of_two();
        Self { words: vec![0; words as usize].into_boxed_slice() }
    }

    /// Packets that there is room for.
    #[inline]
    pub(super) fn size(&self) -> u64 {
        self.words.len() as u64 * u64::from(u64::BITS)
    }

    #[inline]
    pub(super) fn has(&self, seq: u64) -> bool {
        let (word, bit) = self.place(seq);
        self.words[word] & bit != 0
    }

    #[inline]
    pub(super) fn put(&mut self, seq: u64, set: bool) {
        let (word, bit) = self.place(seq);
        if set {
            self.words[word] |= bit;
        } else {
            self.words[word] &= !bit;
        }
    }

    #[inline]
    fn place(&self, seq: u64) -> (usize, u64) {
        let word = (seq / u64::from(u64::BITS)) as usize & (self.words.len() - 1);
        (word, 1 << (seq % u64::from(u64::BITS)))
    }
}
