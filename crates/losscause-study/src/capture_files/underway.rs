//! The packets of one direction of a flow that are on their way, each with its header.

use std::collections::VecDeque;

use losscause::Time;
use losscause_capture::write::Packet;
use losscause_sim::PacketInfo;

/// Packets in the order in which they were sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Underway {
    packets: VecDeque<Entry>,
}

/// A packet is known by when it was sent and its number: an end sends no number twice at one
/// instant.
#[derive(Clone, Copy, Debug)]
struct Entry {
    sent_at: Time,
    number: u64,
    packet: Packet,
    /// The packet arrived or was lost.
    gone: bool,
}

impl Underway {
    /// A packet sets out, the last one so far.
    pub(super) fn push(&mut self, sent_at: Time, number: u64, packet: Packet) {
        self.packets.push_back(Entry { sent_at, number, packet, gone: false });
    }

    /// The packet that an event is about; none if it was sent before events were recorded.
    pub(super) fn find(&mut self, info: &PacketInfo) -> Option<&mut Packet> {
        self.entry(info).map(|entry| &mut entry.packet)
    }

    /// The same, and it is on its way no more.
    pub(super) fn take(&mut self, info: &PacketInfo) -> Option<Packet> {
        let entry = self.entry(info)?;
        entry.gone = true;
        let packet = entry.packet;
        while self.packets.front().is_some_and(|entry| entry.gone) {
            self.packets.pop_front();
        }
        Some(packet)
    }

    /// A link has made a copy of the packet.
    pub(super) fn copy(&mut self, info: &PacketInfo) {
        if let Some(place) = self.place(info) {
            self.packets.insert(place, self.packets[place]);
        }
    }

    fn entry(&mut self, info: &PacketInfo) -> Option<&mut Entry> {
        let place = self.place(info)?;
        self.packets.get_mut(place)
    }

    fn place(&self, info: &PacketInfo) -> Option<usize> {
        let sent_at = info.timing?.sent_at;
        let first = self.packets.partition_point(|entry| entry.sent_at < sent_at);
        self.packets
            .range(first..)
            .take_while(|entry| entry.sent_at == sent_at)
            .position(|entry| entry.number == info.seq && !entry.gone)
            .map(|place| first + place)
    }
}
