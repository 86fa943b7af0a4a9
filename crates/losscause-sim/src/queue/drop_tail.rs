//! First in, first out; what finds the queue full is dropped.
//!
//! Nothing that comes later changes when a packet's turn is, so the turn is worked out when the packet comes, and it waits
//! in the link's own line ([`Line`]). What is left to decide is whether there is room.
//!
//! Limits count what waits, without the packet in transmission (see [`Limit`] for how ns-2 counts).
//!
//! Deviations: none from the usual definition. From ns-2's `Queue/DropTail`: the limit may be reached, not just
//! approached; and a packet that finds the transmitter idle is never refused, which in ns-2 happens at `limit_` 1 and,
//! counting bytes, to packets larger than the limit.

use losscause::{Span, Time};

use crate::line::Line;
use crate::packet::Packet;
use crate::topology::Limit;

#[derive(Clone, Debug)]
pub(crate) struct DropTail {
    limit: Limit,
    /// While the transmitter is busy for less than this, there is room: as many of the smallest packets as may wait take so long.
    ample: Span,
}

impl DropTail {
    pub(super) fn new(limit: Limit) -> Self {
        Self { limit, ample: Span::ZERO }
    }

    /// No packet takes the transmitter less than `shortest`.
    pub(crate) fn no_transmission_below(&mut self, shortest: Span) {
        if let Limit::Packets(limit) = self.limit {
            self.ample = Span::from_nanos(shortest.as_nanos().saturating_mul(limit.into()));
        }
    }

    /// Whether there is room for a packet that comes at `now` to a transmitter that will be free at `free_at`.
    #[inline(always)]
    pub(crate) fn admits(&self, now: Time, free_at: Time, packet: Packet, line: &mut Line) -> bool {
        free_at <= now || free_at - now < self.ample || self.admits_besides_waiting(now, packet, line)
    }

    #[inline(never)]
    fn admits_besides_waiting(&self, now: Time, packet: Packet, line: &mut Line) -> bool {
        while line.begin_next(now).is_some() {}
        self.limit.leaves_room(line.waiting(), packet.wire_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Flight;

    /// Packets of these sizes come at time 0, and each transmission takes 10 ns; which are let in.
    fn come<const N: usize>(limit: Limit, line: &mut Line, sizes: [u32; N]) -> [bool; N] {
        let queue = DropTail::new(limit);
        sizes.map(|bytes| {
            let packet = Packet::of(0, bytes);
            let begins = Time::from_nanos(10 * line.len() as i64);
            let admitted = queue.admits(Time::ZERO, begins, packet, line);
            if admitted {
                line.push(Flight { begins, arrives: begins, packet, hit: false, awaited: true });
            }
            admitted
        })
    }

    #[test]
    fn a_limit_of_two_packets_lets_two_wait_behind_the_one_in_transmission() {
        let mut line = Line::new();
        assert_eq!(come(Limit::Packets(2), &mut line, [100; 4]), [true, true, true, false]);
        let queue = DropTail::new(Limit::Packets(2));
        let at = |nanos| {
            queue.clone().admits(Time::from_nanos(nanos), Time::from_nanos(30), Packet::of(0, 100), &mut line.clone())
        };
        assert_eq!([9, 10].map(at), [false, true], "the second one's turn is at 10 ns");
    }

    #[test]
    fn a_limit_in_bytes_may_be_reached_but_not_passed() {
        let mut line = Line::new();
        let admitted = come(Limit::Bytes(1000), &mut line, [5000, 600, 401, 400, 1]);
        assert_eq!(admitted, [true, true, false, true, false]);
        let waiting = line.waiting();
        assert_eq!((waiting.packets, waiting.bytes), (2, 1000));
    }
}
