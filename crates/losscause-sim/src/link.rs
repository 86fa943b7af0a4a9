//! One direction of a link: a queue, a transmitter, and the way to the far end.
//!
//! A link has at most one event per packet, its arrival at the far end, and none where nobody waits for it
//! ([`lookout`](crate::lookout)).
//! A transmission begins at `max(arrival of the packet, end of the transmission before)`, so it is known beforehand or
//! worked out late, whichever costs less, and never has an event.
//!
//! - Behind the plain queue ([`DropTail`](crate::queue::DropTail)) a packet's turn and its arrival at the far end are worked
//!   out when it comes. Who still waits is found out where the queue's length matters ([`Line`]).
//! - A managed queue is worked out late. Before anything is asked of it at an instant, all transmissions that began up to
//!   and including that instant are ([`Link::catch_up`]): the queue is as long as it really was. While packets wait, one is
//!   in transmission or on its way, so the link's event comes before anybody could miss them. A discipline that drops
//!   packets when their turn comes still hands one out, so this holds for it as well; and its drops are worked out together
//!   with the transmission of the packet behind them, which is what reveals them.
//!
//! In both, a packet that comes at the very instant at which another one's transmission ends meets a queue that has moved
//! up already. A delay that varies changes nothing about all that, because no packet arrives before the one ahead of it.

use losscause::{Span, Time};

use crate::channel::Channel;
use crate::delay::Variation;
use crate::line::{Flight, Line};
use crate::packet::Packet;
use crate::queue::{Keeper, Occupancy, Queue};
use crate::rng::Stream;
use crate::topology::{ChannelSpec, ErrorPosition, LinkSpec};
use crate::trace::LinkEvent;

/// A link in motion. What every packet touches comes first, side by side in two lines of the cache.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Link {
    /// When the transmitter will be free, or became free.
    free_at: Time,
    delay: Span,
    /// Seldom there, and large.
    variation: Option<Box<Variation>>,
    /// The last packet's size and transmission time: most packets are alike.
    last_size: (u32, Span),
    line: Line,
    role: Role,
    /// When a packet reached the far end last, if its sender looks after the link.
    left_at: Time,
    /// Where errors hit, if there can be any.
    errors: Option<ErrorPosition>,
    queue: Queue,
    channel: Channel,
    rate_bps: u64,
    /// The shortest transmission time yet.
    shortest: Span,
}

/// Who looks when a packet reaches the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Each that is awaited has an event of its own. Others are looked for when one of those has, or when a packet comes and there is no
    /// more room in memory.
    Timely,
    /// The sender that is the only one to feed it looks itself.
    First,
}

/// What became of a packet that came to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// It waits, and the queue will tell when its turn comes.
    Waits,
    /// It is or will be transmitted.
    Sent,
    /// The same, and it is the first that is awaited at the far end.
    Awaited { arrives: Time },
    /// The queue dropped it.
    Dropped,
    /// It met a bad slot before the queue; what it would have met there is not known.
    Hit,
}

impl Link {
    pub(crate) fn new(spec: &LinkSpec, role: Role, seed: u64) -> Self {
        let stream = Stream::new(seed, &format!("link/{}/channel", spec.name));
        Self {
            free_at: Time::ZERO,
            delay: spec.delay,
            variation: Variation::new(&spec.variation, || Stream::new(seed, &format!("link/{}/delay", spec.name)))
                .map(Box::new),
            last_size: (0, Span::ZERO),
            shortest: Span::MAX,
            line: Line::new(),
            role,
            left_at: Time::ZERO,
            errors: (!matches!(spec.channel, ChannelSpec::Perfect)).then_some(spec.error_position),
            queue: Queue::new(spec, seed),
            rate_bps: spec.rate_bps,
            channel: Channel::new(&spec.channel, spec.slots, stream),
        }
    }

    /// A packet comes. Immune ones use up their slots but are not hit.
    #[inline(always)]
    pub(crate) fn enter<K: Keeper>(&mut self, now: Time, packet: Packet, awaited: bool, keeper: &mut K) -> Entry {
        if self.hits_before_queue(now, packet, keeper) {
            return Entry::Hit;
        }
        if !matches!(self.queue, Queue::DropTail(_)) {
            return self.enter_managed(now, packet, keeper);
        }
        let Some(begins) = self.admit(now, packet, keeper) else { return Entry::Dropped };
        let flight = self.transmit(begins, packet, awaited);
        self.push(now, flight, keeper)
    }

