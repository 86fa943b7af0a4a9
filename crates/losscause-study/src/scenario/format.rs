//! The scenario file, key by key. The JSON schema and `docs/scenario.md` follow these types.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, SeqAccess, Visitor};

use super::expression::Quantity;
use super::lda::LdaSettings;
use super::protocol::tcp::{TcpSettings, TcpVariant};
use super::protocol::tfrc::TfrcSettings;

/// A losscause scenario: links, flows, and what is measured.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(title = "losscause scenario"))]
pub struct Document {
    /// What the scenario is, in a few words.
    pub title: String,
    /// Source of the scenario, for example a paper and its section.
    pub source: Option<String>,
    /// End of the run, seconds after its start.
    pub duration_s: Quantity,
    /// Size of a data packet on the wire, bytes, headers included, for flows that do not say otherwise (default: the
    /// protocol's own).
    pub packet_bytes: Option<Quantity>,
    /// Headers within a data packet, bytes, for flows that do not say otherwise (default: the protocol's own).
    pub header_bytes: Option<Quantity>,
    /// Names that every formula may use. `--set NAME=VALUE` replaces a value.
    #[serde(default)]
    pub parameters: BTreeMap<String, Quantity>,
    /// What is measured, and when.
    #[serde(default)]
    pub measure: Measure,
    /// The links. Flows name them in their paths.
    #[serde(default)]
    pub link: Vec<Link>,
    /// The flows, in groups of equal flows.
    #[serde(default)]
    pub flow: Vec<Flow>,
    /// The channel of all links with `channel.kind = "fading"`.
    pub fading: Option<Fading>,
    /// Settings of every TFRC flow.
    #[serde(default)]
    pub tfrc: TfrcSettings,
    /// Settings of every TCP flow.
    #[serde(default)]
    pub tcp: TcpSettings,
    /// Settings of the loss differentiation algorithms, one table each: `[lda.Spike]`.
    #[serde(default)]
    pub lda: LdaSettings,
}

/// What is measured, and when.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Start of the window for throughput and congestion loss, seconds (default 0).
    pub from_s: Option<Quantity>,
    /// End of the window, seconds (default: the end of the run).
    pub to_s: Option<Quantity>,
    /// The link whose rate is 100 % of the throughput: its name, or a list of choices, of which the first with a true
    /// `when` is taken. A per-flow link stands for all its copies together. Without a bottleneck there is no `thput`.
    #[serde(default)]
    pub bottleneck: Bottleneck,
    /// Whether TCP's congestion window is measured (`cwnd_mean`, `cwnd_max`); it costs a few percent of the run's time.
    #[serde(default)]
    pub cwnd: bool,
    /// Whether delays are measured (`rtt_p95`, `delay_p95`, `queueing_p95`, `jitter` and the like); it about doubles the
    /// run's time. `losscause simulate` and `compare` always measure them.
    #[serde(default)]
    pub delays: bool,
}

/// How the bottleneck is named.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(untagged))]
pub enum Bottleneck {
    /// Always this link.
    Link(String),
    /// The first choice whose condition holds.
    Choices(Vec<BottleneckChoice>),
}

impl<'de> Deserialize<'de> for Bottleneck {
    /// By hand, because a derived untagged enum would swallow what is wrong inside a choice.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BottleneckVisitor;
        impl<'de> Visitor<'de> for BottleneckVisitor {
            type Value = Bottleneck;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a link's name, or a list of { link, when }")
            }
            fn visit_str<E>(self, name: &str) -> Result<Bottleneck, E> {
                Ok(Bottleneck::Link(name.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, choices: A) -> Result<Bottleneck, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(choices)).map(Bottleneck::Choices)
            }
        }
        deserializer.deserialize_any(BottleneckVisitor)
    }
}

impl Default for Bottleneck {
    fn default() -> Self {
        Self::Choices(Vec::new())
    }
}

/// One candidate for the bottleneck.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BottleneckChoice {
    /// The link's name.
    pub link: String,
    /// A formula over the parameters: `"N == 1"`. Without it the choice always holds.
    pub when: Option<Quantity>,
}

