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
//!   `goodput_mean`, `throughput_mean`: the means over the flows that started; with `.X`, of the group X alone.
//! - `overhead`: 1 - goodput / throughput, of all measured flows together.
//! - `fairness`: Jain's index (Σ T)² / (n Σ T²) of the flows' throughputs T; with `.X`, of the group X alone.
//! - `queue_loss.L`: packets that the queue of link L dropped over packets that came to it, of all flows; the copies of a per-flow
//!   link together. `queue_loss_measured.L`: the same of measured flows' data packets.
//! - `congestion_loss`: measured flows' data packets that queues dropped over those sent.
//! - `P_CC`, `P_WW`, `P_WC`: of the judged congestion (wireless, congestion) losses of all measured flows together, the share that
//!   was called congestion (wireless, wireless).
//! - `cwnd_mean`, `cwnd_max`, where `measure.cwnd` asks for them: time average and maximum of TCP's congestion window over a
//!   flow's life, without what recovery adds and no more than the receiver allows; the mean of the averages, and the largest maximum, of the measured flows.

use serde::Serialize;

use losscause::{Lda, Span, Time};
use losscause_sim::{
    Counters, Event, EventKind, FlowId, FlowReport, FlowSpec, LinkId, Network, Simulation, TcpLda, Traffic,
    VerdictTally,
};

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
    /// What a reader should know before believing the numbers: one sentence each.
    pub notes: Vec<String>,
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
    pub(crate) fn of(
        experiment: &Experiment,
        simulation: &Simulation,
        window: &Window,
        windows: Option<&Windows>,
    ) -> Self {
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
        let mut metrics = metrics(experiment, simulation, window, &flows);
        metrics.extend(means(&flows));
        metrics.extend(losses(network, simulation, &flows));
        if let Some(windows) = windows {
            metrics.extend(windows.metrics(network, simulation, experiment.duration));
        }
        Self { metrics, flows, links, notes: notes(network, simulation) }
    }
}

