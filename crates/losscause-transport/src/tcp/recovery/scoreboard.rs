//! Records which packets beyond the cumulative ACK have arrived (RFC 6675, section 3, Update()).

use crate::tcp::bits::{BITS, Bits};
use crate::tcp::segment::SackBlocks;

/// One bit per packet between the cumulative ACK and the highest reported packet; operations use
/// 64-bit words.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    bits: Bits,
    /// Everything below was acknowledged; bits outside `una..end` are clear.
    una: u64,
    /// One above the highest reported packet; `una` if there is none.
    end: u64,
    sacked: u64,
}

impl Scoreboard {
    pub(crate) fn new() -> Self {
        Self { bits: Bits::new(), una: 0, end: 0, sacked: 0 }
    }

    /// Records an ACK. Returns true if a block reports a packet for the first time. Ignores blocks
    /// of packets below `una` or never sent.
    pub(crate) fn update(&mut self, una: u64, sent: u64, blocks: &SackBlocks) -> bool {
        self.advance(una);
        let before = self.sacked;
        for (start, end) in blocks.ranges(una) {
            let start = start.max(una);
            let end = end.min(sent);
            if start < end {
                self.bits.reserve(una, end);
                self.set(start, end);
                self.end = self.end.max(end);
            }
        }
        self.sacked > before
    }

    /// Everything below `una` was acknowledged.
    pub(crate) fn advance(&mut self, una: u64) {
        if self.sacked > 0 {
            self.sacked -= self.count(self.una, una.min(self.end));
            Self::words_of(self.una, una.min(self.end)).for_each(|(word, mask)| {
                *self.bits.word_mut(word) &= !mask;
            });
        }
        self.una = una;
        self.end = self.end.max(una);
    }

    pub(crate) fn clear(&mut self, una: u64) {
        self.advance(self.end);
        (self.una, self.end) = (una, una);
    }

    /// Number of packets reported beyond the cumulative ACK.
    pub(crate) fn sacked(&self) -> u64 {
        self.sacked
    }

    /// One above the highest reported packet, or the cumulative ACK.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    pub(crate) fn is_sacked(&self, seq: u64) -> bool {
        (self.una..self.end).contains(&seq) && self.bits.has(seq)
    }

    /// Number of reported packets in `start..end`.
    pub(crate) fn count(&self, start: u64, end: u64) -> u64 {
        let range = (start.max(self.una), end.min(self.end));
        Self::words_of(range.0, range.1)
            .map(|(word, mask)| u64::from((self.bits.word(word) & mask).count_ones()))
            .sum()
    }

    /// The first unreported packet at or above `from` that has a reported packet above it.
    pub(crate) fn next_hole(&self, from: u64) -> Option<u64> {
        Self::words_of(from.max(self.una), self.end)
            .map(|(word, mask)| (word, !self.bits.word(word) & mask))
            .find(|&(_, holes)| holes != 0)
            .map(|(word, holes)| word * BITS + u64::from(holes.trailing_zeros()))
    }

    /// Every packet below the result has at least `pkts` reported packets above it; `una` if fewer
    /// were reported.
    pub(crate) fn lost_below(&self, pkts: u32) -> u64 {
        if self.sacked < u64::from(pkts) || pkts == 0 {
            return self.una;
        }
        let mut left = pkts;
        for word in (self.una / BITS..=(self.end - 1) / BITS).rev() {
            let mut bits = self.bits.word(word);
            while bits != 0 {
                let top = BITS - 1 - u64::from(bits.leading_zeros());
                left -= 1;
                if left == 0 {
                    return word * BITS + top;
                }
                bits &= !(1 << top);
            }
        }
        self.una
    }

    fn set(&mut self, start: u64, end: u64) {
        for (word, mask) in Self::words_of(start, end) {
            let bits = self.bits.word_mut(word);
            self.sacked += u64::from((mask & !*bits).count_ones());
            *bits |= mask;
        }
    }

    /// The words that overlap `start..end`, each with a mask of the bits inside.
    fn words_of(start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
        let words = if start < end { start / BITS..(end - 1) / BITS + 1 } else { 0..0 };
        words.map(move |word| {
            let from = start.saturating_sub(word * BITS);
            let to = (end - word * BITS).min(BITS);
            (word, (u64::MAX << from) & (u64::MAX >> (BITS - to)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets 100 to 199 are in flight; 103, 104, 110, and 126 to 129 were reported.
    fn board() -> Scoreboard {
        let mut board = Scoreboard::new();
        let blocks = SackBlocks::of(100, [(126, 130), (110, 111), (103, 105)]);
        assert!(board.update(100, 200, &blocks));
        assert!(!board.update(100, 200, &blocks), "nothing new");
        board
    }

    #[test]
    fn holes_and_counts_are_found_across_words() {
        let board = board();
        let holes: Vec<_> =
            [100, 103, 105, 110, 125, 126, 129, 130].map(|from| board.next_hole(from)).into();
        assert_eq!(
            holes,
            [Some(100), Some(105), Some(105), Some(111), Some(125), None, None, None]
        );
        assert_eq!(
            (board.count(100, 200), board.count(104, 128), board.count(111, 126)),
            (7, 4, 0)
        );
        assert!(board.is_sacked(129) && !board.is_sacked(130) && !board.is_sacked(99));
    }

    #[test]
    fn a_packet_is_lost_once_enough_above_it_arrived() {
        let board = board();
        // The third highest is 127, the fifth 110, the seventh 103; there is no eighth.
        assert_eq!([1, 3, 5, 7, 8].map(|pkts| board.lost_below(pkts)), [129, 127, 110, 103, 100]);
    }

    #[test]
    fn what_the_cumulative_ack_passes_is_forgotten() {
        let mut board = board();
        board.advance(127);
        assert_eq!((board.count(100, 200), board.next_hole(100)), (3, None));
        board.advance(150);
        assert_eq!((board.end, board.lost_below(1)), (150, 150));
        assert!((100..200).all(|seq| !board.bits.has(seq)));
    }

    #[test]
    fn blocks_of_packets_never_sent_are_ignored() {
        let mut board = Scoreboard::new();
        assert!(!board.update(100, 110, &SackBlocks::of(100, [(110, 120)])));
        assert!(board.update(100, 110, &SackBlocks::of(100, [(108, 4_000_000)])));
        assert_eq!((board.end, board.count(0, u64::MAX)), (110, 2));
    }
}
