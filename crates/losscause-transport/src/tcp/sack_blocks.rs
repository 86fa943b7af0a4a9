//! Selective acknowledgements (RFC 2018): the blocks that an ACK carries, and how a receiver chooses them.

/// The blocks of an acknowledgement, the most recent first; at most three, as with timestamps (RFC 2018, section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    /// Per block: distance of its first packet from the cumulative ACK, and its length in packets; unused if the length
    /// is 0.
    blocks: [(u32, u32); 3],
}

impl SackBlocks {
    /// No blocks.
    pub const NONE: Self = Self { blocks: [(0, 0); 3] };

    /// Builds blocks from half-open `ranges`, for an ACK of everything below `next`. Skips empty blocks, blocks below
    /// `next` or at least 2^32 packets above it, and all after the third.
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

    /// The blocks as half-open ranges, for an ACK of everything below `next`.
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

/// Chooses the blocks to report: first the block that holds the packet just received, then earlier reported blocks that
/// it does not contain, the most recent first (RFC 2018, section 4).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reports {
    recent: [(u64, u64); 3],
}

impl Reports {
    /// The blocks for an ACK of everything below `next`. `block` holds the packet that triggered the ACK, if that lies
    /// above `next`.
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
        // Packet 9 joins two blocks.
        assert_eq!(report(&mut reports, 5, Some((8, 11))), [(8, 11), (12, 13)]);
        // 5, 6 and 7 arrived: the remaining block is reported again.
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
