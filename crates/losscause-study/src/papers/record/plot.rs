//! What an item draws beside its values: a run over time, or two metrics against each other.

use serde::Deserialize;

/// One run of every system at every combination of the item's parameters, with the seed of the first repetition, over time.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlotSpec {
    /// Where the drawing begins, seconds.
    pub from_s: f64,
    /// Where it ends; the run is not made any longer.
    pub to_s: f64,
    /// The curves; those of one unit share an axis.
    pub curves: Vec<CurveSpec>,
    /// What happened at instants, a line each.
    #[serde(default)]
    pub events: Vec<EventsSpec>,
}

/// One curve of a run over time.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurveSpec {
    /// What the legend calls it; `{system}` stands for the item's system.
    pub name: String,
    /// What it shows.
    pub show: Track,
    /// Whose: a flow ("test.1"), a group of flows ("test"), or for a queue a link, by the scenario's names.
    pub of: String,
}

/// What a curve shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Track {
    /// TCP's congestion window, no more than the receiver's, packets; of a group the mean over its flows that have begun.
    Cwnd,
    /// The sequence numbers of data as it is sent, packets.
    Sequence,
    /// The time from the sending of a packet, sent once, to the acknowledgement of it alone, ms.
    Rtt,
    /// What waits at a link, packets.
    Queue,
}

/// One kind of event.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventsSpec {
    /// What the line is called; `{system}` stands for the item's system.
    pub name: String,
    /// What is marked.
    pub show: Happening,
    /// Of which flow or group of flows.
    pub of: String,
}

/// What can be marked: of data packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Happening {
    /// A queue dropped one.
    QueueDrop,
    /// A channel corrupted one.
    Corrupted,
    /// One was sent again.
    Retransmission,
    /// A loss was called congestion.
    CalledCongestion,
    /// A loss was called wireless.
    CalledWireless,
}

/// Two metrics of an item against each other, along its horizontal axis: a trajectory.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseSpec {
    /// The metric to the right.
    pub right: String,
    /// The metric upwards.
    pub up: String,
    /// The parameter that both together may reach: the efficiency line.
    pub sum: Option<String>,
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