/// A one-way link with its queue and channel.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// Whether every member of a flow group has a copy of its own (`last.1`, `last.2`, …).
    #[serde(default)]
    pub per_flow: bool,
    /// Bits per second (above 0).
    pub rate_bps: Quantity,
    /// Propagation delay, milliseconds (0 or more).
    pub delay_ms: Quantity,
    /// Variable delay that is added to `delay_ms`, independent of the queue (default: none). Its value at the end of a
    /// packet's transmission counts. A packet that would overtake the one before it arrives together with it.
    #[serde(default)]
    pub delay_variation: DelayVariation,
    /// How the rate varies (default: it does not).
    #[serde(default)]
    pub rate_variation: RateVariation,
    /// Largest number of waiting packets, without the one in transmission. Formulas may use this link's `rate_bps` and
    /// `delay_ms`.
    pub queue_packets: Option<Quantity>,
    /// Largest number of waiting bytes, without the packet in transmission; instead of `queue_packets`.
    pub queue_bytes: Option<Quantity>,
    /// The queue discipline (default: drop-tail).
    #[serde(default)]
    pub queue: QueueKind,
    /// The channel, which corrupts packets (default: none are corrupted).
    #[serde(default)]
    pub channel: Channel,
    /// Where the channel corrupts packets (default: after their transmission).
    #[serde(default)]
    pub error_position: ErrorPosition,
    /// Steps of the channel per packet (1 or more; default 1). A packet is lost if one of its steps is bad.
    pub slots_per_packet: Option<Quantity>,
    /// Length of a step of the channel, milliseconds (0.001 or more); instead of `slots_per_packet`. The channel takes
    /// steps whether or not packets are sent. A packet is lost if its transmission overlaps a bad step.
    pub slot_ms: Option<Quantity>,
    /// Retransmission by the link layer (default: none): a packet that the channel corrupts is transmitted again, and packets
    /// are delivered in order.
    pub retransmission: Option<Retransmission>,
}

/// How a link's rate varies.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RateVariation {
    /// It does not.
    #[default]
    None,
    /// In steps; before the first one the link has its `rate_bps`.
    Steps {
        /// A text file with a time in seconds and a rate in bits per second on each line, separated by blanks or a comma;
        /// times rise, a rate of 0 is an outage, and what follows a `#` does not count. Relative to the scenario file.
        file: Option<String>,
        /// Instead of `file`: pairs of a time in seconds and a rate in bits per second; times rise.
        points: Option<Vec<[Quantity; 2]>>,
        /// The rate after the last step (default: the last one's). With `repeat` the last time is the length of a round.
        #[serde(default)]
        at_end: AtEnd,
    },
    /// By the delivery opportunities of a mahimahi trace, again and again. `rate_bps` should be their mean rate: a link's
    /// utilisation refers to it.
    Mahimahi {
        /// A text file with a time in whole milliseconds on each line; times do not fall. Relative to the scenario file.
        file: String,
        /// What one opportunity delivers, bytes (default 1504).
        opportunity_bytes: Option<Quantity>,
    },
}

/// Retransmission by the link layer.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Retransmission {
    /// The most transmissions of a packet (2 to 1000). Wi-Fi: 7. LTE: 4.
    pub attempts: Quantity,
    /// What each attempt after the first adds to the packet's delay, milliseconds (0 or more; default 0). LTE: 8.
    pub delay_ms: Option<Quantity>,
}

/// Variable delay that is added to a link's propagation delay.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DelayVariation {
    /// Nothing.
    #[default]
    None,
    /// Delays from a file or a list.
    Trace {
        /// A text file with a time in seconds and a delay in milliseconds on each line, separated by blanks or a comma,
        /// in the order of time; `#` begins a comment. Relative to the scenario file.
        file: Option<String>,
        /// Instead of `file`: pairs of a time in seconds and a delay in milliseconds, in the order of time.
        points: Option<Vec<[Quantity; 2]>>,
        /// The delay between two lines or points (default: the earlier one's).
        #[serde(default)]
        between: Between,
        /// The delay after the last line or point (default: the last one's).
        #[serde(default)]
        at_end: AtEnd,
    },
    /// A sinusoid between 0 and `most_ms` with a random phase.
    Sinusoid {
        /// Largest delay, milliseconds (0 or more).
        most_ms: Quantity,
        /// Period, seconds (above 0).
        period_s: Quantity,
    },
    /// A random walk between 0 and `most_ms`.
    Walk {
        /// Largest delay, milliseconds (0 or more).
        most_ms: Quantity,
        /// Longest step, milliseconds (0 to `most_ms`); up and down are equally likely.
        step_ms: Quantity,
        /// Time between two steps, seconds (at least 0.001).
        every_s: Quantity,
    },
}

