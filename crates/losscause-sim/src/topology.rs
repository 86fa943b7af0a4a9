//! The description of a network: plain data, checked by [`Network::validate`].
//!
//! Queues under the same download:
//!
//! ```
//! use losscause::{Span, Time};
//! use losscause_sim::tcp::Config;
//! use losscause_sim::{
//!     CoDelSpec, Counters, FlowSpec, FqCoDelSpec, HopCounters, Limit, LinkId, LinkSpec, Network,
//!     NetworkError, PieSpec, PolicerSpec, QueueSpec, RedSpec, Simulation, Traffic,
//! };
//!
//! let limit = Limit::Packets(400);
//! let codel = CoDelSpec { target: Span::from_millis(10), ..CoDelSpec::new(limit) };
//! for queue in [
//!     QueueSpec::Red(RedSpec { gentle: true, ..RedSpec::new(limit) }),
//!     QueueSpec::CoDel(codel),
//!     QueueSpec::FqCoDel(FqCoDelSpec { codel, ..FqCoDelSpec::new(limit) }),
//!     QueueSpec::Pie(PieSpec { target: Span::from_millis(20), ..PieSpec::new(limit) }),
//!     QueueSpec::Policer(PolicerSpec { rate_bps: 8_000_000, burst_bytes: 100_000, limit }),
//! ] {
//!     let link = LinkSpec::wired("slow", 10_000_000, Span::from_millis(20), queue);
//!     let flow =
//!         FlowSpec::new("download", &[LinkId(0)], &[LinkId(1)], Traffic::tcp(Config::default()));
//!     let network =
//!         Network { links: vec![link.clone(), link.mirrored("back")], flows: vec![flow] };
//!     let mut simulation = Simulation::new(&network, 1)?;
//!     simulation.run_until(Time::ZERO + Span::from_secs(20), &mut ());
//!     let counters: &Counters = simulation.counters();
//!     let HopCounters { queue_drops, transmitted, .. } = counters.link(LinkId(0));
//!     assert!(
//!         queue_drops > 0 && transmitted > 5_000,
//!         "{queue:?}: {queue_drops} of {transmitted}"
//!     );
//!     assert!(simulation.waiting_pkts(LinkId(0)) < 100, "it drops before it is full");
//! }
//! # Ok::<(), NetworkError>(())
//! ```
//!
//! A radio link whose rate and delay change, with a link layer that repeats what is lost:
//!
//! ```
//! use losscause::Span;
//! use losscause_sim::{
//!     AtEnd, Between, ChannelSpec, DelayPoint, ErrorPosition, Limit, LinkProblem, LinkSpec,
//!     Network, NetworkError, QueueSpec, RatePoint, RateProblem, RateSpec, RetransmissionSpec,
//!     Slots, TraceStart, VariationProblem, VariationSpec,
//! };
//!
//! let s = Span::from_secs;
//! let rates =
//!     [(2, 5_000_000), (4, 20_000_000)].map(|(at, rate_bps)| RatePoint { at: s(at), rate_bps });
//! let delays =
//!     [(0, 0), (9, 30)].map(|(at, ms)| DelayPoint { at: s(at), delay: Span::from_millis(ms) });
//! let queue = QueueSpec::DropTail { limit: Limit::Packets(50) };
//! let radio = LinkSpec {
//!     rate: RateSpec::Steps { points: rates.into(), at_end: AtEnd::Repeat },
//!     variation: VariationSpec::Trace {
//!         points: delays.into(),
//!         between: Between::Linear,
//!         at_end: AtEnd::Hold,
//!     },
//!     channel: ChannelSpec::Trace { lost: [false, false, true].into(), start: TraceStart::Drawn },
//!     error_position: ErrorPosition::AfterTransmission,
//!     slots: Slots::PerTime(Span::from_millis(1)),
//!     retransmission: Some(RetransmissionSpec { attempts: 7, delay: Span::from_micros(50) }),
//!     ..LinkSpec::wired("radio", 10_000_000, Span::from_millis(20), queue)
//! };
//! let problem = |link| match (Network { links: vec![link], flows: vec![] }).validate() {
//!     Err(NetworkError::Link { problem, .. }) => Some(problem),
//!     _ => None,
//! };
//! assert_eq!(problem(radio.clone()), None);
//! let dead = RateSpec::Steps {
//!     points: [RatePoint { at: s(0), rate_bps: 0 }].into(),
//!     at_end: AtEnd::Hold,
//! };
//! assert_eq!(
//!     problem(LinkSpec { rate: dead, ..radio.clone() }),
//!     Some(LinkProblem::RateVariation(RateProblem::Outage))
//! );
//! let still = VariationSpec::Sinusoid { most: s(1), period: s(0) };
//! let expected = LinkProblem::Variation(VariationProblem::Period(s(0)));
//! assert_eq!(problem(LinkSpec { variation: still, ..radio }), Some(expected));
//! ```
//!
//! Short bursts that come and go, as the web's:
//!
//! ```
//! use losscause::Span;
//! use losscause_sim::{
//!     FlowId, FlowProblem, FlowSpec, Lengths, Limit, LinkId, LinkProblem, LinkSpec, Network,
//!     NetworkError, QueueProblem, QueueSpec, Traffic, Turnover,
//! };
//!
//! let bursts = Traffic::OnOff {
//!     rate_bps: 2_000_000,
//!     packet_bytes: 1_000,
//!     mean_on: Span::from_millis(500),
//!     mean_off: Span::from_millis(500),
//!     lengths: Lengths::Pareto { shape: 1.5 },
//!     lda: None,
//! };
//! let flow = |place: u32| FlowSpec {
//!     turnover: Some(Turnover {
//!         after: place.checked_sub(1).map(FlowId),
//!         mean_gap: Span::from_secs(1),
//!         mean_duration: Some(Span::from_secs(10)),
//!         durations: Lengths::Exponential,
//!     }),
//!     ..FlowSpec::new(format!("web {place}"), &[LinkId(0)], &[], bursts.clone())
//! };
//! let queue = QueueSpec::StepMark { limit: Limit::Packets(50), mark_from_pkts: 20 };
//! let link = LinkSpec::wired("slow", 10_000_000, Span::from_millis(20), queue);
//! let mut network = Network { links: vec![link], flows: (0..3).map(flow).collect() };
//! assert_eq!(network.validate(), Ok(()));
//!
//! network.flows.swap(0, 1);
//! let Err(NetworkError::Flow { problem, .. }) = network.validate() else {
//!     panic!("the first comes after another")
//! };
//! assert_eq!(problem, FlowProblem::After(FlowId(0)));
//! network.links[0].queue = QueueSpec::StepMark { limit: Limit::Packets(50), mark_from_pkts: 0 };
//! let Err(NetworkError::Link { problem, .. }) = network.validate() else {
//!     panic!("every packet would be marked")
//! };
//! assert_eq!(problem, LinkProblem::Queue(QueueProblem::MarkFrom));
//! ```

