//! What a run is summed up in. The definitions:
//!
//! - *window*: `measure.from_s` to `measure.to_s`. `thput`, `thput_intact`, `cong`, `dev` and a link's utilisation are
//!   taken over it; everything else over a flow's whole life, from its start to its stop or the end of the run.
//! - `thput`: packets of measured flows that crossed the bottleneck, corrupted ones included, in bits on the wire, over
//!   what the bottleneck could carry. `thput_intact` counts what reached the receivers instead.
//! - `cong`: packets of measured flows that queues dropped, on any link of their paths, over the packets of `thput`.
//! - `M_c`, `M_w`: per flow, the share of its congestion (wireless) losses that were called wireless (congestion); then
//!   the mean over the flows that lost such a packet. Losses that were never judged are left out; `undetected` counts them.
//! - `dev`: sample standard deviation of the flows' packets of `thput` over their mean; of the flows that were there in the
//!   window at all.
//! - `norm_thput.X`, where several groups of flows are measured: packets of `thput` of the group X over an equal share of the
//!   bottleneck per flow, for as many flows as it has.
//! - `usage.X`: share of received packets during which base scheme X was in force; of a hybrid, those that never were as well.
//! - `goodput`: distinct payload delivered; `throughput`: all payload received; each flow over its own life, summed.

use serde::Serialize;

use losscause::{Algorithm, AnyLda, Span, Time};
use losscause_sim::{Counters, FlowId, FlowReport, FlowSpec, LdaSpec, LinkId, Simulation, Traffic};

use crate::Experiment;

/// One number of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// Its name: `thput`, `M_c`, `usage.Spike`.
    pub metric: String,
    /// Its unit: `percent`, `kb/s`, `packets`.
    pub unit: &'static str,
    /// Its value; none where it is not defined (`M_c` of a run without congestion loss).
    pub value: Option<f64>,
}

/// Everything that was measured in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measurements {
    /// The run as a whole.
    pub metrics: Vec<Metric>,
    /// Every flow, in the order of the network.
    pub flows: Vec<FlowMeasurements>,
    /// Every link, in the order of the network.
    pub links: Vec<LinkMeasurements>,
}

/// One flow over its whole life.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowMeasurements {
    /// Its name.
    pub flow: String,
    /// Whether it counts in the metrics of the run.
    pub measured: bool,
    /// When it started, seconds; none if it never did.
    pub start_s: Option<f64>,
    /// When it stopped, seconds; none if it never started, or was still there at the end.
    pub stop_s: Option<f64>,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Data packets received, duplicates included.
    pub received_packets: u64,
    /// Distinct data packets delivered.
    pub delivered_packets: u64,
    /// Distinct payload delivered, kb/s.
    pub goodput_kbps: Option<f64>,
    /// All payload received, kb/s.
    pub throughput_kbps: Option<f64>,
    /// Packets that crossed the bottleneck within the window.
    pub bottleneck_packets: u64,
    /// Data packets that queues dropped.
    pub queue_drops: u64,
    /// Data packets that channels corrupted.
    pub wireless_drops: u64,
    /// Retransmission timeouts (TCP).
    pub timeouts: Option<u64>,
    /// Share of judged congestion losses that were called wireless, percent.
    #[serde(rename = "M_c")]
    pub m_c: Option<f64>,
    /// Share of judged wireless losses that were called congestion, percent.
    #[serde(rename = "M_w")]
    pub m_w: Option<f64>,
    /// Lost packets on which the algorithm did not decide.
    pub undecided: u64,
    /// Lost packets that were never judged, where an algorithm judges at all.
    pub undetected: u64,
}

/// One link over the whole run.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// Packets handed on at its far end.
    pub delivered_packets: u64,
    /// Share of the window's time in which it transmitted, percent.
    pub utilisation_percent: f64,
}

