//! Every event of a run, for recorders.
//!
//! ```
//! use losscause::{Span, Time};
//! use losscause_sim::{
//!     Detail, Event, EventKind, FlowSpec, Header, Limit, LinkEvent, LinkId, LinkSpec, Network,
//!     NetworkError, PacketInfo, PacketKind, QueueSpec, Recorder, Simulation, Timing, Traffic,
//! };
//!
//! /// What queues drop, how long the others wait, and the numbers that are sent.
//! #[derive(Default)]
//! struct Log {
//!     dropped: Vec<u64>,
//!     longest_wait: Span,
//!     sent: u64,
//! }
//!
//! impl Recorder for Log {
//!     fn detail(&self) -> Detail {
//!         Detail::Headers
//!     }
//!     fn record(&mut self, event: &Event) {
//!         match event.kind {
//!             EventKind::Link {
//!                 what: LinkEvent::QueueDrop,
//!                 packet: PacketInfo { seq, .. },
//!                 ..
//!             } => self.dropped.push(seq),
//!             EventKind::Received(PacketInfo {
//!                 kind: PacketKind::Data,
//!                 timing: Some(Timing { queued, .. }),
//!                 ..
//!             }) => {
//!                 self.longest_wait = self.longest_wait.max(queued);
//!             }
//!             EventKind::Header(Header::Datagram { .. }) => self.sent += 1,
//!             _ => {}
//!         }
//!     }
//! }
//!
//! // Twice as much as the link carries; three packets may wait.
//! let link = LinkSpec::wired(
//!     "slow",
//!     1_000_000,
//!     Span::ZERO,
//!     QueueSpec::DropTail { limit: Limit::Packets(3) },
//! );
//! let flow = FlowSpec::new("camera", &[LinkId(0)], &[], Traffic::cbr(2_000_000, 1_250));
//! let mut simulation = Simulation::new(&Network { links: vec![link], flows: vec![flow] }, 1)?;
//! let mut log = Log::default();
//! simulation.run_until(Time::ZERO + Span::from_secs(1), &mut log);
//! assert!(
//!     (199..=201).contains(&log.sent) && (94..=98).contains(&log.dropped.len()),
//!     "{:?}",
//!     log.dropped
//! );
//! assert!(log.longest_wait <= Span::from_millis(30), "{:?}", log.longest_wait);
//! # Ok::<(), NetworkError>(())
//! ```
//!
//! A recorder can also look through the eyes of the algorithms:
//!
//! ```
//! use losscause::End;
//! use losscause_sim::truth::Cause;
//! use losscause_sim::{Detail, Event, FlowId, Recorder, Seen};
//!
//! /// Counts the losses of the air that a sender's algorithm is asked about.
//! #[derive(Default)]
//! struct Asked(u64);
//!
//! impl Recorder for Asked {
//!     fn detail(&self) -> Detail {
//!         Detail::Nothing
//!     }
//!     fn record(&mut self, _: &Event) {}
//!     fn looks(&self) -> bool {
//!         true
//!     }
//!     fn see(&mut self, _: FlowId, end: End, seen: Seen<'_>) {
//!         self.0 += u64::from(matches!(
//!             (end, seen),
//!             (End::Sender, Seen::Judged(_, Some(Cause::Wireless)))
//!         ));
//!     }
//! }
//! assert!(Asked::default().looks() && !Vec::<Event>::new().looks());
//! ```

use crate::truth::Cause;
use losscause::{End, Judgement, Loss, Numbers, Observation, Recovery, Span, Time};
use losscause_transport::{tcp, tfrc};

use crate::topology::{FlowId, LinkId};

/// Records events.
///
/// Links compute transmissions only when a later step depends on them. Each event has its exact
/// time, but events of different links and ends **are not recorded in order of time**: sort them
/// (stably, by [`Event::at`]) before use. When
/// [`Simulation::run_until`](crate::Simulation::run_until) returns, all events up to that instant
/// are recorded.
pub trait Recorder {
    /// Which events are recorded. The simulation does not create the others. It asks once per call
    /// of [`Simulation::run_until`](crate::Simulation::run_until).
    fn detail(&self) -> Detail {
        Detail::Everything
    }