use std::sync::Arc;

use losscause::{AnyAlgorithm, Span, Time};
use losscause_transport::{tcp, tfrc};

use crate::application::ApplicationSpec;
use crate::channel::Channel;
use crate::link::stream;
use crate::rng::Stream;

mod disorder;
mod queue;
mod rate;
mod validate;
mod variation;

pub use disorder::{DisorderProblem, DuplicationSpec, Lateness, ReorderingSpec};
pub use queue::{
    CoDelSpec, FqCoDelSpec, Limit, PieSpec, PolicerSpec, QueueProblem, QueueSpec, RedSpec,
};
pub use rate::{RatePoint, RateProblem, RateSpec, RetransmissionSpec};
pub(crate) use validate::validate_change;
pub use validate::{FlowProblem, LinkProblem, NetworkError};
pub use variation::{
    AtEnd, Between, DelayPoint, JitterDistribution, JitterSpec, VariationProblem, VariationSpec,
};

/// One-way links and the flows that cross them.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// The links, each one-way. A two-way cable needs two links.
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

/// A one-way link: a queue, a transmitter that sends one packet at a time, and a channel with a
/// propagation delay.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// Unique; the link's random stream is derived from it.
    pub name: String,
    /// Transmission rate, bits per second; at least 1. If the rate varies, this is the rate before
    /// the first step, and the link's utilisation is relative to it.
    pub rate_bps: u64,
    /// How the rate varies.
    pub rate: RateSpec,
    /// Propagation delay, not negative.
    pub delay: Span,
    /// Delay that varies with time and is added to `delay`.
    pub variation: VariationSpec,
    /// The queue of packets that wait for the transmitter.
    pub queue: QueueSpec,
    /// The process that corrupts packets.
    pub channel: ChannelSpec,
    /// Where packets are corrupted: before the queue or after transmission.
    pub error_position: ErrorPosition,
    /// How packets map to the channel's slots.
    pub slots: Slots,
    /// Whether the link layer retransmits corrupted packets; only with
    /// [`ErrorPosition::AfterTransmission`].
    pub retransmission: Option<RetransmissionSpec>,
    /// Whether a share of the packets is overtaken by others.
    pub reordering: Option<ReorderingSpec>,
    /// Whether a share of the packets arrives twice.
    pub duplication: Option<DuplicationSpec>,
}

