//! What an item draws beside its values: a run over time, or two metrics against each other.

use serde::Deserialize;

/// Curves over time: one run of every system at every combination of the item's parameters, with
/// the first seed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlotSpec {
    /// Where the drawing begins, seconds.
    pub from_s: f64,
    /// Where the drawing and the run end, seconds.
    pub to_s: f64,
    /// The curves; curves of the same unit share an axis.
    pub curves: Vec<CurveSpec>,
    /// Kinds of events, one line of marks each.
    #[serde(default)]
    pub events: Vec<EventsSpec>,
}

/// One curve of a run over time.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurveSpec {
    /// The curve's name in the legend; `{system}` stands for the item's system.
    pub name: String,
    /// What it shows.
    pub show: Track,
    /// The flow ("test.1") or group of flows ("test"), or for a queue the link, by its name in the
    /// scenario.
    pub of: String,
}

/// What a curve shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Track {
    /// TCP's congestion window, at most the receiver's window, packets; of a group, the mean over
    /// the flows that have started.
    Cwnd,
    /// The sequence number of each data packet that is sent, packets.
    Sequence,
    /// Round-trip time of each packet that was sent once and acknowledged alone, ms.
    Rtt,
    /// Queue length of a link, packets.
    Queue,
}

/// One kind of event.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventsSpec {
    /// Name of the line; `{system}` stands for the item's system.
    pub name: String,
    /// The event.
    pub show: Happening,
    /// The flow or group of flows.
    pub of: String,
}

/// An event of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Happening {
    /// A queue dropped it.
    QueueDrop,
    /// A channel corrupted it.
    Corrupted,
    /// The packet was sent again.
    Retransmission,
    /// The packet's loss was called congestion.
    CalledCongestion,
    /// The packet's loss was called wireless.
    CalledWireless,
}

/// Two metrics of an item against each other, along its horizontal axis: a trajectory.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseSpec {
    /// The metric on the horizontal axis.
    pub right: String,
    /// The metric on the vertical axis.
    pub up: String,
    /// The parameter that bounds the sum of both metrics: the efficiency line.
    pub sum: Option<String>,
}

/// Two metrics of an item against each other: one mark per system, such as gain over harm.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScatterSpec {
    /// The metric on the horizontal axis.
    pub right: String,
    /// The metric on the vertical axis.
    pub up: String,
}

impl Track {
    /// The unit of its values.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Cwnd | Self::Sequence => "packets",
            Self::Queue => "packets waiting",
            Self::Rtt => "ms",
        }
    }
}
