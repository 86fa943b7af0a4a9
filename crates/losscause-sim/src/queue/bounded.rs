//! First in, first out, up to a limit; a rule of its own decides which packets enter.
//!
//! DropTail's rule is the limit itself. The disciplines here add to it:
//! [`Policer`](super::policer::Policer), [`StepMark`](super::step_mark::StepMark) and
//! [`Red`](super::red::Red).

use std::fmt;

use losscause::{Span, Time};

use super::{Occupancy, QueueDiscipline, QueueHooks};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::topology::{Limit, QueueSpec};

/// Decides which packets enter a [`Bounded`] queue.
pub(super) trait Admission: fmt::Debug + Clone + Send + Sync + 'static {
    /// Whether the packet enters; if not, it is dropped. The rule may mark it.
    fn admits(&mut self, packet: &Entering, hooks: &mut dyn QueueHooks) -> bool;

    /// As [`QueueDiscipline::adopt`], for what the rule has of `spec`.
    fn adopt(&mut self, spec: &QueueSpec, typical: Span);

    /// The transmitter is free and nothing waits.
    fn on_empty(&mut self, _now: Time) {}
}

/// A packet that arrives, and the queue that it finds.
pub(super) struct Entering {
    pub(super) now: Time,
    pub(super) packet: Packet,
    /// The transmitter is free and nothing waits.
    pub(super) idle: bool,
    /// The limit leaves room for it; an idle link has room for any packet.
    pub(super) fits: bool,
    pub(super) found: Occupancy,
}

impl Entering {
    /// What waits once the packet has entered.
    pub(super) fn then(&self) -> Occupancy {
        let mut then = self.found;
        then.add(self.packet);
        then
    }
}

/// A queue with the rule `A`.
#[derive(Clone, Debug)]
pub(super) struct Bounded<A> {
    pub(super) rule: A,
    limit: Limit,
    waiting: Fifo<Packet>,
    bytes: u64,
}

impl<A> Bounded<A> {
    pub(super) fn new(limit: Limit, rule: A) -> Self {
        Self { rule, limit, waiting: Fifo::new(), bytes: 0 }
    }
}

impl<A: Admission> QueueDiscipline for Bounded<A> {
    fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        idle: bool,
        hooks: &mut dyn QueueHooks,
    ) -> bool {
        let found = self.occupancy();
        let fits = idle || self.limit.leaves_room(found, packet.wire_bytes);
        if !self.rule.admits(&Entering { now, packet, idle, fits, found }, hooks) {
            hooks.drop(now, packet, found);
            return false;
        }
        self.waiting.push(packet);
        self.bytes += u64::from(packet.wire_bytes);
        true
    }

    fn dequeue(&mut self, now: Time, _: &mut dyn QueueHooks) -> Option<Packet> {
        let Some(packet) = self.waiting.pop() else {
            self.rule.on_empty(now);
            return None;
        };
        self.bytes -= u64::from(packet.wire_bytes);
        Some(packet)
    }

    fn occupancy(&self) -> Occupancy {
        Occupancy { packets: self.waiting.len() as u32, bytes: self.bytes }
    }

    fn packets(&self) -> Box<dyn Iterator<Item = &Packet> + '_> {
        Box::new(self.waiting.iter())
    }

    fn adopt(&mut self, spec: &QueueSpec, typical: Span) {
        self.limit = spec.limit();
        self.rule.adopt(spec, typical);
    }

    fn boxed_clone(&self) -> Box<dyn QueueDiscipline> {
        Box::new(self.clone())
    }
}
