//! The page of one scenario's runs: the answer, the timeline of the first run, the algorithms, all
//! numbers.

use serde::Serialize;

use super::algorithms::{self, AlgorithmView};
use super::axis::Axis;
use super::chart::{Legend, Scale};
use super::lines::{Curve, Lines, Point, Style};
use super::{losses, timeline};
use losscause_study::run::{
    CompletionTime, FlowMeasurements, LinkMeasurements, MetricEstimate, Misjudged, Percentiles,
    RunRecord, SimulationResult, UNKNOWN, WarningKind,
};
use losscause_study::tools::csv_file;
use losscause_study::tools::figures::{number, plus_minus, to_the_digits_of, unit_symbol};

#[derive(Serialize)]
pub(super) struct PageView {
    title: String,
    scenario: String,
    settings: Vec<String>,
    /// The answer, sentence by sentence.
    answers: Vec<String>,
    runs: String,
    /// The seed of the run that is drawn.
    seed: u64,
    warnings: Vec<String>,
    timeline: String,
    legend: Legend,
    /// Measured flows without curves.
    left_out: usize,
    losses: Vec<LossView>,
    all_losses: usize,
    algorithms: Vec<AlgorithmView>,
    metrics: Vec<MetricView>,
    csv: String,
    /// The distribution of completion times as a drawing; empty without transfers.
    completion_times: String,
    tables: Vec<TableView>,
    version: String,
}

/// A loss in the list.
#[derive(Serialize)]
struct LossView {
    at: String,
    flow: String,
    seq: u64,
    link: String,
    cause: &'static str,
    verdict: String,
}

#[derive(Serialize)]
struct MetricView {
    anchor: String,
    name: String,
    unit: String,
    value: String,
    interval: String,
    runs: String,
    /// Whether users judge a link by it; all others are folded.
    told: bool,
}

/// Flows or links.
#[derive(Serialize)]
struct TableView {
    title: &'static str,
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

/// A metric as a row of the table's CSV.
#[derive(Serialize)]
struct Row<'a> {
    metric: &'a str,
    unit: &'a str,
    mean: Option<f64>,
    ci95: Option<f64>,
    runs: u32,
}

/// Most losses in the list of the page.
const MOST_LISTED: usize = 300;

/// The view of the whole page. `record` is that of the first run.
pub(super) fn page(result: &SimulationResult, record: &RunRecord) -> PageView {
    let last = result.seed.wrapping_add(u64::from(result.runs) - 1);
    let rows = result.metrics.iter().map(|(metric, found)| Row {
        metric,
        unit: &found.unit,
        mean: found.value,
        ci95: found.ci95,
        runs: found.runs,
    });
    PageView {
        title: result.title.clone(),
        scenario: result.scenario.clone(),
        settings: result.settings.clone(),
        answers: result.answer(),
        runs: match result.runs {
            1 => format!("one run of {} s, seed {}", number(Some(record.to_s)), result.seed),
            runs => format!(
                "{runs} runs of {} s, seeds {} to {last}",
                number(Some(record.to_s)),
                result.seed
            ),
        },
        seed: record.seed,
        // The answer says whether an algorithm judged, and which shares are unknown.
        warnings: result
            .warnings
            .iter()
            .filter(|warning| !matches!(warning.kind, WarningKind::NoLda | WarningKind::FewLosses))
            .map(|warning| warning.text.clone())
            .collect(),
        timeline: timeline::drawing(record).svg(),
        legend: timeline::legend(record),
        left_out: record.left_out,
        losses: listed(record),
        all_losses: record.losses.len(),
        algorithms: algorithms::views(record, "", "algorithm-"),
        metrics: result.metrics.iter().map(|(name, found)| metric(name, found, result)).collect(),
        csv: csv_file::text(rows),
        completion_times: completion_times(&result.completion_times),
        tables: tables(result),
        version: result.version.clone(),
    }
}

