//! What is measured in a run. The definitions:
//!
//! - *window*: `measure.from_s` to `measure.to_s`. `thput`, `thput_intact`, `cong`, `dev`,
//!   `norm_thput`, `offered_load` and a link's utilisation cover the window. Everything else covers a flow's life,
//!   from its start to its stop or the end of the run.
//! - `thput`: packets of measured flows that crossed the bottleneck, corrupted ones included, in
//!   bits on the wire, over what the bottleneck could carry. `thput_intact` counts the packets that
//!   reached the receivers instead.
//! - `cong`: packets of measured flows that queues dropped, on any link of their paths, over the
//!   packets of `thput`.
//! - `M_c`, `M_w`: per flow, the share of its judged congestion (wireless) losses that were called
//!   wireless (congestion); then the mean over the flows that have such a loss. An undecided loss
//!   counts as judged and not as wrong. Losses that were never judged are left out; `undetected`
//!   counts them.
//! - `dev`: sample standard deviation of the flows' packets of `thput` over their mean, over the
//!   flows that were present at some time in the window.
//! - `norm_thput.X`, where several groups of flows are measured: bits of `thput` of the group X
//!   over an equal share of the bottleneck for each of its flows.
//! - `usage.X`: share of received packets during which base scheme X of a hybrid algorithm was in
//!   force.
//! - `goodput`: distinct payload that all measured flows delivered, over the time from the first
//!   start to the last stop of one of them; `throughput`: the same of all payload received.
//!   `goodput_mean`, `throughput_mean`: each flow over its own life, the means over the flows that
//!   started; with `.X`, over the group X.
//! - `overhead`: 1 - the sum of the flows' goodputs over the sum of their throughputs.
//! - `fairness`: Jain's index (Σ T)² / (n Σ T²) of the flows' throughputs T; with `.X`, of the
//!   group X.
//! - `queue_loss.L`: packets of all flows that the queue of link L dropped over packets that
//!   arrived at it; the copies of a per-flow link count together. `queue_loss_measured.L`: the same
//!   for measured flows' data packets.
//! - `congestion_loss`: measured flows' data packets that queues dropped over those sent.
//! - `P_CC`, `P_WW`, `P_WC`: of the judged congestion (wireless, congestion) losses of all measured
//!   flows together, the share that was called congestion (wireless, wireless).
//! - `cwnd_mean`, `cwnd_max`, where `measure.cwnd` asks for them: time average and maximum of TCP's
//!   congestion window over a flow's life, without what recovery adds and at most the receiver's
//!   window; the mean of the averages and the largest maximum over the measured flows.
//! - Where `measure.delays` asks for them, percentiles (nearest rank, within 0.8 %) over all
//!   measured flows' packets: `delay_pN`, from sending to arrival of the data packets that arrived;
//!   `queueing_pN`, the part of it that they waited in queues, transmissions excluded; `rtt_pN`,
//!   per acknowledgement, from sending the data packet that caused it to its own arrival (without
//!   the time that TFRC's receiver reports to have held it back). `jitter`: the mean over all
//!   arrivals of the interarrival jitter J of RFC 3550, section 6.4.1; then the mean over the
//!   flows.
//! - `completion_time`, where a measured flow has `bytes`: from the start to the delivery of the
//!   last byte, the mean over the flows that are complete. `incomplete`: how many of those that
//!   started are not. Where several have `bytes`: `completion_time_pN`, percentiles over the flows
//!   that are complete (nearest rank, exact); `transfers`, how many started; `offered_load`, the
//!   payload of those that started in the window over what a link on their paths can carry in that
//!   time, of the link where it is largest.
//! - `response_time`, where a measured flow has an `application`: from a request to the last byte of
//!   its response, the mean over the complete ones of all such flows; `response_time_pN`,
//!   `responses`. Of video `startup`, `stalls` and `rebuffering`.
//!
//! Before the end of a run, "the end of the run" and "the end of the window" are the present. A
//! value that is not defined yet, such as `thput` before the window, is none.

use std::borrow::Cow;

use losscause_sim::{FlowId, Network, Simulation};
use serde::{Deserialize, Serialize};

use crate::Experiment;

pub use applications::ApplicationMeasurements;
pub use completions::CompletionTime;
pub(super) use cwnd::CwndAverages;
pub use delays::Percentiles;
pub use delays::is_of_delays;
pub(super) use delays::{Delays, FlowDelays};
pub use flows::FlowMeasurements;
pub use links::LinkMeasurements;
pub(super) use window::Window;

mod applications;
mod completions;
mod cwnd;
mod delays;
mod flows;
mod links;
mod rates;
mod usage;
mod verdicts;
mod window;

/// One number of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// The metric's name: `thput`, `M_c`, `usage.Spike`.
    pub metric: String,
    /// The metric's unit: `percent`, `kb/s`, `packets`.
    pub unit: Cow<'static, str>,
    /// The metric's value; none where it is not defined (`M_c` of a run without congestion loss).
    pub value: Option<f64>,
}