/// An error process, indexed by slots (see [`Slots`]). The packets of all flows use up slots.
#[derive(Clone, Debug, PartialEq)]
pub enum ChannelSpec {
    /// No errors.
    Perfect,
    /// Every slot is bad with the same probability, independently.
    Bernoulli {
        /// The probability that a slot is bad, 0 to 1.
        loss: f64,
    },
    /// Two states; every slot in the bad state is bad. The lengths of bursts and of the gaps
    /// between them are geometric.
    GilbertElliott {
        /// Mean share of bad slots, 0 to 1 (exclusive).
        loss: f64,
        /// Mean number of bad slots in a row, at least 1 and at least `loss / (1 - loss)`. `1 / (1
        /// - loss)` is Bernoulli.
        mean_burst_packets: f64,
    },
    /// A recorded pattern, repeated for ever.
    Trace {
        /// Whether each slot is bad; not empty.
        lost: Arc<[bool]>,
        /// The first slot used.
        start: TraceStart,
    },
    /// Every packet is lost with a probability that follows from the link's load, independently.
    /// Only with [`ErrorPosition::AfterTransmission`] and one slot per packet.
    Load {
        /// Losses at rising loads, between two of them on the straight line; not empty.
        points: Arc<[LoadPoint]>,
        /// The load is the share of this time, which ends with the packet's transmission, in which
        /// the transmitter was busy; positive.
        window: Span,
    },
}

/// The loss at a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadPoint {
    /// Share of the link's time that is used, 0 to 1.
    pub load: f64,
    /// Probability that a packet is lost at this load, 0 to 1.
    pub loss: f64,
}

/// Where a trace channel starts reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceStart {
    /// At this slot, less than the length of the trace.
    Slot(usize),
    /// At a slot drawn uniformly from the link's stream.
    Drawn,
    /// The trace consists of parts of this length, at least 1 and at most all of it; one, drawn
    /// uniformly from the link's stream, is repeated for ever from its first slot. An incomplete
    /// part at the end of the trace is not used.
    DrawnPart(usize),
}

/// Where packets meet the channel's errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorPosition {
    /// After transmission: a corrupted packet has used the link's time, and is lost at the link's
    /// far end.
    #[default]
    AfterTransmission,
    /// Before the queue, as with ns-2's `$ns lossmodel`: a corrupted packet takes neither queue
    /// space nor link time.
    BeforeQueue,
}

