//! Where packets wait, one file per discipline.
//!
//! A discipline may refuse a packet when it comes ([`Queue::offer`], [`Queue::pass`]) and chooses the next one when the
//! transmitter becomes free ([`Queue::take`]). All are called with their exact instants.

use losscause::Time;

use crate::packet::Handle;
use crate::topology::QueueSpec;

mod drop_tail;

use drop_tail::DropTail;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) packet: Handle,
    pub(crate) wire_bytes: u32,
}

/// A queue refused a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused;

/// A queue of one of the disciplines.
#[derive(Clone, Debug)]
pub(crate) enum Queue {
    DropTail(DropTail),
}

impl Queue {
    pub(crate) fn new(spec: QueueSpec) -> Self {
        match spec {
            QueueSpec::DropTail { limit } => Queue::DropTail(DropTail::new(limit)),
        }
    }

    /// A packet comes while others are transmitted or wait: it has to wait, too.
    #[inline]
    pub(crate) fn offer(&mut self, _now: Time, packet: Waiting) -> Result<(), Refused> {
        match self {
            Queue::DropTail(queue) => queue.offer(packet),
        }
    }

    /// A packet comes while nothing is transmitted and nothing waits: it need not wait.
    #[inline]
    pub(crate) fn pass(&mut self, _now: Time, _packet: Waiting) -> Result<(), Refused> {
        match self {
            Queue::DropTail(_) => Ok(()),
        }
    }

    /// The transmitter is free: the packet to send next.
    #[inline]
    pub(crate) fn take(&mut self, _now: Time) -> Option<Waiting> {
        match self {
            Queue::DropTail(queue) => queue.take(),
        }
    }

    /// Packets that wait.
    pub(crate) fn packets(&self) -> u32 {
        match self {
            Queue::DropTail(queue) => queue.packets(),
        }
    }

    /// Bytes that wait.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Queue::DropTail(queue) => queue.bytes(),
        }
    }

    /// The packets that wait, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiting> {
        match self {
            Queue::DropTail(queue) => queue.iter(),
        }
    }
}
