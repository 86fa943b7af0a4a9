//! The packets of a link whose transmission is worked out, in order: they wait for it, are in
//! transmission, or in propagation.

use losscause::Time;

use super::hooks::LinkHooks;
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::queue::Occupancy;
use crate::schedule::NEVER;
use crate::trace::LinkEvent;

/// A packet whose transmission is worked out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Transmission {
    pub(crate) begins: Time,
    /// At the far end.
    pub(crate) arrives: Time,
    pub(crate) packet: Packet,
    /// The channel corrupts it.
    pub(crate) hit: bool,
    /// Whether its arrival needs an event (`elision.rs`).
    pub(crate) needs_event: bool,
}

/// All of them. Waiting packets are counted lazily, because the count is seldom needed. The oldest
/// packet and the next event are one cache line.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct InFlight {
    transmissions: Fifo<Transmission>,
    /// When the link's next event is, or never: the first packet that needs one arrives, or one
    /// that is late (`disorder.rs`).
    next_event: Time,
    /// How many packets need none.
    elided: u32,
    /// How many transmissions are known to have begun: those of the first packets.
    begun: u32,
    /// Bytes of the other packets.
    waiting_bytes: u64,
}

impl InFlight {
    pub(crate) fn new() -> Self {
        Self {
            transmissions: Fifo::new(),
            next_event: NEVER,
            elided: 0,
            begun: 0,
            waiting_bytes: 0,
        }
    }

    /// Appends a packet: it begins and arrives after all others here. Returns its arrival if that
    /// is now the next event.
    #[inline(always)]
    pub(crate) fn push(&mut self, transmission: Transmission) -> Option<Time> {
        self.waiting_bytes += u64::from(transmission.packet.wire_bytes);
        self.transmissions.push(transmission);
        if !transmission.needs_event {
            self.elided += 1;
            return None;
        }
        // The next event may be that of a packet that is late (`disorder.rs`).
        if self.next_event <= transmission.arrives {
            return None;
        }
        self.next_event = transmission.arrives;
        Some(transmission.arrives)
    }

