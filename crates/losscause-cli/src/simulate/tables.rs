//! The results of `simulate` as tables: the metrics that a run is judged by, the measured flows and
//! the links. With `--verbose`, all of them.

use std::io;

use losscause_study::run::{
    JUDGED_BY, LinkMeasurements, MetricEstimate, Misjudged, Percentiles, RunMetrics, SeriesRow,
    SimulationResult, UNKNOWN, Warning, WarningKind,
};
use losscause_study::{FlowMeasurements, statistics};

use crate::output::{self, number, plural};

/// Most flows and most links that are shown without `--verbose`.
const MOST: usize = 10;

/// One run: metrics, flows, links.
pub(super) fn one_run(result: &SimulationResult, verbose: bool) -> io::Result<()> {
    answer(result)?;
    output::line(&format!("{} (seed {})", result.title, result.seed))?;
    let mut table = output::table(&["metric", "value", "unit"], &["value"]);
    for (name, metric) in shown(result, verbose) {
        let (value, unit) = match few_losses(result, name) {
            Some(few) => (UNKNOWN.to_owned(), few),
            None => (number(metric.value), metric.unit.clone()),
        };
        table.add_row([marked(name, metric, result), value, unit]);
    }
    output::print_table(&table)?;
    let flows_left = flows(std::slice::from_ref(&result.flows), verbose)?;
    let links_left = links(result, verbose)?;
    left_out(result, verbose, flows_left, links_left)
}

/// Several runs: means with intervals, and the flows' means.
pub(super) fn several_runs(result: &SimulationResult, verbose: bool) -> io::Result<()> {
    answer(result)?;
    let last = result.seed.wrapping_add(u64::from(result.runs) - 1);
    output::line(&format!(
        "{} ({} runs, seeds {} to {last})",
        result.title, result.runs, result.seed
    ))?;
    let mut table =
        output::table(&["metric", "mean", "± 95 %", "unit", "runs"], &["mean", "± 95 %", "runs"]);
    for (name, metric) in shown(result, verbose) {
        let mean = metric
            .value
            .map_or_else(|| number(None), |value| output::to_the_digits_of(value, metric.ci95));
        let interval = metric
            .ci95
            .map_or_else(|| number(None), |ci95| output::to_the_digits_of(ci95, Some(ci95)));
        let runs = match metric.runs {
            all if all == result.runs => all.to_string(),
            some => format!("{some} of {}", result.runs),
        };
        let (mean, interval, unit) = match few_losses(result, name) {
            Some(few) => (UNKNOWN.to_owned(), number(None), few),
            None => (mean, interval, metric.unit.clone()),
        };
        table.add_row([marked(name, metric, result), mean, interval, unit, runs]);
    }
    output::print_table(&table)?;
    let runs: Vec<Vec<FlowMeasurements>> =
        result.each_run.iter().map(|RunMetrics { flows, .. }| flows.clone()).collect();
    output::line("flows, means over the runs")?;
    let flows_left = flows(&runs, verbose)?;
    left_out(result, verbose, flows_left, 0)
}

/// The losses that a share of misjudged ones rests on, if they are few: "5 queue losses".
fn few_losses(result: &SimulationResult, metric: &str) -> Option<String> {
    let share = Misjudged::of_metric(metric)?;
    share.few(result.judged(share)).filter(|_| result.metrics[metric].value.is_some())
}

/// The answer before the tables.
fn answer(result: &SimulationResult) -> io::Result<()> {
    for sentence in result.answer() {
        output::sentence(&sentence)?;
    }
    output::line("")
}

/// The metrics to show that have a value: those that a link is judged by, then all others.
fn shown(result: &SimulationResult, verbose: bool) -> Vec<(&String, &MetricEstimate)> {
    let is_judged_by = |name: &str| JUDGED_BY.contains(&name);
    let mut shown: Vec<_> = result
        .metrics
        .iter()
        .filter(|(name, metric)| metric.value.is_some() && (verbose || is_judged_by(name)))
        .collect();
    shown.sort_by_key(|(name, _)| !is_judged_by(name));
    shown
}

/// Names the metrics without a value, if all are to be shown.
fn without_value(result: &SimulationResult, verbose: bool) -> io::Result<()> {
    let names: Vec<&str> = result
        .metrics
        .iter()
        .filter(|(_, metric)| verbose && metric.value.is_none())
        .map(|(name, _)| name.as_str())
        .collect();
    match names.is_empty() {
        true => Ok(()),
        false => output::sentence(&format!("without a value: {}", names.join(", "))),
    }
}

/// Says what is not shown, if anything is not.
fn left_out(
    result: &SimulationResult,
    verbose: bool,
    flows: usize,
    links: usize,
) -> io::Result<()> {
    without_value(result, verbose)?;
    let metrics = if verbose { 0 } else { result.metrics.len() - shown(result, verbose).len() };
    let parts = [(metrics, "metric"), (flows, "flow"), (links, "link")]
        .into_iter()
        .filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, what)| plural(count as u64, what)).collect();
    match parts.is_empty() {
        true => Ok(()),
        false => output::line(&format!("--verbose shows {} more.", parts.join(", "))),
    }
}