    /// A packet came at `at` to a link with a plain queue. If it is at the far end at the instant `passes`, and never met another
    /// one, it need not join the line, and is returned.
    #[inline(always)]
    pub(crate) fn pass<K: Keeper>(
        &mut self,
        at: Time,
        passes: Option<Time>,
        packet: Packet,
        keeper: &mut K,
    ) -> Result<Flight, Entry> {
        if self.hits_before_queue(at, packet, keeper) {
            return Err(Entry::Hit);
        }
        let alone = self.is_empty() && self.free_at <= at;
        let Some(begins) = self.admit(at, packet, keeper) else { return Err(Entry::Dropped) };
        let flight = self.transmit(begins, packet, false);
        if alone && passes == Some(flight.arrives) && !K::OBSERVES {
            self.left_at = flight.arrives;
            return Ok(flight);
        }
        Err(self.push(at, flight, keeper))
    }

    #[inline(always)]
    fn hits_before_queue<K: Keeper>(&mut self, now: Time, packet: Packet, keeper: &K) -> bool {
        self.errors == Some(ErrorPosition::BeforeQueue) && self.channel.corrupts(now, now) && !keeper.is_immune(packet)
    }

    /// When the transmission of a packet begins that comes to a plain queue at `now`, if there is room.
    #[inline(always)]
    fn admit<K: Keeper>(&mut self, now: Time, packet: Packet, keeper: &mut K) -> Option<Time> {
        if K::OBSERVES {
            self.line.begin(now, keeper);
        }
        if let Queue::DropTail(queue) = &self.queue
            && !queue.admits(now, self.free_at, packet, &mut self.line)
        {
            return None;
        }
        let begins = self.free_at.max(now);
        if K::OBSERVES {
            let Occupancy { mut packets, mut bytes } = self.line.waiting();
            if begins > now {
                packets += 1;
                bytes += u64::from(packet.wire_bytes);
            }
            keeper.observe(now, LinkEvent::Enqueue, packet, Occupancy { packets, bytes });
        }
        Some(begins)
    }

    /// A packet that came at `now` joins the line.
    #[inline(always)]
    fn push<K: Keeper>(&mut self, now: Time, flight: Flight, keeper: &mut K) -> Entry {
        let first = self.line.push(flight);
        if K::OBSERVES {
            self.line.begin(now, keeper);
        }
        if first { Entry::Awaited { arrives: flight.arrives } } else { Entry::Sent }
    }

    #[inline(never)]
    fn enter_managed<K: Keeper>(&mut self, now: Time, packet: Packet, keeper: &mut K) -> Entry {
        self.catch_up(now, keeper);
        let Queue::Managed(queue) = &mut self.queue else { return Entry::Waits };
        let waits = self.free_at > now;
        let accepted = if waits {
            queue.offer(now, packet, keeper)
        } else {
            // Idle, so nobody waits.
            queue.pass(now, self.free_at, packet, keeper)
        };
        if accepted.is_err() {
            return Entry::Dropped;
        }
        if K::OBSERVES {
            keeper.observe(now, LinkEvent::Enqueue, packet, queue.occupancy());
        }
        if waits {
            return Entry::Waits;
        }
        if K::OBSERVES {
            keeper.observe(now, LinkEvent::TransmitStart, packet, queue.occupancy());
        }
        let flight = self.transmit(now, packet, true);
        if self.line.push(flight) { Entry::Awaited { arrives: flight.arrives } } else { Entry::Sent }
    }