/// The delay between two lines of a delay trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Between {
    /// The earlier line's, as when routes change.
    #[default]
    Steps,
    /// On the straight line between both.
    Linear,
}

/// The delay after the last line of a delay trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AtEnd {
    /// The last line's for ever.
    #[default]
    Hold,
    /// The trace begins again; the last line's time is the length of a round.
    Repeat,
}

/// The queue discipline. The queue is full at `queue_packets` or `queue_bytes` in every discipline. Only packets of
/// flows with `ecn = true` are marked.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueKind {
    /// First in, first out; packets that arrive at a full queue are dropped.
    DropTail {
        /// A packet is marked if at least this many packets are waiting (1 or more; default: none is marked).
        mark_from_packets: Option<Quantity>,
        /// Refused, unless it is false: this queue marks by `mark_from_packets`.
        #[cfg_attr(feature = "schema", schemars(skip))]
        ecn: Option<bool>,
    },
    /// Random Early Detection (Floyd and Jacobson 1993): packets are dropped with a probability that rises with the
    /// average queue.
    Red {
        /// Below this average nothing is dropped, packets (default 5).
        min_th_packets: Option<Quantity>,
        /// From this average on everything is dropped, packets; more than `min_th_packets` (default 15).
        max_th_packets: Option<Quantity>,
        /// Probability of a drop as the average reaches `max_th_packets` (above 0, up to 1; default 0.1).
        max_p: Option<Quantity>,
        /// Weight of the momentary queue in the average (above 0, up to 1; default 0.002).
        w_q: Option<Quantity>,
        /// Whether the probability rises from `max_p` to 1 between `max_th_packets` and twice that, instead of jumping
        /// (default false).
        #[serde(default)]
        gentle: bool,
        /// Whether packets are marked instead of dropped while the average is below `max_th_packets` (default false).
        #[serde(default)]
        ecn: bool,
        /// Size of a typical packet, bytes: an idle link's average falls once per such packet's time (default: the
        /// scenario's `packet_bytes`, else 1000).
        typical_packet_bytes: Option<Quantity>,
    },
    /// A token bucket that drops what exceeds a rate, in front of a queue that drops what finds it full.
    Policer {
        /// The rate at which the bucket fills, bits per second (above 0).
        rate_bps: Quantity,
        /// What the bucket holds, bytes (1 or more). Larger packets never pass.
        burst_bytes: Quantity,
    },
    /// Controlled delay (RFC 8289): packets are dropped at dequeue while the queueing delay stays above a target.
    #[serde(rename = "codel")]
    CoDel {
        /// The delay that a standing queue may have, milliseconds (above 0; default 5).
        target_ms: Option<Quantity>,
        /// How long the delay may stay above the target, milliseconds (the target or more; default 100).
        interval_ms: Option<Quantity>,
        /// Size of the largest packet, bytes (default 1500). Nothing is dropped while at most so many bytes wait.
        mtu_bytes: Option<Quantity>,
        /// Whether packets are marked instead of dropped (default false).
        #[serde(default)]
        ecn: bool,
    },
    /// Flow queueing with a CoDel per flow (RFC 8290): flows have queues of their own, and one that sends little waits for no
    /// other.
    #[serde(rename = "fq-codel")]
    FqCoDel {
        /// CoDel's target in each queue, milliseconds (above 0; default 5).
        target_ms: Option<Quantity>,
        /// CoDel's interval in each queue, milliseconds (the target or more; default 100).
        interval_ms: Option<Quantity>,
        /// While no more bytes wait in a queue, it drops nothing: the size of the largest packet (default 1500).
        mtu_bytes: Option<Quantity>,
        /// Bytes that a queue may send in a round (1 or more; default 1514).
        quantum_bytes: Option<Quantity>,
        /// Number of queues into which flows are hashed (1 to 65536; default 1024).
        queues: Option<Quantity>,
        /// Whether packets are marked instead of dropped (default false).
        #[serde(default)]
        ecn: bool,
    },
    /// Proportional integral controller enhanced (RFC 8033): packets are dropped at random when they come, the more the longer
    /// the delay is.
    Pie {
        /// The delay that is aimed at, milliseconds (above 0; default 15).
        target_ms: Option<Quantity>,
        /// Time between two revisions of the drop probability, milliseconds (above 0; default 15).
        update_ms: Option<Quantity>,
        /// How long a burst is let in while there was no congestion, milliseconds (0 or more; default 150).
        max_burst_ms: Option<Quantity>,
        /// How much a second of delay above the target adds to the probability with each revision (0 or more; default 0.125).
        alpha: Option<Quantity>,
        /// How much a second by which the delay grew adds (0 or more; default 1.25).
        beta: Option<Quantity>,
        /// Size of a mean packet, bytes: nothing is dropped at random while no more than two of them wait (default: the
        /// scenario's `packet_bytes`, else 1000).
        mean_packet_bytes: Option<Quantity>,
        /// Whether packets are marked instead of dropped while the probability is below 10 % (default false).
        #[serde(default)]
        ecn: bool,
    },
}

