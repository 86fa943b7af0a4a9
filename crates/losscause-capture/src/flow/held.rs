//! Without SACK: what the receiver certainly holds behind a hole.
//!
//! A receiver acknowledges every packet behind a hole at once (RFC 5681, section 4.2), so each
//! duplicate acknowledgement is the arrival of one more packet. If as many came as packets were
//! sent behind the hole, all of them have arrived, and copies of them are not needed. A copy behind
//! the hole causes a duplicate too, which tells nothing new. It is left out of the count even if
//! the copy gets lost, so the count is never too high.

/// Packets behind the left edge of a sender's window that have arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    packets: u64,
    /// Copies sent behind the left edge whose duplicate acknowledgement is still to come.
    copies: u64,
    /// Everything below has arrived, but for the left edge.
    all_below: u64,
}

impl Held {
    /// A duplicate acknowledgement came while `behind` packets up to `highest` were sent behind the
    /// left edge. Returns the place behind the left edge of the packet that has arrived, if it is
    /// the first copy of one.
    pub(super) fn on_duplicate(&mut self, behind: u64, highest: u64) -> Option<u64> {
        if let Some(rest) = self.copies.checked_sub(1) {
            self.copies = rest;
            return None;
        }
        self.packets = (self.packets + 1).min(behind);
        if self.packets == behind {
            self.all_below = highest;
        }
        Some(self.packets)
    }

    /// A copy of the packet up to `end`, behind the left edge, was sent. Returns whether it was not
    /// needed.
    pub(super) fn on_copy(&mut self, end: u64) -> bool {
        self.copies += 1;
        end <= self.all_below
    }

    /// The left edge moved over so many packets up to `ack`, and `behind` others are behind the new
    /// one. Returns whether all first copies of these had arrived: of the packets behind the old
    /// left edge no more are missing than the new one.
    pub(super) fn on_advance(&mut self, covered: u64, ack: u64, behind: u64) -> bool {
        let beside_the_first = covered.saturating_sub(1);
        let all = beside_the_first > 0 && self.packets >= beside_the_first + behind;
        if all {
            self.all_below = self.all_below.max(ack);
        }
        self.packets = self.packets.saturating_sub(beside_the_first);
        all
    }

    /// Nothing is in flight.
    pub(super) fn clear(&mut self) {
        (self.packets, self.copies) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_packets_that_all_arrived_are_not_needed() {
        let mut held = Held::default();
        // Packets of 10 bytes: 0 is lost, 10, 20 and 30 arrive.
        assert_eq!([1, 2, 3].map(|_| held.on_duplicate(3, 40)), [Some(1), Some(2), Some(3)]);
        assert!(held.on_copy(20));
        // 40 is sent; it is not known to have arrived until two duplicates came: that of the copy,
        // and its own.
        assert_eq!(held.on_duplicate(4, 50), None);
        assert!(!held.on_copy(50));
    }

    #[test]
    fn if_one_of_them_is_missing_every_copy_may_be_needed() {
        let mut held = Held::default();
        assert_eq!([1, 2].map(|_| held.on_duplicate(3, 40)), [Some(1), Some(2)]);
        assert!(!held.on_copy(20));
        // Its duplicate shows no further original.
        assert_eq!(held.on_duplicate(3, 40), None);
        assert!(!held.on_copy(30));
    }

    #[test]
    fn what_the_left_edge_moved_over_is_held_no_more() {
        let mut held = Held::default();
        // 0 and 20 are lost; 10, 30 and 40 arrive. The copy of 0 moves the left edge over 0 and 10.
        assert_eq!([1, 2, 3].map(|_| held.on_duplicate(4, 50)), [Some(1), Some(2), Some(3)]);
        assert!(held.on_advance(2, 20, 2), "three of four packets: the one that is missing is 20");
        assert!(!held.on_copy(40), "30 and 40 may be held, or 50");
        held.clear();
        // 50 is sent and arrives.
        assert_eq!(held.on_duplicate(3, 60), Some(1));
    }
}
