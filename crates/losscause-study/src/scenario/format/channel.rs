//! `channel` of a link, and `[fading]`: how packets are corrupted.

use serde::Deserialize;

use crate::scenario::expression::Quantity;

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
        /// A text file of `0` (received) and `1` (lost), one per packet, separated by blanks or
        /// line ends; or a file in another `format`. Relative to the scenario file. It is repeated.
        file: String,
        /// The format of the file (default: as above). With another one the losses are those of
        /// their instants, and the first packet meets the first one at time zero.
        #[serde(default)]
        format: LossFormat,
        /// The entry that the first packet meets, counted from 0 (default: a random one). Only with
        /// the format `slots`.
        start: Option<Quantity>,
        /// Which losses of a recorded round trip count (default: any). Not with the format `slots`.
        direction: Option<LossDirection>,
    },
    /// Every packet is lost with a probability that follows from the link's load. Not with
    /// `slots_per_packet`, `slot_ms` and `error_position = "before-queue"`.
    Load {
        /// Pairs of a load and the share of packets lost at it, both 0 to 1; loads rise. Between
        /// two of them the loss is on the straight line, outside it is that of the nearest.
        points: Vec<[Quantity; 2]>,
        /// The load is the share of this time before the end of the packet's transmission in which
        /// the link transmitted, seconds (above 0).
        window_s: Quantity,
    },
}

/// The format of a loss trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LossFormat {
    /// 0 or 1 for each packet or step of the channel.
    #[default]
    Slots,
    /// The JSON that `irtt client` writes.
    Irtt,
    /// The CSV of irtt of the LENS data set, or its logs of `ping -D`.
    Lens,
}

/// Where a probe of a round trip was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LossDirection {
    /// Anywhere.
    #[default]
    Any,
    /// On the way to the server, as its record of what came says.
    Up,
    /// On the way back.
    Down,
}

/// The channel of every link of kind `fading`. Each link has its own random start.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fading {
    /// A pattern of packet errors: a paper's by its name (`cen2003/high`), or a file that ends in
    /// `.txt`, made by `losscause fade`, relative to the scenario file.
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