impl Default for QueueKind {
    fn default() -> Self {
        Self::DropTail { mark_from_packets: None, ecn: None }
    }
}

/// Where packets meet the channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ErrorPosition {
    /// After their transmission: a lost packet has used the link's time.
    #[default]
    AfterTransmission,
    /// Before the queue: a lost packet uses neither queue nor link.
    BeforeQueue,
}

/// How the channel corrupts packets. A corrupted packet counts as a wireless loss.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Channel {
    /// No packet is lost.
    #[default]
    Perfect,
    /// Every packet is lost independently.
    Bernoulli {
        /// Share of packets lost, 0 to 1.
        loss: Quantity,
    },
    /// Losses come in bursts of geometric length (a two-state Markov chain, one step per packet).
    GilbertElliott {
        /// Share of packets lost, 0 to below 1.
        loss: Quantity,
        /// Mean number of packets lost in a row (1 or more).
        mean_burst_packets: Quantity,
    },
    /// The fading channel of the section `[fading]`.
    Fading,
    /// Losses are read from a file.
    Trace {
        /// A text file of `0` (received) and `1` (lost), one per packet, separated by blanks or line ends; relative to
        /// the scenario file. It is repeated.
        file: String,
        /// The entry that the first packet meets, counted from 0 (default: a random one).
        start: Option<Quantity>,
    },
}

/// The channel of every link of kind `fading`. Each link has its own random start.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fading {
    /// A pattern of packet errors: a paper's by its name (`cen2003/high`), or a file that ends in `.txt`, made by
    /// `losscause fade`, relative to the scenario file.
    pub pattern: String,
    /// The loss process that is derived from the pattern.
    #[serde(default)]
    pub process: FadingProcess,
    /// The part that is repeated if `process` is the pattern (default: all of it).
    #[serde(default)]
    pub repeats: FadingRepeats,
}

/// The loss process that is derived from a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FadingProcess {
    /// The pattern itself, packet by packet.
    #[default]
    Pattern,
    /// Independent losses at the pattern's loss rate.
    Bernoulli,
    /// Two states, with the pattern's loss rate and mean number of packets lost in a row.
    Markov,
}

/// The part of a pattern that is repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FadingRepeats {
    /// The whole pattern; each link starts at a random packet.
    #[default]
    Pattern,
    /// One trial; each link draws a random one.
    Trial,
}

/// The protocol or traffic source of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// TCP-Friendly Rate Control with unlimited data.
    Tfrc,
    /// TCP with unlimited data.
    Tcp,
    /// Packets at a constant rate.
    Cbr,
    /// Bursts at a constant rate, separated by silences; both have random lengths.
    OnOff,
}

/// The end of a TCP connection that differentiates losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LdaAt {
    /// The sender.
    #[default]
    Sender,
    /// The receiver, which labels lost packets in its acknowledgements; the sender acts on the labels.
    Receiver,
    /// The receiver. Its labels are measured, but the sender ignores them.
    Onlooker,
}

