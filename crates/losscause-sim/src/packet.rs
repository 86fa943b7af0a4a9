//! Packets under way, in one pool.
//!
//! What hops ask of a packet is passed around; what it carries stays where it is from the sender to its end, and only the
//! ends read it.

use losscause_transport::{tcp, tfrc};

use crate::trace::{PacketInfo, PacketKind};

/// What a hop has to know of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packet {
    /// What it carries.
    pub(crate) handle: Handle,
    /// Where it is: an index into the hops of all flows.
    pub(crate) hop: u32,
    pub(crate) wire_bytes: u32,
}

/// What it carries. With `repr` the tag is a byte of its own, which is read at once.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Payload {
    Segment(tcp::Segment),
    Ack(tcp::Ack),
    Data(tfrc::Data),
    Feedback(tfrc::Feedback),
    Datagram(Datagram),
}

/// A packet of a source without feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)] // As the transports' messages.
pub(crate) struct Datagram {
    pub(crate) bytes: u32,
    pub(crate) seq: u64,
}

impl Payload {
    #[inline]
    pub(crate) fn wire_bytes(&self) -> u32 {
        match self {
            Payload::Segment(segment) => segment.wire_bytes,
            Payload::Ack(ack) => ack.wire_bytes,
            Payload::Data(data) => data.wire_bytes,
            Payload::Feedback(feedback) => feedback.wire_bytes,
            Payload::Datagram(datagram) => datagram.bytes,
        }
    }

    /// The sequence number, if it goes from the sender to the receiver.
    pub(crate) fn data_seq(&self) -> Option<u64> {
        match self {
            Payload::Segment(segment) => Some(segment.seq),
            Payload::Data(data) => Some(data.seq),
            Payload::Datagram(datagram) => Some(datagram.seq),
            Payload::Ack(_) | Payload::Feedback(_) => None,
        }
    }

    /// Bytes of payload, if it goes from the sender to the receiver.
    #[inline]
    pub(crate) fn payload_bytes(&self) -> Option<u32> {
        match self {
            Payload::Segment(segment) => Some(segment.payload_bytes),
            Payload::Data(data) => Some(data.payload_bytes),
            Payload::Datagram(datagram) => Some(datagram.bytes),
            Payload::Ack(_) | Payload::Feedback(_) => None,
        }
    }

    /// Marks it, if its transport understands marks; whether it did.
    pub(crate) fn mark(&mut self) -> bool {
        match self {
            Payload::Segment(segment) => segment.ecn.mark(),
            Payload::Data(data) => data.ecn.mark(),
            // RFC 3168, section 6.1.4: acknowledgements are not marked.
            Payload::Ack(_) | Payload::Feedback(_) | Payload::Datagram(_) => false,
        }
    }

    pub(crate) fn info(&self) -> PacketInfo {
        let (kind, seq) = match self {
            Payload::Segment(segment) if segment.retransmission => (PacketKind::Retransmission, segment.seq),
            Payload::Segment(segment) => (PacketKind::Data, segment.seq),
            Payload::Data(data) => (PacketKind::Data, data.seq),
            Payload::Datagram(datagram) => (PacketKind::Data, datagram.seq),
            Payload::Ack(ack) => (PacketKind::Ack, ack.next),
            Payload::Feedback(_) => (PacketKind::Feedback, 0),
        };
        PacketInfo { kind, seq, wire_bytes: self.wire_bytes() }
    }
}

/// The place in the pool of what a packet carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Handle(u32);

#[cfg(test)]
impl Packet {
    /// For queues without a pool behind them.
    pub(crate) fn of(number: u32, wire_bytes: u32) -> Self {
        Self { handle: Handle(number), hop: 0, wire_bytes }
    }

    pub(crate) fn number(self) -> u32 {
        self.handle.0
    }
}

/// What all packets under way carry. It grows to the most that ever were under way at once, and allocates nothing after
/// that.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    payloads: Vec<Payload>,
    free: Vec<Handle>,
}

impl Pool {
    #[inline(always)] // So that a payload is put together in its place.
    pub(crate) fn insert(&mut self, payload: Payload) -> Handle {
        let handle = self.free.pop().unwrap_or_else(|| self.grow());
        self.payloads[handle.0 as usize] = payload;
        handle
    }

    /// One more place.
    #[cold]
    fn grow(&mut self) -> Handle {
        self.payloads.push(Payload::Datagram(Datagram { seq: 0, bytes: 0 }));
        Handle((self.payloads.len() - 1) as u32)
    }

    /// The packet ends here.
    #[inline]
    pub(crate) fn remove(&mut self, handle: Handle) {
        self.free.push(handle);
    }

    #[inline]
    pub(crate) fn payload(&self, handle: Handle) -> &Payload {
        &self.payloads[handle.0 as usize]
    }

    #[inline]
    pub(crate) fn payload_mut(&mut self, handle: Handle) -> &mut Payload {
        &mut self.payloads[handle.0 as usize]
    }

    /// Packets under way.
    pub(crate) fn len(&self) -> usize {
        self.payloads.len() - self.free.len()
    }
}
