//! The open flows of a capture, in bounded memory.
//!
//! Flows are kept in the order of their last packet. The oldest goes when it has been silent for
//! too long, when it is over and silent for a while, or when there are too many.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use losscause::{Span, Time};

use super::connection::Connection;
use super::hosts::Hosts;
use super::path::Paths;
use super::stream::Stream;
use super::vantage::Vantage;
use super::{FlowResult, Rules};
use crate::packet::{Endpoint, Numbered, Packet, Protocol, Transport};

/// The open flows.
pub(crate) struct FlowTable {
    rules: Rules,
    places: HashMap<Key, u32>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// The least and the most recently active flow.
    oldest: u32,
    newest: u32,
    /// Entries of all scoreboards together, and how many there may be.
    entries: usize,
    most_entries: usize,
    paths: Paths,
    hosts: Hosts,
    finished: Vec<FlowResult>,
}

/// Which packets belong to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    ends: [Endpoint; 2],
    kind: Kind,
}

impl Hash for Key {
    /// All at once: part by part it takes four times as long.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [first, second] = self.ends;
        let ports = u128::from(first.port) << 16 | u128::from(second.port);
        let kind = match self.kind {
            Kind::Tcp => 0,
            Kind::Stream { protocol, stream } => {
                u128::from(stream) << 32 | (protocol as u128 + 1) << 64
            }
        };
        let parts = [first.address, second.address, ports | kind];
        state.write(parts.map(u128::to_ne_bytes).as_flattened());
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The ends are in their own order.
    Tcp,
    /// From the first end to the second one.
    Stream { protocol: Protocol, stream: u32 },
}

impl Kind {
    fn of(numbered: &Numbered) -> Self {
        let Numbered { protocol, stream, .. } = *numbered;
        // Any UDP may look like a packet of SRT: its ends have one place for all of its sockets.
        let stream = if protocol == Protocol::Srt { 0 } else { stream };
        Self::Stream { protocol, stream }
    }
}

struct Slot {
    key: Key,
    active: Time,
    before: u32,
    after: u32,
    flow: Option<Flow>,
    /// Entries of its scoreboards, as they were counted last.
    entries: usize,
}

enum Flow {
    Tcp(Box<Connection>),
    Stream(Stream),
}

/// No slot.
const NONE: u32 = u32::MAX;
/// More flows are not kept open at once.
const MAX_OPEN: usize = 16_384;
/// More entries of scoreboards are not kept, about 100 MB.
const MAX_ENTRIES: usize = 1_000_000;
/// A flow that is silent for so long has ended.
const IDLE: Span = Span::from_secs(600);
/// A connection whose ends have both said so has ended after this (twice the maximum segment
/// lifetime of Linux).
const LINGER: Span = Span::from_secs(60);

