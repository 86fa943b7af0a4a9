//! The instants of one kind of event.

use losscause::{Time, Verdict};
use losscause_sim::{Event, EventKind, FlowId, LinkEvent, Network, PacketKind};

use super::{RecordedEvents, flows};
use crate::papers::record::{EventsSpec, Happening};

/// Events under construction.
pub(super) struct Instants {
    flows: Vec<FlowId>,
    show: Happening,
    times: Vec<Time>,
}

impl Instants {
    pub(super) fn new(spec: &EventsSpec, network: &Network) -> Self {
        Self { flows: flows(&spec.of, network).unwrap_or_default(), show: spec.show, times: vec![] }
    }

    pub(super) fn take(&mut self, event: &Event) {
        if !self.flows.contains(&event.flow) {
            return;
        }
        let is_data =
            |kind: PacketKind| matches!(kind, PacketKind::Data | PacketKind::Retransmission);
        let happened = match (self.show, event.kind) {
            (Happening::QueueDrop, EventKind::Link { what: LinkEvent::QueueDrop, packet, .. })
            | (Happening::Corrupted, EventKind::Link { what: LinkEvent::Corrupted, packet, .. }) => {
                is_data(packet.kind)
            }
            (Happening::Retransmission, EventKind::Sent(packet)) => {
                packet.kind == PacketKind::Retransmission
            }
            (Happening::CalledCongestion, EventKind::Verdict { judgement, .. }) => {
                judgement.verdict == Verdict::Congestion
            }
            (Happening::CalledWireless, EventKind::Verdict { judgement, .. }) => {
                judgement.verdict == Verdict::Wireless
            }
            _ => false,
        };
        if happened {
            self.times.push(event.at);
        }
    }

    pub(super) fn finish(mut self, spec: &EventsSpec, (from, to): (Time, Time)) -> RecordedEvents {
        self.times.retain(|at| (from..=to).contains(at));
        self.times.sort_unstable();
        RecordedEvents {
            name: spec.name.clone(),
            times_s: self.times.into_iter().map(Time::as_secs_f64).collect(),
        }
    }
}
