//! Packets in flight, in one pool.
//!
//! Hops pass on a small `Packet`. Its payload stays in the pool from the sender to the receiver,
//! and only the ends read it.

use losscause_transport::{tcp, tfrc};

use losscause::Time;

use crate::trace::{Header, PacketInfo, PacketKind, Timing};
use crate::traffic::Media;

/// The fields of a packet that hops use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packet {
    /// The packet's payload or datagram in the pool.
    pub(crate) handle: Handle,
    /// The packet's present hop: an index into the hops of all flows.
    pub(crate) hop: u32,
    pub(crate) wire_bytes: u32,
}

impl Packet {
    /// The same at its next hop.
    #[inline]
    pub(crate) fn at_next_hop(self) -> Self {
        Self { hop: self.hop + 1, ..self }
    }
}

/// The content of a packet of TCP, TFRC or a source with timestamps. With `repr` the tag is a byte
/// of its own, which is fast to read.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Payload {
    Segment(tcp::Segment),
    Ack(tcp::Ack),
    Data(tfrc::Data),
    Feedback(tfrc::Feedback),
    Media(Media),
}

/// A packet of a source without feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    pub(crate) bytes: u32,
    pub(crate) seq: u64,
}

/// The initial content of a slot of the pool.
impl Default for Payload {
    fn default() -> Self {
        Self::Feedback(tfrc::Feedback::default())
    }
}

impl Payload {
    #[inline]
    pub(crate) fn wire_bytes(&self) -> u32 {
        match self {
            Payload::Segment(segment) => segment.wire_bytes,
            Payload::Ack(ack) => ack.wire_bytes,
            Payload::Data(data) => data.wire_bytes,
            Payload::Feedback(feedback) => feedback.wire_bytes,
            Payload::Media(media) => media.wire_bytes,
        }
    }

    /// The sequence number, if it goes from the sender to the receiver.
    pub(crate) fn data_seq(&self) -> Option<u64> {
        match self {
            Payload::Segment(segment) => Some(segment.seq),
            Payload::Data(data) => Some(data.seq),
            Payload::Media(media) => Some(media.seq),
            Payload::Ack(_) | Payload::Feedback(_) => None,
        }
    }

    /// Bytes of payload, if it goes from the sender to the receiver.
    #[inline]
    pub(crate) fn payload_bytes(&self) -> Option<u32> {
        match self {
            Payload::Segment(segment) => Some(segment.payload_bytes),
            Payload::Data(data) => Some(data.payload_bytes),
            Payload::Media(media) => Some(media.wire_bytes),
            Payload::Ack(_) | Payload::Feedback(_) => None,
        }
    }

    /// Marks it if its transport supports ECN; returns whether it did.
    pub(crate) fn mark(&mut self) -> bool {
        match self {
            Payload::Segment(segment) => segment.ecn.mark(),
            Payload::Data(data) => data.ecn.mark(),
            // RFC 3168, section 6.1.4: acknowledgements are not marked. Media has no congestion
            // control to tell.
            Payload::Ack(_) | Payload::Feedback(_) | Payload::Media(_) => false,
        }
    }

    /// Gives it the sender's timestamp `at`, if it carries one.
    fn stamp(&mut self, at: Time) {
        match self {
            Payload::Segment(segment) => segment.sent_at = at,
            Payload::Data(data) => data.sent_at = at,
            Payload::Media(media) => media.sent_at = at,
            Payload::Ack(_) | Payload::Feedback(_) => {}
        }
    }

    /// When the data packet was sent that this one answers, plus the time that TFRC's receiver
    /// deducts.
    fn answers(&self) -> Option<Time> {
        match self {
            Payload::Ack(ack) => Some(ack.echo),
            Payload::Feedback(feedback) => Some(feedback.echo + feedback.hold),
            Payload::Segment(_) | Payload::Data(_) | Payload::Media(_) => None,
        }
    }

