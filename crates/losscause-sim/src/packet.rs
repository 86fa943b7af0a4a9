//! Packets under way, in one pool.
//!
//! Queues and links pass four-byte handles around; a packet itself stays where it is from the sender to its end. What every
//! hop asks of it stands apart from what it carries, which only its ends read: eight packets share a line of the cache.

use losscause_transport::{tcp, tfrc};

use crate::trace::{PacketInfo, PacketKind};

/// What a hop has to know of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
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
pub(crate) struct Datagram {
    pub(crate) seq: u64,
    pub(crate) bytes: u32,
}

impl Payload {
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

/// A packet's place in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle(u32);

#[cfg(test)]
impl Handle {
    /// For queues without a pool behind them.
    pub(crate) fn of(number: u32) -> Self {
        Self(number)
    }

    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// All packets under way. It grows to the most that ever were under way at once, and allocates nothing after that.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    packets: Vec<Packet>,
    payloads: Vec<Payload>,
    free: Vec<Handle>,
}

impl Pool {
    #[inline]
    pub(crate) fn insert(&mut self, packet: Packet, payload: Payload) -> Handle {
        if let Some(handle) = self.free.pop() {
            self.packets[handle.0 as usize] = packet;
            self.payloads[handle.0 as usize] = payload;
            return handle;
        }
        self.packets.push(packet);
        self.payloads.push(payload);
        Handle((self.packets.len() - 1) as u32)
    }

    /// The packet ends here.
    #[inline]
    pub(crate) fn remove(&mut self, handle: Handle) {
        self.free.push(handle);
    }

    #[inline]
    pub(crate) fn get(&self, handle: Handle) -> &Packet {
        &self.packets[handle.0 as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, handle: Handle) -> &mut Packet {
        &mut self.packets[handle.0 as usize]
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
        self.packets.len() - self.free.len()
    }
}
