//! Every event of a run, for recorders.

use losscause::truth::Cause;
use losscause::{Judgement, Time};

use crate::topology::{FlowId, LinkId};

/// Records events.
///
/// Links work out transmissions late, when something next depends on them. So each event carries its exact time, but
/// events of different links and ends **are not recorded in order of time**: sort them (stably, by [`Event::at`]) before use.
/// When [`Simulation::run_until`](crate::Simulation::run_until) returns, nothing up to that instant is missing.
pub trait Recorder {
    /// Whether events are recorded. If not, the simulation does not create them.
    const ON: bool = true;

    /// Whether TCP's window and TFRC's rate are recorded, with or without all other events.
    const WINDOWS: bool = Self::ON;

    /// Something happened.
    fn record(&mut self, event: &Event);
}

/// Records nothing.
impl Recorder for () {
    const ON: bool = false;

    fn record(&mut self, _: &Event) {}
}

/// Keeps all events, in the order in which they were worked out.
impl Recorder for Vec<Event> {
    fn record(&mut self, event: &Event) {
        self.push(*event);
    }
}

/// Something that happened to a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub at: Time,
    /// To which flow.
    pub flow: FlowId,
    /// What.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventKind {
    /// An end sent a packet.
    Sent(PacketInfo),
    /// An end received a packet.
    Received(PacketInfo),
    /// A packet met a link.
    Link {
        /// Which link.
        link: LinkId,
        /// What the link did.
        what: LinkEvent,
        /// The packet.
        packet: PacketInfo,
        /// Packets waiting right after the event.
        queue_packets: u32,
        /// Bytes waiting right after the event.
        queue_bytes: u64,
    },
    /// The TCP congestion window changed to this many packets.
    Cwnd(f64),
    /// The TFRC allowed sending rate changed to this many payload bytes per second.
    Rate(f64),
    /// The receiver judged a lost packet.
    Verdict {
        /// The lost packet.
        seq: u64,
        /// Why it was really lost.
        cause: Option<Cause>,
        /// What the LDA said, and why.
        judgement: Judgement,
    },
}

/// What a link did with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// Took it in.
    Enqueue,
    /// Dropped it: the queue was full, or its management chose so.
    QueueDrop,
    /// Its queue marked it (ECN), when it came or when its turn came; the packet goes on.
    Mark,
    /// Began to transmit it.
    TransmitStart,
    /// Lost it to the channel.
    Corrupted,
    /// Handed it on at the far end.
    Deliver,
}

/// A packet, as far as a trace is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketInfo {
    /// Of what kind.
    pub kind: PacketKind,
    /// Sequence number of data; for acknowledgements the next packet expected; 0 for TFRC feedback.
    pub seq: u64,
    /// Bytes on the wire.
    pub wire_bytes: u32,
}

/// Kinds of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// TCP data, TFRC data, a CBR or on-off packet.
    Data,
    /// TCP data, sent again.
    Retransmission,
    /// A TCP acknowledgement.
    Ack,
    /// A TFRC report.
    Feedback,
}
