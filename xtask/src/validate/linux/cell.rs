//! The cells: a link, how many packets it loses, and the congestion control of the sender.

use std::fmt;

use anyhow::Result;
use losscause_study::{Context, Experiment, Scenario, Setting};
use serde::{Deserialize, Serialize};

use crate::shell::root;

/// The scenario that all cells set.
const SCENARIO: &str = "validation/linux/transfer.toml";

/// One of the compared settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) rate_mbps: u32,
    /// Both ways of propagation together.
    pub(super) rtt_ms: u32,
    pub(super) loss_percent: u32,
    pub(super) variant: Variant,
}

/// The congestion control, by the kernel's and the scenario's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Variant {
    Cubic,
    Reno,
}

impl Cell {
    /// All 24.
    pub(super) fn all() -> Vec<Self> {
        let mut cells = Vec::new();
        for rate_mbps in [10, 50] {
            for rtt_ms in [40, 100] {
                for loss_percent in [0, 1, 2] {
                    let of = |variant| Self { rate_mbps, rtt_ms, loss_percent, variant };
                    cells.extend([Variant::Cubic, Variant::Reno].map(of));
                }
            }
        }
        cells
    }

    /// Four: the slow link with the short round trip.
    pub(super) fn few() -> Vec<Self> {
        let mut cells = Self::all();
        cells.retain(|cell| cell.rate_mbps == 10 && cell.rtt_ms == 40 && cell.loss_percent < 2);
        cells
    }

    /// Whether its transfers fill a fast link, so that the machine has no time for others beside
    /// them.
    pub(super) fn is_demanding(&self) -> bool {
        self.rate_mbps > 10 && self.loss_percent == 0
    }

    /// The scenario with this cell's settings.
    pub(super) fn experiment(&self, seconds: i64) -> Result<Experiment> {
        let settings = [
            Setting::new("duration_s", seconds),
            Setting::new("rate_mbps", i64::from(self.rate_mbps)),
            Setting::new("rtt_ms", i64::from(self.rtt_ms)),
            Setting::new("loss", f64::from(self.loss_percent) / 100.0),
            Setting::new("tcp.variant", self.variant.name()),
        ];
        Ok(Scenario::load(&root().join(SCENARIO), &Context::default())?
            .with(&settings)?
            .experiment()?)
    }
}

impl Variant {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Reno => "reno",
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rate_mbps, rtt_ms, loss_percent, variant } = self;
        write!(f, "{}, {rate_mbps} Mb/s, {rtt_ms} ms, {loss_percent} % loss", variant.name())
    }
}

#[cfg(test)]
mod tests {
    use losscause_sim::{ChannelSpec, Limit, QueueSpec};

    use super::*;

    #[test]
    fn a_cell_sets_rate_delay_queue_loss_and_congestion_control() {
        let cell = Cell { rate_mbps: 50, rtt_ms: 100, loss_percent: 2, variant: Variant::Cubic };
        let experiment = cell.experiment(5).unwrap();
        let link = &experiment.network.links[0];
        assert_eq!((link.rate_bps, link.delay), (50_000_000, losscause::Span::from_millis(50)));
        // 50 Mb/s for 100 ms are 625,000 bytes, or 416.7 packets.
        assert!(
            matches!(link.queue, QueueSpec::DropTail { limit: Limit::Packets(417) }),
            "{:?}",
            link.queue
        );
        assert!(matches!(link.channel, ChannelSpec::Bernoulli { loss: 0.02 }));
        assert_eq!(experiment.duration.as_secs_f64(), 5.0);
    }

    #[test]
    fn there_are_24_cells_and_the_few_are_among_them() {
        let all = Cell::all();
        assert_eq!(all.len(), 24);
        assert_eq!(all.iter().filter(|cell| cell.is_demanding()).count(), 4);
        assert_eq!(Cell::few().len(), 4);
        assert!(Cell::few().iter().all(|cell| all.contains(cell)));
    }
}
