//! The rows of a trace: every packet event of a run, in order of time.

use serde::Serialize;

use losscause::{Time, Verdict};
use losscause_sim::truth::Cause;
use losscause_sim::{Event, EventKind, LinkEvent, Network, PacketInfo, PacketKind, Recorder};

/// A recorder that puts events in order of time.
///
/// Events do not come in order of time, so they wait until [`Trace::take`] says that no earlier
/// ones will come.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    waiting: Vec<Event>,
}

impl Trace {
    /// The number of events that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Removes the events up to and including `until` and returns them in order of time;
    /// [`TraceRow::of`] makes rows of them. Right for any `until` that the run has reached
    /// ([`Run::now`](super::Run::now)). Events of the same instant stay in the order in which they
    /// were recorded.
    pub fn take(&mut self, until: Time) -> impl ExactSizeIterator<Item = Event> + '_ {
        self.waiting.sort_by_key(|event| event.at);
        let count = self.waiting.partition_point(|event| event.at <= until);
        self.waiting.drain(..count)
    }
}

impl Recorder for Trace {
    fn record(&mut self, event: &Event) {
        self.waiting.push(*event);
    }
}

/// One row of a trace. A column that does not apply to an event is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TraceRow<'a> {
    /// Since the start of the run, nanoseconds.
    pub time_ns: i64,
    /// What happened. At the ends of a flow: `sent`, `received`, `cwnd` (TCP's window changed),
    /// `rate` (TFRC's allowed rate changed), `verdict` (the algorithm judged a lost packet). At a
    /// link: `enqueue`, `queue-drop`, `mark` (ECN), `transmit` (transmission begins), `corrupted`
    /// (lost to the channel), `deliver` (reached the far end).
    pub event: &'static str,
    /// Name of the flow.
    pub flow: &'a str,
    /// Name of the link, for events at links.
    pub link: Option<&'a str>,
    /// Kind of the packet: `data`, `retransmission`, `ack`, `feedback`.
    pub packet: Option<&'static str>,
    /// Sequence number of the packet, or of the lost packet of a verdict. Of an acknowledgement,
    /// the next packet expected.
    pub seq: Option<u64>,
    /// Size of the packet on the wire, bytes.
    pub bytes: Option<u32>,
    /// Packets waiting at the link right after the event.
    pub queue_packets: Option<u32>,
    /// Bytes waiting at the link right after the event.
    pub queue_bytes: Option<u64>,
    /// TCP's congestion window, packets, when it changes.
    pub cwnd_packets: Option<f64>,
    /// TFRC's allowed rate, payload bits per second, when it changes.
    pub rate_bps: Option<f64>,
    /// True cause of a drop, also with the verdict on it: `congestion`, `wireless`.
    pub cause: Option<&'static str>,
    /// What the algorithm said: `congestion`, `wireless`, `undecided`.
    pub verdict: Option<&'static str>,
    /// The figures that the algorithm compared.
    pub reason: Option<String>,
}

impl<'a> TraceRow<'a> {
    /// The row of an event that a run of `network` recorded.
    ///
    /// # Panics
    /// The event's flow or link is not in the network.
    pub fn of(event: &Event, network: &'a Network) -> Self {
        let mut row = Self {
            time_ns: event.at.as_nanos(),
            event: event_name(&event.kind),
            flow: &network.flows[event.flow.0 as usize].name,
            ..Self::default()
        };
        match event.kind {
            // The row of the sending that follows shows what a trace has room for.
            EventKind::Header(_) => {}
            EventKind::Sent(packet) | EventKind::Received(packet) => row.describe(packet),
            EventKind::Link { link, what, packet, queue_packets, queue_bytes } => {
                let cause = match what {
                    LinkEvent::QueueDrop => Some(Cause::Congestion),
                    LinkEvent::Corrupted => Some(Cause::Wireless),
                    LinkEvent::Enqueue
                    | LinkEvent::Mark
                    | LinkEvent::TransmitStart
                    | LinkEvent::Duplicate
                    | LinkEvent::Deliver => None,
                };
                row.describe(packet);
                row.link = Some(&network.links[link.0 as usize].name);
                row.queue_packets = Some(queue_packets);
                row.queue_bytes = Some(queue_bytes);
                row.cause = cause.map(cause_name);
            }
            EventKind::Cwnd(packets) => row.cwnd_packets = Some(packets),
            EventKind::Rate(bytes_per_second) => row.rate_bps = Some(bytes_per_second * 8.0),
            EventKind::Verdict { seq, cause, judgement } => {
                row.seq = Some(seq);
                row.cause = cause.map(cause_name);
                row.verdict = Some(match judgement.verdict {
                    Verdict::Congestion => "congestion",
                    Verdict::Wireless => "wireless",
                    Verdict::Undecided => "undecided",
                });
                row.reason = Some(judgement.reason.to_string());
            }
        }
        row
    }

    fn describe(&mut self, packet: PacketInfo) {
        self.packet = Some(packet_name(packet.kind));
        self.seq = Some(packet.seq);
        self.bytes = Some(packet.wire_bytes);
    }
}

/// The names of all kinds of events in a trace. Headers, which only captures show, are not among
/// them.
pub const EVENT_NAMES: [&str; 12] = [
    "sent",
    "received",
    "enqueue",
    "queue-drop",
    "mark",
    "transmit",
    "corrupted",
    "duplicate",
    "deliver",
    "cwnd",
    "rate",
    "verdict",
];

/// The name of a kind of event, one of [`EVENT_NAMES`] or `header`.
pub fn event_name(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::Header(_) => "header",
        EventKind::Sent(_) => "sent",
        EventKind::Received(_) => "received",
        EventKind::Link { what: LinkEvent::Enqueue, .. } => "enqueue",
        EventKind::Link { what: LinkEvent::QueueDrop, .. } => "queue-drop",
        EventKind::Link { what: LinkEvent::Mark, .. } => "mark",
        EventKind::Link { what: LinkEvent::TransmitStart, .. } => "transmit",
        EventKind::Link { what: LinkEvent::Corrupted, .. } => "corrupted",
        EventKind::Link { what: LinkEvent::Duplicate, .. } => "duplicate",
        EventKind::Link { what: LinkEvent::Deliver, .. } => "deliver",
        EventKind::Cwnd(_) => "cwnd",
        EventKind::Rate(_) => "rate",
        EventKind::Verdict { .. } => "verdict",
    }
}

/// The name of a kind of packet.
pub(crate) fn packet_name(kind: PacketKind) -> &'static str {
    match kind {
        PacketKind::Data => "data",
        PacketKind::Retransmission => "retransmission",
        PacketKind::Ack => "ack",
        PacketKind::Feedback => "feedback",
    }
}

/// The name of a true cause.
pub(crate) fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::Congestion => "congestion",
        Cause::Wireless => "wireless",
    }
}
