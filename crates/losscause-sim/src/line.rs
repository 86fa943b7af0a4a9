//! The packets of a link, in order: those that wait for their turn, in transmission, and in propagation.

use losscause::Time;

use crate::event::NEVER;
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::queue::{Keeper, Occupancy};
use crate::trace::LinkEvent;

/// A packet whose turn is known: it waits, is in transmission, or in propagation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flight {
    /// When its transmission begins.
    pub(crate) begins: Time,
    /// At the far end.
    pub(crate) arrives: Time,
    pub(crate) packet: Packet,
    /// It meets a bad slot.
    pub(crate) hit: bool,
    /// Whether anybody looks when it reaches the far end.
    pub(crate) awaited: bool,
}

/// All of them. Who still waits is not kept up with the time, since it is seldom asked.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    flights: Fifo<Flight>,
    /// When the first that is awaited reaches the far end, or never.
    next_awaited: Time,
    /// When one that was ahead of that did or does, directly ahead if it has yet to. Since then there is an event for it, if not since later.
    awaited_since: Time,
    /// How many are not.
    unawaited: u32,
    /// Of the first in line, so many are known to have begun.
    begun: u32,
    /// Bytes of the others.
    bytes: u64,
}

impl Line {
    pub(crate) fn new() -> Self {
        Self { flights: Fifo::new(), next_awaited: NEVER, awaited_since: Time::ZERO, unawaited: 0, begun: 0, bytes: 0 }
    }

    /// A packet joins the line; its turn and its arrival come after all others'. Returns whether it is now the first that is awaited.
    #[inline(always)]
    pub(crate) fn push(&mut self, flight: Flight) -> bool {
        self.bytes += u64::from(flight.packet.wire_bytes);
        self.flights.push(flight);
        if !flight.awaited {
            self.unawaited += 1;
            return false;
        }
        let first = self.next_awaited == NEVER;
        if first {
            self.next_awaited = flight.arrives;
            if self.unawaited > 0 {
                self.follow_the_one_before_last();
            }
        }
        first
    }

    /// Takes out the packet that arrives first.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<Flight> {
        let flight = self.flights.pop()?;
        match self.begun.checked_sub(1) {
            Some(begun) => self.begun = begun,
            None => self.bytes -= u64::from(flight.packet.wire_bytes),
        }
        if flight.awaited {
            self.find_awaited();
        } else {
            self.unawaited -= 1;
        }
        Some(flight)
    }

    /// The last in line is the first that is awaited.
    #[inline(never)]
    fn follow_the_one_before_last(&mut self) {
        self.awaited_since = self.flights.iter().rev().nth(1).map_or(self.awaited_since, |ahead| ahead.arrives);
    }

    /// Each packet is passed over once.
    #[inline(always)]
    fn find_awaited(&mut self) {
        let mut ahead = 0;
        self.next_awaited = loop {
            match self.flights.get(ahead) {
                None => break NEVER,
                Some(flight) if flight.awaited => break flight.arrives,
                Some(flight) => {
                    ahead += 1;
                    self.awaited_since = flight.arrives;
                }
            }
        };
    }

    /// When the first that is awaited reaches the far end, or never.
    #[inline]
    pub(crate) fn next_awaited(&self) -> Time {
        self.next_awaited
    }

    /// As of when that has an event, if it is not later.
    #[inline]
    pub(crate) fn awaited_since(&self) -> Time {
        self.awaited_since
    }

    /// Whether one more would need more memory.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.flights.is_full()
    }

    /// Whether there are any that nobody awaits.
    #[inline]
    pub(crate) fn has_unawaited(&self) -> bool {
        self.unawaited > 0
    }

    /// When the first reached the far end, if nobody awaits it and it is there by `now`.
    #[inline]
    pub(crate) fn left_unnoticed(&self, now: Time) -> Option<Time> {
        self.flights.first().filter(|flight| flight.arrives <= now && !flight.awaited).map(|flight| flight.arrives)
    }

    /// When the first arrives, or never.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Time {
        self.flights.first().map_or(NEVER, |flight| flight.arrives)
    }

    /// When the transmission of the first begins.
    pub(crate) fn first_begins(&self) -> Time {
        self.flights.first().map_or(Time::ZERO, |flight| flight.begins)
    }

    /// The next packet whose transmission begins up to and including `now`; call until none.
    #[inline]
    pub(crate) fn begin_next(&mut self, now: Time) -> Option<Flight> {
        let flight = *self.flights.get(self.begun).filter(|flight| flight.begins <= now)?;
        self.begun += 1;
        self.bytes -= u64::from(flight.packet.wire_bytes);
        Some(flight)
    }

    /// Works out who begins up to and including `now`.
    pub(crate) fn begin<K: Keeper>(&mut self, now: Time, keeper: &mut K) {
        while let Some(flight) = self.begin_next(now) {
            if K::OBSERVES {
                keeper.observe(flight.begins, LinkEvent::TransmitStart, flight.packet, self.waiting());
            }
        }
    }

    /// Who waits, at the instant for which [`Line::begin_next`] was called last.
    pub(crate) fn waiting(&self) -> Occupancy {
        Occupancy { packets: self.len() as u32 - self.begun, bytes: self.bytes }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.flights.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Flight> {
        self.flights.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: i64) -> Time {
        Time::from_nanos(nanos)
    }

    fn flight(arrives: i64, awaited: bool) -> Flight {
        Flight { begins: at(arrives - 10), arrives: at(arrives), packet: Packet::of(0, 100), hit: false, awaited }
    }

    #[test]
    fn the_next_event_is_that_of_the_first_awaited_packet_as_of_the_arrival_ahead_of_it() {
        let mut line = Line::new();
        let first = [(20, false), (30, true), (40, false), (50, false), (60, true)];
        let pushed = first.map(|(arrives, awaited)| line.push(flight(arrives, awaited)));
        assert_eq!(pushed, [false, true, false, false, false]);
        assert_eq!((line.next_awaited(), line.awaited_since()), (at(30), at(20)));
        assert_eq!(line.left_unnoticed(at(20)), Some(at(20)));
        line.pop();
        assert_eq!(line.left_unnoticed(at(60)), None, "the first is awaited");
        line.pop();
        assert_eq!((line.next_awaited(), line.awaited_since()), (at(60), at(50)));
    }

    #[test]
    fn behind_packets_that_nobody_awaits_the_first_awaited_one_has_its_event_as_of_the_last_arrival() {
        let mut line = Line::new();
        line.push(flight(20, false));
        assert_eq!((line.next_awaited(), line.has_unawaited()), (NEVER, true));
        assert!(line.push(flight(30, true)));
        assert_eq!((line.next_awaited(), line.awaited_since()), (at(30), at(20)));
    }
}
