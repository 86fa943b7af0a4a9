//! Every lost packet with its true cause, and the verdict on it.

use std::collections::BTreeMap;

use losscause::truth::Cause;
use losscause::{Judgement, Time, Verdict};
use losscause_sim::{Event, EventKind, FlowId, LinkEvent, LinkId};
use serde::Serialize;

use super::{Names, is_data};

/// A lost packet, or a verdict on a packet that was not lost.
#[derive(Clone, Debug, PartialEq)]
pub struct LostPacket {
    /// The flow, by name.
    pub flow: String,
    /// The algorithm that judges the flow's losses; none if all count as congestion.
    pub algorithm: Option<&'static str>,
    /// Its sequence number.
    pub seq: u64,
    /// When and on which link it was lost; none for a verdict on a packet that was not.
    pub lost: Option<(f64, String)>,
    /// The true cause. Of a loss event that a sender judges: congestion if any of its packets was lost to it.
    pub cause: Option<Cause>,
    /// When it was judged, seconds, and how. A sender judges a loss event once, with its first packet.
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

/// Losses and verdicts under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    lost: Vec<(FlowId, u64, Time, LinkId, Cause)>,
    judged: Vec<(FlowId, u64, Time, Option<Cause>, Judgement)>,
}

impl Losses {
    pub(super) fn take(&mut self, event: &Event) {
        match event.kind {
            EventKind::Link { link, what, packet, .. } if is_data(packet) => {
                let cause = match what {
                    LinkEvent::QueueDrop => Cause::Congestion,
                    LinkEvent::Corrupted => Cause::Wireless,
                    LinkEvent::Enqueue | LinkEvent::Mark | LinkEvent::TransmitStart | LinkEvent::Deliver => return,
                };
                self.lost.push((event.flow, packet.seq, event.at, link, cause));
            }
            EventKind::Verdict { seq, cause, judgement } => {
                self.judged.push((event.flow, seq, event.at, cause, judgement));
            }
            _ => {}
        }
    }

    /// A verdict is on the last loss of its packet before it.
    pub(super) fn finish(mut self, names: &Names) -> Vec<LostPacket> {
        self.lost.sort_by_key(|(_, _, at, ..)| *at);
        self.judged.sort_by_key(|(_, _, at, ..)| *at);
        let mut of_packet: BTreeMap<(u32, u64), Vec<usize>> = BTreeMap::new();
        let mut all: Vec<LostPacket> = Vec::with_capacity(self.lost.len());
        for (flow, seq, at, link, cause) in self.lost {
            of_packet.entry((flow.0, seq)).or_default().push(all.len());
            let lost = Some((at.as_secs_f64(), names.links[link.0 as usize].clone()));
            let (flow, algorithm) = names.flows[flow.0 as usize].clone();
            all.push(LostPacket { flow, algorithm, seq, lost, cause: Some(cause), judged: None });
        }
        for (flow, seq, at, cause, judgement) in self.judged {
            let judged = Some((at.as_secs_f64(), judgement));
            let earlier = of_packet.get(&(flow.0, seq)).into_iter().flatten().rev().copied();
            match earlier
                .into_iter()
                .find(|&place| all[place].at_s() <= at.as_secs_f64() && all[place].judged.is_none())
            {
                // The cause of a loss event is that of all of its packets.
                Some(place) if cause.is_some() => (all[place].judged, all[place].cause) = (judged, cause),
                _ => {
                    let (flow, algorithm) = names.flows[flow.0 as usize].clone();
                    all.push(LostPacket { flow, algorithm, seq, lost: None, cause, judged });
                }
            }
        }
        all.sort_by(|a, b| a.at_s().total_cmp(&b.at_s()));
        all
    }
}
