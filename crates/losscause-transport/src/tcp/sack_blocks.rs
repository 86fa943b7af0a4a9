//! Selective acknowledgements (RFC 2018): what an ACK carries, and how a receiver chooses it.

/// The blocks of an acknowledgement, the most recent first; at most three, as with timestamps (RFC 2018, section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    /// Distance of a block's first packet from the cumulative acknowledgement, and its packets; none there if 0.
    blocks: [(u32, u32); 3],
}

impl SackBlocks {
    /// No block.
    pub const NONE: Self = Self { blocks: [(0, 0); 3] };

    /// Blocks from the first packet to below the second, in an acknowledgement of everything below `next`. Empty blocks
    /// and blocks below `next`, or 2^32 packets and more above it, are left out, and what three do not hold.
    pub fn of(next: u64, ranges: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut blocks = Self::NONE;
        for (start, end) in ranges {
            let offset = start.checked_sub(next).and_then(|offset| u32::try_from(offset).ok());
            let pkts = end.checked_sub(start).and_then(|pkts| u32::try_from(pkts).ok());
            if let (Some(offset), Some(pkts @ 1..)) = (offset, pkts)
                && let Some(free) = blocks.blocks.iter_mut().find(|block| block.1 == 0)
            {
                *free = (offset, pkts);
            }
        }
        blocks
    }

    /// The blocks, from the first packet to below the second, of an acknowledgement of everything below `next`.
    pub fn ranges(&self, next: u64) -> impl Iterator<Item = (u64, u64)> {
        self.blocks.iter().filter(|block| block.1 > 0).map(move |&(offset, pkts)| {
            let start = next.saturating_add(offset.into());
            (start, start.saturating_add(pkts.into()))
        })
    }

    /// Number of blocks.
    pub fn count(&self) -> u32 {
        self.blocks.iter().map(|block| u32::from(block.1 > 0)).sum()
    }
}

/// What a receiver reports: the block that holds the packet just received, then the blocks reported before, the most
/// recent first, unless the new one holds them (RFC 2018, section 4).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reports {
    recent: [(u64, u64); 3],
}

impl Reports {
    /// The blocks to report in an acknowledgement of everything below `next`; `block` holds the packet that causes it, if
    /// it lies beyond.
    pub(super) fn report(&mut self, next: u64, block: Option<(u64, u64)>) -> SackBlocks {
        let held =
            |&(start, end): &(u64, u64)| start >= next && start < end && block.is_none_or(|b| start < b.0 || end > b.1);
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
        // 9 joins two of them.
        assert_eq!(report(&mut reports, 5, Some((8, 11))), [(8, 11), (12, 13)]);
        // 5 and 6 and 7 were filled: the rest is reported again, in the same order.
        assert_eq!(report(&mut reports, 11, None), [(12, 13)]);
        assert_eq!(report(&mut reports, 13, None), []);
    }

    #[test]
    fn blocks_keep_their_place_relative_to_the_acknowledgement() {
        let blocks = SackBlocks::of(1 << 40, [((1 << 40) + 3, (1 << 40) + 5), (7, 9), (0, 0)]);
        assert_eq!(blocks.count(), 1);
        assert_eq!(blocks.ranges(100).collect::<Vec<_>>(), [(103, 105)]);
    }
}
