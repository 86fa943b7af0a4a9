//! Where the packets of a managed queue wait: first in, first out, up to a limit.

use super::Occupancy;
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::topology::Limit;

#[derive(Clone, Debug)]
pub(crate) struct Bounded {
    limit: Limit,
    waiting: Fifo<Packet>,
    bytes: u64,
}

impl Bounded {
    pub(super) fn new(limit: Limit) -> Self {
        Self { limit, waiting: Fifo::new(), bytes: 0 }
    }

    /// Whether there is room for this packet; an idle link has room for any.
    #[inline]
    pub(super) fn fits(&self, packet: Packet, idle: bool) -> bool {
        idle || self.limit.leaves_room(self.occupancy(), packet.wire_bytes)
    }

    /// Appends a packet, whether it fits or not.
    #[inline]
    pub(super) fn push(&mut self, packet: Packet) {
        self.waiting.push(packet);
        self.bytes += u64::from(packet.wire_bytes);
    }

    #[inline]
    pub(super) fn take(&mut self) -> Option<Packet> {
        let packet = self.waiting.pop()?;
        self.bytes -= u64::from(packet.wire_bytes);
        Some(packet)
    }

    pub(super) fn packets(&self) -> u32 {
        self.waiting.len() as u32
    }

    pub(super) fn occupancy(&self) -> Occupancy {
        Occupancy { packets: self.packets(), bytes: self.bytes }
    }

    pub(super) fn packets_waiting(&self) -> impl Iterator<Item = &Packet> {
        self.waiting.iter()
    }
}
