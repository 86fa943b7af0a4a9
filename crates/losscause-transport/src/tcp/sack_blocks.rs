//! Selective acknowledgements (RFC 2018): the blocks that an ACK carries, and how a receiver
//! chooses them.

/// The blocks of an acknowledgement, the most recent first; at most three, as with timestamps (RFC
/// 2018, section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    /// Per block: distance of its first packet from the cumulative ACK, and its length in packets;
    /// unused if the length is 0. If the length is [`DUPLICATE`], the block reports one packet that
    /// arrived twice, and the distance is in two's complement.
    blocks: [(u32, u32); 3],
}

/// The length of a block that reports a duplicate.
const DUPLICATE: u32 = u32::MAX;

/// The longest block of packets that arrived.
const LONGEST: u32 = DUPLICATE - 1;

impl SackBlocks {
    /// No blocks.
    pub const NONE: Self = Self { blocks: [(0, 0); 3] };

    /// Builds blocks from half-open `ranges`, for an ACK of everything below `next`. Skips empty
    /// blocks, blocks below `next` or at least 2^32 packets above it, and all after the third.
    pub fn of(next: u64, ranges: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut blocks = Self::NONE;
        for (start, end) in ranges {
            let offset = start.checked_sub(next).and_then(|offset| u32::try_from(offset).ok());
            let pkts = end.checked_sub(start).and_then(|pkts| u32::try_from(pkts).ok());
            if let (Some(offset), Some(pkts @ 1..=LONGEST)) = (offset, pkts)
                && let Some(free) = blocks.blocks.iter_mut().find(|block| block.1 == 0)
            {
                *free = (offset, pkts);
            }
        }
        blocks
    }

    /// The same blocks after one that reports packet `seq` as a duplicate (D-SACK, RFC 2883); a
    /// third block is left out. A packet 2^31 or more away from `next` is not reported.
    #[must_use]
    pub fn with_duplicate(self, next: u64, seq: u64) -> Self {
        let distance = i32::try_from(seq.wrapping_sub(next).cast_signed());
        distance.map_or(self, |distance| {
            let [first, second, _] = self.blocks;
            Self { blocks: [(distance.cast_unsigned(), DUPLICATE), first, second] }
        })
    }

    /// The blocks of packets that arrived, of an ACK of everything below `next`, as those of a later
    /// ACK of everything below `una`.
    #[must_use]
    pub(super) fn moved(&self, next: u64, una: u64) -> Self {
        Self::of(una, self.ranges(next).map(|(start, end)| (start.max(una), end)))
    }

    /// The packet reported as a duplicate, in an ACK of everything below `next`.
    pub fn duplicate(&self, next: u64) -> Option<u64> {
        let (distance, pkts) = self.blocks[0];
        (pkts == DUPLICATE).then(|| next.wrapping_add_signed(distance.cast_signed().into()))
    }

    /// The blocks of packets that arrived as half-open ranges, for an ACK of everything below
    /// `next`.
    pub fn ranges(&self, next: u64) -> impl Iterator<Item = (u64, u64)> {
        self.blocks.iter().filter(|block| (1..=LONGEST).contains(&block.1)).map(
            move |&(offset, pkts)| {
                let start = next.saturating_add(offset.into());
                (start, start.saturating_add(pkts.into()))
            },
        )
    }

    /// Number of blocks, one that reports a duplicate included.
    pub fn count(&self) -> u32 {
        self.blocks.iter().map(|block| u32::from(block.1 > 0)).sum()
    }
}

/// Chooses the blocks to report: first the block that holds the packet just received, then earlier
/// reported blocks that it does not contain, the most recent first (RFC 2018, section 4).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reports {
    recent: [(u64, u64); 3],
}

/// Blocks that Linux expects a report to carry, though one may get lost
/// (`TCP_SACK_BLOCKS_EXPECTED`).
const EXPECTED: usize = 2;

impl Reports {
    /// Whether packet `seq` belongs to none of the newest blocks that every report carries, so that
    /// its block may push out one that was not reported yet.
    pub(super) fn may_push_out(&self, seq: u64) -> bool {
        let is_full = self.recent[EXPECTED - 1].1 > 0;
        let touches = |&(start, end): &(u64, u64)| start < end && start <= seq + 1 && seq <= end;
        is_full && !self.recent[..EXPECTED].iter().any(touches)
    }

    /// The blocks for an ACK of everything below `next`. `block` holds the packet that triggered
    /// the ACK, if that lies above `next`.
    pub(super) fn report(&mut self, next: u64, block: Option<(u64, u64)>) -> SackBlocks {
        let held = |&(start, end): &(u64, u64)| {
            start >= next && start < end && block.is_none_or(|b| start < b.0 || end > b.1)
        };
        let mut kept = block.into_iter().chain(self.recent.into_iter().filter(held));
        self.recent = std::array::from_fn(|_| kept.next().unwrap_or_default());
        SackBlocks::of(next, self.recent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(reports: &mut Reports, next: u64, block: Option<(u64, u64)>) -> Vec<(u64, u64)> {
        reports.report(next, block).ranges(next).collect()
    }

    #[test]
    fn the_most_recent_block_comes_first_and_three_fit() {
        let mut reports = Reports::default();
        assert_eq!(report(&mut reports, 5, Some((6, 7))), [(6, 7)]);
        assert_eq!(report(&mut reports, 5, Some((8, 9))), [(8, 9), (6, 7)]);
        assert_eq!(report(&mut reports, 5, Some((10, 11))), [(10, 11), (8, 9), (6, 7)]);
        assert_eq!(report(&mut reports, 5, Some((12, 13))), [(12, 13), (10, 11), (8, 9)]);
        // Packet 9 joins two blocks.
        assert_eq!(report(&mut reports, 5, Some((8, 11))), [(8, 11), (12, 13)]);
        // 5, 6 and 7 arrived: the remaining block is reported again.
        assert_eq!(report(&mut reports, 11, None), [(12, 13)]);
        assert_eq!(report(&mut reports, 13, None), []);
    }

    #[test]
    fn a_duplicate_comes_first_and_displaces_the_oldest_block() {
        let blocks = SackBlocks::of(10, [(20, 21), (16, 18), (12, 14)]);
        assert_eq!(blocks.duplicate(10), None);
        for seq in [3, 16] {
            let reported = blocks.with_duplicate(10, seq);
            assert_eq!((reported.duplicate(10), reported.count()), (Some(seq), 3));
            assert_eq!(reported.ranges(10).collect::<Vec<_>>(), [(20, 21), (16, 18)]);
        }
        assert_eq!(blocks.with_duplicate(1 << 40, 3), blocks, "too far away");
    }

    #[test]
    fn blocks_keep_their_place_relative_to_the_acknowledgement() {
        let blocks = SackBlocks::of(1 << 40, [((1 << 40) + 3, (1 << 40) + 5), (7, 9), (0, 0)]);
        assert_eq!(blocks.count(), 1);
        assert_eq!(blocks.ranges(100).collect::<Vec<_>>(), [(103, 105)]);
    }
}
