//! Where packets wait, one file per discipline.
//!
//! A managed queue may refuse a packet when it comes ([`Managed::offer`], [`Managed::pass`]) and chooses the next one when
//! the transmitter becomes free ([`Managed::take`]). All are called with their exact instants, in order of time. What else
//! it does to a packet, a mark at either instant or a drop when the packet's turn comes, it asks of the [`Keeper`] of the
//! packets, which counts it, records it, and knows the cause. The plain queue only refuses packets when they come
//! ([`DropTail::admits`]).

use losscause::Time;

use crate::packet::Packet;
use crate::rng::Stream;
use crate::topology::{Limit, LinkSpec, QueueSpec};
use crate::trace::LinkEvent;

mod bounded;
mod codel;
mod drop_tail;
mod red;
mod step_mark;

use bounded::Bounded;
use codel::CoDel;
pub(crate) use drop_tail::DropTail;
use red::Red;
use step_mark::StepMark;

/// A queue refused a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused;

/// What waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Occupancy {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
}

/// Who keeps the packets: does to them what a discipline decides, and hears what becomes of them. The instants are exact
/// but may lie in the past.
pub(crate) trait Keeper {
    /// Whether it wants to hear of every packet that is accepted or begins. If not, nobody calls [`Keeper::observe`].
    const OBSERVES: bool;

    /// Whether no channel does a packet any harm.
    fn is_immune(&self, packet: Packet) -> bool;

    /// Marks a packet if its transport understands marks; whether it did. `then` waits right after that.
    fn mark(&mut self, at: Time, packet: Packet, then: Occupancy) -> bool;

    /// Drops a packet that has waited; `then` waits right after that. (What is refused when it comes, its sender drops.)
    fn drop(&mut self, at: Time, packet: Packet, then: Occupancy);

    /// A packet was accepted, or its transmission began; `then` waits right after that.
    fn observe(&mut self, at: Time, what: LinkEvent, packet: Packet, then: Occupancy);
}

/// A queue of one of the disciplines. With `repr` the tag is a byte of its own, instead of being hidden in a pointer.
#[derive(Clone, Debug)]
#[repr(u8)]
pub(crate) enum Queue {
    DropTail(DropTail),
    Managed(Managed),
}

/// A queue that does more than let packets wait in line: those that wait are its own.
#[derive(Clone, Debug)]
pub(crate) enum Managed {
    StepMark(Box<StepMark>),
    Red(Box<Red>),
    CoDel(Box<CoDel>),
}

impl Queue {
    /// The queue of a link. RED draws from the link's own stream.
    pub(crate) fn new(link: &LinkSpec, seed: u64) -> Self {
        Queue::Managed(match link.queue {
            QueueSpec::DropTail { limit } => return Queue::DropTail(DropTail::new(limit)),
            QueueSpec::StepMark { limit, mark_from_pkts } => {
                Managed::StepMark(Box::new(StepMark::new(limit, mark_from_pkts)))
            }
            QueueSpec::Red(spec) => {
                let typical = super::link::transmission_time_rounded(spec.typical_packet_bytes, link.rate_bps);
                let stream = Stream::new(seed, &format!("link/{}/queue", link.name));
                Managed::Red(Box::new(Red::new(spec, typical, stream)))
            }
            QueueSpec::CoDel(spec) => Managed::CoDel(Box::new(CoDel::new(spec))),
        })
    }
}

impl Managed {
    /// A packet comes while others are transmitted or wait: it has to wait, too.
    pub(crate) fn offer(&mut self, now: Time, packet: Packet, keeper: &mut impl Keeper) -> Result<(), Refused> {
        match self {
            Managed::StepMark(queue) => queue.offer(now, packet, keeper),
            Managed::Red(queue) => queue.offer(now, packet, keeper),
            Managed::CoDel(queue) => queue.offer(now, packet),
        }
    }

    /// A packet comes while nothing is transmitted and nothing waits, which is so since `idle_since`: it need not wait.
    pub(crate) fn pass(
        &mut self,
        now: Time,
        idle_since: Time,
        packet: Packet,
        keeper: &mut impl Keeper,
    ) -> Result<(), Refused> {
        match self {
            Managed::StepMark(_) => Ok(()),
            Managed::Red(queue) => queue.pass(now, idle_since, packet, keeper),
            Managed::CoDel(queue) => {
                queue.pass();
                Ok(())
            }
        }
    }

    /// The transmitter is free: the packet to send next. There is one if any waits, whatever is dropped before it.
    pub(crate) fn take(&mut self, now: Time, keeper: &mut impl Keeper) -> Option<Packet> {
        match self {
            Managed::StepMark(queue) => queue.fifo.take(),
            Managed::Red(queue) => queue.fifo.take(),
            Managed::CoDel(queue) => queue.take(now, keeper),
        }
    }

    /// What waits.
    pub(crate) fn occupancy(&self) -> Occupancy {
        self.fifo().occupancy()
    }

    /// The packets that wait, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.fifo().iter()
    }

    fn fifo(&self) -> &Bounded {
        match self {
            Managed::StepMark(queue) => &queue.fifo,
            Managed::Red(queue) => &queue.fifo,
            Managed::CoDel(queue) => &queue.fifo,
        }
    }
}

impl Limit {
    /// Whether a packet of this size may wait besides those that do.
    fn leaves_room(self, waiting: Occupancy, wire_bytes: u32) -> bool {
        match self {
            Limit::Packets(limit) => waiting.packets < limit,
            Limit::Bytes(limit) => waiting.bytes + u64::from(wire_bytes) <= limit,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Takes down what is done to packets; they are called by numbers.
    #[derive(Debug, Default)]
    pub(crate) struct Log {
        capable: bool,
        immune: bool,
        /// Packet, and what waited right after.
        pub(crate) marked: Vec<(u32, u32)>,
        pub(crate) dropped: Vec<(Time, u32)>,
    }

    impl Log {
        /// Its packets may be marked.
        pub(crate) fn capable() -> Self {
            Self { capable: true, ..Self::default() }
        }

        /// Its packets may be immune.
        pub(crate) fn that_keeps(immune: bool) -> Self {
            Self { immune, ..Self::default() }
        }

        pub(crate) fn dropped_at_ms(&self) -> Vec<i64> {
            self.dropped.iter().map(|(at, _)| at.as_nanos() / 1_000_000).collect()
        }
    }

    impl Keeper for Log {
        const OBSERVES: bool = false;

        fn is_immune(&self, _: Packet) -> bool {
            self.immune
        }

        fn mark(&mut self, _: Time, packet: Packet, then: Occupancy) -> bool {
            if self.capable {
                self.marked.push((packet.number(), then.packets));
            }
            self.capable
        }

        fn drop(&mut self, at: Time, packet: Packet, _: Occupancy) {
            self.dropped.push((at, packet.number()));
        }

        fn observe(&mut self, _: Time, _: LinkEvent, _: Packet, _: Occupancy) {}
    }

    /// The packet of this number.
    pub(crate) fn waiting(number: u32, wire_bytes: u32) -> Packet {
        Packet::of(number, wire_bytes)
    }
}
