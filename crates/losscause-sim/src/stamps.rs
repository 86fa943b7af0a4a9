//! When the packets in flight were sent, and how long they have waited in queues. Kept only while
//! events are recorded, so that a plain run does no work for it.

use losscause::{Span, Time};

use crate::packet::Handle;
use crate::trace::Timing;

/// The stamps of all packets in flight.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stamps {
    /// By slot in the pool: those of payloads, and those of datagrams.
    slots: [Vec<Option<Stamp>>; 2],
    recording: bool,
}

/// Memory per packet, bytes, with its slot in the pool.
pub(crate) const STAMP_BYTES: f64 = (size_of::<Option<Stamp>>() + size_of::<u32>()) as f64;

#[derive(Clone, Copy, Debug)]
struct Stamp {
    sent_at: Time,
    /// When it came to its present link.
    since: Time,
    queued: Span,
}

impl Stamps {
    /// Whether events are recorded from now on. Packets that were sent while they were not have no
    /// stamp.
    pub(crate) fn set_recording(&mut self, recording: bool) {
        if recording && !self.recording {
            self.slots.iter_mut().for_each(Vec::clear);
        }
        self.recording = recording;
    }

    /// An end sends the packet.
    pub(crate) fn sent(&mut self, now: Time, packet: Handle) {
        self.put(packet, Stamp { sent_at: now, since: now, queued: Span::ZERO });
    }

    fn put(&mut self, packet: Handle, stamp: Stamp) {
        let (kind, place) = packet.slot();
        let slots = &mut self.slots[kind];
        if slots.len() <= place {
            slots.resize(place + 1, None);
        }
        slots[place] = Some(stamp);
    }

    /// `copy` is the same packet as `original`.
    pub(crate) fn copy(&mut self, original: Handle, copy: Handle) {
        let Some(&mut stamp) = self.of(original) else { return };
        self.put(copy, stamp);
    }

    /// The packet comes to a link.
    pub(crate) fn entered(&mut self, now: Time, packet: Handle) {
        if let Some(stamp) = self.of(packet) {
            stamp.since = now;
        }
    }

    /// The link begins to transmit the packet.
    pub(crate) fn transmitted(&mut self, now: Time, packet: Handle) {
        if let Some(stamp) = self.of(packet) {
            stamp.queued += now - stamp.since;
        }
    }

    /// What a trace shows of it.
    pub(crate) fn timing(&self, packet: Handle) -> Option<Timing> {
        let (kind, place) = packet.slot();
        let stamp = self.slots[kind].get(place)?.as_ref()?;
        Some(Timing { sent_at: stamp.sent_at, queued: stamp.queued })
    }

    fn of(&mut self, packet: Handle) -> Option<&mut Stamp> {
        let (kind, place) = packet.slot();
        self.slots[kind].get_mut(place)?.as_mut()
    }
}
