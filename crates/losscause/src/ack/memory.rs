//! Where a tracker keeps the packets that it remembers: an array, or a ring that grows with the
//! packets in flight.

#[cfg(feature = "alloc")]
use alloc::{vec, vec::Vec};

use crate::Time;

/// The packets that a tracker remembers, by their order of sending.
///
/// [`Fixed`] lies in the tracker. This one lies elsewhere, so that the tracker is cheap to move:
///
/// ```
/// use losscause::AckTracker;
/// use losscause::ack::{Fixed, Memory, Sent};
///
/// #[derive(Default)]
/// struct Apart(Box<Fixed<4096>>);
///
/// impl Memory for Apart {
///     fn capacity(&self) -> usize {
///         self.0.capacity()
///     }
///     fn slot(&self, order: u64) -> &Sent {
///         self.0.slot(order)
///     }
///     fn slot_mut(&mut self, order: u64) -> &mut Sent {
///         self.0.slot_mut(order)
///     }
/// }
///
/// assert!(size_of::<AckTracker<Apart>>() < 1_000);
/// ```
pub trait Memory {
    /// How many packets it holds now; at least one.
    fn capacity(&self) -> usize;

    /// The packet that was sent as number `order`, counted from zero. One of the last
    /// [`Memory::capacity`].
    fn slot(&self, order: u64) -> &Sent;

    /// As [`Memory::slot`].
    fn slot_mut(&mut self, order: u64) -> &mut Sent;

    /// One more packet is about to be sent, after `sent` others, `in_flight` of which are in
    /// flight. A memory that can grow does so now, if it is too small.
    fn make_room(&mut self, sent: u64, in_flight: u64) {
        let _ = (sent, in_flight);
    }
}

/// A remembered packet.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub(super) number: u64,
    pub(super) at: Time,
    pub(super) state: State,
    pub(super) resent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    InFlight,
    Acked,
    Lost,
}

const NOTHING: Sent = Sent { number: 0, at: Time::ZERO, state: State::Acked, resent: false };

/// The last `N` packets, in place.
#[derive(Clone, Copy, Debug)]
pub struct Fixed<const N: usize>([Sent; N]);

impl<const N: usize> Default for Fixed<N> {
    fn default() -> Self {
        const { assert!(N > 0, "a tracker remembers at least one packet") };
        Self([NOTHING; N])
    }
}

impl<const N: usize> Memory for Fixed<N> {
    #[inline]
    fn capacity(&self) -> usize {
        N
    }

    #[inline]
    fn slot(&self, order: u64) -> &Sent {
        &self.0[(order % N as u64) as usize]
    }

    #[inline]
    fn slot_mut(&mut self, order: u64) -> &mut Sent {
        &mut self.0[(order % N as u64) as usize]
    }
}

/// A ring on the heap. It doubles when half of its packets are in flight, up to a limit, and never
/// shrinks.
///
/// ```
/// use losscause::ack::{Growing, SenderDifferentiator};
/// use losscause::lda::Constant;
/// use losscause::{Time, Verdict};
///
/// let constant = Constant::new(Verdict::Wireless);
/// let mut sender = SenderDifferentiator::with_memory(constant, Growing::up_to(1_024));
/// (0..1_000).for_each(|number| sender.on_sent(number, Time::ZERO));
/// assert_eq!(sender.in_flight_pkts(), 1_000);
/// ```
#[cfg(feature = "alloc")]
#[derive(Clone, Debug)]
pub struct Growing {
    /// A power of two of them.
    slots: Vec<Sent>,
    at_most: usize,
}

#[cfg(feature = "alloc")]
impl Growing {
    /// How many packets it holds at first: 6 KiB.
    const FIRST: usize = 256;

    /// A ring for up to `pkts` packets, rounded up to a power of two and to 256. A packet takes 24
    /// bytes.
    pub fn up_to(pkts: usize) -> Self {
        let at_most = pkts.clamp(Self::FIRST, 1 << 30).next_power_of_two();
        Self { slots: vec![NOTHING; Self::FIRST], at_most }
    }
}

#[cfg(feature = "alloc")]
impl Memory for Growing {
    #[inline]
    fn capacity(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    fn slot(&self, order: u64) -> &Sent {
        &self.slots[order as usize & (self.slots.len() - 1)]
    }

    #[inline]
    fn slot_mut(&mut self, order: u64) -> &mut Sent {
        let mask = self.slots.len() - 1;
        &mut self.slots[order as usize & mask]
    }

    #[inline]
    fn make_room(&mut self, sent: u64, in_flight: u64) {
        let capacity = self.slots.len() as u64;
        // A full ring whose packets are mostly settled forgets nothing that matters.
        if in_flight >= capacity / 2 && sent >= capacity && self.slots.len() < self.at_most {
            self.grow(sent);
        }
    }
}

#[cfg(feature = "alloc")]
impl Growing {
    #[cold]
    fn grow(&mut self, sent: u64) {
        let capacity = self.slots.len() as u64;
        let mut larger = vec![NOTHING; 2 * self.slots.len()];
        let mask = larger.len() - 1;
        for order in sent - capacity..sent {
            larger[order as usize & mask] = *self.slot(order);
        }
        self.slots = larger;
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;
    use crate::{AckTracker, Span};

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms as i64)
    }

    #[test]
    fn a_growing_memory_keeps_all_in_flight_up_to_its_limit() {
        let mut tracker = AckTracker::with_memory(Growing::up_to(1000));
        (0..1000).for_each(|number| tracker.on_sent(number, at(number)));
        assert_eq!(tracker.in_flight_pkts(), 1000);
        (0..1000).for_each(|number| tracker.on_acked_sent_at(at(number)));
        let sample = tracker.end_of_ack(at(2000), Some(999)).expect("new");
        assert_eq!(
            (
                sample.acked.map_or(0, |acked| acked.newly_acked_pkts),
                sample.spanned,
                sample.missing
            ),
            (1000, 1000, 0)
        );
        // 1000 is rounded up to 1024: no more are remembered.
        (1000..4000).for_each(|number| tracker.on_sent(number, at(number)));
        assert_eq!(tracker.in_flight_pkts(), 1024);
    }

    #[test]
    fn a_packet_that_is_never_acknowledged_does_not_make_it_grow() {
        let mut tracker = AckTracker::with_memory(Growing::up_to(65_536));
        tracker.on_sent(0, at(0));
        for number in 1..100_000 {
            tracker.on_sent(number, at(number));
            tracker.on_acked(number);
            tracker.end_of_ack(at(number + 1), None);
        }
        assert_eq!(tracker.in_flight_pkts(), 0, "forgotten after 256 others");
    }
}
