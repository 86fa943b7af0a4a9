//! The links, and the packets under way between the ends of flows.

use losscause::Time;

use crate::counters::{Counters, Next, Station};
use crate::custody::{Custody, Hop, Keep, link_event};
use crate::event::{NEVER, Schedule};
use crate::ledger::Ledger;
use crate::line::Flight;
use crate::link::{Entry, Link, Role};
use crate::lookout::Lookout;
use crate::packet::{Packet, Pool};
use crate::queue::Keeper;
use crate::rng::Stream;
use crate::topology::{FlowId, Network};
use crate::trace::{Event, EventKind, LinkEvent, Recorder};

/// Everything between the ends of flows, and when who acts next.
#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    /// Sources: the links, then sender and receiver of each flow.
    pub(crate) schedule: Schedule,
    pub(crate) links: Vec<Link>,
    pub(crate) custody: Custody,
    /// Links where some packets are not awaited, each before those that it feeds.
    lazy: Vec<usize>,
}

/// Who acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A packet reaches the far end of this link.
    Link(usize),
    /// The timer of this flow's sender.
    Sender(usize),
    /// The timer of this flow's receiver.
    Receiver(usize),
}

impl Fabric {
    /// Empty links. The network is valid.
    pub(crate) fn new(network: &Network, seed: u64) -> Self {
        let mut hops = Vec::new();
        for (index, flow) in network.flows.iter().enumerate() {
            for path in [&flow.path, &flow.return_path] {
                hops.extend(path.iter().enumerate().map(|(place, link)| Hop {
                    link: link.0,
                    flow: index as u32,
                    last: place + 1 == path.len(),
                    immune: flow.wireless_immune,
                }));
            }
        }
        let ledger = |flow: &crate::FlowSpec| {
            Ledger::new(flow.traffic.judge(), Stream::new(seed, &format!("flow/{}/oracle", flow.name)))
        };
        let Lookout { roles, awaited, lazy } = Lookout::new(network);
        Self {
            schedule: Schedule::new(network.links.len() + 2 * network.flows.len()),
            links: network.links.iter().zip(&roles).map(|(spec, &role)| Link::new(spec, role, seed)).collect(),
            custody: Custody {
                pool: Pool::default(),
                hops,
                counters: Counters::new(network, &awaited),
                ledgers: network.flows.iter().map(ledger).collect(),
            },
            lazy,
        }
    }

    /// Takes out the next event up to and including `until`. Its source has none until it is heard of again.
    #[inline(always)]
    pub(crate) fn next(&mut self, until: Time) -> Option<(Time, Source)> {
        let (now, source) = self.schedule.take_until(until)?;
        let Some(end) = source.checked_sub(self.links.len()) else { return Some((now, Source::Link(source))) };
        let source = if end % 2 == 0 { Source::Sender(end / 2) } else { Source::Receiver(end / 2) };
        Some((now, source))
    }

    /// The link of a hop, if the sender looks after it itself.
    pub(crate) fn own_link(&self, hop: u32) -> Option<u32> {
        let link = self.custody.hops[hop as usize].link;
        (self.links[link as usize].role() == Role::First).then_some(link)
    }

    /// Sets the timer of a flow's sender.
    #[inline]
    pub(crate) fn set_sender(&mut self, flow: usize, at: Option<Time>) {
        self.schedule.set(self.links.len() + 2 * flow, at.unwrap_or(NEVER));
    }

    /// Sets the timer of a flow's sender as if that were done at `since`, which may be still to come.
    #[inline]
    pub(crate) fn set_sender_as_of(&mut self, flow: usize, at: Time, since: Time) {
        self.schedule.set_as_of(self.links.len() + 2 * flow, at, since);
    }

    /// Sets the timer of a flow's receiver.
    #[inline]
    pub(crate) fn set_receiver(&mut self, flow: usize, at: Option<Time>) {
        self.schedule.set(self.links.len() + 2 * flow + 1, at.unwrap_or(NEVER));
    }

    /// An end sends a packet to the first link of its way.
    #[inline(never)]
    pub(crate) fn send<R: Recorder>(&mut self, now: Time, packet: Packet, recorder: &mut R) {
        self.record_sent(now, packet, recorder);
        let link = self.custody.hops[packet.hop as usize].link;
        self.enter(now, packet, link, recorder);
    }

    /// The same if the sender looks after that link, for a packet sent at `at`. If it is at the far end at the instant `passes`, which is
    /// that of its event, it is handed on.
    #[inline(never)]
    pub(crate) fn send_late<R: Recorder>(
        &mut self,
        at: Time,
        passes: Option<Time>,
        packet: Packet,
        link: u32,
        recorder: &mut R,
    ) {
        self.record_sent(at, packet, recorder);
        self.custody.counters.hops[packet.hop as usize].counters.entered += 1;
        let index = link as usize;
        match self.links[index].pass(at, passes, packet, &mut Keep { custody: &mut self.custody, recorder }) {
            Ok(flight) => {
                let ended = self.hand_on(flight.arrives, flight, index, recorder);
                debug_assert_eq!(ended, None, "a first link is no last one");
            }
            Err(entry) => self.take_down(at, packet, index, entry, recorder),
        }
    }

    #[inline(always)]
    fn record_sent<R: Recorder>(&self, at: Time, packet: Packet, recorder: &mut R) {
        if R::ON {
            let flow = FlowId(self.custody.hops[packet.hop as usize].flow);
            recorder.record(&Event { at, flow, kind: EventKind::Sent(self.custody.pool.content(packet).info()) });
        }
    }