impl FlowTable {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            places: HashMap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            oldest: NONE,
            newest: NONE,
            entries: 0,
            most_entries: MAX_ENTRIES,
            paths: Paths::default(),
            hosts: Hosts::default(),
            finished: Vec::new(),
        }
    }

    /// A packet passed. Returns of what kind of flow it may be; none if of no kind.
    #[inline]
    pub(crate) fn on_packet(&mut self, now: Time, packet: &Packet<'_>) -> Option<Protocol> {
        match packet.transport {
            Transport::Tcp(ref tcp) => {
                let from = usize::from(packet.src > packet.dst);
                let ends =
                    if from == 0 { [packet.src, packet.dst] } else { [packet.dst, packet.src] };
                let key = Key { ends, kind: Kind::Tcp };
                let mut place = self.place(key, now);
                if let Some(Flow::Tcp(connection)) = &self.slots[place as usize].flow
                    && connection.is_ended_by(now, from, tcp)
                {
                    self.close(place);
                    place = self.open(key, now);
                }
                let slot = &mut self.slots[place as usize];
                if let Some(Flow::Tcp(connection)) = &mut slot.flow {
                    connection.on_segment(now, from, tcp, packet, &self.rules);
                    let before = std::mem::replace(&mut slot.entries, connection.size());
                    self.entries = self.entries + slot.entries - before;
                }
                self.limit(now);
                Some(Protocol::Tcp)
            }
            Transport::Udp { .. } | Transport::Esp { .. } => {
                let numbered = Numbered::of(packet)?;
                let kind = Kind::of(&numbered);
                let place = self.place(Key { ends: [packet.src, packet.dst], kind }, now);
                if let Some(Flow::Stream(stream)) = &mut self.slots[place as usize].flow {
                    stream.on_packet(now, numbered, packet, &self.rules);
                }
                self.limit(now);
                Some(numbered.protocol)
            }
        }
    }

    /// The slot of a flow, which becomes the most recently active one.
    #[inline(always)] // The key is compared part by part, and never put together in memory.
    fn place(&mut self, key: Key, now: Time) -> u32 {
        // Most packets belong to the flow of the packet before.
        if let Some(slot) = self.slots.get_mut(self.newest as usize)
            && slot.key == key
        {
            slot.active = now;
            return self.newest;
        }
        self.find(key, now)
    }

    #[inline(never)]
    fn find(&mut self, key: Key, now: Time) -> u32 {
        if let Some(&place) = self.places.get(&key) {
            self.unlink(place);
            self.link(place, now);
            return place;
        }
        self.open(key, now)
    }

    fn open(&mut self, key: Key, now: Time) -> u32 {
        let is_observed = self.rules.watch.wants(&key.ends);
        let flow = Some(match key.kind {
            Kind::Tcp => {
                let [low, high] = key.ends.map(|end| end.address);
                let paths = [[low, high], [high, low]].map(|hosts| self.paths.of(hosts, now));
                Flow::Tcp(Box::new(Connection::new(is_observed, paths)))
            }
            Kind::Stream { .. } => Flow::Stream(Stream::new(is_observed)),
        });
        let slot = Slot { key, active: now, before: NONE, after: NONE, flow, entries: 0 };
        let place = match self.free.pop() {
            Some(place) => {
                self.slots[place as usize] = slot;
                place
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        };
        self.places.insert(key, place);
        self.link(place, now);
        place
    }

    fn link(&mut self, place: u32, now: Time) {
        let newest = std::mem::replace(&mut self.newest, place);
        let slot = &mut self.slots[place as usize];
        (slot.active, slot.before, slot.after) = (now, newest, NONE);
        match newest {
            NONE => self.oldest = place,
            newest => self.slots[newest as usize].after = place,
        }
    }

    fn unlink(&mut self, place: u32) {
        let Slot { before, after, .. } = self.slots[place as usize];
        match before {
            NONE => self.oldest = after,
            before => self.slots[before as usize].after = after,
        }
        match after {
            NONE => self.newest = before,
            after => self.slots[after as usize].before = before,
        }
    }

    /// Closes flows from the least recently active one on, as long as there is a reason.
    #[inline]
    fn limit(&mut self, now: Time) {
        while self.oldest != self.newest {
            let slot = &self.slots[self.oldest as usize];
            let silent = now - slot.active;
            let is_over =
                || matches!(&slot.flow, Some(Flow::Tcp(connection)) if connection.is_over());
            let too_many = self.places.len() > MAX_OPEN || self.entries > self.most_entries;
            if !too_many && silent < IDLE && !(silent >= LINGER && is_over()) {
                return;
            }
            self.close(self.oldest);
        }
    }

    fn close(&mut self, place: u32) {
        self.unlink(place);
        let slot = &mut self.slots[place as usize];
        let key = slot.key;
        let flow = slot.flow.take();
        self.entries -= slot.entries;
        self.places.remove(&key);
        self.free.push(place);
        match flow {
            Some(Flow::Tcp(connection)) => {
                let hosts = key.ends.map(|end| end.address);
                let own = connection.vantages();
                self.hosts.on_connection(hosts, own);
                let others =
                    if own == [Vantage::Unknown; 2] { self.hosts.vantages(hosts) } else { None };
                self.finished.extend(connection.finish(
                    key.ends,
                    others.unwrap_or(own),
                    &self.rules,
                ));
            }
            Some(Flow::Stream(stream)) => {
                self.finished.extend(stream.finish(key.ends, &self.rules));
            }
            None => {}
        }
    }

    /// How many flows with data are open, and their losses so far.
    pub(crate) fn glance(&self) -> (u64, u64) {
        self.slots.iter().filter_map(|slot| slot.flow.as_ref()).fold(
            (0, 0),
            |(flows, lost), flow| {
                let (more, lost_there) = match flow {
                    Flow::Tcp(connection) => connection.glance(),
                    Flow::Stream(stream) => stream.glance(),
                };
                (flows + more, lost + lost_there)
            },
        )
    }

    /// The flows that were closed since the last call.
    pub(crate) fn take_finished(&mut self) -> impl Iterator<Item = FlowResult> {
        self.finished.drain(..)
    }

    pub(crate) fn has_finished(&self) -> bool {
        !self.finished.is_empty()
    }

    /// Closes every flow, the least recently active one first.
    pub(crate) fn close_all(&mut self) {
        for slot in &self.slots {
            if let Some(Flow::Tcp(connection)) = &slot.flow {
                self.hosts
                    .on_connection(slot.key.ends.map(|end| end.address), connection.vantages());
            }
        }
        while self.oldest != NONE {
            self.close(self.oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use crate::frames::Frames;
    use crate::packet::Parsed;

    /// A segment: its time in ms, its flow, its number in the flow, and TCP's flags.
    type Segment = (u32, u16, u32, u8);

    const ACK: u8 = 0x10;
    const RST_ACK: u8 = 0x14;

    /// Gives a table segments of 100 bytes, from a pcap of raw IPv4 (link type 101).
    fn take(
        table: &mut FlowTable,
        segments: impl IntoIterator<Item = Segment>,
        check: impl Fn(&FlowTable),
    ) {
        let mut bytes = vec![];
        for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101] {
            bytes.extend(word.to_le_bytes());
        }
        for (millis, flow, number, flags) in segments {
            for word in [millis / 1_000, millis % 1_000 * 1_000, 140, 140] {
                bytes.extend(word.to_le_bytes());
            }
            bytes.extend([0x45, 0, 0, 140, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
            bytes.extend((1_000 + flow).to_be_bytes());
            bytes.extend(80_u16.to_be_bytes());
            bytes.extend((1 + 100 * number).to_be_bytes());
            bytes.extend(1_u32.to_be_bytes());
            bytes.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
            bytes.extend([0; 100]);
        }
        let mut frames = Frames::open(bytes.as_slice()).unwrap();
        while let Some(frame) = frames.next_frame() {
            let Parsed::Packet(packet) = Parsed::of(&frame) else { panic!("{frame:?}") };
            table.on_packet(frame.time, &packet);
            check(table);
        }
    }

    fn table() -> FlowTable {
        FlowTable::new(Rules::of(&Options::all(), "f"))
    }

    #[test]
    fn the_oldest_flows_go_when_all_together_keep_too_much() {
        let mut table = table();
        table.most_entries = 50;
        // Each flow in turn sends ten segments.
        let segments = (0..200_u32).map(|k| (k, (k / 10) as u16, k % 10, ACK));
        take(&mut table, segments, |table| assert!(table.entries <= 50, "{}", table.entries));
        let kept = table.places.len();
        assert!((2..20).contains(&kept), "each keeps ten segments or more: {kept}");
        assert_eq!(table.finished.len(), 20 - kept);
    }

    #[test]
    fn ports_are_another_connections_a_minute_after_the_end() {
        // Flow 0 ends at once; flow 1 shows the time; then the ports of flow 0 are used again.
        for (millis, connections) in [(59_000, 1), (61_000, 2)] {
            let mut table = table();
            let again = [(millis, 1, 0, ACK), (millis + 1, 0, 7, ACK), (millis + 2, 0, 8, ACK)];
            let begin = [(0, 0, 0, ACK), (1, 0, 1, RST_ACK)];
            take(&mut table, begin.into_iter().chain(again), |_| {});
            table.close_all();
            // Flow 1 is one more.
            assert_eq!(table.finished.len(), connections + 1, "after {millis} ms");
        }
    }
}
