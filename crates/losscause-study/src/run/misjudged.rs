//! Shares of misjudged losses as people read them: a share of few losses is unknown.

use super::FlowMeasurements;

/// Fewer judged losses than this say little about an algorithm.
pub(super) const ENOUGH_LOSSES: u64 = 10;

/// What stands in the place of a share of few losses.
pub const UNKNOWN: &str = "unknown";

/// The misjudged share of the losses of one cause. JSON keeps its value and the number of losses
/// that it rests on, whatever that is.
///
/// ```
/// use losscause_study::run::Misjudged;
///
/// let share = Misjudged::of_metric("M_c").expect("a share of misjudged losses");
/// assert_eq!(share.unknown(5).as_deref(), Some("unknown (5 queue losses)"));
/// assert_eq!(share.unknown(10), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misjudged {
    /// `M_c`: the share of the queues' losses that were called wireless.
    Congestion,
    /// `M_w`: the share of the air's losses that were called congestion.
    Wireless,
}

impl Misjudged {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Congestion, Self::Wireless];

    /// The share that a metric is; none for other metrics.
    pub fn of_metric(metric: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|share| share.metric() == metric)
    }

    /// The metric's name.
    pub fn metric(self) -> &'static str {
        match self {
            Self::Congestion => "M_c",
            Self::Wireless => "M_w",
        }
    }

    /// The metrics that are shares of these losses.
    pub(super) fn metrics(self) -> &'static [&'static str] {
        match self {
            Self::Congestion => &["M_c", "P_CC", "P_WC"],
            Self::Wireless => &["M_w", "P_WW"],
        }
    }

    /// What lost the packets, as an algorithm calls it.
    pub(super) fn cause(self) -> &'static str {
        match self {
            Self::Congestion => "congestion",
            Self::Wireless => "wireless",
        }
    }

    /// The judged losses of a flow that the share is of.
    pub fn judged(self, flow: &FlowMeasurements) -> u64 {
        match self {
            Self::Congestion => flow.judged_congestion,
            Self::Wireless => flow.judged_wireless,
        }
    }

    /// All losses of a flow by this cause.
    pub(super) fn lost(self, flow: &FlowMeasurements) -> u64 {
        match self {
            Self::Congestion => flow.queue_drops,
            Self::Wireless => flow.wireless_drops,
        }
    }

    /// The judged losses of the measured ones of `flows` together.
    pub fn judged_in_all<'a>(self, flows: impl IntoIterator<Item = &'a FlowMeasurements>) -> u64 {
        flows.into_iter().filter(|flow| flow.measured).map(|flow| self.judged(flow)).sum()
    }

    /// "5 queue losses" if a share of that many judged losses says little; none if they are enough.
    pub fn few(self, judged: u64) -> Option<String> {
        let by = match self {
            Self::Congestion => "queue",
            Self::Wireless => "radio",
        };
        match judged {
            0 => Some(format!("no {by} loss judged")),
            1 => Some(format!("1 {by} loss")),
            few if few < ENOUGH_LOSSES => Some(format!("{few} {by} losses")),
            _ => None,
        }
    }

    /// "unknown (5 queue losses)" in the place of a share of [few](Self::few) losses; none if they
    /// are enough.
    pub fn unknown(self, judged: u64) -> Option<String> {
        self.few(judged).map(|few| format!("{UNKNOWN} ({few})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_fewer_than_ten_losses_is_unknown() {
        let unknown = |judged| Misjudged::Congestion.unknown(judged).unwrap_or_default();
        assert_eq!(
            [0, 1, 9, 10].map(unknown),
            [
                "unknown (no queue loss judged)",
                "unknown (1 queue loss)",
                "unknown (9 queue losses)",
                ""
            ]
        );
        assert_eq!(Misjudged::Wireless.unknown(2).as_deref(), Some("unknown (2 radio losses)"));
    }
}
