//! Every link, and what its queue dropped.

use std::ops::AddAssign;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use losscause_sim::HopCounters;

use super::{Metrics, State, group, measured, share};
use crate::tools::figures::number;

/// One link over the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LinkMeasurements {
    /// The link's name.
    pub link: String,
    /// The link's rate, bits per second.
    pub rate_bps: u64,
    /// Packets that arrived at it.
    pub entered_packets: u64,
    /// Packets that its queue dropped.
    pub queue_drops: u64,
    /// Packets that its queue marked (ECN).
    pub queue_marks: u64,
    /// Packets that its channel corrupted.
    pub wireless_drops: u64,
    /// Copies that it made of packets.
    pub duplicated_packets: u64,
    /// Packets delivered at its far end, copies included.
    pub delivered_packets: u64,
    /// Share of the window's time in which it transmitted, percent; null before the window.
    pub utilisation_percent: Option<f64>,
}

impl LinkMeasurements {
    /// The columns of a table of links.
    pub const COLUMNS: [&str; 8] =
        ["link", "rate kb/s", "entered", "queue drops", "marks", "wireless", "delivered", "use %"];

    /// The link's row in a table with these [columns](Self::COLUMNS).
    pub fn cells(&self) -> [String; 8] {
        [
            self.link.clone(),
            number(Some(self.rate_bps as f64 / 1e3)),
            self.entered_packets.to_string(),
            self.queue_drops.to_string(),
            self.queue_marks.to_string(),
            self.wireless_drops.to_string(),
            self.delivered_packets.to_string(),
            number(self.utilisation_percent),
        ]
    }
}

pub(super) fn measure(state: State<'_>) -> Vec<LinkMeasurements> {
    let State { simulation, window, .. } = state;
    let link = |(((spec, total), duplicated_packets), in_window): (
        ((&losscause_sim::LinkSpec, HopCounters), u64),
        HopCounters,
    )| {
        let capacity = spec.rate_bps as f64 * window.length().as_secs_f64();
        let transmitted_bytes = in_window.transmitted_bytes as f64;
        LinkMeasurements {
            link: spec.name.clone(),
            rate_bps: spec.rate_bps,
            entered_packets: total.entered,
            queue_drops: total.queue_drops,
            queue_marks: total.queue_marks,
            wireless_drops: total.corrupted,
            duplicated_packets,
            delivered_packets: total.delivered,
            utilisation_percent: (capacity > 0.0).then(|| transmitted_bytes * 800.0 / capacity),
        }
    };
    state
        .network()
        .links
        .iter()
        .zip(simulation.counters().links())
        .zip(simulation.counters().duplicated())
        .zip(window.counters.links())
        .map(link)
        .collect()
}

/// Packets that arrived at a queue, and those that it dropped.
#[derive(Clone, Copy, Default)]
struct Queue {
    entered: u64,
    dropped: u64,
}

impl Queue {
    fn add(&mut self, hop: &HopCounters) {
        *self += Self { entered: hop.entered, dropped: hop.queue_drops };
    }

    fn loss(self) -> Option<f64> {
        share(self.dropped, self.entered)
    }
}

impl AddAssign for Queue {
    fn add_assign(&mut self, other: Self) {
        self.entered += other.entered;
        self.dropped += other.dropped;
    }
}

/// `queue_loss.L` and `queue_loss_measured.L` of every link of the scenario.
pub(super) fn add_queue_loss(metrics: &mut Metrics, state: State<'_>) {
    let counters = state.simulation.counters();
    let specs = &state.network().links;
    let mut measured_data = vec![Queue::default(); specs.len()];
    for (link, hop) in measured(state.network()).flat_map(|flow| counters.path(flow)) {
        measured_data[link.0 as usize].add(hop);
    }
    // Per link: all flows, and measured flows' data.
    let mut links: IndexMap<&str, (Queue, Queue)> = IndexMap::new();
    for ((spec, total), data) in specs.iter().zip(counters.links()).zip(measured_data) {
        if !spec.name.ends_with(".back") {
            let (all, of_measured) = links.entry(group(&spec.name)).or_default();
            all.add(&total);
            *of_measured += data;
        }
    }
    for (link, (all, data)) in links {
        metrics.add(format!("queue_loss.{link}"), "fraction", all.loss());
        metrics.add(format!("queue_loss_measured.{link}"), "fraction", data.loss());
    }
}
