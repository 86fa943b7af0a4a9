//! The position of a packet in the flow, independent of forged sequence numbers.
//!
//! Loss intervals are differences of sequence numbers, and a sequence number is what the peer
//! claims. The differentiator lets a number lie at most [`MAX_JUMP_PKTS`] from the highest one;
//! beyond that the stream begins anew. Positions follow it: inside a stream they advance as the
//! numbers do, and a new stream goes on where the last one stood. So a forged number, or a sender
//! that starts over, stretches no loss interval. A packet advances the position by at most 2^16, so
//! that arithmetic on positions would overflow after 2^48 packets at the earliest.
//!
//! [`MAX_JUMP_PKTS`]: losscause::arrivals::MAX_JUMP_PKTS

/// The current stream: its first packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stream {
    seq: u64,
    position: u64,
}

impl Stream {
    /// A stream whose first packet has the number `seq` and stands at `position`.
    pub(crate) fn new(seq: u64, position: u64) -> Self {
        Self { seq, position }
    }

    /// The position of packet `seq`; of one sent before the stream began, the beginning.
    #[inline]
    pub(crate) fn position(self, seq: u64) -> u64 {
        self.position + seq.saturating_sub(self.seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_advance_with_numbers_and_end_at_the_streams_start() {
        let stream = Stream::new(u64::MAX - 10, 100);
        assert_eq!(
            [u64::MAX - 10, u64::MAX - 9, u64::MAX].map(|seq| stream.position(seq)),
            [100, 101, 110]
        );
        assert_eq!(stream.position(3), 100);
    }
}
