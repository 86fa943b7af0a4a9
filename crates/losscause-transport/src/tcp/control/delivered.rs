//! Counts the packets that each ACK reports as delivered, each packet once (Mascolo et al. 2001;
//! full title in `westwood.rs`).
//!
//! A duplicate ACK reports one packet. The next ACK of new data reports the packets that no
//! duplicate has counted, at least one.

#[derive(Clone, Debug, Default)]
pub(super) struct Delivered {
    /// Packets already counted by duplicate ACKs.
    counted: u64,
}

impl Delivered {
    /// Packets reported by an ACK of `newly_acked_pkts` new packets.
    #[inline]
    pub(super) fn on_ack(&mut self, newly_acked_pkts: u64) -> u64 {
        let pkts = newly_acked_pkts.saturating_sub(self.counted).max(1);
        self.counted = self.counted.saturating_sub(newly_acked_pkts);
        pkts
    }

    /// Packets reported by a duplicate ACK.
    pub(super) fn on_dup_ack(&mut self) -> u64 {
        self.counted += 1;
        1
    }

    /// Everything in flight is presumed lost.
    pub(super) fn on_timeout(&mut self) {
        self.counted = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_count_once() {
        let mut delivered = Delivered::default();
        assert_eq!([(); 3].map(|()| delivered.on_dup_ack()), [1, 1, 1]);
        // Fewer new packets than duplicates: one counts, and a duplicate is left over.
        assert_eq!((delivered.on_ack(2), delivered.counted), (1, 1));
        assert_eq!((delivered.on_ack(5), delivered.counted), (4, 0));
        delivered.on_dup_ack();
        delivered.on_timeout();
        assert_eq!(delivered.on_ack(5), 5);
    }
}
