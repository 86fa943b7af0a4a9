//! One direction of a link: a queue, a transmitter, and the way to the far end.
//!
//! A transmission begins at `max(arrival of the packet, end of the transmission before)`. So it
//! never needs an event: it is worked out when the packet comes, or later, at its exact instant. A
//! link has one event, the next arrival at its far end.
//!
//! - Behind a DropTail queue, a packet's transmission and arrival are worked out when it comes.
//!   Waiting packets are counted only when the limit may be reached (`drop_tail.rs`).
//! - A managed queue is worked out late: before it is used at an instant, [`Link::catch_up`]
//!   carries out all transmissions and timers up to that instant. While packets wait, one is in
//!   transmission or in propagation, so the link's event comes in time.
//!
//! Packets arrive in the order of their transmissions, except on a link that reorders them or has
//! them arrive twice (`disorder.rs`).
//!
//! In both, a packet that comes at the very instant at which a transmission ends meets a queue that
//! has already moved up.

use losscause::{Span, Time};

use crate::channel::Channel;
use crate::delay::Variation;
use crate::packet::Packet;
use crate::queue::{self, Occupancy, QueueDiscipline};
use crate::rng::Stream;
use crate::schedule::NEVER;
use crate::topology::{ChannelSpec, ErrorPosition, LinkSpec, QueueSpec};
use crate::trace::LinkEvent;

mod disorder;
mod drop_tail;
mod hooks;
mod in_flight;
mod rate;
mod retransmission;

pub(crate) use hooks::LinkHooks;
pub(crate) use in_flight::Transmission;

use disorder::Disorder;
use drop_tail::DropTail;
use in_flight::InFlight;
use rate::{ConstantRate, VaryingRate};
use retransmission::{Attempt, Retransmission};

/// A link in motion. What every packet touches comes first: two cache lines for one that leaves,
/// the third for one that comes.
#[derive(Clone, Debug)]
#[repr(C, align(128))] // Processors load lines in pairs.
pub(crate) struct Link {
    in_flight: InFlight,
    queue: Queue,
    irregular: Option<Box<Irregular>>,
    /// When the transmitter will be free, or became free.
    free_at: Time,
    delay: Span,
    rate: ConstantRate,
    /// Where errors hit, if there can be any.
    errors: Option<ErrorPosition>,
    channel: Channel,
}

/// What few links have.
#[derive(Clone, Debug)]
struct Irregular {
    rate: Option<VaryingRate>,
    delay: Option<Variation>,
    retransmission: Option<Retransmission>,
    disorder: Option<Box<Disorder>>,
    /// No packet arrives before this: the delay became shorter while packets were on their way.
    not_before: Time,
}

/// What became of a packet that came to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The packet waits or is on its way, or it was dropped or corrupted.
    Stays,
    /// The packet is on its way, and its arrival is the link's next event.
    NextEvent(Time),
    /// The packet is at the far end already. Nothing else was on the link.
    Through {
        /// At the far end.
        arrived: Time,
        /// The channel corrupted it.
        hit: bool,
    },
}

#[derive(Clone, Debug)]
#[repr(u8)] // The tag is a byte of its own, which is read for every packet.
enum Queue {
    DropTail(DropTail),
    Managed(Box<dyn QueueDiscipline>),
}

impl Irregular {
    fn new(spec: &LinkSpec, stream: impl Fn(&str) -> Stream) -> Option<Self> {
        let irregular = Self {
            rate: VaryingRate::new(&spec.rate, spec.rate_bps),
            delay: Variation::new(&spec.variation, || stream("delay")),
            retransmission: spec.retransmission.map(Retransmission::new),
            disorder: Disorder::new(spec, stream).map(Box::new),
            not_before: Time::ZERO,
        };
        let Self { rate, delay, retransmission, disorder, .. } = &irregular;
        let is_some =
            rate.is_some() || delay.is_some() || retransmission.is_some() || disorder.is_some();
        is_some.then_some(irregular)
    }
}

