//! One direction of a connection, or a stream: what was found of it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Loss, Summary};
use crate::alone::Alone;
use crate::annotate::Note;
use crate::diagnose::FlowDiagnosis;
use crate::fit::Fit;
use crate::flow::{self, LoggedPackets, Path, Protocol, Vantage};
use crate::judge::Trips;
use crate::judge::trust::{Expected, Situation};
use crate::measured::Measured;
use crate::over_time::OverTime;
use crate::pace::Pace;

/// One direction of a connection, or a stream.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Flow {
    /// The flow's number in this capture, from 1 on, in the order in which flows began.
    pub id: u64,
    /// The sender of the data.
    pub src: String,
    /// The receiver of the data.
    pub dst: String,
    /// What its sender is called, by a DNS answer or a TLS handshake in the capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub src_name: Option<String>,
    /// What its receiver is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dst_name: Option<String>,
    /// What carries it.
    pub protocol: Protocol,
    /// RTP: which stream of the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssrc: Option<u32>,
    /// WireGuard, ESP and SRT: which one of the sender's, by the receiver's index, the SPI, or the
    /// receiver's socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<u32>,
    /// Packets with data.
    pub packets: u64,
    /// As many are they on the wire, without copies: a segment may be merged from several.
    #[serde(skip)]
    pub(crate) wire_packets: u64,
    /// Distinct bytes of data.
    pub bytes: u64,
    /// Where the capture was taken.
    pub vantage: Vantage,
    /// Packets that arrived behind later ones.
    pub reordered: u64,
    /// Packets that arrived twice.
    pub duplicates: u64,
    /// TCP: packets that the capture has again, a part of the duplicates.
    #[serde(skip_serializing_if = "is_none")]
    pub copies: u64,
    /// Retransmissions that were not needed.
    pub spurious: u64,
    /// Packets that were delivered and not captured.
    pub capture_drops: u64,
    /// Keep-alives and probes of a closed window.
    pub probes: u64,
    /// Packets with a congestion mark (ECN CE). Marks mean congestion and are no losses.
    pub marked: u64,
    /// Whether segments are larger than packets on the wire: segmentation or receive offload.
    pub offload: bool,
    /// Packets that the host handed up in a batch with an earlier one.
    pub batched: u64,
    /// The drift between the clocks of sender and capture that was removed, parts per million.
    pub clock_drift_ppm: Option<f64>,
    /// The algorithms that cannot judge this flow, with the reason.
    pub not_applicable: BTreeMap<String, String>,
    /// Why its packets were lost; none if none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<FlowDiagnosis>,
    /// The algorithm whose verdicts to take; none if no algorithm can judge the flow.
    pub recommended: Option<String>,
    /// What the capture tells about the flow that decides how well algorithms do: of two joined
    /// captures, at the end whose verdicts are recommended.
    pub situation: Situation,
    /// By algorithm that can judge the flow: the errors to expect in this situation, from the
    /// accuracy table. An algorithm that the table does not have is missing.
    pub expected: BTreeMap<String, Expected>,
    /// TCP: whether it carried less than 1 % of what the largest flow between its hosts did, and
    /// nothing of note happened to it: a control connection, or the answers to a transfer. The
    /// answer does not count it.
    #[serde(skip_serializing_if = "is_false")]
    pub minor: bool,
    /// Of two joined captures: what each of them tells alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<Alone>,
    /// How long its packets wait in queues; none if the capture does not tell.
    pub queueing: Option<Queueing>,
    /// How its connection was opened from this end, if that took more than one try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opening: Option<Tries>,
    /// How its connection was closed from this end, if that took more than one try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closing: Option<Tries>,
    /// Times in which its sender tried three times or more and got no answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// Streams: times without a packet, behind which as many numbers were missing as such a time
    /// has packets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<Pause>,
    /// How often the sender began new numbers. Of TCP more than one such jump shows several connections
    /// in one.
    #[serde(skip_serializing_if = "is_none")]
    pub renumbered: u64,
    /// Steps of its trip times that stayed. They were taken out, so that no queueing delay has
    /// them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shifts: Vec<Shift>,
    /// How long its receiver's window was closed, seconds.
    #[serde(skip_serializing_if = "is_zero")]
    pub window_closed_s: f64,
    /// Bytes that were acknowledged without a captured packet of the flow before.
    #[serde(skip_serializing_if = "is_none")]
    pub acked_uncaptured: u64,
    /// TCP: whether no acknowledgement of its data was captured.
    #[serde(skip_serializing_if = "is_false")]
    pub one_way: bool,
    /// Packets that passed again: of TCP and SRT, not those that the capture holds twice.
    pub sent_again: u64,
    /// How fast its data went, and what held them up; none if the capture does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// TCP seen at its sender: the link that it met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
    /// The flow over time, if [`Options::over_time`](super::Options::over_time) asks for it and the
    /// flow is one of those with most losses.
    #[serde(skip)]
    pub over_time: Option<OverTime>,
    /// What its frames beside the losses are, if [`Options::notes`] asks for it.
    #[serde(skip)]
    pub(crate) notes: Vec<Note>,
    /// What its hosts have between them, if that is counted.
    #[serde(skip)]
    pub(crate) path: Option<Path>,
    /// QUIC: its packets, if they are kept.
    #[serde(skip)]
    pub(crate) logged: Option<LoggedPackets>,
    /// If it lost packets: what is needed when their cause is known.
    #[serde(skip)]
    pub(crate) measured: Option<Box<Measured>>,
    /// Losses beyond those that are listed.
    pub unlisted_losses: u64,
    /// The losses, in the order in which they were found.
    pub losses: Vec<Loss>,
    /// Verdicts by algorithm.
    pub summary: BTreeMap<String, Summary>,
}

