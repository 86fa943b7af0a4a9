//! The packets at one link: who waits, who is in transmission, who is on the way to the far end;
//! who was lost; and the acknowledgements on their way back.

use std::collections::VecDeque;

use losscause::Time;
use losscause_sim::{
    Event, EventKind, FlowId, LinkEvent, LinkId, LinkSpec, Network, PacketInfo, PacketKind,
};

/// A link's packets, by its events.
#[derive(Clone, Debug)]
pub(crate) struct Bottleneck {
    link: LinkId,
    /// In the order in which they came.
    packets: VecDeque<Here>,
    /// Acknowledgements and reports of all flows that no sender has yet, in the order in which they
    /// were sent.
    answers: VecDeque<Answer>,
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

/// An acknowledgement or a report.
#[derive(Clone, Copy, Debug)]
struct Answer {
    flow: FlowId,
    packet: PacketInfo,
    sent: Time,
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
        Self { link, packets: VecDeque::new(), answers: VecDeque::new(), lost: Vec::new() }
    }

    /// Takes the next event, in order of time.
    pub(crate) fn take(&mut self, event: &Event) {
        self.take_answer(event);
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

    /// An answer is on its way from its sending to its arrival, or until a link loses it.
    fn take_answer(&mut self, event: &Event) {
        let (packet, is_sent) = match event.kind {
            EventKind::Sent(packet) => (packet, true),
            EventKind::Received(packet) => (packet, false),
            EventKind::Link {
                what: LinkEvent::QueueDrop | LinkEvent::Corrupted, packet, ..
            } => (packet, false),
            _ => return,
        };
        if !is_answer(packet) {
            return;
        }
        let Event { flow, at, .. } = *event;
        if is_sent {
            self.answers.push_back(Answer { flow, packet, sent: at });
            return;
        }
        let same = |answer: &Answer| {
            answer.flow == flow
                && answer.packet.kind == packet.kind
                && answer.packet.seq == packet.seq
        };
        if let Some(place) = self.answers.iter().position(same) {
            self.answers.remove(place);
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

    /// Every packet at `now`: flow, kind, state (0 waits, 1 in transmission, 2 on the way, 3 on the
    /// way back to its sender), progress within that state from 0 to 1, sequence number. Waiting
    /// packets come in the order of the queue. An answer moves as if no queue were on its way.
    pub(crate) fn packets(&self, now: Time, network: &Network, numbers: &mut Vec<f64>) {
        let spec = &network.links[self.link.0 as usize];
        for Here { flow, packet, begun } in &self.packets {
            let (state, progress) = match begun {
                None => (0.0, 0.0),
                Some(begun) => {
                    let transmission_s = transmission_s(spec, *packet);
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
        for Answer { flow, packet, sent } in &self.answers {
            let spec = &network.flows[flow.0 as usize];
            if spec.path.contains(&self.link) {
                let links = spec.return_path.iter().map(|link| &network.links[link.0 as usize]);
                let way_s: f64 = links.map(|link| crossing_s(link, *packet)).sum();
                let progress = ((now - *sent).as_secs_f64() / way_s.max(1e-9)).min(1.0);
                numbers.extend([
                    f64::from(flow.0),
                    kind(*packet),
                    3.0,
                    progress,
                    packet.seq as f64,
                ]);
            }
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

fn is_answer(packet: PacketInfo) -> bool {
    matches!(packet.kind, PacketKind::Ack | PacketKind::Feedback)
}

fn transmission_s(link: &LinkSpec, packet: PacketInfo) -> f64 {
    f64::from(packet.wire_bytes) * 8.0 / link.rate_bps as f64
}

/// What a packet takes from one end of an empty link to the other.
fn crossing_s(link: &LinkSpec, packet: PacketInfo) -> f64 {
    transmission_s(link, packet) + link.delay.as_secs_f64()
}

/// 0 data, 1 a retransmission, 2 an acknowledgement or a report.
fn kind(packet: PacketInfo) -> f64 {
    match packet.kind {
        PacketKind::Data => 0.0,
        PacketKind::Retransmission => 1.0,
        PacketKind::Ack | PacketKind::Feedback => 2.0,
    }
}
