//! The packets in the network, their paths, counters and ledgers.

use crate::truth::Cause;
use losscause::Time;

use crate::copies::Copies;
use crate::counters::Counters;
use crate::ledger::Ledger;
use crate::link::LinkHooks;
use crate::packet::{Packet, Pool};
use crate::queue::{Occupancy, QueueHooks};
use crate::stamps::Stamps;
use crate::topology::{FlowId, LinkId};
use crate::trace::{Event, EventKind, LinkEvent, PacketInfo, Recorder};

/// All packets, their paths, and what happened to them.
#[derive(Clone, Debug)]
pub(crate) struct PacketStore {
    pub(crate) pool: Pool,
    /// The hops of all flows, one flow after the other: path, then return path.
    pub(crate) hops: Vec<Hop>,
    pub(crate) counters: Counters,
    /// One per flow.
    pub(crate) ledgers: Vec<Ledger>,
    pub(crate) stamps: Stamps,
    pub(crate) copies: Copies,
}

impl PacketStore {
    /// What a trace shows of a packet.
    pub(crate) fn info(&self, packet: Packet) -> PacketInfo {
        self.pool.content(packet).info(self.stamps.timing(packet.handle))
    }

    /// The flow of a packet.
    pub(crate) fn flow_of(&self, packet: Packet) -> FlowId {
        FlowId(self.hops[packet.hop as usize].flow)
    }
}

/// A step on a flow's path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) link: u32,
    pub(crate) flow: u32,
    /// Whether the receiving end comes after it.
    pub(crate) last: bool,
    /// Whether channels leave the flow's packets alone.
    pub(crate) immune: bool,
}

/// What links do to packets: everything is counted and recorded here.
pub(crate) struct Hooks<'a, R> {
    pub(crate) store: &'a mut PacketStore,
    pub(crate) recorder: &'a mut R,
}

impl<R: Recorder> QueueHooks for Hooks<'_, R> {
    #[cold]
    fn mark(&mut self, at: Time, packet: Packet, then: Occupancy) -> bool {
        if !self.store.pool.mark(packet.handle) {
            return false;
        }
        self.store.counters.hops[packet.hop as usize].counters.queue_marks += 1;
        self.observe(at, LinkEvent::Mark, packet, then);
        true
    }

    #[cold]
    fn drop(&mut self, at: Time, packet: Packet, then: Occupancy) {
        self.store.counters.hops[packet.hop as usize].counters.queue_drops += 1;
        self.observe(at, LinkEvent::QueueDrop, packet, then);
        self.lose(packet, Cause::Congestion);
    }

    fn flow_of(&self, packet: Packet) -> u32 {
        self.store.hops[packet.hop as usize].flow
    }
}

impl<R: Recorder> LinkHooks for Hooks<'_, R> {
    #[inline(always)]
    fn records(&self) -> bool {
        self.recorder.detail().everything()
    }

    fn is_immune(&self, packet: Packet) -> bool {
        self.store.hops[packet.hop as usize].immune
    }

    #[cold]
    fn corrupt(&mut self, at: Time, packet: Packet, then: Occupancy) {
        self.store.counters.hops[packet.hop as usize].counters.corrupted += 1;
        self.observe(at, LinkEvent::Corrupted, packet, then);
        self.lose(packet, Cause::Wireless);
    }

    #[cold]
    fn copy(&mut self, at: Time, packet: Packet, then: Occupancy) -> Packet {
        let copy = self.store.pool.copy(packet);
        self.store.copies.add(packet.handle, copy.handle);
        self.store.stamps.copy(packet.handle, copy.handle);
        self.store.counters.duplicated[packet.hop as usize] += 1;
        self.observe(at, LinkEvent::Duplicate, packet, then);
        copy
    }

    #[cold]
    fn copy_arrives(&mut self, copy: Packet) {
        // What arrives is counted as transmitted, and the original was before.
        let counters = &mut self.store.counters.hops[copy.hop as usize].counters;
        counters.transmitted -= 1;
        counters.transmitted_bytes -= u64::from(copy.wire_bytes);
    }

    #[inline(always)]
    fn transmits(&mut self, from: Time, packet: Packet) {
        if self.recorder.detail().arrivals() {
            self.store.stamps.transmitted(from, packet.handle);
        }
    }

    #[inline]
    fn observe(&mut self, at: Time, what: LinkEvent, packet: Packet, then: Occupancy) {
        if self.records() {
            let hop = self.store.hops[packet.hop as usize];
            let packet = self.store.info(packet);
            let Occupancy { packets: queue_packets, bytes: queue_bytes } = then;
            let kind = EventKind::Link {
                link: LinkId(hop.link),
                what,
                packet,
                queue_packets,
                queue_bytes,
            };
            self.recorder.record(&Event { at, flow: FlowId(hop.flow), kind });
        }
    }
}

impl<R> Hooks<'_, R> {
    /// Enters the true cause into the ledger and removes the packet. A copy of a packet that is not
    /// lost is no loss.
    fn lose(&mut self, packet: Packet, cause: Cause) {
        let flow = self.store.hops[packet.hop as usize].flow as usize;
        let is_lost = self.store.copies.is_lost(packet.handle);
        if let Some(seq) = self.store.pool.content(packet).data_seq() {
            let ledger = &mut self.store.ledgers[flow];
            if is_lost { ledger.lost(seq, cause) } else { ledger.lost_copy() }
        }
        self.store.pool.remove(packet.handle);
    }
}