    fn info(&self, timing: Option<Timing>) -> PacketInfo {
        let (kind, seq) = match self {
            Payload::Segment(segment) if segment.retransmission => {
                (PacketKind::Retransmission, segment.seq)
            }
            Payload::Segment(segment) => (PacketKind::Data, segment.seq),
            Payload::Data(data) => (PacketKind::Data, data.seq),
            Payload::Ack(ack) => (PacketKind::Ack, ack.next),
            Payload::Feedback(_) => (PacketKind::Feedback, 0),
            Payload::Media(media) => (PacketKind::Data, media.seq),
        };
        PacketInfo { kind, seq, wire_bytes: self.wire_bytes(), timing, answers: self.answers() }
    }
}

/// The content of a packet, in the pool.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content<'a> {
    Payload(&'a Payload),
    Datagram(Datagram),
}

impl Content<'_> {
    /// The sequence number, if it goes from the sender to the receiver.
    pub(crate) fn data_seq(&self) -> Option<u64> {
        match self {
            Content::Payload(payload) => payload.data_seq(),
            Content::Datagram(datagram) => Some(datagram.seq),
        }
    }

    pub(crate) fn header(&self) -> Header {
        match *self {
            Content::Payload(&Payload::Segment(segment)) => Header::Segment(segment),
            Content::Payload(&Payload::Ack(ack)) => Header::Ack(ack),
            Content::Payload(&Payload::Data(data)) => Header::Data(data),
            Content::Payload(&Payload::Feedback(feedback)) => Header::Feedback(feedback),
            Content::Payload(&Payload::Media(Media { seq, wire_bytes, .. })) => {
                Header::Datagram { seq, wire_bytes }
            }
            Content::Datagram(Datagram { seq, bytes }) => {
                Header::Datagram { seq, wire_bytes: bytes }
            }
        }
    }

    pub(crate) fn info(&self, timing: Option<Timing>) -> PacketInfo {
        match self {
            Content::Payload(payload) => payload.info(timing),
            Content::Datagram(Datagram { seq, bytes }) => PacketInfo {
                kind: PacketKind::Data,
                seq: *seq,
                wire_bytes: *bytes,
                timing,
                answers: None,
            },
        }
    }
}

/// The slot of a packet's content in the pool. The highest bit is set for datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Handle(u32);

const DATAGRAM: u32 = 1 << 31;

impl Handle {
    /// The handle of a packet whose content is elsewhere, in this slot, of fewer than 2^31.
    pub(crate) fn of_slot(slot: u32) -> Self {
        Self(slot)
    }

    /// 0 for payloads and 1 for datagrams, and the slot among those.
    pub(crate) fn slot(self) -> (usize, usize) {
        (usize::from(self.0 >= DATAGRAM), (self.0 & !DATAGRAM) as usize)
    }
}

#[cfg(test)]
impl Packet {
    /// For queues that are tested without a pool.
    pub(crate) fn of(number: u32, wire_bytes: u32) -> Self {
        Self { handle: Handle(number), hop: 0, wire_bytes }
    }

    pub(crate) fn number(self) -> u32 {
        self.handle.0
    }
}

/// The content of all packets in flight. It grows to the largest number of packets in flight at
/// once, and allocates nothing after that. Only a trace reads datagrams, and a payload is ten times
/// as long. Datagrams are therefore stored apart, so that payloads do not push them out of the
/// first-level cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    payloads: Slots<Payload>,
    /// Sequence numbers of datagrams; their size is that of the packet.
    numbers: Slots<u64>,
}

#[derive(Clone, Debug)]
struct Slots<T> {
    entries: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy + Default> Slots<T> {
    #[inline(always)]
    fn insert(&mut self, entry: T) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| self.grow());
        self.entries[place as usize] = entry;
        place
    }

    /// Adds a slot.
    #[cold]
    fn grow(&mut self) -> u32 {
        self.entries.push(T::default());
        (self.entries.len() - 1) as u32
    }

    fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }
}

