//! Delays by packet: round-trip times, one-way and queueing delays, jitter.

use losscause::Span;
use losscause_sim::{Event, EventKind, FlowId, Histogram, Network, PacketKind};
use serde::{Deserialize, Serialize};

use super::{Metrics, State, measured};
use crate::statistics::mean;

/// The delays of all flows, and what a time series shows of their state.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    flows: Vec<FlowDelays>,
}

/// The delays of one flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowDelays {
    rtt: Histogram,
    one_way: Histogram,
    queueing: Histogram,
    jitter: Jitter,
    /// TCP's congestion window, packets.
    pub(crate) cwnd_pkts: Option<f64>,
    /// TFRC's allowed rate, payload bytes per second.
    pub(crate) rate: Option<f64>,
}

/// The interarrival jitter of RFC 3550, section 6.4.1, over all arrivals.
#[derive(Clone, Copy, Debug, Default)]
struct Jitter {
    /// Trip time of the last packet.
    last: Option<Span>,
    /// The RFC's J, ns.
    estimate: f64,
    sum: f64,
    count: u64,
}

/// Percentiles of a delay, milliseconds, each within 0.8 % of the exact one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Percentiles {
    /// The median.
    pub p50: f64,
    /// 95 % of the values do not exceed it.
    pub p95: f64,
    /// 99 % of the values do not exceed it.
    pub p99: f64,
}

/// Whether the metric exists only if delays are measured ([`crate::Experiment::delays`]).
pub fn is_of_delays(metric: &str) -> bool {
    metric == "jitter"
        || KINDS
            .iter()
            .any(|kind| metric.strip_prefix(kind).is_some_and(|rest| rest.starts_with('_')))
}

/// The delays whose percentiles are metrics, such as `rtt_p50`.
const KINDS: [&str; 3] = ["rtt", "delay", "queueing"];

impl Delays {
    pub(crate) fn new(network: &Network) -> Self {
        Self { flows: vec![FlowDelays::default(); network.flows.len()] }
    }

    /// Takes in an event; those of one flow's end come in order of time.
    pub(crate) fn take(&mut self, event: &Event) {
        let flow = &mut self.flows[event.flow.0 as usize];
        match event.kind {
            EventKind::Received(packet) => match packet.kind {
                PacketKind::Data | PacketKind::Retransmission => {
                    if let Some(timing) = packet.timing {
                        flow.one_way.record(event.at - timing.sent_at);
                        flow.queueing.record(timing.queued);
                        flow.jitter.take(event.at - timing.sent_at);
                    }
                }
                PacketKind::Ack | PacketKind::Feedback => {
                    if let Some(sent_at) = packet.answers {
                        flow.rtt.record(event.at - sent_at);
                    }
                }
            },
            EventKind::Cwnd(packets) => flow.cwnd_pkts = Some(packets),
            EventKind::Rate(rate) => flow.rate = Some(rate),
            EventKind::Header(_)
            | EventKind::Sent(_)
            | EventKind::Link { .. }
            | EventKind::Verdict { .. } => {}
        }
    }

    pub(crate) fn flow(&self, flow: FlowId) -> &FlowDelays {
        &self.flows[flow.0 as usize]
    }

    /// `rtt_…`, `delay_…`, `queueing_…` and `jitter`: of all measured flows' packets together; the
    /// mean of the jitters.
    pub(super) fn add(&self, metrics: &mut Metrics, state: State<'_>) {
        let flows = || measured(state.network()).map(|flow| self.flow(flow));
        type Of = fn(&FlowDelays) -> &Histogram;
        let kinds: [Of; 3] = [|flow| &flow.rtt, |flow| &flow.one_way, |flow| &flow.queueing];
        for (name, of) in KINDS.into_iter().zip(kinds) {
            let mut all = Histogram::default();
            flows().for_each(|flow| all.merge(of(flow)));
            for (part, share) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
                metrics.add(format!("{name}_{part}"), "ms", all.quantile_ms(share));
            }
        }
        let jitters: Vec<f64> = flows().filter_map(FlowDelays::jitter_ms).collect();
        metrics.add("jitter", "ms", mean(&jitters));
    }
}

impl FlowDelays {
    pub(super) fn rtt_ms(&self) -> Option<Percentiles> {
        percentiles(&self.rtt)
    }

    pub(super) fn one_way_ms(&self) -> Option<Percentiles> {
        percentiles(&self.one_way)
    }

    pub(super) fn queueing_ms(&self) -> Option<Percentiles> {
        percentiles(&self.queueing)
    }

    pub(super) fn jitter_ms(&self) -> Option<f64> {
        (self.jitter.count > 0).then(|| self.jitter.sum / self.jitter.count as f64 / 1e6)
    }

    /// Data packets received so far, and the sum of their one-way delays, ns.
    pub(crate) fn one_way_count_and_sum_nanos(&self) -> (u64, i128) {
        (self.one_way.count(), self.one_way.sum_nanos())
    }
}

fn percentiles(histogram: &Histogram) -> Option<Percentiles> {
    let at = |share| histogram.quantile_ms(share);
    Some(Percentiles { p50: at(0.5)?, p95: at(0.95)?, p99: at(0.99)? })
}

impl Jitter {
    fn take(&mut self, trip: Span) {
        if let Some(last) = self.last.replace(trip) {
            self.estimate += ((trip - last).as_nanos_f64().abs() - self.estimate) / 16.0;
            self.sum += self.estimate;
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_worked_by_hand() {
        // Trips of 10, 26, 26 ms: D = 16, 0; J = 1, then 1 - 1/16; the mean is 0.96875.
        let mut jitter = Jitter::default();
        [10, 26, 26].into_iter().for_each(|trip| jitter.take(Span::from_millis(trip)));
        let delays = FlowDelays { jitter, ..FlowDelays::default() };
        assert!((delays.jitter_ms().unwrap() - 0.96875).abs() < 1e-9);
        let mut one = Jitter::default();
        one.take(Span::from_millis(10));
        assert_eq!(FlowDelays { jitter: one, ..FlowDelays::default() }.jitter_ms(), None);
    }
}
