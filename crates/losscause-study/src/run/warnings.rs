//! Warnings that keep a reader from wrong conclusions.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use losscause::{Algorithm, Span, Time};
use losscause_sim::{ChannelSpec, FlowSpec, LinkId, Network, QueueSpec, TcpLda, Traffic};

use super::measure::group;
use super::misjudged::{ENOUGH_LOSSES, Misjudged};
use super::{FlowMeasurements, Measurements};
use crate::Experiment;
use crate::scenario::recommended_lda;

/// A warning about the numbers of one or more runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// What kind of warning.
    pub kind: WarningKind,
    /// One sentence.
    pub text: String,
}

/// The kinds of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WarningKind {
    /// A receiver's window, not the network, limited a TCP flow.
    WindowLimited,
    /// A TCP or TFRC flow was still in its first slow start at the end.
    SlowStart,
    /// M_c or M_w rests on fewer than ten losses.
    FewLosses,
    /// No measured flow has an algorithm.
    NoLda,
    /// Metrics cover different parts of the run.
    DifferentWindows,
    /// Metrics have no value in some runs.
    MissingValues,
    /// Long flows without sender jitter share a DropTail queue.
    PhaseEffects,
    /// Several runs are the same.
    SameRuns,
    /// A link's rate, delay or loss is so small or large that its unit is probably another one.
    Unit,
}

impl Warning {
    /// Whether the answer or a table says the same: that no algorithm judged, and which shares are
    /// unknown.
    pub fn is_told_elsewhere(&self) -> bool {
        matches!(self.kind, WarningKind::NoLda | WarningKind::FewLosses)
    }
}

/// A smaller share of acknowledgements, percent, would be told as 0.0 %.
const TOLD: f64 = 0.05;

/// Metrics that cover the measuring window; all others cover each flow's life.
const OVER_THE_WINDOW: [&str; 6] =
    ["thput", "thput_intact", "cong", "dev", "norm_thput", "offered_load"];

/// Whether the metric covers the measuring window instead of each flow's life.
pub fn covers_window(metric: &str) -> bool {
    OVER_THE_WINDOW.contains(&group(metric))
}

/// Whether the measuring window differs from the life of some measured flow.
pub fn windows_differ(experiment: &Experiment, runs: &[Measurements]) -> bool {
    let from = experiment.window.0.as_secs_f64();
    let to = experiment.window.1.as_secs_f64();
    let end = experiment.duration.as_secs_f64();
    let differs = |flow: &FlowMeasurements| {
        flow.start_s.is_some_and(|start| start != from) || flow.stop_s.unwrap_or(end) != to
    };
    runs.iter().flat_map(|run| &run.flows).any(|flow| flow.measured && differs(flow))
}

