//! The packets at one link: who waits, who is in transmission, who is on the way to the far end;
//! and who was lost.

use std::collections::VecDeque;

use losscause::Time;
use losscause_sim::{
    Event, EventKind, FlowId, LinkEvent, LinkId, LinkSpec, PacketInfo, PacketKind,
};

/// A link's packets, by its events.
#[derive(Clone, Debug)]
pub(crate) struct Bottleneck {
    link: LinkId,
    /// In the order in which they came.
    packets: VecDeque<Here>,
    /// Lost packets that were not read yet.
    lost: Vec<Lost>,
}

#[derive(Clone, Copy, Debug)]
struct Here {
    flow: FlowId,
    packet: PacketInfo,
    /// When its transmission began.
    begun: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Lost {
    flow: FlowId,
    packet: PacketInfo,
    at: Time,
    corrupted: bool,
}

/// Lost packets that are kept if nobody reads them.
const MOST_LOST: usize = 256;

impl Bottleneck {
    pub(crate) fn new(link: LinkId) -> Self {
        Self { link, packets: VecDeque::new(), lost: Vec::new() }
    }

    /// Takes the next event, in order of time.
    pub(crate) fn take(&mut self, event: &Event) {
        let EventKind::Link { link, what, packet, .. } = event.kind else { return };
        if link != self.link {
            return;
        }
        match what {
            LinkEvent::Enqueue => {
                self.packets.push_back(Here { flow: event.flow, packet, begun: None });
            }
            LinkEvent::TransmitStart => {
                if let Some(place) = self.find(event.flow, packet, false) {
                    self.packets[place].begun = Some(event.at);
                }
            }
            LinkEvent::Deliver => self.remove(event.flow, packet, true),
            LinkEvent::Corrupted => {
                self.remove(event.flow, packet, true);
                self.lose(event, packet, true);
            }
            LinkEvent::QueueDrop => {
                // A managed queue may drop one that waits.
                self.remove(event.flow, packet, false);
                self.lose(event, packet, false);
            }
            // A copy is made where the link ends.
            LinkEvent::Mark | LinkEvent::Duplicate => {}
        }
    }

    fn find(&self, flow: FlowId, packet: PacketInfo, has_begun: bool) -> Option<usize> {
        let same = |here: &Here| {
            here.flow == flow
                && here.packet.seq == packet.seq
                && here.packet.kind == packet.kind
                && here.begun.is_some() == has_begun
        };
        self.packets.iter().position(same)
    }

    fn remove(&mut self, flow: FlowId, packet: PacketInfo, has_begun: bool) {
        if let Some(place) = self.find(flow, packet, has_begun) {
            self.packets.remove(place);
        }
    }

    fn lose(&mut self, event: &Event, packet: PacketInfo, corrupted: bool) {
        if self.lost.len() < MOST_LOST {
            self.lost.push(Lost { flow: event.flow, packet, at: event.at, corrupted });
        }
    }

    /// Every packet at `now`: flow, kind, state (0 waits, 1 in transmission, 2 on the way),
    /// progress within that state from 0 to 1, sequence number. Waiting packets come in the order
    /// of the queue.
    pub(crate) fn packets(&self, now: Time, spec: &LinkSpec, numbers: &mut Vec<f64>) {
        for Here { flow, packet, begun } in &self.packets {
            let (state, progress) = match begun {
                None => (0.0, 0.0),
                Some(begun) => {
                    let transmission_s = f64::from(packet.wire_bytes) * 8.0 / spec.rate_bps as f64;
                    let elapsed_s = (now - *begun).as_secs_f64();
                    if elapsed_s < transmission_s {
                        (1.0, elapsed_s / transmission_s)
                    } else {
                        (
                            2.0,
                            ((elapsed_s - transmission_s) / spec.delay.as_secs_f64().max(1e-9))
                                .min(1.0),
                        )
                    }
                }
            };
            numbers.extend([f64::from(flow.0), kind(*packet), state, progress, packet.seq as f64]);
        }
    }

    /// The lost packets that `other` has given are not given again.
    pub(crate) fn read_as(&mut self, other: &Self) {
        self.lost.clone_from(&other.lost);
    }

    /// The packets lost here since the last call: flow, kind, 0 for a drop or 1 for a corruption,
    /// instant in seconds, sequence number.
    pub(crate) fn take_lost(&mut self, numbers: &mut Vec<f64>) {
        for Lost { flow, packet, at, corrupted } in self.lost.drain(..) {
            let what = if corrupted { 1.0 } else { 0.0 };
            numbers.extend([
                f64::from(flow.0),
                kind(packet),
                what,
                at.as_secs_f64(),
                packet.seq as f64,
            ]);
        }
    }
}

/// 0 data, 1 a retransmission, 2 an acknowledgement or a report.
fn kind(packet: PacketInfo) -> f64 {
    match packet.kind {
        PacketKind::Data => 0.0,
        PacketKind::Retransmission => 1.0,
        PacketKind::Ack | PacketKind::Feedback => 2.0,
    }
}
