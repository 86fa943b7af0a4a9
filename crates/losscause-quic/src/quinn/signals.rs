//! What quinn does not say, from what it says: which packets a call is about.
//!
//! quinn reports a batch of sent packets as its bytes and its last packet number; `Numbering` finds
//! its packets. quinn numbers packets without gaps, with two exceptions: it skips a number now and
//! then, to detect peers that acknowledge packets which they have not received, and it does not
//! report probes of the path's MTU as sent.
//!
//! ```text
//! packets = last - newest number before
//! packets = ceil(bytes / mtu)              if that is fewer, and fills its packets up to 16 bytes
//! ```
//!
//! The second line leaves out skipped numbers and probes of a sender that fills its packets. The
//! packets are the last `packets` numbers up to `last`.
//!
//! - *Exact*: the number of packets, if the batch has no skipped number and no probe before it, or
//!   fills its packets.
//! - *Approximation*: one packet too many for a skipped number or probe before a batch of smaller
//!   packets. It is never acknowledged, so it counts as missing until the next loss.
//! - *Approximation*: a single packet of up to [`BARE_ACK_BYTES`] is left out. It is probably a
//!   bare acknowledgement, which the peer need not acknowledge. If it was data, its ACK and its
//!   loss are not used.
//! - *Approximation*: the three packet number spaces of the handshake count from zero each, and
//!   quinn does not say which is meant. A number that does not increase is left out, so the first
//!   few packets of a connection are.

use std::ops::Range;

/// Packets this small may be bare acknowledgements: 1 byte of type, up to 20 of connection ID, 4 of
/// number, 16 of authentication tag, and an ACK frame of some ranges.
pub(crate) const BARE_ACK_BYTES: u64 = 100;

/// quinn pads packets of a batch by up to this many bytes, and leaves fewer unused in packets that
/// it fills.
const PADDING: u64 = 16;

/// The smallest packet: type, number and authentication tag (RFC 9001, section 5.4.2).
const SMALLEST: u64 = 21;

/// More than any batch: segmentation offload takes at most 64 datagrams (Linux: 128).
const LARGEST_BATCH: u64 = 1024;

/// Finds the packets of each batch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbering {
    newest: Option<u64>,
}

impl Numbering {
    /// The numbers of the packets in a batch of `bytes` whose last packet is `last`.
    pub(crate) fn batch(&mut self, bytes: u64, last: u64, mtu: u64) -> Range<u64> {
        let numbered = match self.newest {
            Some(newest) if last <= newest => return 0..0,
            Some(newest) => last - newest,
            None => bytes.div_ceil(mtu.max(1)).max(1),
        };
        self.newest = Some(last);
        let pkts = filled(bytes, mtu, numbered).unwrap_or(numbered.min(bytes / SMALLEST));
        if pkts <= 1 && bytes <= BARE_ACK_BYTES {
            return 0..0;
        }
        let end = last.saturating_add(1);
        end.saturating_sub(pkts.clamp(1, LARGEST_BATCH))..end
    }
}

/// How many packets `bytes` fill, if that is fewer than `numbered`.
#[inline]
fn filled(bytes: u64, mtu: u64, numbered: u64) -> Option<u64> {
    if bytes > (numbered - 1).saturating_mul(mtu) {
        return None; // Most batches end here, without a division.
    }
    let full = bytes.div_ceil(mtu.max(1)).max(1);
    (full.saturating_mul(mtu).saturating_sub(bytes) <= PADDING).then_some(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: u64 = 1200;

    #[test]
    fn a_batch_has_the_numbers_since_the_last_one() {
        let mut numbering = Numbering::default();
        assert_eq!(
            numbering.batch(2 * MTU, 1, MTU),
            0..2,
            "the first batch is counted by its bytes"
        );
        assert_eq!(numbering.batch(MTU, 2, MTU), 2..3);
        assert_eq!(
            numbering.batch(10 * MTU - 300, 12, MTU),
            3..13,
            "the last packet of a batch may be shorter"
        );
        assert_eq!(numbering.batch(4 * 500, 16, MTU), 13..17, "small packets");
    }

    #[test]
    fn a_number_that_was_skipped_before_full_packets_is_no_packet() {
        let mut numbering = Numbering::default();
        numbering.batch(MTU, 0, MTU);
        assert_eq!(numbering.batch(3 * MTU, 4, MTU), 2..5, "1 was skipped, or probed the MTU");
        assert_eq!(numbering.batch(MTU - 3, 6, MTU), 6..7);
        assert_eq!(numbering.batch(700, 8, MTU), 7..9, "approximation: 7 may have been skipped");
    }

    #[test]
    fn bare_acknowledgements_and_other_number_spaces_are_left_out() {
        let mut numbering = Numbering::default();
        numbering.batch(MTU, 5, MTU);
        assert_eq!(numbering.batch(40, 6, MTU), 0..0);
        assert_eq!(numbering.batch(MTU, 0, MTU), 0..0, "the first packet of the next space");
        assert_eq!(numbering.batch(MTU, 7, MTU), 7..8);
    }
}