/// The warnings about `runs`, one or more runs of `experiment`.
pub fn warnings(experiment: &Experiment, runs: &[Measurements]) -> Vec<Warning> {
    let mut found = Vec::new();
    let mut warn = |kind, text| found.push(Warning { kind, text });
    for (part, flows) in groups(runs) {
        let count = |is: fn(&FlowMeasurements) -> bool| {
            let mut of_runs: Vec<usize> =
                flows.iter().filter(|(_, flow)| is(flow)).map(|(run, _)| *run).collect();
            of_runs.dedup();
            of_runs.len()
        };
        let window_limited =
            count(|flow| flow.window_limited_percent.is_some_and(|share| share >= TOLD));
        if window_limited > 0 {
            let shares = flows.iter().filter_map(|(_, flow)| flow.window_limited_percent);
            let text = format!(
                "{part}: the receiver's window of {} packets held the sender back at {:.1} % of its \
                 acknowledgements{}; a larger tcp.max_window_pkts would let it send more",
                window_pkts(experiment, &flows[0].1.flow),
                shares.fold(0.0, f64::max),
                in_runs(window_limited, runs.len()),
            );
            warn(WarningKind::WindowLimited, text);
        }
        let slow = count(|flow| {
            flow.in_slow_start == Some(true)
                && flow.completion_s.is_none()
                && flow.application.is_none()
        });
        if slow > 0 && window_limited == 0 {
            let text = format!(
                "{part}: never left slow start{}, so its numbers are those of a start; a longer duration_s shows the \
                 steady state",
                in_runs(slow, runs.len())
            );
            warn(WarningKind::SlowStart, text);
        }
    }
    let judged: Vec<&FlowSpec> =
        experiment.network.flows.iter().filter(|flow| flow.measured).collect();
    if judged.iter().any(|flow| has_lda(&flow.traffic)) {
        for share in Misjudged::ALL {
            let losses = share.judged_in_all(runs.iter().flat_map(|run| &run.flows));
            if (1..ENOUGH_LOSSES).contains(&losses) {
                let losses =
                    if losses == 1 { "1 loss".to_owned() } else { format!("{losses} losses") };
                let text = format!(
                    "{} rests on {losses} to {}; fewer than {ENOUGH_LOSSES} say little",
                    share.metric(),
                    share.cause()
                );
                warn(WarningKind::FewLosses, text);
            }
        }
    } else if let Some(flow) = judged.first() {
        let text = format!(
            "no measured flow has an LDA, so every loss counts as congestion; --set flow.{}.lda={} sets one",
            group(&flow.name),
            recommended_lda()
        );
        warn(WarningKind::NoLda, text);
    }
    for text in unlikely_units(&experiment.network) {
        warn(WarningKind::Unit, text);
    }
    let shared: Vec<(&str, usize, f64)> = links_with_phase_effects(experiment, runs).collect();
    if let Some((link, flows, packet_us)) = shared.first() {
        let others = match shared.len() - 1 {
            0 => String::new(),
            others => format!(" ({others} more such links)"),
        };
        let text = format!(
            "{link}: {flows} long flows share its drop-tail queue{others} and nothing varies when their packets arrive, \
             so phase effects may decide which of them lose; --set send_jitter_us={:.0} is half a packet's time \
             (losscause docs chance)",
            packet_us / 2.0
        );
        warn(WarningKind::PhaseEffects, text);
    }
    if are_one_run(runs) {
        let text = format!(
            "nothing in this scenario depends on the seed: the {} runs are one run, so there are no intervals",
            runs.len()
        );
        warn(WarningKind::SameRuns, text);
    }
    if windows_differ(experiment, runs) {
        let seconds = |at: Time| at.as_secs_f64();
        let text = format!(
            "metrics marked * cover {} s to {} s; all others cover each flow's life",
            seconds(experiment.window.0),
            seconds(experiment.window.1)
        );
        warn(WarningKind::DifferentWindows, text);
    }
    let missing: Vec<String> =
        missing(runs).map(|(name, with)| format!("{name} in {with}")).collect();
    if !missing.is_empty() {
        let text = format!(
            "some metrics have a value in only some of the {} runs, and their means are over those: {}",
            runs.len(),
            missing.join(", ")
        );
        warn(WarningKind::MissingValues, text);
    }
    found
}

/// A rate below this is probably meant in Mb/s, bit/s.
const SLOW_BPS: u64 = 1_000;
/// A path of a shorter delay is probably meant in seconds.
const SHORT: Span = Span::from_millis(1);
/// A path of a longer delay is probably meant in milliseconds. To the moon it is 1.3 s.
const LONG: Span = Span::from_secs(10);

/// A sentence for each rate, delay and loss on a measured flow's path that is probably in another
/// unit.
fn unlikely_units(network: &Network) -> Vec<String> {
    let mut found = Vec::new();
    for flow in network.flows.iter().filter(|flow| flow.measured) {
        let path = || flow.path.iter().map(|link| &network.links[link.0 as usize]);
        let slow = path().filter(|link| link.rate_bps < SLOW_BPS);
        found.extend(slow.map(|link| {
            format!("{}: its rate is {1} bit/s; did you mean {1} Mb/s?", link.name, link.rate_bps)
        }));
        let delay = path().fold(Span::ZERO, |sum, link| sum + link.delay);
        let longest = path().max_by_key(|link| link.delay);
        if let Some(link) = longest.filter(|_| delay > Span::ZERO && delay < SHORT) {
            let ms = link.delay.as_secs_f64() * 1e3;
            found.push(format!("{}: its delay is {ms} ms; did you mean {ms} s?", link.name));
        }
        if let Some(link) = longest.filter(|_| delay > LONG) {
            let s = link.delay.as_secs_f64();
            found.push(format!("{}: its delay is {s} s; did you mean {s} ms?", link.name));
        }
        let all_lost = path().filter(|link| link.channel == ChannelSpec::Bernoulli { loss: 1.0 });
        found.extend(all_lost.map(|link| {
            format!("{}: its channel loses every packet; did you mean a loss of 1%?", link.name)
        }));
    }
    found.dedup();
    found
}

/// Whether there are several runs, and no draw made a difference between them.
pub fn are_one_run(runs: &[Measurements]) -> bool {
    runs.len() > 1 && runs.iter().all(|run| *run == runs[0])
}