impl Link {
    pub(crate) fn new(spec: &LinkSpec, seed: u64) -> Self {
        let stream = |purpose: &str| stream(spec, seed, purpose);
        let queue = match (&spec.queue, queue::managed(&spec.queue, typical(spec), stream("queue")))
        {
            (_, Some(managed)) => Queue::Managed(managed),
            (queue, None) => Queue::DropTail(DropTail::new(queue.limit())),
        };
        Self {
            free_at: Time::ZERO,
            delay: spec.delay,
            irregular: Irregular::new(spec, stream).map(Box::new),
            rate: ConstantRate::new(spec.rate_bps),
            in_flight: InFlight::new(),
            queue,
            errors: (!matches!(spec.channel, ChannelSpec::Perfect)).then_some(spec.error_position),
            channel: Channel::new(&spec.channel, spec.slots, stream("channel")),
        }
    }

    /// From now on the link is as `spec` says, which
    /// [`validate_change`](crate::topology::validate_change) accepts. A packet whose transmission
    /// is worked out keeps it: behind DropTail every one that waits.
    pub(crate) fn adopt(&mut self, spec: &LinkSpec, seed: u64) {
        self.rate = ConstantRate::new(spec.rate_bps);
        if spec.delay < self.delay
            && let Some(last) = self.in_flight.iter().last()
        {
            let none = || {
                Box::new(Irregular {
                    rate: None,
                    delay: None,
                    retransmission: None,
                    disorder: None,
                    not_before: Time::ZERO,
                })
            };
            self.irregular.get_or_insert_with(none).not_before = last.arrives;
        }
        self.delay = spec.delay;
        match &mut self.queue {
            Queue::DropTail(queue) => queue.adopt(spec.queue.limit()),
            Queue::Managed(queue) => queue.adopt(&spec.queue, typical(spec)),
        }
        self.errors =
            (!matches!(spec.channel, ChannelSpec::Perfect)).then_some(spec.error_position);
        self.channel.adopt(&spec.channel, || stream(spec, seed, "channel"));
    }

    /// A packet comes at `at`; `needs_event` says whether its arrival at the far end needs an
    /// event. If it comes late, `now` is after `at`.
    #[inline(always)]
    pub(crate) fn enter<H: LinkHooks>(
        &mut self,
        at: Time,
        packet: Packet,
        needs_event: bool,
        now: Time,
        hooks: &mut H,
    ) -> Entry {
        if self.errors == Some(ErrorPosition::BeforeQueue)
            && self.channel.corrupts(at, at)
            && !hooks.is_immune(packet)
        {
            hooks.corrupt(at, packet, self.occupancy());
            return Entry::Stays;
        }
        let Queue::DropTail(queue) = &mut self.queue else {
            return self.enter_managed(at, packet, hooks);
        };
        if hooks.records() {
            self.in_flight.begin(at, hooks);
        }
        if !queue.admits(at, self.free_at, packet.wire_bytes, &mut self.in_flight) {
            hooks.drop(at, packet, self.in_flight.waiting());
            return Entry::Stays;
        }
        let begins = self.free_at.max(at);
        if hooks.records() {
            let Occupancy { packets, bytes } = self.in_flight.waiting();
            let waits = begins > at;
            let then = Occupancy {
                packets: packets + u32::from(waits),
                bytes: bytes + if waits { packet.wire_bytes.into() } else { 0 },
            };
            hooks.observe(at, LinkEvent::Enqueue, packet, then);
        }
        let transmission = self.work_out(begins, packet, needs_event, hooks);
        // Whoever comes while it is on the link need not know of it: it does not wait.
        let through =
            at < now && transmission.arrives <= now && begins == at && self.in_flight.is_empty();
        if through && !hooks.records() {
            return Entry::Through { arrived: transmission.arrives, hit: transmission.hit };
        }
        let entry = self.in_flight.push(transmission).map_or(Entry::Stays, Entry::NextEvent);
        if hooks.records() {
            self.in_flight.begin(at, hooks);
        }
        entry
    }

    #[inline(never)]
    fn enter_managed<H: LinkHooks>(&mut self, now: Time, packet: Packet, hooks: &mut H) -> Entry {
        self.catch_up(now, hooks);
        let Queue::Managed(queue) = &mut self.queue else { return Entry::Stays };
        let idle = self.free_at <= now;
        if !queue.enqueue(now, packet, idle, hooks) {
            return Entry::Stays;
        }
        let sent = if idle { queue.dequeue(now, hooks) } else { None };
        hooks.observe(now, LinkEvent::Enqueue, packet, queue.occupancy());
        let Some(sent) = sent else { return Entry::Stays };
        let waiting = queue.occupancy();
        let first = self.transmit(now, sent, hooks);
        hooks.observe(now, LinkEvent::TransmitStart, sent, waiting);
        first.map_or(Entry::Stays, Entry::NextEvent)
    }

