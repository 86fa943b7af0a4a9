//! Packets in the order in which they were sent, for applications that write them to a file or feed
//! a decoder.
//!
//! A packet that came before one that is missing waits for it until [`Reorder::DEPTH`] packets
//! wait; then the missing one is left out. So memory is bounded, and a packet waits for no longer
//! than so many others take.

use std::collections::BTreeMap;

/// Puts packets in order.
#[derive(Clone, Debug, Default)]
pub struct Reorder {
    /// The next sequence number.
    next: u64,
    waiting: BTreeMap<u64, Vec<u8>>,
    left_out: u64,
}

impl Reorder {
    /// Packets that may wait.
    pub const DEPTH: usize = 64;

    /// Takes a packet; a packet that was left out, or came before, is dropped.
    pub fn push(&mut self, seq: u64, payload: Vec<u8>) {
        if seq >= self.next {
            self.waiting.insert(seq, payload);
        }
    }

    /// The next packet in order; call until none after each push.
    pub fn pop(&mut self) -> Option<Vec<u8>> {
        let (&seq, _) = self.waiting.first_key_value()?;
        if seq > self.next && self.waiting.len() <= Self::DEPTH {
            return None;
        }
        self.take_first()
    }

    /// The next packet in order after the stream has ended: nothing is waited for.
    pub fn drain(&mut self) -> Option<Vec<u8>> {
        self.take_first()
    }

    /// Packets left out so far because they were missing. A jump of the sequence numbers counts as
    /// a whole.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn take_first(&mut self) -> Option<Vec<u8>> {
        let (seq, payload) = self.waiting.pop_first()?;
        self.left_out = self.left_out.saturating_add(seq - self.next);
        self.next = seq.saturating_add(1);
        Some(payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn popped(reorder: &mut Reorder) -> Vec<u8> {
        std::iter::from_fn(|| reorder.pop()).flatten().collect()
    }

    #[test]
    fn packets_wait_for_a_missing_one_until_too_many_wait() {
        let mut reorder = Reorder::default();
        for seq in [0, 2, 3] {
            reorder.push(seq, vec![seq as u8]);
        }
        assert_eq!(popped(&mut reorder), [0]);
        reorder.push(1, vec![1]);
        assert_eq!(popped(&mut reorder), [1, 2, 3]);
        reorder.push(2, vec![2]);
        assert_eq!(popped(&mut reorder), [], "came before");
        // 4 is missing: 64 packets wait for it, the next one is one too many.
        (5..69).for_each(|seq| reorder.push(seq, vec![seq as u8]));
        assert_eq!(popped(&mut reorder), []);
        reorder.push(69, vec![69]);
        assert_eq!(popped(&mut reorder), (5..70).map(|seq| seq as u8).collect::<Vec<_>>());
        assert_eq!(reorder.left_out(), 1);
        reorder.push(71, vec![71]);
        assert_eq!((reorder.pop(), reorder.drain()), (None, Some(vec![71])));
        assert_eq!(reorder.left_out(), 2);
    }

    proptest! {
        #[test]
        fn what_comes_out_is_in_order_and_memory_is_bounded(seqs in prop::collection::vec(0..500u64, 0..400)) {
            let mut reorder = Reorder::default();
            let mut last = None;
            for seq in seqs {
                reorder.push(seq, seq.to_be_bytes().to_vec());
                while let Some(payload) = reorder.pop() {
                    let seq = u64::from_be_bytes(payload.try_into().unwrap());
                    prop_assert!(last.is_none_or(|last| seq > last));
                    last = Some(seq);
                }
                prop_assert!(reorder.waiting.len() <= Reorder::DEPTH);
            }
        }
    }
}
