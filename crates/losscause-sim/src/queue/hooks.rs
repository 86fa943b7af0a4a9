//! What a queue may do to packets besides letting them wait.

use losscause::Time;

use crate::packet::Packet;

/// What waits in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Occupancy {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
}

impl Occupancy {
    pub(super) fn add(&mut self, packet: Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.wire_bytes);
    }

    pub(super) fn remove(&mut self, packet: Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.wire_bytes);
    }
}

/// Marks and drops packets on behalf of a queue: counts them, records them, and knows the true
/// cause. The instants are exact but may lie in the past, because managed queues are worked out
/// late.
pub(crate) trait QueueHooks {
    /// Marks a packet if its transport understands marks. Returns whether it did. `then` waits
    /// right after that.
    fn mark(&mut self, at: Time, packet: Packet, then: Occupancy) -> bool;

    /// Drops a packet. Every drop of every queue comes through here. `then` waits right after that.
    fn drop(&mut self, at: Time, packet: Packet, then: Occupancy);

    /// The number of the packet's flow.
    fn flow_of(&self, packet: Packet) -> u32;
}