/// The links with a DropTail queue that dropped packets in some run, although nothing varies when
/// packets arrive: several long flows share it, none with sender jitter, and no source with random
/// traffic. With each the number of long flows, and the packet time of the largest, microseconds.
fn links_with_phase_effects<'a>(
    experiment: &'a Experiment,
    runs: &'a [Measurements],
) -> impl Iterator<Item = (&'a str, usize, f64)> {
    let Network { links, flows } = &experiment.network;
    let has_drops = |place: usize| {
        runs.iter().any(|run| run.links.get(place).is_some_and(|link| link.queue_drops > 0))
    };
    links.iter().zip(0..).filter_map(move |(link, place)| {
        let users = || flows.iter().filter(move |flow| flow.path.contains(&LinkId(place)));
        let varies = |flow: &FlowSpec| {
            flow.send_jitter > Span::ZERO
                || matches!(flow.traffic, Traffic::OnOff { .. } | Traffic::Poisson { .. })
        };
        if !matches!(link.queue, QueueSpec::DropTail { .. })
            || !has_drops(place as usize)
            || users().any(varies)
        {
            return None;
        }
        let long: Vec<u32> = users().filter_map(long_flow_bytes).collect();
        let packet_us = f64::from(*long.iter().max()?) * 8e6 / link.rate_bps as f64;
        (long.len() > 1).then_some((link.name.as_str(), long.len(), packet_us))
    })
}

/// The size of a full packet of a flow with feedback and unlimited data, bytes.
fn long_flow_bytes(flow: &FlowSpec) -> Option<u32> {
    match &flow.traffic {
        Traffic::Tcp { config, .. }
            if config.limit_pkts.is_none() && flow.application.is_none() =>
        {
            Some(config.wire_bytes())
        }
        Traffic::Tfrc { config, .. } => Some(config.payload_bytes + config.header_bytes),
        _ => None,
    }
}

/// The metrics that have a value in some runs but not in all, and in how many. Shares of few losses
/// are unknown anyway.
fn missing(runs: &[Measurements]) -> impl Iterator<Item = (&str, usize)> {
    let judged = |share: Misjudged| share.judged_in_all(runs.iter().flat_map(|run| &run.flows));
    let unknown =
        Misjudged::ALL.into_iter().filter(move |share| share.few(judged(*share)).is_some());
    let unknown: Vec<&str> = unknown.flat_map(Misjudged::metrics).copied().collect();
    let names =
        runs.first().into_iter().flat_map(|run| &run.metrics).map(|metric| metric.metric.as_str());
    let counted = names.enumerate().map(|(place, name)| {
        let has = |run: &&Measurements| {
            run.metrics.get(place).is_some_and(|metric| metric.value.is_some())
        };
        (name, runs.iter().filter(has).count())
    });
    counted.filter(move |(name, with)| (1..runs.len()).contains(with) && !unknown.contains(name))
}

/// The groups of measured flows, each with its flows and the places of their runs.
fn groups(runs: &[Measurements]) -> IndexMap<&str, Vec<(usize, &FlowMeasurements)>> {
    let mut groups: IndexMap<_, Vec<_>> = IndexMap::new();
    for (place, run) in runs.iter().enumerate() {
        for flow in run.flows.iter().filter(|flow| flow.measured) {
            groups.entry(group(&flow.flow)).or_default().push((place, flow));
        }
    }
    groups
}

/// The receiver's window of a TCP flow, packets.
fn window_pkts(experiment: &Experiment, name: &str) -> u32 {
    let flow = experiment.network.flows.iter().find(|flow| flow.name == name);
    match flow.map(|flow| &flow.traffic) {
        Some(Traffic::Tcp { config, .. }) => config.max_window_pkts,
        _ => 0,
    }
}

/// Whether an algorithm judges the losses, other than by calling all of them congestion.
fn has_lda(traffic: &Traffic) -> bool {
    let name = match traffic {
        Traffic::Tcp { lda: TcpLda::None, .. } => return false,
        Traffic::Tcp { lda: TcpLda::Sender(lda), .. } => Algorithm::name(lda),
        Traffic::Tcp { lda: TcpLda::Receiver { lda, .. }, .. } | Traffic::Tfrc { lda, .. } => {
            Algorithm::name(lda)
        }
        Traffic::Cbr { lda, .. } | Traffic::OnOff { lda, .. } | Traffic::Poisson { lda, .. } => {
            match lda {
                Some(lda) => Algorithm::name(lda),
                None => return false,
            }
        }
    };
    name != crate::scenario::NO_LDA
}

fn in_runs(some: usize, all: usize) -> String {
    if some == all { String::new() } else { format!(" in {some} of {all} runs") }
}
