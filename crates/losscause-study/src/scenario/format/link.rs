//! `[[link]]`: a link, how its rate and delay vary, and its retransmission.

use serde::Deserialize;

use super::{Channel, QueueKind};
use crate::scenario::expression::Quantity;

/// A one-way link with its queue and channel.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The link's name: letters, digits, `-` and `_`.
    pub name: String,
    /// Whether every member of a flow group has a copy of its own (`last.1`, `last.2`, …).
    #[serde(default)]
    pub per_flow: bool,
    /// Bits per second (above 0).
    pub rate_bps: Quantity,
    /// Propagation delay, milliseconds (0 or more).
    pub delay_ms: Quantity,
    /// Variable delay that is added to `delay_ms`, independent of the queue (default: none). Its
    /// value at the end of a packet's transmission counts. A packet that would overtake the one
    /// before it arrives together with it, except with `reorders`.
    #[serde(default)]
    pub delay_variation: DelayVariation,
    /// How the rate varies (default: it does not).
    #[serde(default)]
    pub rate_variation: RateVariation,
    /// Largest number of waiting packets, without the one in transmission. Formulas may use this
    /// link's `rate_bps` and `delay_ms`.
    pub queue_packets: Option<Quantity>,
    /// Largest number of waiting bytes, without the packet in transmission; instead of
    /// `queue_packets`.
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
    /// Steps of the channel per packet (1 or more; default 1). A packet is lost if one of its steps
    /// is bad.
    pub slots_per_packet: Option<Quantity>,
    /// Length of a step of the channel, milliseconds (0.001 or more); instead of
    /// `slots_per_packet`. The channel takes steps whether or not packets are sent. A packet is
    /// lost if its transmission overlaps a bad step.
    pub slot_ms: Option<Quantity>,
    /// Retransmission by the link layer (default: none): a packet that the channel corrupts is
    /// transmitted again, and packets are delivered in order.
    pub retransmission: Option<Retransmission>,
    /// A share of the packets is late at the far end, so that later ones overtake it (default:
    /// none).
    pub reordering: Option<Reordering>,
    /// A share of the packets arrives twice (default: none).
    pub duplication: Option<Duplication>,
}

/// How a link's rate varies.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RateVariation {
    /// The rate does not vary.
    #[default]
    None,
    /// In steps; before the first one the link has its `rate_bps`.
    Steps {
        /// A text file with a time in seconds and a rate in bits per second on each line, separated
        /// by blanks or a comma, in the order of time. A rate of 0 is an outage; `#` begins a
        /// comment. Relative to the scenario file.
        file: Option<String>,
        /// Instead of `file`: pairs of a time in seconds and a rate in bits per second; times rise.
        points: Option<Vec<[Quantity; 2]>>,
        /// The rate after the last step (default: the last one's). With `repeat` the last time is
        /// the length of a round.
        #[serde(default)]
        at_end: AtEnd,
    },
    /// By the delivery opportunities of a mahimahi trace, which is repeated. `rate_bps` should be
    /// their mean rate, because a link's utilisation refers to it.
    Mahimahi {
        /// A text file with a time in whole milliseconds on each line; times do not fall. Relative
        /// to the scenario file.
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
    /// What each attempt after the first adds to the packet's delay, milliseconds (0 or more;
    /// default 0). LTE: 8.
    pub delay_ms: Option<Quantity>,
}

/// Packets that later ones overtake: by a time (`delay_ms`) or by a distance (`packets`).
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reordering {
    /// Share of the packets that are late, 0 to 1, each independently.
    pub share: Quantity,
    /// How late they are, milliseconds (0 or more).
    pub delay_ms: Option<Quantity>,
    /// Whether each is late by a uniform draw from 0 to `delay_ms` (default false).
    #[serde(default)]
    pub drawn: bool,
    /// Instead of `delay_ms`: how many later packets of the link overtake each (1 or more).
    pub packets: Option<Quantity>,
    /// With `packets`: a packet goes on after this even if fewer have come, milliseconds (above 0;
    /// default 100).
    pub at_most_ms: Option<Quantity>,
}

/// Packets that arrive twice.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Duplication {
    /// Share of the packets that get a copy, 0 to 1, each independently.
    pub share: Quantity,
    /// How much later the copy arrives, milliseconds (0 or more; default 0).
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
        /// A text file with a time in seconds and a delay in milliseconds on each line, separated
        /// by blanks or a comma, in the order of time; `#` begins a comment; or a file in another
        /// `format`. Relative to the scenario file.
        file: Option<String>,
        /// The format of the file (default: as above).
        #[serde(default)]
        format: DelayFormat,
        /// Of a recorded round-trip time: what the link gets of it (default: all of it).
        round_trip: Option<RoundTripPart>,
        /// With `format = "leocc"`: the time between two lines, milliseconds (above 0; default 10).
        interval_ms: Option<Quantity>,
        /// Instead of `file`: pairs of a time in seconds and a delay in milliseconds, in the order
        /// of time.
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
    /// Packets are held and handed on together, as by a network card that interrupts its host
    /// seldom, or by a radio that sends what has collected.
    Batches {
        /// How long a batch is held from its first packet on, milliseconds (0 or more).
        hold_ms: Quantity,
        /// Whether that time is drawn for each batch, uniformly from 0 to `hold_ms` (default
        /// false).
        #[serde(default)]
        drawn: bool,
    },
    /// A draw for each packet.
    Jitter {
        /// The distribution.
        distribution: JitterDistribution,
        /// Mean, milliseconds (0 or more).
        mean_ms: Quantity,
        /// Standard deviation, milliseconds (0 or more; `uniform`: at most `mean_ms` / 1.732).
        /// Required, except with `exponential`, whose deviation is the mean.
        deviation_ms: Option<Quantity>,
        /// Correlation of the draws of neighbouring packets, 0 to below 1 (default 0).
        correlation: Option<Quantity>,
        /// Whether packets overtake each other. If not, a packet that would arrives together with
        /// the one before it (default false).
        #[serde(default)]
        reorders: bool,
    },
}

/// The distribution of a jitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum JitterDistribution {
    /// Uniform around the mean.
    Uniform,
    /// Normal; a draw below 0 counts as 0.
    Normal,
    /// Exponential.
    Exponential,
    /// Pareto: never below a part of the mean, and sometimes very long.
    Pareto,
}

/// The format of a delay trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DelayFormat {
    /// A time in seconds and a delay in milliseconds on each line.
    #[default]
    Pairs,
    /// Round-trip times: the JSON that `irtt client` writes.
    Irtt,
    /// Round-trip times of the LENS data set: its CSV of irtt or ping, or its logs of `ping -D`.
    Lens,
    /// A delay in whole milliseconds on each line, as LeoCC's replayer reads it.
    Leocc,
}

/// What a link gets of a recorded round-trip time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RoundTripPart {
    /// All of it: the other direction has a constant delay.
    #[default]
    Whole,
    /// Half of it: the other direction has the same trace.
    Half,
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