/// The tries to open a connection (SYN), or to close it (FIN without data), from one end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Tries {
    /// Segments that were sent again.
    pub repeats: u64,
    /// Opening: from the first one to the answer, or to the last packet if there was none. Closing:
    /// from the first one to the last. Seconds.
    pub waited_s: f64,
    /// Whether the other end answered.
    pub answered: bool,
    /// Opening: whether they are replies to the other end's SYN (SYN+ACK).
    #[serde(skip_serializing_if = "is_false")]
    pub reply: bool,
}

impl Tries {
    pub(super) fn of(tries: flow::Tries) -> Self {
        let flow::Tries { repeats, waited, is_answered, is_reply } = tries;
        Self { repeats, waited_s: waited.as_secs_f64(), answered: is_answered, reply: is_reply }
    }
}

/// A time in which a flow's sender got no answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outage {
    /// The last answer before, or the first try if there was none: seconds after the capture's
    /// first packet.
    pub from_s: f64,
    /// The answer that ended it, or the last try if there was none.
    pub to_s: f64,
    /// Whether an answer ended it.
    pub answered: bool,
}

/// A time in which nothing of a stream came, while its numbers went on. Whether packets were sent,
/// the capture does not show.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Pause {
    /// The last packet before: seconds after the capture's first packet.
    pub from_s: f64,
    /// The first packet behind it.
    pub to_s: f64,
    /// Sequence numbers that were skipped.
    pub skipped: u64,
}

/// A step of the trip times that stayed: of the capture's or the sender's clock, or of the path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Shift {
    /// The first packet behind it: seconds after the capture's first packet.
    pub at_s: f64,
    /// What trips took longer from then on, milliseconds.
    pub by_ms: f64,
}

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

fn is_false(value: &bool) -> bool {
    !*value
}

/// Queueing delays: what trips took longer than the shortest one, by the trip times that the
/// algorithms got, from sender to receiver at a receiver, there and back at a sender.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Queueing {
    /// Half of the packets waited less, milliseconds.
    pub p50_ms: f64,
    /// 95 % of them waited less.
    pub p95_ms: f64,
    /// The share of packets that waited at least half of that, from 0 to 1.
    pub busy: f64,
    /// Of how many packets these are figured: of a sample, evenly over time.
    pub sampled: u64,
}

impl Flow {
    /// Which stream of its sender it is, by its packets.
    pub(crate) fn stream_of_sender(&self) -> Option<u32> {
        self.ssrc.or(self.stream)
    }
}

impl Queueing {
    pub(super) fn of(trips: &Trips) -> Option<Self> {
        let p50_ms = trips.queueing_quantile(0.5)?;
        let p95_ms = trips.queueing_quantile(0.95)?;
        let sampled = trips.sample().count() as u64;
        Some(Self { p50_ms, p95_ms, busy: trips.share_from(p95_ms / 2.0), sampled })
    }
}
