//! Every link, and what its queue dropped.

use serde::{Deserialize, Serialize};

use losscause_sim::LinkId;

use super::{Metrics, State, group, measured, share};

/// One link over the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LinkMeasurements {
    /// Its name.
    pub link: String,
    /// Its rate, bits per second.
    pub rate_bps: u64,
    /// Packets that arrived at it.
    pub entered_packets: u64,
    /// Packets that its queue dropped.
    pub queue_drops: u64,
    /// Packets that its queue marked (ECN).
    pub queue_marks: u64,
    /// Packets that its channel corrupted.
    pub wireless_drops: u64,
    /// Packets delivered at its far end.
    pub delivered_packets: u64,
    /// Share of the window's time in which it transmitted, percent; null before the window.
    pub utilisation_percent: Option<f64>,
}

pub(super) fn measure(state: State<'_>) -> Vec<LinkMeasurements> {
    let State { simulation, window, .. } = state;
    let link = |(id, spec): (LinkId, &losscause_sim::LinkSpec)| {
        let total = simulation.counters().link(id);
        let capacity = spec.rate_bps as f64 * window.length().as_secs_f64();
        let transmitted_bytes = window.counters.link(id).transmitted_bytes as f64;
        LinkMeasurements {
            link: spec.name.clone(),
            rate_bps: spec.rate_bps,
            entered_packets: total.entered,
            queue_drops: total.queue_drops,
            queue_marks: total.queue_marks,
            wireless_drops: total.corrupted,
            delivered_packets: total.delivered,
            utilisation_percent: (capacity > 0.0).then(|| transmitted_bytes * 800.0 / capacity),
        }
    };
    (0..).map(LinkId).zip(&state.network().links).map(link).collect()
}

/// Packets that arrived at a queue, and those that it dropped.
#[derive(Clone, Copy, Default)]
struct Queue {
    entered: u64,
    dropped: u64,
}

impl Queue {
    fn add(&mut self, entered: u64, dropped: u64) {
        self.entered += entered;
        self.dropped += dropped;
    }

    fn loss(self) -> Option<f64> {
        share(self.dropped, self.entered)
    }
}

/// `queue_loss.L` and `queue_loss_measured.L` of every link of the scenario.
pub(super) fn add_queue_loss(metrics: &mut Metrics, state: State<'_>) {
    let counters = state.simulation.counters();
    // Per link: all flows, and measured flows' data.
    let mut links: Vec<(&str, Queue, Queue)> = Vec::new();
    for (id, spec) in (0..).map(LinkId).zip(&state.network().links).filter(|(_, spec)| !spec.name.ends_with(".back")) {
        let known = links.iter().position(|(name, ..)| *name == group(&spec.name)).unwrap_or_else(|| {
            links.push((group(&spec.name), Queue::default(), Queue::default()));
            links.len() - 1
        });
        let (_, all, data) = &mut links[known];
        let total = counters.link(id);
        all.add(total.entered, total.queue_drops);
        for (_, hop) in measured(state.network()).flat_map(|flow| counters.path(flow)).filter(|(link, _)| *link == id) {
            data.add(hop.entered, hop.queue_drops);
        }
    }
    for (link, all, data) in links {
        metrics.add(format!("queue_loss.{link}"), "fraction", all.loss());
        metrics.add(format!("queue_loss_measured.{link}"), "fraction", data.loss());
    }
}