    /// How long a packet of this size is on the link if it finds it idle; none if that varies.
    pub(crate) fn fixed_passage(&self, wire_bytes: u32) -> Option<Span> {
        let fixed = self.irregular.is_none() && matches!(self.queue, Queue::DropTail(_));
        fixed.then(|| self.rate.clone().transmission_time(wire_bytes) + self.delay)
    }

    /// When the packet that came last is at the far end, if a passage is fixed; time zero before
    /// the first packet.
    #[inline]
    pub(crate) fn last_arrival(&self) -> Time {
        if self.free_at == Time::ZERO { Time::ZERO } else { self.free_at + self.delay }
    }

    /// When the next packet whose arrival needs an event reaches the far end, or never.
    #[inline]
    pub(crate) fn next_event(&self) -> Time {
        self.in_flight.next_event()
    }

    /// Whether there are packets whose arrival has no event.
    #[inline]
    pub(crate) fn has_elided(&self) -> bool {
        self.in_flight.has_elided()
    }

    /// Whether one more packet would need more memory.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.in_flight.is_full()
    }

    /// When the next packet reached the far end, if its arrival has no event and it is there by
    /// `now`.
    #[inline]
    pub(crate) fn next_elided(&self, now: Time) -> Option<Time> {
        self.in_flight.next_elided(now)
    }

    /// Whether packets may be late behind the point up to which the link keeps the order.
    #[inline(always)]
    pub(crate) fn has_disorder(&self) -> bool {
        self.irregular.as_ref().is_some_and(|irregular| irregular.disorder.is_some())
    }

    /// The link's event at `now`: takes out the next packet at the far end. None if the packet that
    /// is there is late (`disorder.rs`).
    pub(crate) fn leave<H: LinkHooks>(&mut self, now: Time, hooks: &mut H) -> Option<Transmission> {
        let Some(mut disorder) =
            self.irregular.as_mut().and_then(|irregular| irregular.disorder.take())
        else {
            return self.leave_in_order(now, hooks);
        };
        // Of the same instant, what is late comes first: a copy directly after its original.
        let first = self.in_flight.first_arrival().unwrap_or(NEVER);
        let left = if disorder.next() <= first.min(now) {
            if hooks.records() || matches!(self.queue, Queue::Managed(_)) {
                self.catch_up(now, hooks);
            }
            disorder.take(now, self.occupancy(), hooks)
        } else {
            let arrived = self.leave_in_order(now, hooks);
            let waiting = self.occupancy();
            arrived.and_then(|transmission| disorder.arrive(now, transmission, waiting, hooks))
        };
        self.in_flight.expect_late(disorder.next());
        if let Some(irregular) = &mut self.irregular {
            irregular.disorder = Some(disorder);
        }
        left
    }

    /// [`Link::leave`] of a link that keeps the order: takes out the next packet at the far end, at
    /// its instant `now`.
    #[inline(always)]
    pub(crate) fn leave_in_order<H: LinkHooks>(
        &mut self,
        now: Time,
        hooks: &mut H,
    ) -> Option<Transmission> {
        let transmission = self.in_flight.pop()?;
        if hooks.records() || matches!(self.queue, Queue::Managed(_)) {
            self.catch_up(now, hooks);
        }
        Some(transmission)
    }

    /// Works out everything that happened up to and including `now`: transmissions that began and
    /// timers that expired.
    pub(crate) fn catch_up<H: LinkHooks>(&mut self, now: Time, hooks: &mut H) {
        loop {
            let Queue::Managed(queue) = &mut self.queue else {
                return self.in_flight.begin(now, hooks);
            };
            let next = self.free_at.min(now);
            if let Some(expires) = queue.next_timer().filter(|&at| at <= next) {
                queue.on_timer(expires);
                continue;
            }
            if self.free_at > now {
                return;
            }
            let Some(packet) = queue.dequeue(self.free_at, hooks) else {
                return self.expire_timers(now);
            };
            let begins = self.free_at;
            let waiting = queue.occupancy();
            self.transmit(begins, packet, hooks);
            hooks.observe(begins, LinkEvent::TransmitStart, packet, waiting);
        }
    }

    /// The queue's timers up to and including `now`, while nothing waits.
    fn expire_timers(&mut self, now: Time) {
        let Queue::Managed(queue) = &mut self.queue else { return };
        while let Some(expires) = queue.next_timer().filter(|&at| at <= now) {
            queue.on_timer(expires);
        }
    }

    /// Puts a packet on its way. Returns when the link's next event is, if it had none.
    fn transmit<H: LinkHooks>(
        &mut self,
        begins: Time,
        packet: Packet,
        hooks: &mut H,
    ) -> Option<Time> {
        let transmission = self.work_out(begins, packet, true, hooks);
        self.in_flight.push(transmission)
    }

    /// The transmission of a packet that begins at `begins`, the next one on this link.
    #[inline(always)]
    fn work_out<H: LinkHooks>(
        &mut self,
        begins: Time,
        packet: Packet,
        needs_event: bool,
        hooks: &mut H,
    ) -> Transmission {
        hooks.transmits(begins, packet);
        let (end, arrives, hit) = if self.irregular.is_some() {
            self.transmit_irregularly(begins, packet, hooks.is_immune(packet))
        } else {
            let end = begins + self.rate.transmission_time(packet.wire_bytes);
            (end, end + self.delay, self.is_hit(begins, end))
        };
        self.free_at = end;
        Transmission { begins, arrives, packet, hit, needs_event }
    }

    /// When a transmission ends and its packet arrives, and whether the channel corrupts it.
    #[cold]
    fn transmit_irregularly(
        &mut self,
        begins: Time,
        packet: Packet,
        immune: bool,
    ) -> (Time, Time, bool) {
        let Self { irregular, rate, channel, delay, .. } = self;
        let Some(irregular) = irregular.as_deref_mut() else { return (begins, begins, false) };
        let mut end_of = |begins: Time| match &mut irregular.rate {
            None => begins + rate.transmission_time(packet.wire_bytes),
            Some(rate) => rate.end_of(begins, packet.wire_bytes),
        };
        let end = end_of(begins);
        let hit =
            self.errors == Some(ErrorPosition::AfterTransmission) && channel.corrupts(begins, end);
        let mut last = Attempt { end, hit };
        let mut extra = Span::ZERO;
        if let Some(retransmission) = irregular.retransmission.as_ref().filter(|_| !immune) {
            (last, extra) = retransmission.repeat(last, end_of, channel);
        }
        let arrival = match &mut irregular.delay {
            None => last.end + *delay,
            Some(variation) => variation.arrival(last.end, *delay),
        };
        let mut arrives = (arrival + extra).max(irregular.not_before);
        if let Some(retransmission) = &mut irregular.retransmission {
            arrives = retransmission.in_order(arrives);
        }
        (last.end, arrives, last.hit)
    }

    #[inline(always)]
    fn is_hit(&mut self, begins: Time, end: Time) -> bool {
        self.errors == Some(ErrorPosition::AfterTransmission) && self.channel.corrupts(begins, end)
    }

    /// What waits, as of the last instant that was worked out.
    pub(crate) fn occupancy(&self) -> Occupancy {
        match &self.queue {
            Queue::DropTail(_) => self.in_flight.waiting(),
            Queue::Managed(queue) => queue.occupancy(),
        }
    }

    /// All packets on the link, in no particular order.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let managed = match &self.queue {
            Queue::DropTail(_) => None,
            Queue::Managed(queue) => Some(queue.packets()),
        };
        let disorder = self.irregular.as_ref().and_then(|irregular| irregular.disorder.as_deref());
        self.in_flight
            .iter()
            .chain(disorder.into_iter().flat_map(Disorder::iter))
            .map(|transmission| &transmission.packet)
            .chain(managed.into_iter().flatten())
    }

    /// Bytes that no packet has wait.
    #[cfg(test)]
    pub(crate) fn keep_bytes_of_nothing(&mut self, bytes: u64) {
        self.in_flight.keep_bytes_of_nothing(bytes);
    }

    /// What waits, counted packet by packet: equal to [`Link::occupancy`].
    pub(crate) fn recount(&self) -> Occupancy {
        let count = |sum: Occupancy, packet: &Packet| Occupancy {
            packets: sum.packets + 1,
            bytes: sum.bytes + u64::from(packet.wire_bytes),
        };
        match &self.queue {
            Queue::DropTail(_) => self.in_flight.not_begun().fold(Occupancy::default(), count),
            Queue::Managed(queue) => queue.packets().fold(Occupancy::default(), count),
        }
    }
}