/// Says of every group of measured TCP flows that receivers' windows held back how often they did.
fn notes(network: &Network, simulation: &Simulation) -> Vec<String> {
    // Per group of the file: its name, the window, ACKs that it limited, ACKs of new data.
    let mut groups: Vec<(&str, u32, u64, u64)> = Vec::new();
    for (id, spec) in (0..).map(FlowId).zip(&network.flows).filter(|(_, spec)| spec.measured) {
        let (Traffic::Tcp { config, .. }, Some(stats)) = (&spec.traffic, simulation.flow(id).tcp) else { continue };
        let known = groups.iter_mut().find(|(known, ..)| *known == group(&spec.name));
        if let Some((.., limited, all)) = known {
            *limited += stats.window_limited_acks;
            *all += stats.new_acks;
        } else {
            groups.push((group(&spec.name), config.max_window_pkts, stats.window_limited_acks, stats.new_acks));
        }
    }
    let limited = groups.into_iter().filter(|(_, _, limited, _)| *limited > 0);
    let note = |(flow, window, limited, all): (&str, u32, u64, u64)| {
        format!(
            "{flow}: the receiver's window of {window} packets held the sender back at {:.1} % of its acknowledgements; a larger \
             tcp.max_window_pkts would let it send more",
            limited as f64 * 100.0 / all as f64
        )
    };
    limited.map(note).collect()
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
        let never = base_schemes(spec(flow)).iter().map(|base| (*base, 0));
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

/// What each flow got, and how evenly: of all measured flows, and of each group of them.
fn means(flows: &[FlowMeasurements]) -> Vec<Metric> {
    let measured: Vec<&FlowMeasurements> = flows.iter().filter(|flow| flow.measured).collect();
    let mut groups: Vec<&str> = Vec::new();
    for flow in &measured {
        if !groups.contains(&group(&flow.flow)) {
            groups.push(group(&flow.flow));
        }
    }
    let mut metrics = Vec::new();
    let mut add = |metric: &str, part: Option<&str>, unit, value| {
        let metric = part.map_or_else(|| metric.to_owned(), |part| format!("{metric}.{part}"));
        metrics.push(Metric { metric, unit, value });
    };
    for part in [None].into_iter().chain(groups.into_iter().map(Some)) {
        let of = |value: fn(&FlowMeasurements) -> Option<f64>| -> Vec<f64> {
            let mine = measured.iter().filter(|flow| part.is_none_or(|part| group(&flow.flow) == part));
            mine.filter_map(|flow| value(flow)).collect()
        };
        let (goodputs, throughputs) = (of(|flow| flow.goodput_kbps), of(|flow| flow.throughput_kbps));
        add("goodput_mean", part, "kb/s", mean(goodputs.iter().copied()));
        add("throughput_mean", part, "kb/s", mean(throughputs.iter().copied()));
        add("fairness", part, "1", jain(&throughputs));
        if part.is_none() {
            let received = sum(throughputs.iter().copied()).filter(|received| *received > 0.0);
            let delivered = sum(goodputs.iter().copied());
            add("overhead", None, "fraction", received.zip(delivered).map(|(all, useful)| 1.0 - useful / all));
        }
    }
    metrics
}

/// What queues dropped, and what was said about it.
fn losses(network: &Network, simulation: &Simulation, flows: &[FlowMeasurements]) -> Vec<Metric> {
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let mut metrics = Vec::new();
    let mut add = |metric: String, value| metrics.push(Metric { metric, unit: "fraction", value });
    let measured = || (0..).map(FlowId).zip(flows).filter(|(_, flow)| flow.measured);
    // Per link of the file: packets that came and packets dropped, of all flows and of measured flows' data.
    let mut links: Vec<(&str, [(u64, u64); 2])> = Vec::new();
    for (id, spec) in (0..).map(LinkId).zip(&network.links).filter(|(_, spec)| !spec.name.ends_with(".back")) {
        let all = simulation.counters().link(id);
        let mine = measured().flat_map(|(flow, _)| simulation.counters().path(flow)).filter(|(link, _)| *link == id);
        let mine = mine.fold((0, 0), |sum, (_, hop)| (sum.0 + hop.entered, sum.1 + hop.queue_drops));
        let counts = [(all.entered, all.queue_drops), mine];
        match links.iter_mut().find(|(known, _)| *known == group(&spec.name)) {
            Some((_, sums)) => sums.iter_mut().zip(counts).for_each(|(sum, count)| {
                *sum = (sum.0 + count.0, sum.1 + count.1);
            }),
            None => links.push((group(&spec.name), counts)),
        }
    }
    for (link, [all, mine]) in links {
        add(format!("queue_loss.{link}"), share(all.1, all.0));
        add(format!("queue_loss_measured.{link}"), share(mine.1, mine.0));
    }
    let total = |count: fn(&FlowMeasurements) -> u64| measured().map(|(_, flow)| count(flow)).sum();
    add("congestion_loss".to_owned(), share(total(|flow| flow.queue_drops), total(|flow| flow.sent_packets)));
    let mut verdicts = VerdictTally::default();
    measured().for_each(|(flow, _)| verdicts += simulation.flow(flow).verdicts);
    let VerdictTally { congestion, wireless } = verdicts;
    add("P_CC".to_owned(), share(congestion.called_congestion, congestion.judged()));
    add("P_WW".to_owned(), share(wireless.called_wireless, wireless.judged()));
    add("P_WC".to_owned(), share(congestion.called_wireless, congestion.judged()));
    metrics
}

/// The group of a flow, the link of a copy: members are called group.1, group.2, …; no name in a file has a dot.
pub(crate) fn group(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}

/// Jain's index: 1 where all are equal, 1 / n where one has all; none where there is nothing.
fn jain(values: &[f64]) -> Option<f64> {
    let squares: f64 = values.iter().map(|value| value * value).sum();
    let sum: f64 = values.iter().sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// TCP's congestion windows over time.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    flows: Vec<Integral>,
}

/// The integral of one flow's window.
#[derive(Clone, Copy, Debug, Default)]
struct Integral {
    /// The receiver's window, packets: ns-2's cwnd grows beyond it, but nothing more is sent.
    limit: f64,
    /// The window in force, packets, and since when.
    now: Option<(Time, f64)>,
    packet_seconds: f64,
    seconds: f64,
    max: f64,
}

impl Windows {
    pub(crate) fn new(network: &Network) -> Self {
        let limit = |flow: &FlowSpec| match &flow.traffic {
            Traffic::Tcp { config, .. } => f64::from(config.max_window_pkts),
            Traffic::Tfrc { .. } | Traffic::Cbr { .. } | Traffic::OnOff { .. } => 0.0,
        };
        let integral = |flow: &FlowSpec| Integral { limit: limit(flow), ..Integral::default() };
        Self { flows: network.flows.iter().map(integral).collect() }
    }

    /// Windows of one flow come in order of time.
    pub(crate) fn take(&mut self, event: &Event) {
        if let EventKind::Cwnd(packets) = event.kind {
            self.flows[event.flow.0 as usize].change(event.at, packets);
        }
    }

    fn metrics(&self, network: &Network, simulation: &Simulation, end: Time) -> [Metric; 2] {
        let measured = (0..).map(FlowId).zip(&network.flows).zip(&self.flows).filter(|((_, spec), _)| spec.measured);
        let until = |flow| simulation.flow(flow).stops_at.map_or(end, |stop| stop.min(end));
        let done: Vec<Integral> = measured.map(|((flow, _), integral)| integral.until(until(flow))).collect();
        let lived = || done.iter().filter(|integral| integral.seconds > 0.0);
        let average = mean(lived().map(|integral| integral.packet_seconds / integral.seconds));
        let max = lived().map(|integral| integral.max).reduce(f64::max);
        let metric = |name: &str, value| Metric { metric: name.to_owned(), unit: "packets", value };
        [metric("cwnd_mean", average), metric("cwnd_max", max)]
    }
}

impl Integral {
    fn change(&mut self, at: Time, packets: f64) {
        *self = self.until(at);
        let packets = packets.min(self.limit);
        self.now = Some((at, packets));
        self.max = self.max.max(packets);
    }

    /// The same, carried on to `end`.
    fn until(mut self, end: Time) -> Self {
        if let Some((since, packets)) = self.now.filter(|(since, _)| *since < end) {
            let seconds = (end - since).as_secs_f64();
            self.packet_seconds += packets * seconds;
            self.seconds += seconds;
            self.now = Some((end, packets));
        }
        self
    }
}

/// The base schemes of the flow's algorithm, where it is a hybrid.
fn base_schemes(flow: &FlowSpec) -> &'static [&'static str] {
    match &flow.traffic {
        Traffic::Tfrc { lda, .. } | Traffic::Tcp { lda: TcpLda::Receiver { lda, .. }, .. } => lda.schemes(),
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
    let mut groups: Vec<(&str, f64, u32)> = Vec::new();
    for &(spec, crossed) in flows {
        match groups.iter_mut().find(|(known, ..)| *known == group(&spec.name)) {
            Some((_, bits, members)) => (*bits, *members) = (*bits + crossed.bits, *members + 1),
            None => groups.push((group(&spec.name), crossed.bits, 1)),
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
    fn jains_index_is_one_for_equals_and_a_share_for_one_that_has_all() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
        // (1 + 2 + 3)^2 / (3 * (1 + 4 + 9)) = 36 / 42.
        assert!((jain(&[1.0, 2.0, 3.0]).unwrap() - 36.0 / 42.0).abs() < 1e-12);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }

    #[test]
    fn a_window_counts_for_as_long_as_it_is_in_force() {
        let at = |seconds: i64| Time::ZERO + Span::from_secs(seconds);
        let mut integral = Integral { limit: 10.0, ..Integral::default() };
        // 4 packets for 3 s, 10 for 1 s (the receiver allows no more), 1 for 6 s: 28 packet-seconds in 10 s.
        for (second, packets) in [(10, 4.0), (13, 12.0), (14, 1.0)] {
            integral.change(at(second), packets);
        }
        let done = integral.until(at(20));
        assert_eq!((done.packet_seconds, done.seconds, done.max), (28.0, 10.0, 10.0));
    }

    #[test]
    fn a_single_flow_has_no_deviation() {
        assert_eq!(deviation(&[5.0]), None);
        assert_eq!(deviation(&[0.0, 0.0]), None);
    }
}