    /// Records an event.
    fn record(&mut self, event: &Event);

    /// Whether what the algorithms see is handed on ([`Recorder::see`]). Asked as
    /// [`Recorder::detail`].
    fn looks(&self) -> bool {
        false
    }

    /// An algorithm saw something at an end of a flow. Only called if the recorder
    /// [looks](Recorder::looks).
    fn see(&mut self, flow: FlowId, end: End, seen: Seen<'_>) {
        let _ = (flow, end, seen);
    }
}

/// What an algorithm sees, as [`Observer`](losscause::Observer)s do.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'a> {
    /// An observation.
    Observed(&'a Observation),
    /// A loss that a sender declared.
    Declared(&'a Loss),
    /// A loss about which the algorithm was asked, and its true cause, if the loss is one.
    Judged(&'a Loss, Option<Cause>),
    /// A loss about which the algorithm was told proved to be none.
    TakenBack(Numbers),
    /// A sender's recovery ended.
    Recovered(&'a Recovery),
}

/// Which events are recorded: each kind includes those before it, and takes more time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// None.
    Nothing,
    /// TCP's windows and TFRC's rates: [`EventKind::Cwnd`], [`EventKind::Rate`].
    Windows,
    /// Also the packets that reach an end of their flow: [`EventKind::Received`].
    Arrivals,
    /// All events except the next.
    Everything,
    /// Also the header of every packet sent: [`EventKind::Header`].
    Headers,
}

impl Detail {
    /// Whether windows and rates are recorded.
    pub const fn windows(self) -> bool {
        self as u8 >= Detail::Windows as u8
    }

    /// Whether arrivals at the ends are recorded.
    pub const fn arrivals(self) -> bool {
        self as u8 >= Detail::Arrivals as u8
    }

    /// Whether all events are recorded, except perhaps headers.
    pub const fn everything(self) -> bool {
        self as u8 >= Detail::Everything as u8
    }

    /// Whether headers are recorded.
    pub const fn headers(self) -> bool {
        self as u8 >= Detail::Headers as u8
    }

    /// Whether events of this kind are recorded.
    pub const fn includes(self, kind: &EventKind) -> bool {
        match kind {
            EventKind::Cwnd(_) | EventKind::Rate(_) => self.windows(),
            EventKind::Received(_) => self.arrivals(),
            EventKind::Header(_) => self.headers(),
            EventKind::Sent(_) | EventKind::Link { .. } | EventKind::Verdict { .. } => {
                self.everything()
            }
        }
    }
}

/// Records nothing.
impl Recorder for () {
    #[inline(always)]
    fn detail(&self) -> Detail {
        Detail::Nothing
    }

    #[inline(always)]
    fn record(&mut self, _: &Event) {}
}

/// Keeps all events, in the order in which they were computed.
impl Recorder for Vec<Event> {
    fn record(&mut self, event: &Event) {
        self.push(*event);
    }
}

/// Both recorders, each of the events that it wants.
impl<A: Recorder, B: Recorder> Recorder for (&mut A, &mut B) {
    fn detail(&self) -> Detail {
        self.0.detail().max(self.1.detail())
    }

    fn record(&mut self, event: &Event) {
        if self.0.detail().includes(&event.kind) {
            self.0.record(event);
        }
        if self.1.detail().includes(&event.kind) {
            self.1.record(event);
        }
    }

    fn looks(&self) -> bool {
        self.0.looks() || self.1.looks()
    }

    fn see(&mut self, flow: FlowId, end: End, seen: Seen<'_>) {
        if self.0.looks() {
            self.0.see(flow, end, seen);
        }
        if self.1.looks() {
            self.1.see(flow, end, seen);
        }
    }
}

/// A recorder during one call of [`Simulation::run_until`](crate::Simulation::run_until): the event
/// loop is compiled for this type and for `()` only, however many recorders there are.
pub(crate) struct Recording<'a> {
    detail: Detail,
    looks: bool,
    recorder: &'a mut dyn Recorder,
}

impl<'a> Recording<'a> {
    pub(crate) fn new(recorder: &'a mut dyn Recorder) -> Self {
        Self { detail: recorder.detail(), looks: recorder.looks(), recorder }
    }
}

impl Recorder for Recording<'_> {
    #[inline(always)]
    fn detail(&self) -> Detail {
        self.detail
    }

    fn record(&mut self, event: &Event) {
        self.recorder.record(event);
    }

    #[inline(always)]
    fn looks(&self) -> bool {
        self.looks
    }

    fn see(&mut self, flow: FlowId, end: End, seen: Seen<'_>) {
        self.recorder.see(flow, end, seen);
    }
}