/// The link's own stream of random numbers for `purpose`.
pub(crate) fn stream(spec: &LinkSpec, seed: u64, purpose: &str) -> Stream {
    Stream::new(seed, &format!("link/{}/{purpose}", spec.name))
}

/// The transmission time of RED's typical packet.
fn typical(spec: &LinkSpec) -> Span {
    match spec.queue {
        QueueSpec::Red(red) => {
            rate::transmission_time_rounded(red.typical_packet_bytes, spec.rate_bps)
        }
        _ => Span::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::Log;
    use crate::topology::{Limit, Slots, TraceStart};

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
        let mut log = Log::that_spares(immune);
        link.enter(now, Packet::of(0, 762), true, now, &mut log);
        match (log.dropped.len(), log.corrupted) {
            (0, 0) => Fate::Accepted,
            (1, 0) => Fate::Dropped,
            _ => Fate::Hit,
        }
    }

    fn at_micros(micros: i64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn of_seven_packets_one_is_sent_five_wait_and_one_is_dropped() {
        let mut link = Link::new(&wireless(Limit::Packets(5)), 1);
        let entries = [(); 7].map(|()| enter(&mut link, Time::ZERO, false));
        assert_eq!(entries[..6], [Fate::Accepted; 6]);
        assert_eq!(entries[6], Fate::Dropped);
        assert_eq!(link.occupancy().packets, 5);
        // 40.64 ms each, and 10 ms to the far end.
        for micros in [50_640, 91_280, 131_920, 172_560, 213_200, 253_840] {
            assert_eq!(link.next_event(), at_micros(micros));
            assert!(link.leave(at_micros(micros), &mut Log::default()).is_some());
        }
        assert_eq!(link.next_event(), crate::schedule::NEVER);
    }

    #[test]
    fn the_queue_moves_up_at_the_very_instant_a_transmission_ends() {
        let mut link = Link::new(&wireless(Limit::Packets(1)), 1);
        assert_eq!([(); 3].map(|()| enter(&mut link, Time::ZERO, false))[2], Fate::Dropped);
        let end = at_micros(40_640);
        assert_eq!(enter(&mut link, end - Span::from_nanos(1), false), Fate::Dropped);
        assert_eq!(enter(&mut link, end, false), Fate::Accepted);
    }

    #[test]
    fn an_idle_transmitter_starts_at_once() {
        let mut link = Link::new(&wireless(Limit::Packets(0)), 1);
        assert_eq!(enter(&mut link, Time::ZERO, false), Fate::Accepted);
        assert!(link.leave(at_micros(50_640), &mut Log::default()).is_some());
        let now = Time::ZERO + Span::from_secs(3);
        assert_eq!(enter(&mut link, now, false), Fate::Accepted);
        assert_eq!(link.next_event(), now + Span::from_micros(50_640));
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
        let mut link = Link::new(&every_third_bad(ErrorPosition::AfterTransmission), 1);
        assert_eq!([(); 2].map(|()| enter(&mut link, Time::ZERO, false)), [Fate::Accepted; 2]);
        let first = link.leave(at_micros(50_640), &mut Log::default()).unwrap();
        let second = link.leave(at_micros(91_280), &mut Log::default()).unwrap();
        assert_eq!((first.hit, second.hit), (true, false));
    }

    #[test]
    fn an_error_before_the_queue_uses_neither_time_nor_queue() {
        let mut link = Link::new(&every_third_bad(ErrorPosition::BeforeQueue), 1);
        let entries = [(); 2].map(|()| enter(&mut link, Time::ZERO, false));
        assert_eq!(entries, [Fate::Hit, Fate::Accepted]);
        assert_eq!(link.next_event(), at_micros(50_640));
    }

    #[test]
    fn an_immune_packet_uses_its_slot_up() {
        let mut link = Link::new(&every_third_bad(ErrorPosition::BeforeQueue), 1);
        let entries =
            [true, false, false, false].map(|immune| enter(&mut link, Time::ZERO, immune));
        assert_eq!(entries, [Fate::Accepted, Fate::Accepted, Fate::Accepted, Fate::Hit]);
    }
}