impl Measurements {
    /// The value of the metric of that name, if the run has it and it is defined.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.iter().find(|metric| metric.metric == name)?.value
    }

    /// Sums up a finished run; `window` is what happened within the measured window.
    pub(crate) fn of(experiment: &Experiment, simulation: &Simulation, window: &Window) -> Self {
        let network = &experiment.network;
        let life = |report: &FlowReport| {
            let end = report.stops_at.unwrap_or(experiment.duration).min(experiment.duration);
            report.started_at.map(|start| end - start).filter(|life| *life > Span::ZERO)
        };
        let flows: Vec<FlowMeasurements> = (0..)
            .map(FlowId)
            .zip(&network.flows)
            .map(|(id, spec)| {
                let report = simulation.flow(id);
                let life = life(&report);
                let kbps = |bytes: u64| life.map(|life| bytes as f64 * 8e-3 / life.as_secs_f64());
                let verdicts = &report.verdicts;
                FlowMeasurements {
                    flow: spec.name.clone(),
                    measured: spec.measured,
                    start_s: report.started_at.map(Time::as_secs_f64),
                    stop_s: stopped(&report, experiment.duration).map(Time::as_secs_f64),
                    sent_packets: report.sent_packets,
                    received_packets: report.received_packets,
                    delivered_packets: report.delivered_packets,
                    goodput_kbps: kbps(report.delivered_payload_bytes),
                    throughput_kbps: kbps(report.received_payload_bytes),
                    bottleneck_packets: window.crossed(id, &experiment.bottleneck).packets,
                    queue_drops: report.lost.congestion,
                    wireless_drops: report.lost.wireless,
                    timeouts: report.tcp.map(|stats| stats.timeouts),
                    m_c: verdicts.m_c().map(|share| share * 100.0),
                    m_w: verdicts.m_w().map(|share| share * 100.0),
                    undecided: verdicts.congestion.undecided + verdicts.wireless.undecided,
                    undetected: verdicts.congestion.undetected + verdicts.wireless.undetected,
                }
            })
            .collect();
        let links = (0..)
            .map(LinkId)
            .zip(&network.links)
            .map(|(id, spec)| {
                let total = simulation.counters().link(id);
                let capacity = spec.rate_bps as f64 * window.length().as_secs_f64();
                LinkMeasurements {
                    link: spec.name.clone(),
                    rate_bps: spec.rate_bps,
                    entered_packets: total.entered,
                    queue_drops: total.queue_drops,
                    queue_marks: total.queue_marks,
                    wireless_drops: total.corrupted,
                    delivered_packets: total.delivered,
                    utilisation_percent: window.counters.link(id).transmitted_bytes as f64 * 800.0 / capacity,
                }
            })
            .collect();
        let metrics = metrics(experiment, simulation, window, &flows);
        Self { metrics, flows, links }
    }
}

/// What happened between the start and the end of the window.
pub(crate) struct Window {
    pub(crate) from: Time,
    pub(crate) to: Time,
    pub(crate) counters: Counters,
}

/// Packets and their bits on the wire.
#[derive(Clone, Copy, Debug, Default)]
struct Crossed {
    packets: u64,
    bits: f64,
}

impl Window {
    fn length(&self) -> Span {
        self.to - self.from
    }

    /// Packets of `flow` that crossed one of `links` on their way to the receiver.
    fn crossed(&self, flow: FlowId, links: &[LinkId]) -> Crossed {
        let hops = self.counters.path(flow).filter(|(link, _)| links.contains(link));
        hops.fold(Crossed::default(), |sum, (_, hop)| Crossed {
            packets: sum.packets + hop.transmitted,
            bits: sum.bits + hop.transmitted_bytes as f64 * 8.0,
        })
    }

    /// Packets of `flow` that reached the receiver.
    fn arrived(&self, flow: FlowId) -> u64 {
        self.counters.path(flow).last().map_or(0, |(_, hop)| hop.delivered)
    }

    /// Packets of `flow` that queues dropped on their way to the receiver.
    fn queue_drops(&self, flow: FlowId) -> u64 {
        self.counters.path(flow).map(|(_, hop)| hop.queue_drops).sum()
    }
}

