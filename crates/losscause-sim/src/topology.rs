//! What a network is: plain data, checked as a whole by [`Network::validate`].

use std::sync::Arc;

use losscause::{AnyLda, AnySenderLda, Span, Time};
use losscause_transport::{tcp, tfrc};

use crate::rng::Stream;

mod queue;
mod rate;
mod validate;
mod variation;

pub use queue::{CoDelSpec, FqCoDelSpec, Limit, PieSpec, PolicerSpec, QueueProblem, QueueSpec, RedSpec};
pub use rate::{RatePoint, RateProblem, RateSpec, RetransmissionSpec};
pub use validate::{FlowProblem, LinkProblem, NetworkError};
pub use variation::{AtEnd, Between, DelayPoint, VariationProblem, VariationSpec};

/// One-way links and the flows that cross them.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// The links. A cable is two of them.
    pub links: Vec<LinkSpec>,
    /// The flows.
    pub flows: Vec<FlowSpec>,
}

/// A link, by its place in [`Network::links`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// A flow, by its place in [`Network::flows`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// One direction of a link: a queue, a transmitter that sends one packet at a time, and a wire or the air behind it.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Unique; the link's random stream is derived from it.
    pub name: String,
    /// Transmission rate, bits per second; at least 1. If the rate varies, this is the rate before the first step, and what a link's
    /// utilisation refers to.
    pub rate_bps: u64,
    /// How the rate varies.
    pub rate: RateSpec,
    /// Propagation delay, not negative.
    pub delay: Span,
    /// What is added to it as time goes by.
    pub variation: VariationSpec,
    /// Where packets wait while the transmitter is busy.
    pub queue: QueueSpec,
    /// What the air does to packets.
    pub channel: ChannelSpec,
    /// Where packets meet the channel's errors.
    pub error_position: ErrorPosition,
    /// How packets map to the channel's slots.
    pub slots: Slots,
    /// Whether the link layer repeats what the channel corrupts; only with [`ErrorPosition::AfterTransmission`].
    pub retransmission: Option<RetransmissionSpec>,
}

/// An error process, indexed by slots (see [`Slots`]). Every packet uses its slots up, whoever sent it.
#[derive(Clone, Debug)]
pub enum ChannelSpec {
    /// No errors.
    Perfect,
    /// Every slot is bad with the same probability, independently.
    Bernoulli {
        /// That probability, 0 to 1.
        loss: f64,
    },
    /// Two states; every slot in the bad state is bad. The lengths of bursts and of the gaps between them are geometric.
    GilbertElliott {
        /// Mean share of bad slots, 0 to 1 (exclusive).
        loss: f64,
        /// Mean number of bad slots in a row, at least 1 and at least `loss / (1 - loss)`. `1 / (1 - loss)` is
        /// Bernoulli.
        mean_burst_packets: f64,
    },
    /// A recorded pattern, repeated for ever.
    Trace {
        /// Whether each slot is bad; not empty.
        lost: Arc<[bool]>,
        /// The first slot used.
        start: TraceStart,
    },
}

/// Where a trace channel starts reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceStart {
    /// At this slot, less than the length of the trace.
    Slot(usize),
    /// At a slot drawn uniformly from the link's stream.
    Drawn,
    /// The trace consists of parts of this length, at least 1 and at most all of it; one, drawn uniformly from the link's
    /// stream, is repeated for ever from its first slot. What is left at the end of the trace and is no whole part is not used.
    DrawnPart(usize),
}

/// Where packets meet the channel's errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorPosition {
    /// After transmission: a corrupted packet has used the link's time, and is lost at the link's far end.
    #[default]
    AfterTransmission,
    /// Before the queue, as with ns-2's `$ns lossmodel`: a corrupted packet takes neither queue space nor link time.
    BeforeQueue,
}

/// How packets map to the slots of a channel. A packet is corrupted if any of its slots is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slots {
    /// A fixed number of slots per packet, at least 1; time between packets uses none.
    PerPacket(u32),
    /// The channel moves on by itself, one slot per span (a microsecond or more), whether or not anybody sends; a packet meets the
    /// slots that its transmission overlaps. With [`ErrorPosition::BeforeQueue`] it meets the one it arrives in.
    PerTime(Span),
}

impl Default for Slots {
    fn default() -> Self {
        Slots::PerPacket(1)
    }
}

/// A sender, a receiver, and the paths between them.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Unique; the flow's random streams are derived from it.
    pub name: String,
    /// The links from sender to receiver, in order, none twice; not empty.
    pub path: Vec<LinkId>,
    /// The links back; may be empty only for traffic without feedback (CBR, on-off).
    pub return_path: Vec<LinkId>,
    /// Who sends.
    pub traffic: Traffic,
    /// Earliest start, not negative.
    pub start: Time,
    /// A uniform draw from [0, this) is added to `start`; not negative.
    pub start_spread: Span,
    /// The sender falls silent at this instant, if ever. What is under way still arrives.
    pub stop: Option<Time>,
    /// Whether it is one of many that come and go; then `start` is the earliest start of the first of them.
    pub turnover: Option<Turnover>,
    /// No channel corrupts this flow's packets (they still use up their slots), in neither direction.
    pub wireless_immune: bool,
    /// Whether results are wanted; the simulation itself does not care.
    pub measured: bool,
}