/// An event of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// The time.
    pub at: Time,
    /// The flow.
    pub flow: FlowId,
    /// The kind of event.
    pub kind: EventKind,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventKind {
    /// The header of the packet that the same end sends with the next event of this flow,
    /// [`EventKind::Sent`].
    Header(Header),
    /// An end sent a packet.
    Sent(PacketInfo),
    /// An end received a packet.
    Received(PacketInfo),
    /// A link handled a packet.
    Link {
        /// The link.
        link: LinkId,
        /// The action of the link.
        what: LinkEvent,
        /// The packet.
        packet: PacketInfo,
        /// Packets waiting immediately after the event.
        queue_packets: u32,
        /// Bytes waiting immediately after the event.
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
        /// The true cause of the loss.
        cause: Option<Cause>,
        /// The verdict of the LDA, and its reason.
        judgement: Judgement,
    },
}

/// What a packet says when its end sends it. On its way only its ECN field changes
/// ([`LinkEvent::Mark`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Header {
    /// TCP data, or a SYN.
    Segment(tcp::Segment),
    /// A TCP acknowledgement.
    Ack(tcp::Ack),
    /// TFRC data.
    Data(tfrc::Data),
    /// A TFRC report.
    Feedback(tfrc::Feedback),
    /// A packet of a CBR or on-off source.
    Datagram {
        /// The datagram's number, from 0 on.
        seq: u64,
        /// Bytes on the wire.
        wire_bytes: u32,
    },
}

/// An action of a link on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// Added it to the queue.
    Enqueue,
    /// Dropped it, because the queue was full or by the rule of its discipline.
    QueueDrop,
    /// The queue marked it (ECN), on arrival or at dequeue; the packet is forwarded.
    Mark,
    /// Began to transmit it.
    TransmitStart,
    /// The channel corrupted it.
    Corrupted,
    /// Made a copy of it, which follows it from the far end on.
    Duplicate,
    /// Delivered it at the far end.
    Deliver,
}

/// The fields of a packet in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketInfo {
    /// The packet's kind.
    pub kind: PacketKind,
    /// Sequence number of data; for acknowledgements the next packet expected; 0 for TFRC feedback.
    pub seq: u64,
    /// Bytes on the wire.
    pub wire_bytes: u32,
    /// The packet's times; none if it was sent while nothing was recorded.
    pub timing: Option<Timing>,
    /// Of acknowledgements and feedback: when the data packet was sent that it answers, plus the
    /// time for which TFRC's receiver says that it held the answer back. The round-trip time is the
    /// arrival minus this.
    pub answers: Option<Time>,
}

/// The times of a packet on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// When its end sent it.
    pub sent_at: Time,
    /// How long it has waited in queues so far, without transmissions.
    pub queued: Span,
}

/// Kinds of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// TCP data, TFRC data, a CBR or on-off packet.
    Data,
    /// TCP data, retransmitted.
    Retransmission,
    /// A TCP acknowledgement.
    Ack,
    /// A TFRC report.
    Feedback,
}
