//! The packets between the ends of flows: every link, and every packet's way from hop to hop.

use losscause::Time;

use crate::copies::Copies;
use crate::counters::{Counters, HopState, Next};
use crate::ledger::Ledger;
use crate::link::{Entry, Link, LinkHooks, Transmission};
use crate::packet::{Packet, Pool};
use crate::packet_store::{Hooks, Hop, PacketStore};
use crate::rng::Stream;
use crate::schedule::{NEVER, Schedule};
use crate::stamps::Stamps;
use crate::topology::Network;
use crate::trace::{Event, EventKind, LinkEvent, Recorder};

/// Everything between the ends of flows, and the schedule of all events.
#[derive(Clone, Debug)]
pub(crate) struct Transit {
    /// Sources: the links, then sender and receiver of each flow.
    schedule: Schedule,
    pub(crate) links: Vec<Link>,
    pub(crate) store: PacketStore,
    /// The links with arrivals that need no event, each before those that it feeds.
    pub(crate) elided_links: Vec<usize>,
}

/// The source of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A packet reaches the far end of this link.
    Link(usize),
    /// The timer of this flow's sender.
    Sender(usize),
    /// The timer of this flow's receiver.
    Receiver(usize),
}

/// A packet that has reached an end of its flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) at: Time,
    pub(crate) packet: Packet,
    pub(crate) flow: u32,
}

