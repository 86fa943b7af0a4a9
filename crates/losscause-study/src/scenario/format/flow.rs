//! `[[flow]]`: a group of equal flows, and when its members start.

use serde::Deserialize;

use crate::scenario::expression::Quantity;
use crate::scenario::protocol::tcp::TcpVariant;

/// A group of equal flows.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The group's name: letters, digits, `-` and `_`. Members are called `video.1`, `video.2`, …
    pub name: String,
    /// Number of members (0 or more, default 1).
    pub count: Option<Quantity>,
    /// Protocol or traffic source.
    pub protocol: Protocol,
    /// TCP variant, or the one whose controller QUIC has: newreno, cubic or bbr (tcp and quic only;
    /// default: the one that `[tcp]` names).
    pub variant: Option<TcpVariant>,
    /// Additive increase, packets per round-trip time (tcp with response aimd only; above 0;
    /// default: the value of `[tcp]`).
    pub additive_increase_pkts: Option<Quantity>,
    /// The loss differentiation algorithm, by name, or `omniscient` or `labelled` (tfrc: at the
    /// receiver; tcp and quic: at the sender, which asks about every loss that acknowledgements
    /// reveal; cbr, on-off and poisson: at the receiver, which only judges; default: `always congestion`).
    pub lda: Option<String>,
    /// The end of the TCP connection that runs it (tcp only; default: the sender).
    pub lda_at: Option<LdaAt>,
    /// The links from sender to receiver, in order.
    pub path: Vec<String>,
    /// The links back (tfrc, tcp and quic only). Default: the path reversed, over links of the same rate,
    /// delay and queue whose channel is perfect.
    pub return_path: Option<Vec<String>>,
    /// An earlier group: each member takes the copies of per-flow links that this group's member of
    /// the same number has (default: copies of its own).
    pub links_of: Option<String>,
    /// Earliest start, seconds (default 0).
    pub start_s: Option<Quantity>,
    /// Start and stop times, if members have their own.
    pub arrivals: Option<Arrivals>,
    /// Every member starts at a random time within this many seconds after `start_s` (default 0).
    pub start_spread_s: Option<Quantity>,
    /// Sender jitter, microseconds (0 to 1e6; default: the scenario's).
    pub send_jitter_us: Option<Quantity>,
    /// When the sender stops, seconds (default: never).
    pub stop_s: Option<Quantity>,
    /// Whether no channel corrupts its packets (default false).
    #[serde(default)]
    pub wireless_immune: bool,
    /// Whether it counts in the measurements (default: true for tfrc, tcp and quic; for others,
    /// if it has an `lda`).
    pub measured: Option<bool>,
    /// Size of a data packet on the wire, bytes, headers included (default: the scenario's).
    pub packet_bytes: Option<Quantity>,
    /// Headers within a data packet, bytes (tfrc and tcp; default: the scenario's).
    pub header_bytes: Option<Quantity>,
    /// Size of the transfer, bytes of payload, rounded up to whole packets (tcp only). The flow
    /// stops when all of it is delivered. Default: unlimited.
    pub bytes: Option<Quantity>,
    /// What hands data to the sender over time (tcp only; not with `bytes`). Default: it always has
    /// some.
    pub application: Option<Application>,
    /// Sending rate, bits per second on the wire (cbr; on-off while on; poisson: the mean).
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
        let default = self.protocol.is_acknowledged() || self.lda.is_some();
        self.measured.unwrap_or(default)
    }
}

/// An application over TCP. The client asks, and the server, which is the flow's sender, answers.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Application {
    /// The client thinks after each response, and asks for the next.
    RequestResponse {
        /// Size of a response, bytes of payload, rounded up to whole packets.
        response_bytes: Quantity,
        /// From the end of a response to the next request, seconds (0 or more; a mean, unless
        /// `thinking` is constant).
        think_s: Quantity,
        /// Distribution of that time (default: constant).
        #[serde(default)]
        thinking: Thinking,
    },
    /// A player fetches chunks of video of one bitrate.
    ChunkedVideo {
        /// How long a chunk plays, seconds (above 0).
        chunk_s: Quantity,
        /// Bitrate of the video, 1000 bits of payload per second. A chunk is rounded up to whole
        /// packets.
        bitrate_kbps: Quantity,
        /// The player asks for the next chunk while less than this is left to play, seconds (above
        /// 0).
        buffer_s: Quantity,
    },
}

/// The distribution of think times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Thinking {
    /// Always the same.
    #[default]
    Constant,
    /// Exponential distribution.
    Exponential,
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
    /// Packets of one size with exponential gaps.
    Poisson,
    /// QUIC with unlimited data, over quinn in virtual time; not beside flows of another protocol.
    Quic,
}

impl Protocol {
    /// Whether the receiver acknowledges what arrives.
    pub(crate) fn is_acknowledged(self) -> bool {
        matches!(self, Self::Tfrc | Self::Tcp | Self::Quic)
    }
}

/// The end of a TCP connection that differentiates losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LdaAt {
    /// The sender.
    #[default]
    Sender,
    /// The receiver, which labels lost packets in its acknowledgements; the sender acts on the
    /// labels.
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
    /// Members start as a Poisson process from `start_s` on, at most `count` of them, and stop at
    /// `stop_s` at the latest.
    Poisson {
        /// Mean number of flows that start per second (1e-6 to 1e6).
        rate_per_s: Quantity,
        /// Mean duration of a flow, seconds (above 0; default: until `stop_s`, or until a transfer
        /// with `bytes` is complete).
        mean_duration_s: Option<Quantity>,
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