/// How packets map to the slots of a channel. A packet is corrupted if any of its slots is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slots {
    /// A fixed number of slots per packet, at least 1; time between packets uses none.
    PerPacket(u32),
    /// The channel advances with time, one slot per span (a microsecond or more), independent of
    /// traffic. A packet uses the slots that its transmission overlaps. With
    /// [`ErrorPosition::BeforeQueue`] it uses the slot of its arrival.
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
    /// The traffic that it sends.
    pub traffic: Traffic,
    /// What hands data to the sender over time (TCP without a size only); none: it always has some.
    pub application: Option<ApplicationSpec>,
    /// Earliest start, not negative.
    pub start: Time,
    /// A uniform draw from [0, this) is added to `start`; not negative.
    pub start_spread: Span,
    /// The sender stops at this instant, if any. Packets in flight still arrive.
    pub stop: Option<Time>,
    /// Every packet of the sender leaves a uniform draw from [0, this) after the sender emits it,
    /// or with the packet ahead if that leaves later; 0 or more. With 0 nothing is drawn.
    pub send_jitter: Span,
    /// Whether it belongs to a group that starts and stops at random times; then `start` is the
    /// earliest start of the first.
    pub turnover: Option<Turnover>,
    /// No channel corrupts this flow's packets in either direction. They still use up slots.
    pub wireless_immune: bool,
    /// Whether metrics include it. The simulation itself does not read this.
    pub measured: bool,
}

impl FlowSpec {
    /// A measured flow that starts at time zero and never stops.
    pub fn new(
        name: impl Into<String>,
        path: &[LinkId],
        return_path: &[LinkId],
        traffic: Traffic,
    ) -> Self {
        Self {
            name: name.into(),
            path: path.to_vec(),
            return_path: return_path.to_vec(),
            traffic,
            application: None,
            start: Time::ZERO,
            start_spread: Span::ZERO,
            stop: None,
            send_jitter: Span::ZERO,
            turnover: None,
            wireless_immune: false,
            measured: true,
        }
    }

    /// When it starts in a run with this seed, unless it belongs to a group with a turnover.
    pub fn starts_at(&self, seed: u64) -> Time {
        let mut stream = Stream::new(seed, &format!("flow/{}/start", self.name));
        self.start + stream.span_below(self.start_spread)
    }
}

/// A flow of a group that starts as a Poisson process. Each flow is new and lasts for a random
/// time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turnover {
    /// The flow that starts before it, which also precedes it in [`Network::flows`]; none for the
    /// first.
    pub after: Option<FlowId>,
    /// Mean of the exponential time from the start of the previous flow (for the first: from
    /// `start`) to its own start; positive.
    pub mean_gap: Span,
    /// Mean of the time from its start to its stop, positive; none if it lasts until
    /// [`FlowSpec::stop`], which may also cut it short.
    pub mean_duration: Option<Span>,
    /// The distribution of that time.
    pub durations: Lengths,
}

/// The source and its protocol.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // One per flow; no packet reads it.
pub enum Traffic {
    /// TCP with unlimited data.
    Tcp {
        /// Settings of both ends. [`tcp::Quirks::tick_offset`] is ignored: each sender's offset is
        /// drawn uniformly from the flow's stream.
        config: tcp::Config,
        /// The end that differentiates losses, and its algorithm.
        lda: TcpLda,
    },
    /// TFRC with unlimited data.
    Tfrc {
        /// Settings of both ends.
        config: tfrc::Config,
        /// The receiver's algorithm, in its initial state.
        lda: AnyAlgorithm,
    },
    /// Packets at a constant rate.
    Cbr {
        /// Rate on the wire, bits per second; at least 1.
        rate_bps: u64,
        /// Size on the wire, bytes; at least 1.
        packet_bytes: u32,
        /// The receiver's algorithm, in its initial state. Packets then carry a timestamp, as RTP's
        /// do; what is sent stays the same.
        lda: Option<AnyAlgorithm>,
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
        /// The distribution of both lengths.
        lengths: Lengths,
        /// As for `Cbr`.
        lda: Option<AnyAlgorithm>,
    },
    /// Packets of one size with exponential gaps between their starts.
    Poisson {
        /// Mean rate on the wire, bits per second; at least 1.
        rate_bps: u64,
        /// Size on the wire, bytes; at least 1.
        packet_bytes: u32,
        /// As for `Cbr`.
        lda: Option<AnyAlgorithm>,
    },
}