impl Transit {
    /// Empty links. The network is valid. `needs_event` and `elided_links` are what `elision.rs`
    /// found.
    pub(crate) fn new(
        network: &Network,
        needs_event: &[bool],
        elided_links: Vec<usize>,
        seed: u64,
    ) -> Self {
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
            Ledger::new(
                flow.traffic.judge(),
                flow.traffic.oracle(),
                Stream::new(seed, &format!("flow/{}/oracle", flow.name)),
            )
        };
        Self {
            schedule: Schedule::new(network.links.len() + 2 * network.flows.len()),
            links: network.links.iter().map(|spec| Link::new(spec, seed)).collect(),
            store: PacketStore {
                pool: Pool::default(),
                hops,
                counters: Counters::new(network, needs_event),
                ledgers: network.flows.iter().map(ledger).collect(),
                stamps: Stamps::default(),
                copies: Copies::default(),
            },
            elided_links,
        }
    }

    /// Takes out the next event up to and including `until`. Its source has none until it is
    /// scheduled again.
    #[inline(always)]
    pub(crate) fn next(&mut self, until: Time) -> Option<(Time, Source)> {
        let (now, source) = self.schedule.take_until(until)?;
        let Some(end) = source.checked_sub(self.links.len()) else {
            return Some((now, Source::Link(source)));
        };
        let source = if end % 2 == 0 { Source::Sender(end / 2) } else { Source::Receiver(end / 2) };
        Some((now, source))
    }

    /// Sets the timer of a flow's sender, which asks for it at `since`.
    #[inline]
    pub(crate) fn set_sender(&mut self, flow: usize, at: Option<Time>, since: Time) {
        self.schedule.set(self.links.len() + 2 * flow, at.unwrap_or(NEVER), since);
    }

    /// Sets the timer of a flow's receiver, which asks for it at `since`.
    #[inline]
    pub(crate) fn set_receiver(&mut self, flow: usize, at: Option<Time>, since: Time) {
        self.schedule.set(self.links.len() + 2 * flow + 1, at.unwrap_or(NEVER), since);
    }

    /// An end sends a packet to the first link of its path, now.
    #[inline(never)]
    pub(crate) fn send<R: Recorder>(
        &mut self,
        now: Time,
        packet: Packet,
        link: u32,
        recorder: &mut R,
    ) {
        self.record_sent(now, packet, recorder);
        self.enter(now, packet, link, now, recorder);
    }

    /// An end has sent a packet to the first of several links at `at`. It cannot be at the far end
    /// before `now`.
    #[inline(always)]
    pub(crate) fn send_late<R: Recorder>(
        &mut self,
        at: Time,
        packet: Packet,
        link: u32,
        now: Time,
        recorder: &mut R,
    ) {
        self.record_sent(at, packet, recorder);
        if let Some((arrived, hit)) = self.enter(at, packet, link, now, recorder) {
            let at_end = self.forward(arrived, packet, hit, link as usize, recorder);
            debug_assert!(arrived == now && at_end.is_none());
        }
    }

    /// Records that an end sends a packet at `at`.
    #[inline(always)]
    fn record_sent<R: Recorder>(&mut self, at: Time, packet: Packet, recorder: &mut R) {
        if recorder.detail().arrivals() {
            self.store.stamps.sent(at, packet.handle);
        }
        if recorder.detail().headers() {
            let kind = EventKind::Header(self.store.pool.content(packet).header());
            recorder.record(&Event { at, flow: self.store.flow_of(packet), kind });
        }
        if recorder.detail().everything() {
            let kind = EventKind::Sent(self.store.info(packet));
            recorder.record(&Event { at, flow: self.store.flow_of(packet), kind });
        }
    }

    /// The event of a link: a packet reaches its far end and enters the next link, unless it has
    /// reached an end of its flow. The caller takes such a packet out of the pool.
    #[inline]
    pub(crate) fn on_arrival<R: Recorder>(
        &mut self,
        now: Time,
        index: usize,
        recorder: &mut R,
    ) -> Option<Arrived> {
        if self.links[index].has_elided() {
            self.forward_elided(now, index, now, recorder);
        }
        let link = &mut self.links[index];
        if link.has_disorder() {
            return self.on_arrival_in_disorder(now, index, recorder);
        }
        let transmission =
            link.leave_in_order(now, &mut Hooks { store: &mut self.store, recorder });
        let next_event = link.next_event();
        if next_event < NEVER {
            self.schedule.set(index, next_event, now);
        }
        let Transmission { packet, hit, .. } = transmission?;
        self.forward(now, packet, hit, index, recorder)
    }

    /// The event of a link whose packets may be late.
    #[cold]
    fn on_arrival_in_disorder<R: Recorder>(
        &mut self,
        now: Time,
        index: usize,
        recorder: &mut R,
    ) -> Option<Arrived> {
        let link = &mut self.links[index];
        let transmission = link.leave(now, &mut Hooks { store: &mut self.store, recorder });
        let next_event = link.next_event();
        if next_event < NEVER {
            self.schedule.set(index, next_event, now);
        }
        let Transmission { packet, hit, .. } = transmission?;
        self.forward(now, packet, hit, index, recorder)
    }

    /// A packet is at the far end of a link: it enters the next one, is lost to the channel, or has
    /// reached an end.
    #[inline(always)]
    fn forward<R: Recorder>(
        &mut self,
        now: Time,
        packet: Packet,
        hit: bool,
        index: usize,
        recorder: &mut R,
    ) -> Option<Arrived> {
        let (next, corrupted) = self.deliver(now, packet, hit, index, recorder);
        match next {
            _ if corrupted => None,
            Next::End { flow, .. } => Some(Arrived { at: now, packet, flow }),
            Next::Link { link, .. } => {
                // What comes now is through later.
                self.enter(now, packet.at_next_hop(), link, now, recorder);
                None
            }
        }
    }

    /// At `at`, before `now`, a packet was at the far end of a link. It goes on as far as it is by
    /// `now`.
    #[inline(always)]
    pub(crate) fn forward_late<R: Recorder>(
        &mut self,
        mut at: Time,
        mut packet: Packet,
        mut hit: bool,
        mut index: usize,
        now: Time,
        recorder: &mut R,
    ) -> Option<Arrived> {
        loop {
            let (next, corrupted) = self.deliver(at, packet, hit, index, recorder);
            let link = match next {
                _ if corrupted => return None,
                Next::End { flow, .. } => return Some(Arrived { at, packet, flow }),
                Next::Link { link, .. } => link,
            };
            packet = packet.at_next_hop();
            (at, hit) = self.enter(at, packet, link, now, recorder)?;
            index = link as usize;
        }
    }

    /// A packet is at the far end of a link. Returns where it goes next, and whether the channel
    /// has corrupted it instead.
    #[inline(always)]
    fn deliver<R: Recorder>(
        &mut self,
        at: Time,
        packet: Packet,
        hit: bool,
        index: usize,
        recorder: &mut R,
    ) -> (Next, bool) {
        let place = packet.hop as usize;
        let HopState { counters, next } = &mut self.store.counters.hops[place];
        let next = *next;
        counters.transmitted += 1;
        counters.transmitted_bytes += u64::from(packet.wire_bytes);
        if hit && !self.store.hops[place].immune {
            let then = self.links[index].occupancy();
            Hooks { store: &mut self.store, recorder }.corrupt(at, packet, then);
            return (next, true);
        }
        counters.delivered += 1;
        if recorder.detail().everything() {
            let then = self.links[index].occupancy();
            Hooks { store: &mut self.store, recorder }.observe(
                at,
                LinkEvent::Deliver,
                packet,
                then,
            );
        }
        (next, false)
    }

    /// At `at` a packet comes to the link of its hop. If it is through by `now`, returns when, and
    /// whether the channel corrupted it.
    #[inline(always)]
    fn enter<R: Recorder>(
        &mut self,
        at: Time,
        packet: Packet,
        link: u32,
        now: Time,
        recorder: &mut R,
    ) -> Option<(Time, bool)> {
        let index = link as usize;
        // A trace shows the queue's length at every departure, which is known no more once another
        // packet has come.
        if self.links[index].has_elided()
            && (recorder.detail().everything() || at < now || self.links[index].is_full())
        {
            self.forward_elided(at, index, now, recorder);
        }
        let HopState { counters, next } = &mut self.store.counters.hops[packet.hop as usize];
        counters.entered += 1;
        let needs_event = next.needs_event();
        if recorder.detail().arrivals() {
            self.store.stamps.entered(at, packet.handle);
        }
        let hooks = &mut Hooks { store: &mut self.store, recorder };
        match self.links[index].enter(at, packet, needs_event, now, hooks) {
            Entry::Through { arrived, hit } => Some((arrived, hit)),
            Entry::NextEvent(arrives) => {
                self.schedule.set(index, arrives, at);
                None
            }
            Entry::Stays => None,
        }
    }

    /// Packets that wait at a link, as of the last instant that was worked out there.
    pub(crate) fn waiting_pkts(&self, link: usize) -> u32 {
        self.links[link].occupancy().packets
    }

    /// Works out everything that happened up to and including `now`.
    pub(crate) fn catch_up<R: Recorder>(&mut self, now: Time, recorder: &mut R) {
        self.forward_all_elided(now, recorder);
        for link in &mut self.links {
            link.catch_up(now, &mut Hooks { store: &mut self.store, recorder });
        }
    }
}
