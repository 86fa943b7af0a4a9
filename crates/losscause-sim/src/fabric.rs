//! The links, and the packets under way between the ends of flows.

use losscause::{Cause, Time};

use crate::counters::Counters;
use crate::event::Schedule;
use crate::ledger::Ledger;
use crate::link::{Entry, Link};
use crate::packet::{Handle, Packet, Payload, Pool};
use crate::queue::{Queue, Waiting};
use crate::rng::Stream;
use crate::topology::{FlowId, LinkId, Network};
use crate::trace::{Event, EventKind, LinkEvent, Recorder};

/// Everything between the ends of flows, and when who acts next.
#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    /// Sources: the links, then sender and receiver of each flow.
    pub(crate) schedule: Schedule,
    pub(crate) pool: Pool,
    pub(crate) links: Vec<Link>,
    /// The hops of all flows, one flow after the other: path, then return path.
    pub(crate) hops: Vec<Hop>,
    pub(crate) counters: Counters,
    /// One per flow.
    pub(crate) ledgers: Vec<Ledger>,
}

/// A step on a flow's way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) link: u32,
    pub(crate) flow: u32,
    /// Whether an end comes after it.
    pub(crate) last: bool,
    immune: bool,
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
            Ledger::new(flow.traffic.differentiates(), Stream::new(seed, &format!("flow/{}/oracle", flow.name)))
        };
        Self {
            schedule: Schedule::new(network.links.len() + 2 * network.flows.len()),
            pool: Pool::default(),
            links: network.links.iter().map(|spec| Link::new(spec, seed)).collect(),
            hops,
            counters: Counters::new(network),
            ledgers: network.flows.iter().map(ledger).collect(),
        }
    }

    /// The next event up to and including `until`. It stays until its source is heard of again.
    #[inline]
    pub(crate) fn next(&mut self, until: Time) -> Option<(Time, Source)> {
        let (now, source) = self.schedule.first_until(until)?;
        let links = self.links.len();
        let source = match source.checked_sub(links) {
            None => Source::Link(source),
            Some(end) if end.is_multiple_of(2) => Source::Sender(end / 2),
            Some(end) => Source::Receiver(end / 2),
        };
        Some((now, source))
    }

    /// Sets the timer of a flow's sender.
    #[inline]
    pub(crate) fn set_sender(&mut self, flow: usize, at: Option<Time>) {
        self.schedule.set(self.links.len() + 2 * flow, at);
    }

    /// Sets the timer of a flow's receiver.
    #[inline]
    pub(crate) fn set_receiver(&mut self, flow: usize, at: Option<Time>) {
        self.schedule.set(self.links.len() + 2 * flow + 1, at);
    }

    /// An end sends a packet to the first link of its way.
    #[inline]
    pub(crate) fn send<R: Recorder>(&mut self, now: Time, payload: Payload, hop: u32, recorder: &mut R) {
        if R::ON {
            let flow = FlowId(self.hops[hop as usize].flow);
            recorder.record(&Event { at: now, flow, kind: EventKind::Sent(payload.info()) });
        }
        let handle = self.pool.insert(Packet { hop, wire_bytes: payload.wire_bytes(), payload });
        self.enter(now, handle, recorder);
    }

    /// A packet reaches the far end of a link, and enters the next one unless it has come to its end: then the caller
    /// takes it out of the pool.
    #[inline]
    pub(crate) fn cross<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) -> Option<Handle> {
        let link = &mut self.links[index];
        let flight = link.leave(now, observe(recorder, &self.pool, &self.hops));
        self.schedule.set(index, link.next_arrival());
        let flight = flight?;
        let packet = self.pool.get_mut(flight.packet);
        let place = packet.hop as usize;
        let hop = self.hops[place];
        let counters = &mut self.counters.hops[place];
        counters.transmitted += 1;
        counters.transmitted_bytes += u64::from(packet.wire_bytes);
        if flight.hit && !hop.immune {
            self.corrupt(now, flight.packet, recorder);
            return None;
        }
        counters.delivered += 1;
        if R::ON {
            recorder.record(&link_event(now, hop, LinkEvent::Deliver, packet, &self.links[index].queue));
        }
        if hop.last {
            return Some(flight.packet);
        }
        packet.hop += 1;
        self.enter(now, flight.packet, recorder);
        None
    }

    /// Works out all transmissions that began up to and including `now`.
    pub(crate) fn catch_up<R: Recorder>(&mut self, now: Time, recorder: &mut R) {
        for link in &mut self.links {
            link.catch_up(now, observe(recorder, &self.pool, &self.hops));
        }
    }

    /// A packet comes to the link of its present hop.
    #[inline]
    fn enter<R: Recorder>(&mut self, now: Time, handle: Handle, recorder: &mut R) {
        let packet = self.pool.get(handle);
        let place = packet.hop as usize;
        let hop = self.hops[place];
        let index = hop.link as usize;
        let link = &mut self.links[index];
        self.counters.hops[place].entered += 1;
        let was_empty = link.next_arrival().is_none();
        let waiting = Waiting { packet: handle, wire_bytes: packet.wire_bytes };
        match link.enter(now, waiting, hop.immune, observe(recorder, &self.pool, &self.hops)) {
            Entry::Accepted => {
                if was_empty {
                    self.schedule.set(index, link.next_arrival());
                }
            }
            Entry::Dropped => self.drop_at_queue(now, handle, recorder),
            Entry::Hit => self.corrupt(now, handle, recorder),
        }
    }

    #[cold]
    fn drop_at_queue<R: Recorder>(&mut self, now: Time, handle: Handle, recorder: &mut R) {
        let place = self.pool.get(handle).hop as usize;
        self.counters.hops[place].queue_drops += 1;
        self.lose(now, handle, Cause::Congestion, LinkEvent::QueueDrop, recorder);
    }

    #[cold]
    fn corrupt<R: Recorder>(&mut self, now: Time, handle: Handle, recorder: &mut R) {
        let place = self.pool.get(handle).hop as usize;
        self.counters.hops[place].corrupted += 1;
        self.lose(now, handle, Cause::Wireless, LinkEvent::Corrupted, recorder);
    }

    fn lose<R: Recorder>(&mut self, now: Time, handle: Handle, cause: Cause, what: LinkEvent, recorder: &mut R) {
        let packet = self.pool.get(handle);
        let hop = self.hops[packet.hop as usize];
        if R::ON {
            recorder.record(&link_event(now, hop, what, packet, &self.links[hop.link as usize].queue));
        }
        if let Some(seq) = packet.payload.data_seq() {
            self.ledgers[hop.flow as usize].lost(seq, cause);
        }
        self.pool.remove(handle);
    }
}

/// Records what the link reports.
#[inline]
fn observe<R: Recorder>(recorder: &mut R, pool: &Pool, hops: &[Hop]) -> impl FnMut(Time, LinkEvent, Handle, &Queue) {
    move |at, what, handle, queue| {
        if R::ON {
            let packet = pool.get(handle);
            recorder.record(&link_event(at, hops[packet.hop as usize], what, packet, queue));
        }
    }
}

fn link_event(at: Time, hop: Hop, what: LinkEvent, packet: &Packet, queue: &Queue) -> Event {
    let link = LinkId(hop.link);
    let (queue_packets, queue_bytes) = (queue.packets(), queue.bytes());
    let kind = EventKind::Link { link, what, packet: packet.payload.info(), queue_packets, queue_bytes };
    Event { at, flow: FlowId(hop.flow), kind }
}