/// The distribution of random lengths of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Lengths {
    /// Exponential.
    #[default]
    Exponential,
    /// Pareto: at least mean (shape - 1) / shape, and sometimes very long. The sum of many such
    /// on-off sources is bursty at every time scale if the shape is below 2.
    Pareto {
        /// Above 1, because the mean is infinite otherwise.
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

/// The end of a TCP flow that differentiates losses. Algorithms are in their initial state.
#[derive(Clone, Debug, Default)]
#[allow(clippy::large_enum_variant)] // Plain data, one per flow.
pub enum TcpLda {
    /// No end: every loss is congestion.
    #[default]
    None,
    /// The sender, about every loss that duplicate acknowledgements reveal.
    Sender(AnyAlgorithm),
    /// The receiver, about every lost packet.
    Receiver {
        /// The receiver's algorithm.
        lda: AnyAlgorithm,
        /// Whether the sender uses its labels. If not, they are only recorded.
        heeded: bool,
    },
}

impl Traffic {
    /// TCP that treats every loss as congestion.
    pub fn tcp(config: tcp::Config) -> Self {
        Traffic::Tcp { config, lda: TcpLda::None }
    }

    /// Packets at a constant rate, whose losses nothing judges.
    pub fn cbr(rate_bps: u64, packet_bytes: u32) -> Self {
        Traffic::Cbr { rate_bps, packet_bytes, lda: None }
    }
}

impl Network {
    /// Checks the values that types cannot restrict.
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
            reordering: None,
            duplication: None,
        }
    }

    /// The way back over the same cable: this link's rate, delay and queue, constant and without
    /// errors.
    pub fn mirrored(&self, name: impl Into<String>) -> Self {
        Self::wired(name, self.rate_bps, self.delay, self.queue)
    }

    /// The slots of its channel in a run with this seed, and whether each is bad. It has no end.
    /// Where losses depend on the load, no slot is bad.
    ///
    /// ```
    /// use losscause::Span;
    /// use losscause_sim::{ChannelSpec, Limit, LinkSpec, QueueSpec};
    ///
    /// let queue = QueueSpec::DropTail { limit: Limit::Packets(50) };
    /// let wired = LinkSpec::wired("radio", 1_000_000, Span::from_millis(20), queue);
    /// let link = LinkSpec { channel: ChannelSpec::Bernoulli { loss: 0.1 }, ..wired };
    /// let lost = link.slots_of_run(1).take(10_000).filter(|is_bad| *is_bad).count();
    /// assert!((900..1_100).contains(&lost));
    /// ```
    pub fn slots_of_run(&self, seed: u64) -> impl Iterator<Item = bool> + use<> {
        Channel::new(&self.channel, self.slots, stream(self, seed, "channel")).slots()
    }
}

impl LinkSpec {
    /// Whether packets may overtake each other.
    pub(crate) fn reorders(&self) -> bool {
        let jitter =
            matches!(self.variation, VariationSpec::Jitter(JitterSpec { reorders: true, .. }));
        jitter || self.reordering.is_some_and(|reordering| reordering.share > 0.0)
    }

    /// Whether packets may arrive twice.
    pub(crate) fn duplicates(&self) -> bool {
        self.duplication.is_some_and(|duplication| duplication.share > 0.0)
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