fn metrics(
    experiment: &Experiment,
    simulation: &Simulation,
    window: &Window,
    flows: &[FlowMeasurements],
) -> Vec<Metric> {
    let network = &experiment.network;
    let measured: Vec<FlowId> =
        (0..).map(FlowId).zip(flows).filter(|(_, flow)| flow.measured).map(|(id, _)| id).collect();
    let rows = || flows.iter().filter(|flow| flow.measured);
    let crossed: Vec<Crossed> = measured.iter().map(|&flow| window.crossed(flow, &experiment.bottleneck)).collect();
    let packets: u64 = crossed.iter().map(|crossed| crossed.packets).sum();
    let rate: f64 = experiment.bottleneck.iter().map(|link| network.links[link.0 as usize].rate_bps as f64).sum();
    let capacity = (rate > 0.0).then(|| rate * window.length().as_secs_f64());
    let bits: f64 = crossed.iter().map(|crossed| crossed.bits).sum();
    let spec = |flow: &FlowId| &network.flows[flow.0 as usize];
    let intact: f64 =
        measured.iter().map(|flow| window.arrived(*flow) as f64 * f64::from(wire_bytes(spec(flow))) * 8.0).sum();
    let drops: u64 = measured.iter().map(|flow| window.queue_drops(*flow)).sum();
    let there = rows().map(|flow| {
        let from = flow.stop_s.is_none_or(|stop| stop > window.from.as_secs_f64());
        from && flow.start_s.is_some_and(|start| start < window.to.as_secs_f64())
    });
    let counts = crossed.iter().zip(there).filter(|(_, there)| *there).map(|(crossed, _)| crossed.packets as f64);
    let counts: Vec<f64> = counts.collect();

    let mut metrics = Vec::new();
    let mut add = |metric: &str, unit, value| metrics.push(Metric { metric: metric.to_owned(), unit, value });
    add("thput", "percent", capacity.map(|capacity| bits / capacity * 100.0));
    add("thput_intact", "percent", capacity.map(|capacity| intact / capacity * 100.0));
    add("cong", "percent", (packets > 0).then(|| drops as f64 / packets as f64 * 100.0));
    add("M_c", "percent", mean(rows().filter_map(|flow| flow.m_c)));
    add("M_w", "percent", mean(rows().filter_map(|flow| flow.m_w)));
    add("dev", "percent", deviation(&counts).map(|share| share * 100.0));
    add("goodput", "kb/s", sum(rows().filter_map(|flow| flow.goodput_kbps)));
    add("throughput", "kb/s", sum(rows().filter_map(|flow| flow.throughput_kbps)));
    for (group, share) in shares(&measured.iter().map(spec).zip(&crossed).collect::<Vec<_>>(), capacity) {
        add(&format!("norm_thput.{group}"), "percent", share.map(|share| share * 100.0));
    }
    let total = |count: fn(&FlowMeasurements) -> u64| Some(rows().map(count).sum::<u64>() as f64);
    add("queue_drops", "packets", total(|flow| flow.queue_drops));
    add("wireless_drops", "packets", total(|flow| flow.wireless_drops));
    add("timeouts", "count", sum(rows().filter_map(|flow| flow.timeouts).map(|count| count as f64)));
    add("undecided", "packets", total(|flow| flow.undecided));
    add("undetected", "packets", total(|flow| flow.undetected));
    let mut schemes: Vec<(&'static str, u64)> = Vec::new();
    for flow in &measured {
        // A base scheme that was never in force has a share all the same: none.
        let never = bases(spec(flow)).iter().map(|(_, base)| (base.name(), 0));
        for (scheme, count) in simulation.flow(*flow).schemes.into_iter().chain(never) {
            match schemes.iter_mut().find(|(known, _)| *known == scheme) {
                Some((_, sum)) => *sum += count,
                None => schemes.push((scheme, count)),
            }
        }
    }
    schemes.sort_unstable();
    let all: u64 = schemes.iter().map(|(_, count)| count).sum();
    for (scheme, count) in schemes {
        add(&format!("usage.{scheme}"), "percent", (all > 0).then(|| count as f64 / all as f64 * 100.0));
    }
    metrics
}

/// The base schemes of the flow's algorithm, where it is a hybrid.
fn bases(flow: &FlowSpec) -> &'static [(&'static str, Algorithm)] {
    match &flow.traffic {
        Traffic::Tfrc { lda: LdaSpec::Algorithm(AnyLda::Zbs(_)), .. } => Algorithm::Zbs.bases(),
        _ => &[],
    }
}

/// When a flow stopped, if it was there and did so by the end of the run.
fn stopped(report: &FlowReport, end: Time) -> Option<Time> {
    report.started_at.and(report.stops_at).filter(|stop| *stop <= end)
}

/// Size of a full data packet of the flow on the wire, bytes.
fn wire_bytes(flow: &FlowSpec) -> u32 {
    match &flow.traffic {
        Traffic::Tcp { config, .. } => config.wire_bytes(),
        Traffic::Tfrc { config, .. } => config.payload_bytes + config.header_bytes,
        Traffic::Cbr { packet_bytes, .. } | Traffic::OnOff { packet_bytes, .. } => *packet_bytes,
    }
}

/// What each group of flows carried over what an equal share of `capacity`, bits, per flow allows; nothing for one group.
fn shares<'a>(flows: &[(&'a FlowSpec, &Crossed)], capacity: Option<f64>) -> Vec<(&'a str, Option<f64>)> {
    // Members of a group are called group.1, group.2, …; no group has a dot in its name.
    let group = |spec: &'a FlowSpec| spec.name.split('.').next().unwrap_or_default();
    let mut groups: Vec<(&str, f64, u32)> = Vec::new();
    for &(spec, crossed) in flows {
        match groups.iter_mut().find(|(known, ..)| *known == group(spec)) {
            Some((_, bits, members)) => (*bits, *members) = (*bits + crossed.bits, *members + 1),
            None => groups.push((group(spec), crossed.bits, 1)),
        }
    }
    if groups.len() < 2 {
        return Vec::new();
    }
    let fair = |members: u32| capacity.map(|capacity| capacity * f64::from(members) / flows.len() as f64);
    groups.into_iter().map(|(name, bits, members)| (name, fair(members).map(|fair| bits / fair))).collect()
}

fn sum(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.reduce(|sum, value| sum + value)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Sample standard deviation over the mean; none for fewer than two values or a mean of zero.
fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values.iter().copied()).filter(|mean| *mean > 0.0)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt() / mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_four_flows_deviate_by_6_05_percent() {
        // Cen 2003, section VIII-A: packets received by four flows; the deviation itself is not printed there. By hand:
        // mean 13051.75; squared differences 63126.6 + 599463.1 + 5076.6 + 1202860.6 = 1870526.8; / 3 = 623508.9;
        // root 789.63; over the mean 0.0605.
        let deviation = deviation(&[13303.0, 13826.0, 13123.0, 11955.0]).unwrap();
        assert!((deviation - 0.0605).abs() < 0.0001, "{deviation}");
    }

    #[test]
    fn a_single_flow_has_no_deviation() {
        assert_eq!(deviation(&[5.0]), None);
        assert_eq!(deviation(&[0.0, 0.0]), None);
    }
}
