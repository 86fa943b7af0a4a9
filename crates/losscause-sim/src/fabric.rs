//! The links, and the packets under way between the ends of flows.

use losscause::Time;

use crate::counters::{Counters, Next, Station};
use crate::custody::{Custody, Hop, Keep, link_event};
use crate::event::{NEVER, Schedule};
use crate::ledger::Ledger;
use crate::line::Flight;
use crate::link::{Entry, Link, Role};
use crate::packet::{Handle, Packet, Payload, Pool};
use crate::queue::Keeper;
use crate::rng::Stream;
use crate::topology::{FlowId, FlowSpec, LinkSpec, Network, QueueSpec, VariationSpec};
use crate::trace::{Event, EventKind, LinkEvent, Recorder};

/// Everything between the ends of flows, and when who acts next.
///
/// A source without feedback hears of nothing, so what it sends may be worked out late, as long as it is known before anybody else
/// meets it. It saves events at both ends of its path ([`Role`]):
///
/// - The *first* link, if it is the source's own, has no event. The source's timer runs out when a packet reaches the far end of that
///   link: only then do the packets that were due enter it, each at its own instant.
/// - A *final* link, behind which there are only ends of such sources, has none either. What has arrived is worked out when the next
///   packet comes, and when the simulation stops.
#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    /// Sources: the links, then sender and receiver of each flow.
    pub(crate) schedule: Schedule,
    pub(crate) links: Vec<Link>,
    pub(crate) custody: Custody,
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
        let roles = roles(network);
        Self {
            schedule: Schedule::new(network.links.len() + 2 * network.flows.len()),
            links: network.links.iter().zip(&roles).map(|(spec, &role)| Link::new(spec, role, seed)).collect(),
            custody: Custody {
                pool: Pool::default(),
                hops,
                counters: Counters::new(network, &roles),
                ledgers: network.flows.iter().map(ledger).collect(),
            },
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

    /// The link of a hop, if it is a source's own.
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
    #[inline(always)]
    pub(crate) fn send<R: Recorder>(&mut self, now: Time, payload: Payload, hop: u32, recorder: &mut R) {
        if R::ON {
            let flow = FlowId(self.custody.hops[hop as usize].flow);
            recorder.record(&Event { at: now, flow, kind: EventKind::Sent(payload.info()) });
        }
        let wire_bytes = payload.wire_bytes();
        let handle = self.custody.pool.insert(payload);
        self.launch(now, Packet { handle, hop, wire_bytes }, recorder);
    }

    #[inline(never)]
    fn launch<R: Recorder>(&mut self, now: Time, packet: Packet, recorder: &mut R) {
        let link = self.custody.hops[packet.hop as usize].link;
        self.enter(now, packet, link, recorder);
    }

    /// A packet reaches the far end of a link, and enters the next one unless it has come to its end: then the caller
    /// takes it out of the pool, and gives it to the flow.
    #[inline]
    pub(crate) fn cross<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) -> Option<(Handle, u32)> {
        let link = &mut self.links[index];
        let flight = link.leave(now, &mut Keep { custody: &mut self.custody, recorder });
        self.schedule.set(index, link.next_arrival());
        self.hand_on(now, flight?, index, recorder)
    }

    /// The same for a source's own link, which has no event: whatever has reached its far end by `now`.
    pub(crate) fn cross_first<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        while self.links[index].next_arrival() <= now {
            let flight = self.links[index].leave(now, &mut Keep { custody: &mut self.custody, recorder });
            let ended = flight.and_then(|flight| self.hand_on(now, flight, index, recorder));
            debug_assert_eq!(ended, None, "a first link is no last one");
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
    ) -> Option<(Handle, u32)> {
        let (packet, next) = self.arrive(now, flight, index, recorder)?;
        let onward = Packet { hop: packet.hop + 1, ..packet };
        match next {
            Next::End(flow) => return Some((packet.handle, flow)),
            Next::Link(next) => self.enter(now, onward, next, recorder),
            Next::Final(next) => self.enter_final(now, onward, next, recorder),
        }
        None
    }

    /// Works out all transmissions that began up to and including `now`, and what arrived by then.
    pub(crate) fn catch_up<R: Recorder>(&mut self, now: Time, recorder: &mut R) {
        for index in 0..self.links.len() {
            if self.links[index].role() == Role::Final {
                self.deliver(now, index, recorder);
            }
            self.links[index].catch_up(now, &mut Keep { custody: &mut self.custody, recorder });
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
            let payload = self.custody.pool.payload(packet.handle);
            recorder.record(&link_event(at, hop, LinkEvent::Deliver, payload, self.links[index].occupancy()));
        }
        Some((packet, next))
    }

    /// Everything that a final link delivers up to and including `now` comes to its end.
    #[inline]
    fn deliver<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        while let at = self.links[index].next_arrival()
            && at <= now
        {
            let flight = self.links[index].leave(at, &mut Keep { custody: &mut self.custody, recorder });
            let Some(flight) = flight else { return };
            let Some((packet, _)) = self.arrive(at, flight, index, recorder) else { continue };
            if R::ON {
                let flow = FlowId(self.custody.hops[packet.hop as usize].flow);
                let kind = EventKind::Received(self.custody.pool.payload(packet.handle).info());
                recorder.record(&Event { at, flow, kind });
            }
            self.custody.pool.remove(packet.handle);
        }
    }

    /// A packet comes to the link of its hop, a final one.
    fn enter_final<R: Recorder>(&mut self, now: Time, packet: Packet, link: u32, recorder: &mut R) {
        self.deliver(now, link as usize, recorder);
        self.enter(now, packet, link, recorder);
    }

    /// A packet comes to the link of its hop.
    #[inline(always)]
    fn enter<R: Recorder>(&mut self, now: Time, packet: Packet, link: u32, recorder: &mut R) {
        self.custody.counters.hops[packet.hop as usize].counters.entered += 1;
        let index = link as usize;
        let link = &mut self.links[index];
        let was_empty = link.is_empty();
        let mut keep = Keep { custody: &mut self.custody, recorder };
        match link.enter(now, packet, &mut keep) {
            Entry::Waits => {}
            Entry::Sent { arrives } => {
                // Else it has an earlier event, or none at all.
                if was_empty && link.role() == Role::Shared {
                    self.schedule.set(index, arrives);
                }
            }
            Entry::Dropped => keep.drop(now, packet, link.occupancy()),
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

/// What is special about each link. One with a managed queue is worked out at events, so it has them.
fn roles(network: &Network) -> Vec<Role> {
    let mut users = vec![0_u32; network.links.len()];
    let mut ends_only = vec![true; network.links.len()];
    for FlowSpec { path, return_path, traffic, .. } in &network.flows {
        // A source's first link is not its final one as well: who enters it need not ask.
        let last = path.last().filter(|_| traffic.is_without_feedback() && path.len() > 1);
        for link in path.iter().chain(return_path) {
            users[link.index()] += 1;
            ends_only[link.index()] &= Some(link) == last;
        }
    }
    let mut own = vec![false; network.links.len()];
    for FlowSpec { path, .. } in network.flows.iter().filter(|flow| flow.traffic.is_without_feedback()) {
        let first = path.first().filter(|first| path.len() > 1 && users[first.index()] == 1);
        first.into_iter().for_each(|first| own[first.index()] = true);
    }
    let role = |(index, link): (usize, &LinkSpec)| match link.queue {
        QueueSpec::DropTail { .. } if own[index] && matches!(link.variation, VariationSpec::Constant) => Role::First,
        QueueSpec::DropTail { .. } if ends_only[index] => Role::Final,
        _ => Role::Shared,
    };
    network.links.iter().enumerate().map(role).collect()
}