impl Metric {
    /// A number of that name and unit.
    pub fn new(
        metric: impl Into<String>,
        unit: impl Into<Cow<'static, str>>,
        value: Option<f64>,
    ) -> Self {
        Self { metric: metric.into(), unit: unit.into(), value }
    }
}

/// Everything that is measured in one run. [`SimulationResult`](crate::run::SimulationResult) is
/// its JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measurements {
    /// The run as a whole, in the order in which the metrics are measured. Every name occurs once.
    pub metrics: Vec<Metric>,
    /// Every flow, in the order of the network.
    pub flows: Vec<FlowMeasurements>,
    /// Every link, in the order of the network.
    pub links: Vec<LinkMeasurements>,
}

/// Where measurements are read from: a run at one instant.
#[derive(Clone, Copy)]
pub(super) struct State<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) simulation: &'a Simulation,
    /// The window, or as much of it as is over.
    pub(super) window: &'a Window,
    /// If the experiment measures congestion windows.
    pub(super) cwnd: Option<&'a CwndAverages>,
    /// If the experiment measures delays.
    pub(super) delays: Option<&'a Delays>,
}

impl Measurements {
    /// The value of the metric of that name, if the run has it and it is defined.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.iter().find(|metric| metric.metric == name)?.value
    }

    /// Packets that links transmitted, counted once per link: the work of the run.
    pub fn packet_hops(&self) -> u64 {
        self.links.iter().map(|link| link.entered_packets - link.queue_drops).sum()
    }

    pub(super) fn of(state: State<'_>) -> Self {
        let flows = flows::measure(state);
        Self { metrics: metrics(state, &flows), links: links::measure(state), flows }
    }
}

impl State<'_> {
    fn network(&self) -> &Network {
        &self.experiment.network
    }
}

/// Metrics under construction.
#[derive(Default)]
struct Metrics(Vec<Metric>);

impl Metrics {
    fn add(&mut self, metric: impl Into<String>, unit: &'static str, value: Option<f64>) {
        self.0.push(Metric::new(metric, unit, value));
    }
}

/// All metrics, in the order in which they are printed.
fn metrics(state: State<'_>, flows: &[FlowMeasurements]) -> Vec<Metric> {
    let mut metrics = Metrics::default();
    let window = window::Totals::of(state, flows);
    let measured = || flows.iter().filter(|flow| flow.measured);
    let total =
        |count: fn(&FlowMeasurements) -> u64| Some(measured().map(count).sum::<u64>() as f64);
    window.add_throughput(&mut metrics);
    verdicts::add_errors(&mut metrics, flows);
    window.add_deviation(&mut metrics);
    rates::add_sums(&mut metrics, state);
    window.add_shares(&mut metrics);
    metrics.add("queue_drops", "packets", total(|flow| flow.queue_drops));
    metrics.add("wireless_drops", "packets", total(|flow| flow.wireless_drops));
    metrics.add(
        "timeouts",
        "count",
        sum(measured().filter_map(|flow| flow.timeouts).map(|count| count as f64)),
    );
    let again = self::measured(state.network())
        .filter_map(|flow| Some(state.simulation.flow(flow).tcp?.retransmissions as f64));
    if let Some(count) = sum(again) {
        metrics.add("retransmissions", "packets", Some(count));
    }
    for (name, count) in [
        ("guarded", (|flow| flow.guarded) as fn(&FlowMeasurements) -> Option<u64>),
        ("braked", |flow| flow.braked),
    ] {
        if let Some(count) = sum(measured().filter_map(count).map(|count| count as f64)) {
            metrics.add(name, "count", Some(count));
        }
    }
    metrics.add("undecided", "packets", total(|flow| flow.undecided));
    metrics.add("undetected", "packets", total(|flow| flow.undetected));
    usage::add(&mut metrics, state);
    rates::add_means(&mut metrics, flows);
    links::add_queue_loss(&mut metrics, state);
    let drops = total(|flow| flow.queue_drops);
    let sent = total(|flow| flow.sent_packets);
    metrics.add(
        "congestion_loss",
        "fraction",
        drops.zip(sent.filter(|sent| *sent > 0.0)).map(|(part, all)| part / all),
    );
    verdicts::add_probabilities(&mut metrics, state);
    if let Some(cwnd) = state.cwnd {
        cwnd.add(&mut metrics, state);
    }
    if let Some(delays) = state.delays {
        delays.add(&mut metrics, state);
    }
    completions::add(&mut metrics, state, flows);
    applications::add(&mut metrics, state, flows);
    metrics.0
}

/// The measured flows of `network`.
fn measured(network: &Network) -> impl Iterator<Item = FlowId> {
    (0..).map(FlowId).zip(&network.flows).filter(|(_, spec)| spec.measured).map(|(id, _)| id)
}

/// The name of a flow's group, or of the link that a per-flow link is a copy of. Members are called
/// group.1, group.2, …; no name in a scenario has a dot.
pub fn group(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The sum; none of nothing.
fn sum(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.reduce(|sum, value| sum + value)
}