impl Pool {
    /// A packet that carries a payload, at a hop.
    #[inline(always)] // So that a payload is built in its slot.
    pub(crate) fn insert(&mut self, payload: Payload, hop: u32) -> Packet {
        let wire_bytes = payload.wire_bytes();
        Packet { handle: Handle(self.payloads.insert(payload)), hop, wire_bytes }
    }

    /// A packet that carries a datagram, at a hop.
    #[inline(always)]
    pub(crate) fn insert_datagram(&mut self, datagram: Datagram, hop: u32) -> Packet {
        Packet {
            handle: Handle(self.numbers.insert(datagram.seq) | DATAGRAM),
            hop,
            wire_bytes: datagram.bytes,
        }
    }

    /// The same packet once more.
    pub(crate) fn copy(&mut self, packet: Packet) -> Packet {
        match self.content(packet) {
            Content::Payload(&payload) => self.insert(payload, packet.hop),
            Content::Datagram(datagram) => self.insert_datagram(datagram, packet.hop),
        }
    }

    /// Frees the slot of a packet.
    #[inline]
    pub(crate) fn remove(&mut self, handle: Handle) {
        if handle.0 < DATAGRAM {
            self.payloads.free.push(handle.0);
        } else {
            self.numbers.free.push(handle.0 ^ DATAGRAM);
        }
    }

    #[inline]
    pub(crate) fn content(&self, packet: Packet) -> Content<'_> {
        let place = packet.handle.0;
        if place < DATAGRAM {
            return Content::Payload(&self.payloads.entries[place as usize]);
        }
        let seq = self.numbers.entries[(place ^ DATAGRAM) as usize];
        Content::Datagram(Datagram { seq, bytes: packet.wire_bytes })
    }

    /// Marks a packet if its transport supports ECN; returns whether it did.
    pub(crate) fn mark(&mut self, handle: Handle) -> bool {
        self.payloads.entries.get_mut(handle.0 as usize).is_some_and(Payload::mark)
    }

    /// Gives a packet the sender's timestamp `at`, if it carries one.
    pub(crate) fn stamp(&mut self, handle: Handle, at: Time) {
        if let Some(payload) = self.payloads.entries.get_mut(handle.0 as usize) {
            payload.stamp(at);
        }
    }

    /// Number of packets in flight.
    pub(crate) fn len(&self) -> usize {
        self.payloads.len() + self.numbers.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use losscause_transport::Ecn;

    #[test]
    fn datagrams_and_payloads_of_the_same_place_are_told_apart() {
        let mut pool = Pool::default();
        let data =
            tfrc::Data { seq: 7, wire_bytes: 1040, ecn: Ecn::Capable, ..tfrc::Data::default() };
        let payload = pool.insert(Payload::Data(data), 3);
        let datagram = pool.insert_datagram(Datagram { bytes: 500, seq: 9 }, 4);
        let infos = [payload, datagram].map(|packet| pool.content(packet).info(None));
        assert_eq!(infos.map(|info| (info.seq, info.wire_bytes)), [(7, 1040), (9, 500)]);
        assert_eq!((pool.mark(datagram.handle), pool.mark(payload.handle)), (false, true));
        assert_eq!(pool.len(), 2);
        pool.remove(datagram.handle);
        assert_eq!((pool.len(), pool.content(payload).data_seq()), (1, Some(7)));
    }

    #[test]
    fn a_place_that_was_left_is_taken_again() {
        let mut pool = Pool::default();
        let first = pool.insert_datagram(Datagram { bytes: 500, seq: 0 }, 0);
        pool.remove(first.handle);
        let second = pool.insert_datagram(Datagram { bytes: 500, seq: 1 }, 0);
        assert_eq!(second.handle, first.handle);
        assert_eq!(pool.content(second).data_seq(), Some(1));
    }
}