    /// Takes out the packet that arrives first.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<Transmission> {
        let transmission = self.transmissions.pop()?;
        match self.begun.checked_sub(1) {
            Some(begun) => self.begun = begun,
            None => self.waiting_bytes -= u64::from(transmission.packet.wire_bytes),
        }
        if transmission.needs_event {
            self.find_next_event();
        } else {
            self.elided -= 1;
        }
        Some(transmission)
    }

    /// Each packet is passed over once.
    #[inline(always)]
    fn find_next_event(&mut self) {
        let mut ahead = 0;
        self.next_event = loop {
            match self.transmissions.get(ahead) {
                None => break NEVER,
                Some(transmission) if transmission.needs_event => break transmission.arrives,
                Some(_) => ahead += 1,
            }
        };
    }

    /// When the first packet arrives, whether it needs an event or not.
    pub(crate) fn first_arrival(&self) -> Option<Time> {
        self.transmissions.first().map(|first| first.arrives)
    }

    /// A packet that is late arrives at `late`, or never: the next event is at that time if none of
    /// these packets comes before.
    pub(crate) fn expect_late(&mut self, late: Time) {
        self.find_next_event();
        self.next_event = self.next_event.min(late);
    }

    /// When the link's next event is, or never.
    #[inline]
    pub(crate) fn next_event(&self) -> Time {
        self.next_event
    }

    /// Whether one more packet would need more memory.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.transmissions.is_full()
    }

    /// Whether nothing waits or is on its way.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.transmissions.len() == 0
    }

    /// Whether any packet needs no event.
    #[inline]
    pub(crate) fn has_elided(&self) -> bool {
        self.elided > 0
    }

    /// When the first packet arrived, if it needs no event and has arrived by `now`.
    #[inline]
    pub(crate) fn next_elided(&self, now: Time) -> Option<Time> {
        let first = self.transmissions.first()?;
        (first.arrives <= now && !first.needs_event).then_some(first.arrives)
    }

    /// The next packet whose transmission begins up to and including `now`; call until none.
    #[inline]
    pub(crate) fn begin_next(&mut self, now: Time) -> Option<Transmission> {
        let transmission = *self
            .transmissions
            .get(self.begun)
            .filter(|transmission| transmission.begins <= now)?;
        self.begun += 1;
        self.waiting_bytes -= u64::from(transmission.packet.wire_bytes);
        Some(transmission)
    }

    /// Counts what waits at `now`: [`InFlight::begin_next`] until none.
    #[inline]
    pub(crate) fn count_waiting(&mut self, now: Time) -> Occupancy {
        while let Some(transmission) = self.transmissions.get(self.begun)
            && transmission.begins <= now
        {
            self.begun += 1;
            self.waiting_bytes -= u64::from(transmission.packet.wire_bytes);
        }
        self.waiting()
    }

    /// Works out which transmissions begin up to and including `now`.
    pub(crate) fn begin<H: LinkHooks>(&mut self, now: Time, hooks: &mut H) {
        while let Some(transmission) = self.begin_next(now) {
            if hooks.records() {
                hooks.observe(
                    transmission.begins,
                    LinkEvent::TransmitStart,
                    transmission.packet,
                    self.waiting(),
                );
            }
        }
    }

    /// What waits, as of the instant for which [`InFlight::begin_next`] was called last.
    pub(crate) fn waiting(&self) -> Occupancy {
        Occupancy {
            packets: self.transmissions.len() as u32 - self.begun,
            bytes: self.waiting_bytes,
        }
    }

    #[cfg(test)]
    pub(crate) fn keep_bytes_of_nothing(&mut self, bytes: u64) {
        self.waiting_bytes += bytes;
    }

    /// The packets that [`InFlight::waiting`] counts.
    pub(crate) fn not_begun(&self) -> impl Iterator<Item = &Packet> {
        self.iter().skip(self.begun as usize).map(|transmission| &transmission.packet)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Transmission> {
        self.transmissions.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: i64) -> Time {
        Time::from_nanos(nanos)
    }

    fn transmission(arrives: i64, needs_event: bool) -> Transmission {
        Transmission {
            begins: at(arrives - 10),
            arrives: at(arrives),
            packet: Packet::of(0, 100),
            hit: false,
            needs_event,
        }
    }

    #[test]
    fn the_next_event_is_the_first_arrival_that_needs_one() {
        let mut in_flight = InFlight::new();
        let packets = [(20, false), (30, true), (40, false), (50, false), (60, true)];
        let pushed = packets
            .map(|(arrives, needs_event)| in_flight.push(transmission(arrives, needs_event)));
        assert_eq!(pushed, [None, Some(at(30)), None, None, None]);
        assert_eq!((in_flight.next_event(), in_flight.next_elided(at(20))), (at(30), Some(at(20))));
        in_flight.pop();
        assert_eq!(in_flight.next_elided(at(60)), None, "the first one needs an event");
        in_flight.pop();
        assert_eq!((in_flight.next_event(), in_flight.has_elided()), (at(60), true));
    }

    #[test]
    fn packets_wait_until_their_transmission_begins() {
        let mut in_flight = InFlight::new();
        for arrives in [10, 20, 30] {
            in_flight.push(transmission(arrives, true));
        }
        while in_flight.begin_next(at(10)).is_some() {}
        assert_eq!(in_flight.waiting(), Occupancy { packets: 1, bytes: 100 });
        assert_eq!(in_flight.not_begun().count(), 1);
        // Two that have begun leave, and one that is not known to have.
        in_flight.pop();
        in_flight.pop();
        assert_eq!(in_flight.waiting(), Occupancy { packets: 1, bytes: 100 });
        in_flight.pop();
        assert_eq!(in_flight.waiting(), Occupancy::default());
    }
}