/// The distribution of random lengths of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Periods {
    /// Exponential distribution.
    #[default]
    Exponential,
    /// Pareto distribution: a sum of many such sources is bursty at every time scale.
    Pareto,
}

/// Start and stop times of the members of a group. Each member is a new flow.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Arrivals {
    /// Members start as a Poisson process from `start_s` on, at most `count` of them, and stop at `stop_s` at the
    /// latest.
    Poisson {
        /// Mean number of flows that start per second (1e-6 to 1e6).
        rate_per_s: Quantity,
        /// Mean duration of a flow, seconds (above 0).
        mean_duration_s: Quantity,
        /// Distribution of the duration (default: exponential).
        #[serde(default)]
        durations: Periods,
        /// Shape of the Pareto distribution, above 1 (`durations = "pareto"`; default 1.5).
        shape: Option<Quantity>,
    },
    /// At given times.
    List {
        /// Start and stop of each member, seconds.
        times_s: Vec<[Quantity; 2]>,
    },
}

/// A group of equal flows.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name: letters, digits, `-` and `_`. Members of a group are called `video.1`, `video.2`, …
    pub name: String,
    /// Number of members (0 or more, default 1).
    pub count: Option<Quantity>,
    /// Protocol or traffic source.
    pub protocol: Protocol,
    /// TCP variant (tcp only; default: the one that `[tcp]` names).
    pub variant: Option<TcpVariant>,
    /// Additive increase, packets per round-trip time (tcp with response aimd only; above 0; default: the value of
    /// `[tcp]`).
    pub additive_increase_pkts: Option<Quantity>,
    /// The loss differentiation algorithm, by name, or `omniscient` or `labelled` (tfrc: at the receiver; tcp: at the
    /// sender, which asks about every loss that duplicate acknowledgements reveal; cbr and on-off: at the receiver, which
    /// only judges; default: `always congestion`).
    pub lda: Option<String>,
    /// The end of the TCP connection that runs it (tcp only; default: the sender).
    pub lda_at: Option<LdaAt>,
    /// The links from sender to receiver, in order.
    pub path: Vec<String>,
    /// The links back (tfrc and tcp only). Default: the path reversed, over links of the same rate, delay and queue
    /// whose channel is perfect.
    pub return_path: Option<Vec<String>>,
    /// Earliest start, seconds (default 0).
    pub start_s: Option<Quantity>,
    /// Start and stop times, if members have their own.
    pub arrivals: Option<Arrivals>,
    /// Every member starts at a random time within this many seconds after `start_s` (default 0).
    pub start_spread_s: Option<Quantity>,
    /// When the sender stops, seconds (default: never).
    pub stop_s: Option<Quantity>,
    /// Whether no channel corrupts its packets (default false).
    #[serde(default)]
    pub wireless_immune: bool,
    /// Whether it counts in the measurements (default: true for tfrc and tcp; for cbr and on-off, if it has an `lda`).
    pub measured: Option<bool>,
    /// Size of a data packet on the wire, bytes, headers included (default: the scenario's).
    pub packet_bytes: Option<Quantity>,
    /// Headers within a data packet, bytes (tfrc and tcp; default: the scenario's).
    pub header_bytes: Option<Quantity>,
    /// Size of the transfer, bytes of payload, rounded up to whole packets (tcp only). The flow stops when all of it is
    /// delivered. Default: unlimited.
    pub bytes: Option<Quantity>,
    /// Sending rate, bits per second on the wire (cbr; on-off while on).
    pub rate_bps: Option<Quantity>,
    /// Mean time on, seconds (on-off).
    pub mean_on_s: Option<Quantity>,
    /// Mean time off, seconds (on-off).
    pub mean_off_s: Option<Quantity>,
    /// Distribution of the times on and off (on-off; default: exponential).
    pub periods: Option<Periods>,
    /// Shape of the Pareto distribution, above 1 (on-off with `periods = "pareto"`; default 1.5).
    pub shape: Option<Quantity>,
}

impl Flow {
    /// Whether it counts in the measurements.
    pub fn is_measured(&self) -> bool {
        let default = matches!(self.protocol, Protocol::Tfrc | Protocol::Tcp) || self.lda.is_some();
        self.measured.unwrap_or(default)
    }
}
