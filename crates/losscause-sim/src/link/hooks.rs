//! What a link asks and tells about packets.

use losscause::Time;

use crate::packet::Packet;
use crate::queue::{Occupancy, QueueHooks};
use crate::trace::LinkEvent;

/// Corrupts packets on behalf of a link's channel, copies them, and records what the link does.
pub(crate) trait LinkHooks: QueueHooks + Sized {
    /// Whether every event at the link is recorded. If not, [`LinkHooks::observe`] does nothing.
    fn records(&self) -> bool;

    /// Whether channels leave the packet alone.
    fn is_immune(&self, packet: Packet) -> bool;

    /// The channel corrupted a packet before the queue; `then` waits.
    fn corrupt(&mut self, at: Time, packet: Packet, then: Occupancy);

    /// The packet's transmission is worked out: it begins at `from`, which may be later than now.
    fn transmits(&mut self, from: Time, packet: Packet);

    /// A packet was taken in, or its transmission began; `then` waits right after that.
    fn observe(&mut self, at: Time, what: LinkEvent, packet: Packet, then: Occupancy);

    /// The packet leaves the link at `at`, and a copy of it that follows is returned; `then` waits.
    fn copy(&mut self, at: Time, packet: Packet, then: Occupancy) -> Packet;

    /// A copy leaves the link, which did not transmit it.
    fn copy_arrives(&mut self, copy: Packet);
}
