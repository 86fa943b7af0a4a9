//! TCP without SACK: what duplicate ACKs reveal about arrivals.
//!
//! A receiver without SACK names only the packet that it expects next. Each duplicate reports that
//! one more packet arrived, but not which. So:
//!
//! ```text
//! first duplicate     one packet missing, and the one after it arrived: spans 2, misses 1
//! later duplicate     one more arrived: spans 1
//! ACK of n packets    all n arrived: spans n; during a recovery it spans 1
//! ```
//!
//! Deviations: none. What the sources leave open:
//!
//! - *How large is the gap?* One packet. The sender cannot know more (Dalwadi, equations 1 to 6,
//!   also has n = 1).
//! - *The ACK that ends a recovery* spans one packet, the repaired one. The other packets it
//!   acknowledges were counted by duplicates, or arrived during the repair of a timeout. A recovery
//!   lasts until everything sent before the gap opened, or before the timer expired, is
//!   acknowledged.

use crate::observe::{Acked, Newest, Numbers, Observation};
use crate::{Span, Time};

/// Makes observations from cumulative acknowledgements.
#[derive(Clone, Copy, Debug, Default)]
pub struct DuplicateAcks {
    /// Everything below was acknowledged.
    una: u64,
    /// A loss is under repair until everything below is acknowledged.
    recover: u64,
    /// The last ACK was a duplicate: the gap is known.
    in_gap: bool,
    newest: Newest,
}

impl DuplicateAcks {
    /// An ACK that asks for packet `next` arrived at `at`. Everything below `sent` was sent; `rtt`
    /// is the round-trip time of the packet that caused the ACK, if known.
    ///
    /// The caller adds what is in flight and the window, if the algorithm needs them.
    #[inline]
    pub fn on_ack(&mut self, at: Time, rtt: Option<Span>, next: u64, sent: u64) -> Observation {
        let mut acked = Acked::new(next.saturating_sub(self.una));
        let mut spans = [1, 0];
        if acked.newly_acked_pkts > 0 {
            if self.una >= self.recover {
                spans[0] = u32::try_from(acked.newly_acked_pkts).unwrap_or(u32::MAX);
            }
            (self.una, self.in_gap) = (next, false);
        } else if !self.in_gap {
            spans = [2, 1];
            acked.missing = Some(Numbers::one(self.una));
            (self.recover, self.in_gap) = (sent, true);
        }
        self.newest.advance(at, rtt, spans).with_acked(acked)
    }

    /// As [`Newest::forget_delay`].
    pub fn forget_delay(&mut self) {
        self.newest.forget_delay();
    }

    /// The retransmission timer expired. Everything below `sent` was sent.
    pub fn on_timeout(&mut self, sent: u64) {
        self.recover = sent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spanned and missing packets of each ACK; `sent` is 20.
    fn spans<const N: usize>(acks: &mut DuplicateAcks, nexts: [u64; N]) -> [(u32, u32); N] {
        nexts.map(|next| {
            let sample = acks.on_ack(Time::ZERO, None, next, 20);
            (sample.spanned, sample.missing)
        })
    }

    #[test]
    fn a_delayed_ack_spans_two_packets_and_misses_none() {
        assert_eq!(spans(&mut DuplicateAcks::default(), [2, 4, 5]), [(2, 0), (2, 0), (1, 0)]);
    }

    #[test]
    fn the_first_duplicate_reveals_a_loss_and_later_ones_arrivals() {
        let mut acks = DuplicateAcks::default();
        assert_eq!(spans(&mut acks, [5, 5, 5, 5]), [(5, 0), (2, 1), (1, 0), (1, 0)]);
        let mut acks = DuplicateAcks::default();
        spans(&mut acks, [5]);
        let first = acks.on_ack(Time::ZERO, None, 5, 20);
        assert_eq!(first.acked.and_then(|acked| acked.missing), Some(Numbers::one(5)));
        assert!(first.is_duplicate());
    }

    #[test]
    fn acks_during_a_recovery_span_one_packet_each() {
        let mut acks = DuplicateAcks::default();
        // 5 is lost; 20 were sent. The partial ACK of 9 and the full one of 20 span one packet, the
        // next delayed ACK two.
        assert_eq!(
            spans(&mut acks, [5, 5, 5, 9, 20, 22]),
            [(5, 0), (2, 1), (1, 0), (1, 0), (1, 0), (2, 0)]
        );
    }

    #[test]
    fn after_a_timeout_a_jump_spans_one_packet() {
        let mut acks = DuplicateAcks::default();
        spans(&mut acks, [5]);
        acks.on_timeout(20);
        assert_eq!(spans(&mut acks, [19, 20, 22]), [(1, 0), (1, 0), (2, 0)]);
    }
}
