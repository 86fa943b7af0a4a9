//! The packets under way, and where their fate is written down.

use losscause::Time;
use losscause::truth::Cause;

use crate::counters::Counters;
use crate::ledger::Ledger;
use crate::packet::{Packet, Pool};
use crate::queue::{Keeper, Occupancy};
use crate::topology::{FlowId, LinkId};
use crate::trace::{Event, EventKind, LinkEvent, PacketInfo, Recorder};

/// All packets, where they go, and what happened to them.
#[derive(Clone, Debug)]
pub(crate) struct Custody {
    pub(crate) pool: Pool,
    /// The hops of all flows, one flow after the other: path, then return path.
    pub(crate) hops: Vec<Hop>,
    pub(crate) counters: Counters,
    /// One per flow.
    pub(crate) ledgers: Vec<Ledger>,
}

/// A step on a flow's way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) link: u32,
    pub(crate) flow: u32,
    /// Whether an end comes after it.
    pub(crate) last: bool,
    pub(crate) immune: bool,
}

/// What a link does to packets is done here, and recorded.
pub(crate) struct Keep<'a, R> {
    pub(crate) custody: &'a mut Custody,
    pub(crate) recorder: &'a mut R,
}

impl<R: Recorder> Keeper for Keep<'_, R> {
    const OBSERVES: bool = R::ON;

    fn is_immune(&self, packet: Packet) -> bool {
        self.custody.hops[packet.hop as usize].immune
    }

    #[cold]
    fn mark(&mut self, at: Time, packet: Packet, then: Occupancy) -> bool {
        if !self.custody.pool.mark(packet.handle) {
            return false;
        }
        let place = packet.hop as usize;
        self.custody.counters.hops[place].counters.queue_marks += 1;
        if R::ON {
            let content = self.custody.pool.content(packet);
            self.recorder.record(&link_event(at, self.custody.hops[place], LinkEvent::Mark, content.info(), then));
        }
        true
    }

    #[cold]
    fn drop(&mut self, at: Time, packet: Packet, then: Occupancy) {
        self.custody.counters.hops[packet.hop as usize].counters.queue_drops += 1;
        self.lose(at, packet, Cause::Congestion, LinkEvent::QueueDrop, then);
    }

    #[inline]
    fn observe(&mut self, at: Time, what: LinkEvent, packet: Packet, then: Occupancy) {
        let hop = self.custody.hops[packet.hop as usize];
        let content = self.custody.pool.content(packet);
        self.recorder.record(&link_event(at, hop, what, content.info(), then));
    }
}

impl<R: Recorder> Keep<'_, R> {
    /// A channel corrupted a packet.
    pub(crate) fn corrupt(&mut self, at: Time, packet: Packet, then: Occupancy) {
        self.custody.counters.hops[packet.hop as usize].counters.corrupted += 1;
        self.lose(at, packet, Cause::Wireless, LinkEvent::Corrupted, then);
    }

    fn lose(&mut self, at: Time, packet: Packet, cause: Cause, what: LinkEvent, then: Occupancy) {
        let hop = self.custody.hops[packet.hop as usize];
        let content = self.custody.pool.content(packet);
        if R::ON {
            self.recorder.record(&link_event(at, hop, what, content.info(), then));
        }
        if let Some(seq) = content.data_seq() {
            self.custody.ledgers[hop.flow as usize].lost(seq, cause);
        }
        self.custody.pool.remove(packet.handle);
    }
}

pub(crate) fn link_event(at: Time, hop: Hop, what: LinkEvent, packet: PacketInfo, waiting: Occupancy) -> Event {
    let Occupancy { packets: queue_packets, bytes: queue_bytes } = waiting;
    let kind = EventKind::Link { link: LinkId(hop.link), what, packet, queue_packets, queue_bytes };
    Event { at, flow: FlowId(hop.flow), kind }
}
