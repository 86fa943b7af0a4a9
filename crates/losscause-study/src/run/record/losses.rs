//! Every lost packet with its true cause, and the verdict on it.

use std::collections::BTreeMap;

use losscause::{Judgement, Verdict};
use losscause_sim::truth::Cause;
use losscause_sim::{Event, EventKind, FlowId, LinkEvent};
use serde::Serialize;

use super::{Names, is_data};
use crate::Experiment;

/// A lost packet, or a verdict on a packet that was not lost.
#[derive(Clone, Debug, PartialEq)]
pub struct LostPacket {
    /// The flow, by name.
    pub flow: String,
    /// The algorithm that judges the flow's losses; none if all count as congestion.
    pub algorithm: Option<&'static str>,
    /// The packet's sequence number.
    pub seq: u64,
    /// When and on which link it was lost; none for a verdict on a packet that was not.
    pub lost: Option<(f64, String)>,
    /// The true cause. Of a loss event that a sender judges: congestion if any of its packets was
    /// lost to it.
    pub cause: Option<Cause>,
    /// When it was judged, seconds, and how. A sender judges a loss event once, with its first
    /// packet.
    pub judged: Option<(f64, Judgement)>,
}

impl LostPacket {
    /// When it happened, seconds: the loss, or the verdict on a packet that was not lost.
    pub fn at_s(&self) -> f64 {
        self.lost.as_ref().map(|(at, _)| *at).or(self.judged.map(|(at, _)| at)).unwrap_or_default()
    }

    /// The verdict, if there is one.
    pub fn verdict(&self) -> Option<Verdict> {
        self.judged.map(|(_, judgement)| judgement.verdict)
    }

    /// Whether the verdict is the true cause; none if there is no verdict, or an undecided one.
    pub fn is_right(&self) -> Option<bool> {
        match (self.verdict()?, self.cause?) {
            (Verdict::Undecided, _) => None,
            (verdict, cause) => Some(verdict.is_wireless() == (cause == Cause::Wireless)),
        }
    }

    /// The row of losses.csv.
    pub fn row(&self) -> LossRow<'_> {
        LossRow {
            flow: &self.flow,
            seq: self.seq,
            lost_s: self.lost.as_ref().map(|(at, _)| *at),
            link: self.lost.as_ref().map(|(_, link)| link.as_str()),
            cause: self.cause.map(|cause| cause.to_string()),
            algorithm: self.algorithm,
            judged_s: self.judged.map(|(at, _)| at),
            verdict: self.verdict().map(|verdict| verdict.to_string()),
            is_right: self.is_right(),
            reason: self.judged.map(|(_, judgement)| judgement.reason.to_string()),
        }
    }
}

/// A row of losses.csv. A column that does not apply is empty.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LossRow<'a> {
    /// Name of the flow.
    pub flow: &'a str,
    /// Sequence number of the packet.
    pub seq: u64,
    /// When it was lost, seconds; none if it was judged but not lost.
    pub lost_s: Option<f64>,
    /// The link that lost it.
    pub link: Option<&'a str>,
    /// True cause: `congestion`, `wireless`.
    pub cause: Option<String>,
    /// The algorithm that judges the flow's losses.
    pub algorithm: Option<&'static str>,
    /// When it was judged, seconds.
    pub judged_s: Option<f64>,
    /// What the algorithm said: `congestion`, `wireless`, `undecided`.
    pub verdict: Option<String>,
    /// Whether that is the true cause; none if undecided.
    pub is_right: Option<bool>,
    /// The figures that the algorithm compared.
    pub reason: Option<String>,
}

/// The losses of a run and the verdicts on them, joined as they happen.
#[derive(Clone, Debug)]
pub struct LossLog {
    names: Names,
    losses: Vec<LostPacket>,
    /// The places in `losses` of each packet of a flow.
    of_packet: BTreeMap<(FlowId, u64), Vec<usize>>,
}

impl LossLog {
    /// For a run of `experiment`, in which nothing has been lost yet.
    pub fn new(experiment: &Experiment) -> Self {
        Self::with(Names::of(experiment))
    }

    pub(super) fn with(names: Names) -> Self {
        Self { names, losses: Vec::new(), of_packet: BTreeMap::new() }
    }

    /// Takes the next event, in order of time; returns the place in [`LossLog::losses`] of the loss
    /// that is new or has got its verdict. A verdict is on the last loss of its packet before it.
    pub fn take(&mut self, event: &Event) -> Option<usize> {
        match event.kind {
            EventKind::Link { link, what, packet, .. } if is_data(packet) => {
                let cause = match what {
                    LinkEvent::QueueDrop => Cause::Congestion,
                    LinkEvent::Corrupted => Cause::Wireless,
                    LinkEvent::Enqueue
                    | LinkEvent::Mark
                    | LinkEvent::TransmitStart
                    | LinkEvent::Duplicate
                    | LinkEvent::Deliver => {
                        return None;
                    }
                };
                self.of_packet.entry((event.flow, packet.seq)).or_default().push(self.losses.len());
                let link = self.names.links[link.0 as usize].clone();
                self.push(
                    event.flow,
                    packet.seq,
                    Some((event.at.as_secs_f64(), link)),
                    Some(cause),
                    None,
                )
            }
            EventKind::Verdict { seq, cause, judgement } => {
                let judged = Some((event.at.as_secs_f64(), judgement));
                let earlier =
                    self.of_packet.get(&(event.flow, seq)).into_iter().flatten().rev().copied();
                let open = earlier.into_iter().find(|&place| self.losses[place].judged.is_none());
                match open {
                    // The cause of a loss event is that of all of its packets.
                    Some(place) if cause.is_some() => {
                        (self.losses[place].judged, self.losses[place].cause) = (judged, cause);
                        Some(place)
                    }
                    _ => self.push(event.flow, seq, None, cause, judged),
                }
            }
            _ => None,
        }
    }

    /// All so far, in the order in which they were lost, or judged without being lost.
    pub fn losses(&self) -> &[LostPacket] {
        &self.losses
    }

    fn push(
        &mut self,
        flow: FlowId,
        seq: u64,
        lost: Option<(f64, String)>,
        cause: Option<Cause>,
        judged: Option<(f64, Judgement)>,
    ) -> Option<usize> {
        let (flow, algorithm) = self.names.flows[flow.0 as usize].clone();
        self.losses.push(LostPacket { flow, algorithm, seq, lost, cause, judged });
        Some(self.losses.len() - 1)
    }
}

/// The events of losses and verdicts, which come in no order.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    lost: Vec<Event>,
    judged: Vec<Event>,
}

impl Losses {
    pub(super) fn take(&mut self, event: &Event) {
        match event.kind {
            EventKind::Link { what: LinkEvent::QueueDrop | LinkEvent::Corrupted, .. } => {
                self.lost.push(*event);
            }
            EventKind::Verdict { .. } => self.judged.push(*event),
            _ => {}
        }
    }

    /// In order of time; of a loss and a verdict at the same instant, the loss comes first.
    pub(super) fn finish(self, names: Names) -> Vec<LostPacket> {
        let mut events = self.lost;
        events.extend(self.judged);
        events.sort_by_key(|event| event.at);
        let mut log = LossLog::with(names);
        for event in &events {
            log.take(event);
        }
        log.losses
    }
}