/// The name of a metric; with a star if it covers another part of the run than most metrics.
fn marked(name: &str, metric: &MetricEstimate, result: &SimulationResult) -> String {
    let differ =
        result.warnings.iter().any(|warning| warning.kind == WarningKind::DifferentWindows);
    if differ && metric.window { format!("{name} *") } else { name.to_owned() }
}

/// The flows: counts and rates, then delays; means over the runs. Returns how many are not shown.
fn flows(runs: &[Vec<FlowMeasurements>], verbose: bool) -> io::Result<usize> {
    let header = [
        "flow",
        "start s",
        "goodput kb/s",
        "sent",
        "received",
        "queue drops",
        "wireless",
        "M_c %",
        "M_w %",
    ];
    let mut counts = output::table(&header, &header[1..]);
    let header = [
        "flow, ms",
        "RTT p50",
        "p95",
        "p99",
        "one-way p50",
        "p95",
        "queueing p50",
        "p95",
        "jitter",
        "done s",
    ];
    let mut delays = output::table(&header, &header[1..]);
    let all = runs.first().map_or(&[][..], Vec::as_slice);
    let measured =
        all.iter().enumerate().filter(|(_, flow)| verbose || flow.measured).map(|(place, _)| place);
    let places: Vec<usize> = measured.take(if verbose { usize::MAX } else { MOST }).collect();
    for &place in &places {
        let mean = |value: fn(&FlowMeasurements) -> Option<f64>| {
            let values: Vec<f64> = runs.iter().filter_map(|flows| value(&flows[place])).collect();
            number(statistics::mean(&values))
        };
        let name = runs[0][place].flow.clone();
        let misjudged = |share: Misjudged, mean: String| {
            let judged = runs.iter().map(|flows| share.judged(&flows[place])).sum();
            let is_judged = mean != number(None) && runs[0][place].lda.is_some();
            share.few(judged).filter(|_| is_judged).map_or(mean, |_| UNKNOWN.to_owned())
        };
        counts.add_row([
            name.clone(),
            mean(|flow| flow.start_s),
            mean(|flow| flow.goodput_kbps),
            mean(|flow| Some(flow.sent_packets as f64)),
            mean(|flow| Some(flow.received_packets as f64)),
            mean(|flow| Some(flow.queue_drops as f64)),
            mean(|flow| Some(flow.wireless_drops as f64)),
            misjudged(Misjudged::Congestion, mean(|flow| flow.m_c)),
            misjudged(Misjudged::Wireless, mean(|flow| flow.m_w)),
        ]);
        delays.add_row([
            name,
            mean(|flow| p50(flow.rtt_ms)),
            mean(|flow| p95(flow.rtt_ms)),
            mean(|flow| flow.rtt_ms.map(|rtt| rtt.p99)),
            mean(|flow| p50(flow.delay_ms)),
            mean(|flow| p95(flow.delay_ms)),
            mean(|flow| p50(flow.queueing_ms)),
            mean(|flow| p95(flow.queueing_ms)),
            mean(|flow| flow.jitter_ms),
            mean(|flow| flow.completion_s),
        ]);
    }
    output::print_table(&counts)?;
    output::print_table(&delays)?;
    Ok(all.len() - places.len())
}

fn p50(delay: Option<Percentiles>) -> Option<f64> {
    delay.map(|delay| delay.p50)
}

fn p95(delay: Option<Percentiles>) -> Option<f64> {
    delay.map(|delay| delay.p95)
}

/// The links, in order. Returns how many are not shown.
fn links(result: &SimulationResult, verbose: bool) -> io::Result<usize> {
    let header = LinkMeasurements::COLUMNS;
    let mut table = output::table(&header, &header[1..]);
    let most = if verbose { usize::MAX } else { MOST };
    for link in result.links.iter().take(most) {
        table.add_row(link.cells());
    }
    output::print_table(&table)?;
    Ok(result.links.len().saturating_sub(most))
}

/// The run over time; nothing if it was not asked for.
pub(super) fn series(rows: &[SeriesRow]) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let header = [
        "to s",
        "flow",
        "goodput kb/s",
        "cwnd pkts",
        "rate kb/s",
        "queue pkts",
        "delay ms",
        "queue drops",
        "wireless",
    ];
    let mut table = output::table(&header, &[&header[..1], &header[2..]].concat());
    for row in rows {
        table.add_row([
            number(Some(row.to_s)),
            row.flow.clone(),
            number(Some(row.goodput_kbps)),
            number(row.cwnd_packets),
            number(row.rate_kbps),
            row.queue_packets.to_string(),
            number(row.delay_ms),
            row.queue_drops.to_string(),
            row.wireless_drops.to_string(),
        ]);
    }
    output::print_table(&table)
}

/// The warnings, one per line.
pub(super) fn warnings(warnings: &[Warning]) -> io::Result<()> {
    // The answer says whether an algorithm judged, and which shares are unknown.
    let told = warnings
        .iter()
        .filter(|warning| !matches!(warning.kind, WarningKind::NoLda | WarningKind::FewLosses));
    told.map(|warning| format!("warning: {}", warning.text))
        .try_for_each(|warning| output::sentence(&warning))
}
