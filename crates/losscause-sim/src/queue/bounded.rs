//! Where the packets of a managed queue wait: first in, first out, up to a limit.

use super::{Occupancy, Refused};
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

    #[inline]
    pub(super) fn offer(&mut self, packet: Packet) -> Result<(), Refused> {
        if !self.fits(packet) {
            return Err(Refused);
        }
        self.waiting.push(packet);
        self.bytes += u64::from(packet.wire_bytes);
        Ok(())
    }

    /// Whether there is room for this packet, too.
    #[inline]
    pub(super) fn fits(&self, packet: Packet) -> bool {
        self.limit.leaves_room(self.occupancy(), packet.wire_bytes)
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

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn occupancy(&self) -> Occupancy {
        Occupancy { packets: self.packets(), bytes: self.bytes }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.waiting.iter()
    }
}