    /// A packet that is awaited reaches the far end of a link, and enters the next one unless it has come to its end: then
    /// the caller takes it out of the pool, and gives it to the flow.
    #[inline]
    pub(crate) fn cross<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) -> Option<(Packet, u32)> {
        if self.links[index].has_unawaited() {
            self.settle(now, index, recorder);
        }
        let link = &mut self.links[index];
        let flight = link.leave(now, &mut Keep { custody: &mut self.custody, recorder });
        // It has none any more.
        if link.next_awaited() < NEVER {
            self.schedule.set_as_of(index, link.next_awaited(), link.awaited_since().max(now));
        }
        self.hand_on(now, flight?, index, recorder)
    }

    /// The same for a link that its sender looks after: whatever has reached the far end by `now`.
    #[inline(always)]
    pub(crate) fn cross_first<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        if !self.links[index].is_empty() {
            self.cross_all(now, index, recorder);
        }
    }

    #[inline(never)]
    fn cross_all<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        while self.links[index].next_arrival() <= now {
            let flight = self.links[index].leave(now, &mut Keep { custody: &mut self.custody, recorder });
            self.links[index].note_left(now);
            let ended = flight.and_then(|flight| self.hand_on(now, flight, index, recorder));
            debug_assert_eq!(ended, None, "a first link is no last one");
        }
    }

    /// What was not awaited at the far end of a link, and is there by `now`, goes on.
    #[inline(never)]
    fn settle<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        while let Some(at) = self.links[index].left_unnoticed(now) {
            let flight = self.links[index].leave(at, &mut Keep { custody: &mut self.custody, recorder });
            let ended = flight.and_then(|flight| self.hand_on(at, flight, index, recorder));
            if let Some((packet, flow)) = ended {
                if R::ON {
                    let kind = EventKind::Received(self.custody.pool.content(packet).info());
                    recorder.record(&Event { at, flow: FlowId(flow), kind });
                }
                self.custody.pool.remove(packet.handle);
            }
        }
    }

    /// A packet is at the far end of a link: it enters the next one.
    #[inline(always)]
    fn hand_on<R: Recorder>(
        &mut self,
        now: Time,
        flight: Flight,
        index: usize,
        recorder: &mut R,
    ) -> Option<(Packet, u32)> {
        let (packet, next) = self.arrive(now, flight, index, recorder)?;
        match next {
            Next::End { flow, .. } => Some((packet, flow)),
            Next::Link { link: next, .. } => {
                self.enter(now, Packet { hop: packet.hop + 1, ..packet }, next, recorder);
                None
            }
        }
    }

    /// Works out all transmissions that began up to and including `now`, and what arrived by then.
    pub(crate) fn catch_up<R: Recorder>(&mut self, now: Time, recorder: &mut R) {
        for place in 0..self.lazy.len() {
            self.settle(now, self.lazy[place], recorder);
        }
        for link in &mut self.links {
            link.catch_up(now, &mut Keep { custody: &mut self.custody, recorder });
        }
    }

    /// A packet is at the far end of a link: it, and what comes next. None if it is corrupted.
    #[inline(always)]
    fn arrive<R: Recorder>(
        &mut self,
        at: Time,
        Flight { packet, hit, .. }: Flight,
        index: usize,
        recorder: &mut R,
    ) -> Option<(Packet, Next)> {
        let place = packet.hop as usize;
        let Station { counters, next } = &mut self.custody.counters.hops[place];
        counters.transmitted += 1;
        counters.transmitted_bytes += u64::from(packet.wire_bytes);
        if hit && !self.custody.hops[place].immune {
            self.corrupt(at, packet, recorder);
            return None;
        }
        counters.delivered += 1;
        let next = *next;
        if R::ON {
            let hop = self.custody.hops[place];
            let packet = self.custody.pool.content(packet).info();
            recorder.record(&link_event(at, hop, LinkEvent::Deliver, packet, self.links[index].occupancy()));
        }
        Some((packet, next))
    }

    /// A packet comes to the link of its hop.
    #[inline(always)]
    fn enter<R: Recorder>(&mut self, now: Time, packet: Packet, link: u32, recorder: &mut R) {
        let index = link as usize;
        // What is recorded shows the queue's length, which is known no more once another packet has come.
        if self.links[index].has_unawaited() && (R::ON || self.links[index].is_full()) {
            self.settle(now, index, recorder);
        }
        let Station { counters, next } = &mut self.custody.counters.hops[packet.hop as usize];
        counters.entered += 1;
        let awaited = next.is_awaited();
        let mut keep = Keep { custody: &mut self.custody, recorder };
        let entry = self.links[index].enter(now, packet, awaited, &mut keep);
        self.take_down(now, packet, index, entry, recorder);
    }

    /// What became of a packet that came to a link.
    #[inline(always)]
    fn take_down<R: Recorder>(&mut self, now: Time, packet: Packet, index: usize, entry: Entry, recorder: &mut R) {
        match entry {
            Entry::Waits | Entry::Sent => {}
            Entry::Awaited { arrives } => {
                let since = self.links[index].awaited_since().max(now);
                self.schedule.set_as_of(index, arrives, since);
            }
            Entry::Dropped => {
                let then = self.links[index].occupancy();
                Keep { custody: &mut self.custody, recorder }.drop(now, packet, then);
            }
            Entry::Hit => self.corrupt(now, packet, recorder),
        }
    }

    #[cold]
    fn corrupt<R: Recorder>(&mut self, now: Time, packet: Packet, recorder: &mut R) {
        let hop = self.custody.hops[packet.hop as usize];
        let then = self.links[hop.link as usize].occupancy();
        Keep { custody: &mut self.custody, recorder }.corrupt(now, packet, then);
    }
}
