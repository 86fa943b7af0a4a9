//! First in, first out; a packet that finds the queue full is dropped.
//!
//! Nothing that comes later changes when a packet's turn is, so its transmission is worked out when
//! it comes, and it waits among the link's packets in flight. What is left to decide is whether
//! there is room.
//!
//! Limits count what waits, without the packet in transmission (see [`Limit`] for how ns-2 counts).
//!
//! Deviations: none from the usual definition. From ns-2's `Queue/DropTail`: the limit may be
//! reached, not just approached; and a packet that finds the transmitter idle is never refused,
//! which in ns-2 happens at `limit_` 1 and, counting bytes, to packets larger than the limit.

use losscause::Time;

use super::in_flight::InFlight;
use crate::queue::Occupancy;
use crate::topology::Limit;

/// Packed, so that a link's first two cache lines hold all that every packet needs.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct DropTail {
    /// There is room for at least so many packets. Only packets that are let in use it up, so most
    /// need no look at what waits, nor at whether the transmitter is idle, which a processor cannot
    /// predict.
    room: u32,
    limit: Limit,
}

impl DropTail {
    pub(super) fn new(limit: Limit) -> Self {
        Self { room: 0, limit }
    }

    /// From the next packet on the limit is `limit`.
    pub(super) fn adopt(&mut self, limit: Limit) {
        *self = Self::new(limit);
    }

    /// Whether there is room for a packet of so many bytes that comes at `now` to a transmitter
    /// that will be free at `free_at`.
    #[inline(always)]
    pub(super) fn admits(
        &mut self,
        now: Time,
        free_at: Time,
        wire_bytes: u32,
        in_flight: &mut InFlight,
    ) -> bool {
        if self.room == 0 {
            return self.has_room(now, free_at, wire_bytes, in_flight);
        }
        self.room -= 1;
        true
    }

    /// Whether there is room. Finds out how much is left if the packet is let in.
    #[inline(never)]
    fn has_room(
        &mut self,
        now: Time,
        free_at: Time,
        wire_bytes: u32,
        in_flight: &mut InFlight,
    ) -> bool {
        let waits = free_at > now;
        let waiting = if waits { in_flight.count_waiting(now) } else { Occupancy::default() };
        if waits && !self.limit.leaves_room(waiting, wire_bytes) {
            return false;
        }
        if let Limit::Packets(limit) = self.limit {
            self.room = limit - waiting.packets - u32::from(waits);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::in_flight::Transmission;
    use crate::packet::Packet;

    /// Packets of these sizes come at time 0, and each transmission takes 10 ns; which are let in.
    fn come<const N: usize>(limit: Limit, in_flight: &mut InFlight, sizes: [u32; N]) -> [bool; N] {
        let mut queue = DropTail::new(limit);
        sizes.map(|bytes| {
            let packet = Packet::of(0, bytes);
            let begins = Time::from_nanos(10 * in_flight.iter().count() as i64);
            let admitted = queue.admits(Time::ZERO, begins, bytes, in_flight);
            if admitted {
                in_flight.push(Transmission {
                    begins,
                    arrives: begins,
                    packet,
                    hit: false,
                    needs_event: true,
                });
            }
            admitted
        })
    }

    #[test]
    fn a_limit_of_two_lets_two_wait_behind_the_one_in_transmission() {
        let mut in_flight = InFlight::new();
        assert_eq!(come(Limit::Packets(2), &mut in_flight, [100; 4]), [true, true, true, false]);
        let admits = |nanos| {
            let now = Time::from_nanos(nanos);
            let free_at = Time::from_nanos(30);
            DropTail::new(Limit::Packets(2)).admits(now, free_at, 100, &mut in_flight.clone())
        };
        assert_eq!([9, 10].map(admits), [false, true], "the second one's turn is at 10 ns");
    }

    #[test]
    fn a_limit_in_bytes_may_be_reached_but_not_passed() {
        let mut in_flight = InFlight::new();
        let admitted = come(Limit::Bytes(1000), &mut in_flight, [5000, 600, 401, 400, 1]);
        assert_eq!(admitted, [true, true, false, true, false]);
        let waiting = in_flight.waiting();
        assert_eq!((waiting.packets, waiting.bytes), (2, 1000));
    }
}
