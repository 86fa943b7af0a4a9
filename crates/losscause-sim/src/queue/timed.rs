//! Packets in order, each with the instant at which it came.

use losscause::Time;

use super::Occupancy;
use crate::fifo::Fifo;
use crate::packet::Packet;

/// A first-in-first-out list without a limit of its own.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    waiting: Fifo<Waiting>,
    bytes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    pub(super) packet: Packet,
    pub(super) since: Time,
}

impl Timed {
    pub(super) fn new() -> Self {
        Self { waiting: Fifo::new(), bytes: 0 }
    }

    pub(super) fn push(&mut self, now: Time, packet: Packet) {
        self.waiting.push(Waiting { packet, since: now });
        self.bytes += u64::from(packet.wire_bytes);
    }

    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let first = self.waiting.pop()?;
        self.bytes -= u64::from(first.packet.wire_bytes);
        Some(first)
    }

    pub(super) fn occupancy(&self) -> Occupancy {
        Occupancy { packets: self.waiting.len() as u32, bytes: self.bytes }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.waiting.iter().map(|waiting| &waiting.packet)
    }
}