impl FlowSpec {
    /// A measured flow from time zero on, which never stops.
    pub fn new(name: impl Into<String>, path: &[LinkId], return_path: &[LinkId], traffic: Traffic) -> Self {
        Self {
            name: name.into(),
            path: path.to_vec(),
            return_path: return_path.to_vec(),
            traffic,
            start: Time::ZERO,
            start_spread: Span::ZERO,
            stop: None,
            turnover: None,
            wireless_immune: false,
            measured: true,
        }
    }
}

/// A flow among many that come as a Poisson process, each a fresh one, and stay for a random time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turnover {
    /// The flow that comes before it, which stands before it in [`Network::flows`] too; none for the first.
    pub after: Option<FlowId>,
    /// Mean of the exponential time from the start of the flow before, or from its own `start`, to this one's; positive.
    pub mean_gap: Span,
    /// Mean of the time from its start to its stop, positive. [`FlowSpec::stop`] may cut it short.
    pub mean_duration: Span,
    /// How that time scatters.
    pub durations: Lengths,
}

/// Who sends, and by which rules.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // One per flow; not on any packet's path.
pub enum Traffic {
    /// TCP with unlimited data.
    Tcp {
        /// Settings of both ends. The [`tcp::Quirks::tick_offset`] is not used: every sender's clock gets its own, drawn uniformly from the
        /// flow's stream.
        config: tcp::Config,
        /// Who differentiates losses.
        lda: TcpLda,
    },
    /// TFRC with unlimited data.
    Tfrc {
        /// Settings of both ends.
        config: tfrc::Config,
        /// What the receiver asks about losses, in its initial state.
        lda: AnyLda,
    },
    /// Packets at a constant rate.
    Cbr {
        /// Rate on the wire, bits per second; at least 1.
        rate_bps: u64,
        /// Size on the wire, bytes; at least 1.
        packet_bytes: u32,
    },
    /// Bursts at a constant rate, of random length, and silences between them.
    OnOff {
        /// Rate on the wire during a burst, bits per second; at least 1.
        rate_bps: u64,
        /// Size on the wire, bytes; at least 1.
        packet_bytes: u32,
        /// Mean length of a burst, positive.
        mean_on: Span,
        /// Mean length of a silence, not negative.
        mean_off: Span,
        /// How the lengths of both scatter.
        lengths: Lengths,
    },
}

/// How random lengths of time scatter about their mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Lengths {
    /// Exponentially: the past says nothing about the rest.
    #[default]
    Exponential,
    /// Pareto: never shorter than mean (shape - 1) / shape, and now and then very long. A sum of many such on-off sources
    /// is bursty at every time scale if the shape is below 2.
    Pareto {
        /// Above 1, for there to be a mean.
        shape: f64,
    },
}

impl Lengths {
    /// A draw with this mean.
    #[inline]
    pub(crate) fn draw(self, stream: &mut Stream, mean: f64) -> f64 {
        match self {
            Lengths::Exponential => stream.exponential(mean),
            Lengths::Pareto { shape } => stream.pareto(mean, shape),
        }
    }
}

/// Who differentiates the losses of a TCP flow. Algorithms are in their initial state.
#[derive(Clone, Debug, Default)]
#[allow(clippy::large_enum_variant)] // Plain data, one per flow.
pub enum TcpLda {
    /// No end: every loss is congestion.
    #[default]
    None,
    /// The sender, about every loss that duplicate acknowledgements reveal.
    Sender(AnySenderLda),
    /// The receiver, about every lost packet.
    Receiver {
        /// What it asks.
        lda: AnyLda,
        /// Whether the sender acts on its labels. If not, they are only taken down.
        heeded: bool,
    },
}

impl Traffic {
    /// TCP that takes every loss for congestion.
    pub fn tcp(config: tcp::Config) -> Self {
        Traffic::Tcp { config, lda: TcpLda::None }
    }
}

impl Network {
    /// Checks everything that a type cannot.
    ///
    /// # Errors
    /// Names the first link or flow that is wrong, and how.
    pub fn validate(&self) -> Result<(), NetworkError> {
        validate::validate(self)
    }
}

impl LinkSpec {
    /// A link without errors.
    pub fn wired(name: impl Into<String>, rate_bps: u64, delay: Span, queue: QueueSpec) -> Self {
        Self {
            name: name.into(),
            rate_bps,
            rate: RateSpec::Constant,
            delay,
            variation: VariationSpec::Constant,
            queue,
            channel: ChannelSpec::Perfect,
            error_position: ErrorPosition::default(),
            slots: Slots::default(),
            retransmission: None,
        }
    }
}

impl LinkId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl FlowId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}
