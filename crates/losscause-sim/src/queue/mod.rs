//! Where packets wait, one file per discipline.
//!
//! A discipline may refuse a packet when it comes ([`Queue::offer`], [`Queue::pass`]) and chooses the next one when the
//! transmitter becomes free ([`Queue::take`]). All are called with their exact instants, in order of time. What else it
//! does to a packet, a mark at either instant or a drop when the packet's turn comes, it asks of the [`Keeper`] of the
//! packets, which counts it, records it, and knows the cause.

use losscause::Time;

use crate::packet::Handle;
use crate::rng::Stream;
use crate::topology::{LinkSpec, QueueSpec};
use crate::trace::LinkEvent;

mod codel;
mod drop_tail;
mod red;
mod step_mark;

use codel::CoDel;
use drop_tail::DropTail;
use red::Red;
use step_mark::StepMark;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) packet: Handle,
    pub(crate) wire_bytes: u32,
}

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
    /// Marks a packet if its transport understands marks; whether it did. `then` waits right after that.
    fn mark(&mut self, at: Time, packet: Handle, then: Occupancy) -> bool;

    /// Drops a packet that has waited; `then` waits right after that. (What is refused when it comes, its sender drops.)
    fn drop(&mut self, at: Time, packet: Handle, then: Occupancy);

    /// A packet was accepted, or its transmission began.
    fn observe(&mut self, at: Time, what: LinkEvent, packet: Handle, queue: &Queue);
}

/// A queue of one of the disciplines. With `repr` the tag is a byte of its own, instead of being hidden in a pointer.
#[derive(Clone, Debug)]
#[repr(u8)]
pub(crate) enum Queue {
    DropTail(DropTail),
    StepMark(Box<StepMark>),
    Red(Box<Red>),
    CoDel(Box<CoDel>),
}

impl Queue {
    /// The queue of a link. RED draws from the link's own stream.
    pub(crate) fn new(link: &LinkSpec, seed: u64) -> Self {
        match link.queue {
            QueueSpec::DropTail { limit } => Queue::DropTail(DropTail::new(limit)),
            QueueSpec::StepMark { limit, mark_from_pkts } => {
                Queue::StepMark(Box::new(StepMark::new(limit, mark_from_pkts)))
            }
            QueueSpec::Red(spec) => {
                let typical = super::link::transmission_time_rounded(spec.typical_packet_bytes, link.rate_bps);
                let stream = Stream::new(seed, &format!("link/{}/queue", link.name));
                Queue::Red(Box::new(Red::new(spec, typical, stream)))
            }
            QueueSpec::CoDel(spec) => Queue::CoDel(Box::new(CoDel::new(spec))),
        }
    }

    /// A packet comes while others are transmitted or wait: it has to wait, too.
    #[inline]
    pub(crate) fn offer(&mut self, now: Time, packet: Waiting, keeper: &mut impl Keeper) -> Result<(), Refused> {
        match self {
            Queue::DropTail(queue) => queue.offer(packet),
            managed => managed.offer_managed(now, packet, keeper),
        }
    }

    /// A packet comes while nothing is transmitted and nothing waits, which is so since `idle_since`: it need not wait.
    #[inline]
    pub(crate) fn pass(
        &mut self,
        now: Time,
        idle_since: Time,
        packet: Waiting,
        keeper: &mut impl Keeper,
    ) -> Result<(), Refused> {
        match self {
            Queue::DropTail(_) => Ok(()),
            managed => managed.pass_managed(now, idle_since, packet, keeper),
        }
    }

    /// The transmitter is free: the packet to send next. There is one if any waits, whatever is dropped before it.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, keeper: &mut impl Keeper) -> Option<Waiting> {
        match self {
            Queue::DropTail(queue) => queue.take(),
            managed => managed.take_managed(now, keeper),
        }
    }

    /// What does more than wait in line stands apart, so that the plain queue's code stays short enough to be inlined.
    #[inline(never)]
    fn offer_managed(&mut self, now: Time, packet: Waiting, keeper: &mut impl Keeper) -> Result<(), Refused> {
        match self {
            Queue::DropTail(queue) => queue.offer(packet),
            Queue::StepMark(queue) => queue.offer(now, packet, keeper),
            Queue::Red(queue) => queue.offer(now, packet, keeper),
            Queue::CoDel(queue) => queue.offer(now, packet),
        }
    }

    #[inline(never)]
    fn pass_managed(
        &mut self,
        now: Time,
        idle_since: Time,
        packet: Waiting,
        keeper: &mut impl Keeper,
    ) -> Result<(), Refused> {
        match self {
            Queue::DropTail(_) | Queue::StepMark(_) => Ok(()),
            Queue::Red(queue) => queue.pass(now, idle_since, packet, keeper),
            Queue::CoDel(queue) => {
                queue.pass();
                Ok(())
            }
        }
    }

    #[inline(never)]
    fn take_managed(&mut self, now: Time, keeper: &mut impl Keeper) -> Option<Waiting> {
        match self {
            Queue::DropTail(queue) => queue.take(),
            Queue::StepMark(queue) => queue.fifo.take(),
            Queue::Red(queue) => queue.fifo.take(),
            Queue::CoDel(queue) => queue.take(now, keeper),
        }
    }

    /// Whether nothing waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Queue::DropTail(queue) => queue.is_empty(),
            managed => managed.fifo().is_empty(),
        }
    }

    /// What waits.
    pub(crate) fn occupancy(&self) -> Occupancy {
        self.fifo().occupancy()
    }

    /// The packets that wait, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.fifo().iter()
    }

    fn fifo(&self) -> &DropTail {
        match self {
            Queue::DropTail(queue) => queue,
            Queue::StepMark(queue) => &queue.fifo,
            Queue::Red(queue) => &queue.fifo,
            Queue::CoDel(queue) => &queue.fifo,
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
        /// Packet, and what waited right after.
        pub(crate) marked: Vec<(u32, u32)>,
        pub(crate) dropped: Vec<(Time, u32)>,
    }

    impl Log {
        /// Its packets may be marked.
        pub(crate) fn capable() -> Self {
            Self { capable: true, ..Self::default() }
        }

        pub(crate) fn dropped_at_ms(&self) -> Vec<i64> {
            self.dropped.iter().map(|(at, _)| at.as_nanos() / 1_000_000).collect()
        }
    }

    impl Keeper for Log {
        fn mark(&mut self, _: Time, packet: Handle, then: Occupancy) -> bool {
            if self.capable {
                self.marked.push((packet.number(), then.packets));
            }
            self.capable
        }

        fn drop(&mut self, at: Time, packet: Handle, _: Occupancy) {
            self.dropped.push((at, packet.number()));
        }

        fn observe(&mut self, _: Time, _: LinkEvent, _: Handle, _: &Queue) {}
    }

    /// The packet of this number.
    pub(crate) fn waiting(number: u32, wire_bytes: u32) -> Waiting {
        Waiting { packet: Handle::of(number), wire_bytes }
    }
}