    /// When the next packet reaches the far end, or never.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Time {
        self.line.next_arrival()
    }

    /// When the next that is awaited reaches the far end, or never.
    #[inline]
    pub(crate) fn next_awaited(&self) -> Time {
        self.line.next_awaited()
    }

    /// As of when that has an event, if it is not later.
    #[inline]
    pub(crate) fn awaited_since(&self) -> Time {
        self.line.awaited_since()
    }

    /// A packet was at the far end at `at`, and its sender looks after the link.
    #[inline]
    pub(crate) fn note_left(&mut self, at: Time) {
        self.left_at = at;
    }

    /// As of when the arrival of the next packet would have its event: when it came, or when the one ahead of it left. One that had
    /// to wait begins before that.
    #[inline]
    pub(crate) fn next_since(&self) -> Time {
        self.line.first_begins().max(self.left_at)
    }

    /// Whether there are packets that nobody awaits.
    #[inline]
    pub(crate) fn has_unawaited(&self) -> bool {
        self.line.has_unawaited()
    }

    /// Whether one more packet would need more memory.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.line.is_full()
    }

    /// When the next packet reached the far end, if nobody awaits it and it is there by `now`.
    #[inline]
    pub(crate) fn left_unnoticed(&self, now: Time) -> Option<Time> {
        self.line.left_unnoticed(now)
    }

    #[inline]
    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// When a packet of this size that comes at `at` will reach the far end, if it is not lost. Every other has come by then, and the
    /// delay does not vary.
    #[inline]
    pub(crate) fn arrival_of(&mut self, at: Time, wire_bytes: u32) -> Time {
        self.free_at.max(at) + self.transmission_time(wire_bytes) + self.delay
    }

    /// Whether no packet has an arrival yet.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.line.len() == 0
    }

    /// The next packet at the far end, at its instant `now`.
    #[inline(always)]
    pub(crate) fn leave<K: Keeper>(&mut self, now: Time, keeper: &mut K) -> Option<Flight> {
        let flight = self.line.pop()?;
        if K::OBSERVES || matches!(self.queue, Queue::Managed(_)) {
            self.catch_up(now, keeper);
        }
        Some(flight)
    }

    /// Works out all transmissions that began up to and including `now`.
    pub(crate) fn catch_up<K: Keeper>(&mut self, now: Time, keeper: &mut K) {
        if let Queue::DropTail(_) = self.queue {
            self.line.begin(now, keeper);
        }
        while self.free_at <= now {
            let Queue::Managed(queue) = &mut self.queue else { break };
            let Some(packet) = queue.take(self.free_at, keeper) else { break };
            if K::OBSERVES {
                keeper.observe(self.free_at, LinkEvent::TransmitStart, packet, queue.occupancy());
            }
            let flight = self.transmit(self.free_at, packet, true);
            self.line.push(flight);
        }
    }

    /// Puts a packet on its way.
    #[inline(always)]
    fn transmit(&mut self, begins: Time, packet: Packet, awaited: bool) -> Flight {
        let end = begins + self.transmission_time(packet.wire_bytes);
        let hit = self.errors == Some(ErrorPosition::AfterTransmission) && self.channel.corrupts(begins, end);
        let arrives = match &mut self.variation {
            None => end + self.delay,
            Some(variation) => variation.arrival(end, self.delay),
        };
        self.free_at = end;
        Flight { begins, arrives, packet, hit, awaited }
    }

    /// What waits, as of the last time it mattered.
    pub(crate) fn occupancy(&self) -> Occupancy {
        match &self.queue {
            Queue::DropTail(_) => self.line.waiting(),
            Queue::Managed(queue) => queue.occupancy(),
        }
    }

    /// All packets here, in no particular order.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let managed = match &self.queue {
            Queue::DropTail(_) => None,
            Queue::Managed(queue) => Some(queue.iter()),
        };
        self.line.iter().map(|flight| &flight.packet).chain(managed.into_iter().flatten())
    }

    #[inline]
    fn transmission_time(&mut self, wire_bytes: u32) -> Span {
        if self.last_size.0 != wire_bytes {
            let time = transmission_time_rounded(wire_bytes, self.rate_bps);
            self.last_size = (wire_bytes, time);
            if time < self.shortest {
                self.shortest = time;
                if let Queue::DropTail(queue) = &mut self.queue {
                    queue.no_transmission_below(time);
                }
            }
        }
        self.last_size.1
    }
}

