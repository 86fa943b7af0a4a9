//! The scenario file, key by key. The JSON schema and `docs/scenario.md` follow these types.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, SeqAccess, Visitor};

use super::expression::Quantity;
use super::lda::LdaSettings;
use super::protocol::tcp::TcpSettings;
use super::protocol::tfrc::TfrcSettings;

mod channel;
mod flow;
mod link;
mod queue;

pub use channel::{Channel, Fading, FadingProcess, FadingRepeats, LossDirection, LossFormat};
pub use flow::{Application, Arrivals, Flow, LdaAt, Periods, Protocol, Thinking};
pub use link::{
    AtEnd, Between, DelayFormat, DelayVariation, Duplication, ErrorPosition, JitterDistribution,
    Link, RateVariation, Reordering, Retransmission, RoundTripPart,
};
pub use queue::QueueKind;

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
    /// Size of a data packet on the wire, bytes, headers included, for flows that do not say
    /// otherwise (default: the protocol's own).
    pub packet_bytes: Option<Quantity>,
    /// Headers within a data packet, bytes, for flows that do not say otherwise (default: the
    /// protocol's own).
    pub header_bytes: Option<Quantity>,
    /// How many times the usual memory (4 GB) and events (10^12) a run may need, above 0 (default:
    /// 1).
    pub budget: Option<Quantity>,
    /// Sender jitter of flows that do not say otherwise, microseconds: each packet leaves a uniform
    /// draw from 0 to this after its sender emits it, without overtaking (0 to 1e6). 0 draws
    /// nothing. Default: half of a packet's time on the slowest link of the flow's path for tcp in
    /// the modes `rfc` and `linux` and tfrc in the mode `rfc5348`; else 0.
    pub send_jitter_us: Option<Quantity>,
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
    /// The link whose rate is 100 % of the throughput: its name, or a list of choices, of which the
    /// first with a true `when` is taken. A per-flow link stands for all its copies together.
    /// Without a bottleneck there is no `thput`.
    #[serde(default)]
    pub bottleneck: Bottleneck,
    /// Whether TCP's congestion window is measured (`cwnd_mean`, `cwnd_max`); it costs a few
    /// percent of the run's time.
    #[serde(default)]
    pub cwnd: bool,
    /// Whether delays are measured (`rtt_p95`, `delay_p95`, `queueing_p95`, `jitter` and the like),
    /// which costs time (default: true in `losscause simulate` and `compare`, false elsewhere).
    pub delays: Option<bool>,
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