fn listed(record: &RunRecord) -> Vec<LossView> {
    let view = |loss: &losscause_study::run::LostPacket| LossView {
        at: format!("{:.3}", loss.at_s()),
        flow: loss.flow.clone(),
        seq: loss.seq,
        link: loss.lost.as_ref().map(|(_, link)| link.clone()).unwrap_or_default(),
        cause: match loss.cause {
            Some(losscause_sim::truth::Cause::Congestion) => "congestion",
            Some(losscause_sim::truth::Cause::Wireless) => "wireless",
            None => "not lost",
        },
        verdict: losses::reason(loss).unwrap_or_default(),
    };
    record.losses.iter().take(MOST_LISTED).map(view).collect()
}

/// The share of the transfers that were done within a time.
fn completion_times(times: &[CompletionTime]) -> String {
    let Some(CompletionTime { time_s: most, .. }) = times.last() else { return String::new() };
    let axis = Axis::from_zero(*most);
    let drawn =
        times.iter().filter(|time| time.percent % 5 == 0 || [1, 99].contains(&time.percent));
    let point = |time: &CompletionTime| Point {
        x: time.time_s,
        value: Some(f64::from(time.percent)),
        interval: None,
        title: format!("{} % within {} s", time.percent, number(Some(time.time_s))),
        ring: None,
    };
    let lines = Lines {
        label: "share of the transfers over their completion time".to_owned(),
        across: Scale { has_lines: false, ..Scale::of("completion time, s", axis) },
        up: Scale::of("transfers done, %", Axis::linear(0.0, 100.0)),
        curves: vec![Curve {
            name: "transfers".to_owned(),
            style: Style::nth(0),
            points: drawn.map(point).collect(),
        }],
    };
    lines.svg()
}

fn metric(name: &str, found: &MetricEstimate, result: &SimulationResult) -> MetricView {
    let few = Misjudged::of_metric(name)
        .filter(|_| found.value.is_some())
        .and_then(|share| share.few(result.judged(share)));
    let (value, unit, interval) = match (few, found.value) {
        (Some(few), _) => (UNKNOWN.to_owned(), few, String::new()),
        (None, None) => (number(None), unit_symbol(&found.unit).to_owned(), String::new()),
        (None, Some(value)) => (
            to_the_digits_of(value, found.ci95),
            unit_symbol(&found.unit).to_owned(),
            plus_minus(found.ci95),
        ),
    };
    MetricView {
        anchor: format!("metric-{name}"),
        name: name.to_owned(),
        unit,
        value,
        interval,
        runs: if found.runs == result.runs {
            String::new()
        } else {
            format!("{} of {} runs", found.runs, result.runs)
        },
        told: found.value.is_some() && losscause_study::run::JUDGED_BY.contains(&name),
    }
}

/// A flow's share of misjudged losses, percent; unknown if they are few.
fn misjudged(flow: &FlowMeasurements, share: Misjudged, percent: Option<f64>) -> String {
    let is_unknown = percent.is_some() && share.few(share.judged(flow)).is_some();
    if is_unknown { UNKNOWN.to_owned() } else { number(percent) }
}

/// The flows and the links of the first run.
fn tables(result: &SimulationResult) -> Vec<TableView> {
    let p50 = |delay: Option<Percentiles>| number(delay.map(|delay| delay.p50));
    let p95 = |delay: Option<Percentiles>| number(delay.map(|delay| delay.p95));
    let flow = |flow: &FlowMeasurements| {
        vec![
            flow.flow.clone(),
            number(flow.goodput_kbps),
            flow.sent_packets.to_string(),
            flow.queue_drops.to_string(),
            flow.wireless_drops.to_string(),
            misjudged(flow, Misjudged::Congestion, flow.m_c),
            misjudged(flow, Misjudged::Wireless, flow.m_w),
            p50(flow.rtt_ms),
            p95(flow.rtt_ms),
            p50(flow.delay_ms),
            p95(flow.delay_ms),
            number(flow.completion_s),
        ]
    };
    vec![
        TableView {
            title: "Flows",
            header: vec![
                "flow",
                "goodput kb/s",
                "sent",
                "queue drops",
                "wireless",
                "M_c %",
                "M_w %",
                "RTT p50 ms",
                "p95",
                "one-way p50 ms",
                "p95",
                "done s",
            ],
            rows: result.flows.iter().map(flow).collect(),
        },
        TableView {
            title: "Links",
            header: LinkMeasurements::COLUMNS.to_vec(),
            rows: result.links.iter().map(|link| link.cells().to_vec()).collect(),
        },
    ]
}
