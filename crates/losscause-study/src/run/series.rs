//! A run over time: per interval and flow, what was delivered and lost, and the state at its end.

use losscause_sim::{FlowId, LossCounts};
use serde::{Deserialize, Serialize};

use super::Run;
use super::measure::FlowDelays;

/// One flow in one interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SeriesRow {
    /// Start of the interval, seconds.
    pub from_s: f64,
    /// End of the interval, seconds.
    pub to_s: f64,
    /// Name of the flow.
    pub flow: String,
    /// Distinct payload delivered within the interval, kb/s.
    pub goodput_kbps: f64,
    /// TCP's congestion window at the end of the interval, packets; null for other flows and before
    /// the start.
    pub cwnd_packets: Option<f64>,
    /// TFRC's allowed rate at the end of the interval, payload kb/s; null for other flows and
    /// before the start.
    pub rate_kbps: Option<f64>,
    /// Packets of all flows that wait on the links of the flow's path at the end of the interval.
    pub queue_packets: u64,
    /// Mean one-way delay of the data packets that arrived within the interval, milliseconds; null
    /// if none did.
    pub delay_ms: Option<f64>,
    /// Data packets that queues dropped within the interval.
    pub queue_drops: u64,
    /// Data packets that channels corrupted within the interval.
    pub wireless_drops: u64,
}

/// A time series under construction.
#[derive(Clone, Debug, Default)]
pub struct Series {
    rows: Vec<SeriesRow>,
    /// End of the last interval, seconds.
    from_s: f64,
    /// Per flow, the counts at that time.
    before: Vec<Counts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    delivered_payload_bytes: u64,
    lost: LossCounts,
    arrived: u64,
    delay_nanos: i128,
}

impl Series {
    /// Ends an interval at the time that `run` has reached, and begins the next. The run must
    /// measure delays ([`crate::Experiment::delays`]); if it does not, its windows, rates and
    /// delays are missing.
    pub fn take(&mut self, run: &Run) {
        let to_s = run.now().as_secs_f64();
        let network = &run.experiment.network;
        self.before.resize(network.flows.len(), Counts::default());
        for (place, spec) in network.flows.iter().enumerate() {
            let id = FlowId(place as u32);
            let report = run.simulation.flow(id);
            let delays = run.delays.as_ref().map(|delays| delays.flow(id));
            let (arrived, delay_nanos) =
                delays.map_or((0, 0), FlowDelays::one_way_count_and_sum_nanos);
            let now = Counts {
                delivered_payload_bytes: report.delivered_payload_bytes,
                lost: report.lost,
                arrived,
                delay_nanos,
            };
            let before = std::mem::replace(&mut self.before[place], now);
            let arrived = now.arrived - before.arrived;
            let delay_nanos = now.delay_nanos - before.delay_nanos;
            let bytes = now.delivered_payload_bytes - before.delivered_payload_bytes;
            self.rows.push(SeriesRow {
                from_s: self.from_s,
                to_s,
                flow: spec.name.clone(),
                goodput_kbps: bytes as f64 * 8e-3 / (to_s - self.from_s),
                cwnd_packets: delays.and_then(|delays| delays.cwnd_pkts),
                rate_kbps: delays.and_then(|delays| delays.rate).map(|rate| rate * 8e-3),
                queue_packets: spec
                    .path
                    .iter()
                    .map(|&link| u64::from(run.simulation.waiting_pkts(link)))
                    .sum(),
                delay_ms: (arrived > 0).then(|| delay_nanos as f64 / arrived as f64 / 1e6),
                queue_drops: now.lost.congestion - before.lost.congestion,
                wireless_drops: now.lost.wireless - before.lost.wireless,
            });
        }
        self.from_s = to_s;
    }

    /// All rows: the flows of one interval after the other, in the order of the scenario.
    pub fn into_rows(self) -> Vec<SeriesRow> {
        self.rows
    }
}