/// Of a packet of this size at this rate, rounded to the nearest nanosecond.
pub(crate) fn transmission_time_rounded(wire_bytes: u32, rate_bps: u64) -> Span {
    let rate = u128::from(rate_bps);
    let nanos = (u128::from(wire_bytes) * 8 * 1_000_000_000 + rate / 2) / rate;
    Span::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::Log;
    use crate::topology::{Limit, QueueSpec, Slots, TraceStart};

    fn wireless(limit: Limit) -> LinkSpec {
        LinkSpec::wired("air", 150_000, Span::from_millis(10), QueueSpec::DropTail { limit })
    }

    /// What became of a packet, whether it had to wait or not.
    #[derive(Debug, PartialEq, Eq, Clone, Copy)]
    enum Fate {
        Accepted,
        Dropped,
        Hit,
    }

    /// A packet of 762 bytes comes.
    fn enter(link: &mut Link, now: Time, immune: bool) -> Fate {
        match link.enter(now, Packet::of(0, 762), true, &mut Log::that_keeps(immune)) {
            Entry::Waits | Entry::Sent | Entry::Awaited { .. } => Fate::Accepted,
            Entry::Dropped => Fate::Dropped,
            Entry::Hit => Fate::Hit,
        }
    }

    fn at_micros(micros: i64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn transmission_takes_size_over_rate() {
        assert_eq!(transmission_time_rounded(762, 150_000), Span::from_micros(40_640));
        assert_eq!(transmission_time_rounded(1040, 1_600_000), Span::from_micros(5_200));
        // 2,666,666.67 ns.
        assert_eq!(transmission_time_rounded(1000, 3_000_000), Span::from_nanos(2_666_667));
        assert_eq!(transmission_time_rounded(u32::MAX, 1), Span::MAX);
    }

    #[test]
    fn of_seven_packets_at_once_one_is_sent_five_wait_and_one_is_dropped() {
        let mut link = Link::new(&wireless(Limit::Packets(5)), Role::Timely, 1);
        let entries = [(); 7].map(|()| enter(&mut link, Time::ZERO, false));
        assert_eq!(entries[..6], [Fate::Accepted; 6]);
        assert_eq!(entries[6], Fate::Dropped);
        assert_eq!(link.occupancy().packets, 5);
        // 40.64 ms each, and 10 ms to the far end.
        for micros in [50_640, 91_280, 131_920, 172_560, 213_200, 253_840] {
            assert_eq!(link.next_arrival(), at_micros(micros));
            assert!(link.leave(at_micros(micros), &mut Log::default()).is_some());
        }
        assert_eq!(link.next_arrival(), crate::event::NEVER);
    }

    #[test]
    fn the_queue_moves_up_at_the_very_instant_a_transmission_ends() {
        let mut link = Link::new(&wireless(Limit::Packets(1)), Role::Timely, 1);
        assert_eq!([(); 3].map(|()| enter(&mut link, Time::ZERO, false))[2], Fate::Dropped);
        let end = at_micros(40_640);
        assert_eq!(enter(&mut link, end - Span::from_nanos(1), false), Fate::Dropped);
        assert_eq!(enter(&mut link, end, false), Fate::Accepted);
    }

    #[test]
    fn an_idle_transmitter_starts_at_once() {
        let mut link = Link::new(&wireless(Limit::Packets(0)), Role::Timely, 1);
        assert_eq!(enter(&mut link, Time::ZERO, false), Fate::Accepted);
        assert!(link.leave(at_micros(50_640), &mut Log::default()).is_some());
        let now = Time::ZERO + Span::from_secs(3);
        assert_eq!(enter(&mut link, now, false), Fate::Accepted);
        assert_eq!(link.next_arrival(), now + Span::from_micros(50_640));
    }

    fn every_third_bad(error_position: ErrorPosition) -> LinkSpec {
        let lost = [true, false, false].into();
        LinkSpec {
            channel: ChannelSpec::Trace { lost, start: TraceStart::Slot(0) },
            error_position,
            slots: Slots::PerPacket(1),
            ..wireless(Limit::Packets(5))
        }
    }

    #[test]
    fn an_error_after_transmission_uses_the_links_time() {
        let mut link = Link::new(&every_third_bad(ErrorPosition::AfterTransmission), Role::Timely, 1);
        assert_eq!([(); 2].map(|()| enter(&mut link, Time::ZERO, false)), [Fate::Accepted; 2]);
        let first = link.leave(at_micros(50_640), &mut Log::default()).unwrap();
        let second = link.leave(at_micros(91_280), &mut Log::default()).unwrap();
        assert_eq!((first.hit, second.hit), (true, false));
    }

    #[test]
    fn an_error_before_the_queue_uses_neither_time_nor_queue() {
        let mut link = Link::new(&every_third_bad(ErrorPosition::BeforeQueue), Role::Timely, 1);
        let entries = [(); 2].map(|()| enter(&mut link, Time::ZERO, false));
        assert_eq!(entries, [Fate::Hit, Fate::Accepted]);
        assert_eq!(link.next_arrival(), at_micros(50_640));
    }

    #[test]
    fn an_immune_packet_uses_its_slot_up() {
        let mut link = Link::new(&every_third_bad(ErrorPosition::BeforeQueue), Role::Timely, 1);
        let entries = [true, false, false, false].map(|immune| enter(&mut link, Time::ZERO, immune));
        assert_eq!(entries, [Fate::Accepted, Fate::Accepted, Fate::Accepted, Fate::Hit]);
    }
}
