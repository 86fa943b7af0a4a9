//! First in, first out; what finds the queue full is dropped.
//!
//! Limits count what waits, without the packet in transmission (see [`Limit`] for how ns-2 counts).
//!
//! Deviations: none from the usual definition. From ns-2's `Queue/DropTail`: the limit may be reached, not just
//! approached; and a packet that finds the transmitter idle is never refused, which in ns-2 happens at `limit_` 1 and,
//! counting bytes, to packets larger than the limit.

use super::{Occupancy, Refused, Waiting};
use crate::fifo::Fifo;
use crate::topology::Limit;

#[derive(Clone, Debug)]
pub(crate) struct DropTail {
    limit: Limit,
    waiting: Fifo<Waiting>,
    bytes: u64,
}

impl DropTail {
    pub(super) fn new(limit: Limit) -> Self {
        Self { limit, waiting: Fifo::new(), bytes: 0 }
    }

    #[inline]
    pub(super) fn offer(&mut self, packet: Waiting) -> Result<(), Refused> {
        if !self.fits(packet) {
            return Err(Refused);
        }
        self.waiting.push(packet);
        self.bytes += u64::from(packet.wire_bytes);
        Ok(())
    }

    /// Whether there is room for this packet, too.
    #[inline]
    pub(super) fn fits(&self, packet: Waiting) -> bool {
        match self.limit {
            Limit::Packets(limit) => self.waiting.len() < limit as usize,
            Limit::Bytes(limit) => self.bytes + u64::from(packet.wire_bytes) <= limit,
        }
    }

    #[inline]
    pub(super) fn take(&mut self) -> Option<Waiting> {
        let packet = self.waiting.pop()?;
        self.bytes -= u64::from(packet.wire_bytes);
        Some(packet)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.len() == 0
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

    pub(super) fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::waiting;
    use super::*;

    #[test]
    fn a_limit_of_two_packets_lets_two_wait() {
        let mut queue = DropTail::new(Limit::Packets(2));
        let accepted = [(); 3].map(|()| queue.offer(waiting(0, 100)).is_ok());
        assert_eq!(accepted, [true, true, false]);
        assert!(queue.take().is_some());
        assert!(queue.offer(waiting(0, 100)).is_ok());
    }

    #[test]
    fn a_limit_in_bytes_may_be_reached_but_not_passed() {
        let mut queue = DropTail::new(Limit::Bytes(1000));
        let accepted = [600, 401, 400, 1].map(|bytes| queue.offer(waiting(0, bytes)).is_ok());
        assert_eq!(accepted, [true, false, true, false]);
        assert_eq!((queue.packets(), queue.bytes()), (2, 1000));
    }
}
