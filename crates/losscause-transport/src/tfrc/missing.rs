//! Missing packets between the gap that revealed them and the declaration of their loss (RFC 5348,
//! section 5.1).

use std::collections::VecDeque;

use losscause::Time;

/// A missing packet with the LDA's verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    /// The packet's place in the flow (`position.rs`).
    pub(crate) position: u64,
    /// When it would have been sent or have arrived: what loss events are told apart by.
    pub(crate) at: Time,
    /// The LDA called the loss wireless.
    pub(crate) wireless: bool,
}

/// Missing packets in order of their positions. It grows to the longest gap, at most [`CAPACITY`],
/// and allocates nothing per packet.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    /// Later packets that must arrive.
    needed: u32,
    waiting: VecDeque<Waiting>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    lost: Lost,
    /// Later packets that arrived.
    later: u32,
}

/// A longer gap keeps its first packets: they tell when the loss began, and intervals are counted
/// by positions.
const CAPACITY: usize = 4096;

impl Missing {
    pub(crate) fn new(needed: u32) -> Self {
        Self { needed, waiting: VecDeque::with_capacity(4) }
    }

    /// Whether no packet is missing.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Adds a missing packet, later than all before it.
    pub(crate) fn push(&mut self, lost: Lost) {
        if self.waiting.len() < CAPACITY {
            self.waiting.push_back(Waiting { lost, later: 0 });
        }
    }

    /// A packet later than all arrived.
    pub(crate) fn on_newest(&mut self) {
        for waiting in &mut self.waiting {
            waiting.later = waiting.later.saturating_add(1);
        }
    }

    /// A packet arrived late: it is missing no more, and later than the missing packets before it.
    pub(crate) fn on_late(&mut self, position: u64) {
        self.waiting.retain_mut(|waiting| {
            waiting.later =
                waiting.later.saturating_add(u32::from(waiting.lost.position < position));
            waiting.lost.position != position
        });
    }

    /// Takes out the earliest missing packet if enough later ones arrived.
    pub(crate) fn pop_declared(&mut self) -> Option<Lost> {
        if self.waiting.front()?.later < self.needed {
            return None;
        }
        self.waiting.pop_front().map(|waiting| waiting.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(position: u64) -> Lost {
        Lost { position, at: Time::ZERO, wireless: false }
    }

    #[test]
    fn a_loss_is_declared_when_three_later_packets_have_arrived() {
        let mut missing = Missing::new(3);
        missing.push(lost(5));
        missing.on_newest();
        missing.on_newest();
        assert_eq!(missing.pop_declared(), None);
        missing.push(lost(8));
        missing.on_newest();
        assert_eq!(missing.pop_declared(), Some(lost(5)));
        assert_eq!(missing.pop_declared(), None);
    }

    #[test]
    fn a_late_packet_is_no_longer_missing_and_counts_as_later() {
        let mut missing = Missing::new(2);
        missing.push(lost(5));
        missing.push(lost(6));
        missing.push(lost(7));
        missing.on_newest();
        missing.on_late(6);
        assert_eq!(missing.pop_declared(), Some(lost(5)));
        assert_eq!(missing.pop_declared(), None);
        missing.on_newest();
        assert_eq!(missing.pop_declared(), Some(lost(7)));
        assert_eq!(missing.pop_declared(), None);
    }
}
