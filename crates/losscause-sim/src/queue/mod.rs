//! Managed queues, one file per discipline.
//!
//! A link asks its queue at exact instants, in order of time: [`QueueDiscipline::enqueue`] when a
//! packet comes, [`QueueDiscipline::dequeue`] when the transmitter is free,
//! [`QueueDiscipline::on_timer`] at the instants that the queue names. Every other action of a
//! discipline on a packet goes through [`QueueHooks`].
//!
//! The plain queue, DropTail, is not among them: nothing that comes later changes when a packet's
//! turn is, so the link works that out itself (`link/drop_tail.rs`).

use std::fmt;

use losscause::{Span, Time};

use crate::packet::Packet;
use crate::rng::Stream;
use crate::topology::{Limit, QueueSpec};

mod bounded;
mod codel;
#[cfg(test)]
mod comparison;
mod fq_codel;
mod hooks;
mod pie;
mod policer;
#[cfg(test)]
mod properties;
mod red;
mod step_mark;
mod timed;

pub(crate) use hooks::{Occupancy, QueueHooks};

use codel::CoDel;
use fq_codel::FqCoDel;
use pie::Pie;
use policer::Policer;
use red::Red;
use step_mark::StepMark;

/// Memory of a packet that waits in a managed queue, bytes.
pub(crate) const WAITING_BYTES: f64 = size_of::<timed::Waiting>() as f64;

/// Memory of a queue without packets, bytes.
pub(crate) fn own_bytes(spec: &QueueSpec) -> f64 {
    match spec {
        QueueSpec::FqCoDel(spec) => f64::from(spec.queues) * fq_codel::SUB_QUEUE_BYTES,
        _ => 512.0,
    }
}

/// A queue in motion.
pub(crate) trait QueueDiscipline: fmt::Debug + Send + Sync {
    /// A packet comes. `idle` says that the transmitter is free and nothing waits: then the limit
    /// does not count, and `dequeue` follows at the same instant. Returns whether the packet was
    /// taken in; if not, it was dropped.
    fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        idle: bool,
        hooks: &mut dyn QueueHooks,
    ) -> bool;

    /// The transmitter is free: returns the packet to send next. If packets wait, one is returned,
    /// even after drops.
    fn dequeue(&mut self, now: Time, hooks: &mut dyn QueueHooks) -> Option<Packet>;

    /// What waits.
    fn occupancy(&self) -> Occupancy;

    /// The packets that wait, in no particular order.
    fn packets(&self) -> Box<dyn Iterator<Item = &Packet> + '_>;

    /// When the discipline's own timer expires next, if it has one.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// The timer has expired.
    fn on_timer(&mut self, _now: Time) {}

    /// From now on the queue has the settings of `spec`, of the same discipline with as many
    /// sub-queues. `typical` is as in [`managed`]. What waits stays.
    fn adopt(&mut self, spec: &QueueSpec, typical: Span);

    /// A copy, for a simulation that is cloned.
    fn boxed_clone(&self) -> Box<dyn QueueDiscipline>;
}

impl Clone for Box<dyn QueueDiscipline> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// The queue of a link, or none if it is DropTail. `typical` is the transmission time of a typical
/// packet, for RED; `stream` belongs to the queue alone.
pub(crate) fn managed(
    spec: &QueueSpec,
    typical: Span,
    stream: Stream,
) -> Option<Box<dyn QueueDiscipline>> {
    Some(match *spec {
        QueueSpec::DropTail { .. } => return None,
        QueueSpec::StepMark { limit, mark_from_pkts } => {
            Box::new(StepMark::queue(limit, mark_from_pkts))
        }
        QueueSpec::Red(spec) => Box::new(Red::queue(spec, typical, stream)),
        QueueSpec::CoDel(spec) => Box::new(CoDel::new(spec)),
        QueueSpec::Policer(spec) => Box::new(Policer::queue(spec)),
        QueueSpec::FqCoDel(spec) => Box::new(FqCoDel::new(spec, stream)),
        QueueSpec::Pie(spec) => Box::new(Pie::new(spec, stream)),
    })
}

impl Limit {
    /// Whether a packet of this size may wait besides those that do.
    pub(crate) fn leaves_room(self, waiting: Occupancy, wire_bytes: u32) -> bool {
        match self {
            Limit::Packets(limit) => waiting.packets < limit,
            Limit::Bytes(limit) => waiting.bytes + u64::from(wire_bytes) <= limit,
        }
    }

    /// Whether more waits than may.
    fn is_passed_by(self, waiting: Occupancy) -> bool {
        match self {
            Limit::Packets(limit) => waiting.packets > limit,
            Limit::Bytes(limit) => waiting.bytes > limit,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::link::LinkHooks;
    use crate::trace::LinkEvent;

    /// Records what is done to packets; they are called by numbers.
    #[derive(Debug, Default)]
    pub(crate) struct Log {
        capable: bool,
        immune: bool,
        /// Packet, and what waited right after.
        pub(crate) marked: Vec<(u32, u32)>,
        pub(crate) dropped: Vec<(Time, u32)>,
        pub(crate) corrupted: u32,
    }

    impl Log {
        /// A log whose packets may be marked.
        pub(crate) fn capable() -> Self {
            Self { capable: true, ..Self::default() }
        }

        /// A log whose packets may be immune to channels.
        pub(crate) fn that_spares(immune: bool) -> Self {
            Self { immune, ..Self::default() }
        }

        pub(crate) fn dropped_at_ms(&self) -> Vec<i64> {
            self.dropped.iter().map(|(at, _)| at.as_nanos() / 1_000_000).collect()
        }
    }

    impl QueueHooks for Log {
        fn mark(&mut self, _: Time, packet: Packet, then: Occupancy) -> bool {
            if self.capable {
                self.marked.push((packet.number(), then.packets));
            }
            self.capable
        }

        fn drop(&mut self, at: Time, packet: Packet, _: Occupancy) {
            self.dropped.push((at, packet.number()));
        }

        /// The flow of a packet is its number modulo ten.
        fn flow_of(&self, packet: Packet) -> u32 {
            packet.number() % 10
        }
    }

    impl LinkHooks for Log {
        fn records(&self) -> bool {
            false
        }

        fn is_immune(&self, _: Packet) -> bool {
            self.immune
        }

        fn corrupt(&mut self, _: Time, _: Packet, _: Occupancy) {
            self.corrupted += 1;
        }

        fn transmits(&mut self, _: Time, _: Packet) {}

        fn observe(&mut self, _: Time, _: LinkEvent, _: Packet, _: Occupancy) {}

        fn copy(&mut self, _: Time, packet: Packet, _: Occupancy) -> Packet {
            packet
        }

        fn copy_arrives(&mut self, _: Packet) {}
    }

    /// The packet of this number.
    pub(crate) fn waiting(number: u32, wire_bytes: u32) -> Packet {
        Packet::of(number, wire_bytes)
    }
}
