//! What runs have measured as tables for people: the metrics that a run is judged by, the flows,
//! and the links.

use super::result::mean_and_interval;
use super::{
    FlowMeasurements, JUDGED_BY, LinkMeasurements, MetricEstimate, Misjudged, Percentiles,
    SimulationResult, UNKNOWN, Warning, WarningKind,
};
use crate::statistics;
use crate::tools::figures::{estimate, number, to_the_digits_of};
use crate::tools::table::Table;

/// Most flows and most links in a table that does not show all.
const MOST: usize = 10;

/// A column of the table of flows: its name, and a flow's value.
type Column = (&'static str, fn(&FlowMeasurements) -> Option<f64>);

/// Counts and rates.
const COUNTS: [Column; 8] = [
    ("start s", |flow| flow.start_s),
    ("goodput kb/s", |flow| flow.goodput_kbps),
    ("sent", |flow| Some(flow.sent_packets as f64)),
    ("received", |flow| Some(flow.received_packets as f64)),
    ("queue drops", |flow| Some(flow.queue_drops as f64)),
    ("wireless", |flow| Some(flow.wireless_drops as f64)),
    ("M_c %", |flow| flow.m_c),
    ("M_w %", |flow| flow.m_w),
];

/// Delays.
const DELAYS: [Column; 9] = [
    ("RTT p50", |flow| p50(flow.rtt_ms)),
    ("p95", |flow| p95(flow.rtt_ms)),
    ("p99", |flow| flow.rtt_ms.map(|rtt| rtt.p99)),
    ("one-way p50", |flow| p50(flow.delay_ms)),
    ("p95", |flow| p95(flow.delay_ms)),
    ("queueing p50", |flow| p50(flow.queueing_ms)),
    ("p95", |flow| p95(flow.queueing_ms)),
    ("jitter", |flow| flow.jitter_ms),
    ("done s", |flow| flow.completion_s),
];

fn p50(delay: Option<Percentiles>) -> Option<f64> {
    delay.map(|delay| delay.p50)
}

fn p95(delay: Option<Percentiles>) -> Option<f64> {
    delay.map(|delay| delay.p95)
}

impl SimulationResult {
    /// The metrics with a value that a run is judged by; with `all`, the others too, behind them.
    pub fn shown(&self, all: bool) -> Vec<(&str, &MetricEstimate)> {
        let is_judged_by = |name: &str| JUDGED_BY.contains(&name);
        let metrics = self.metrics.iter().map(|(name, metric)| (name.as_str(), metric));
        let mut shown: Vec<_> = metrics
            .filter(|(name, metric)| metric.value.is_some() && (all || is_judged_by(name)))
            .collect();
        shown.sort_by_key(|(name, _)| !is_judged_by(name));
        shown
    }

    /// Metrics as a table: of one run values, of several means with their intervals. A metric with
    /// a star covers another part of the run than most.
    pub fn metric_table(&self, metrics: &[(&str, &MetricEstimate)]) -> Table {
        let rows = metrics.iter().map(|(name, metric)| self.metric_row(name, metric));
        match self.runs {
            1 => Table::new(["metric", "value", "unit"]).numbers(1..2).with_rows(rows),
            _ => Table::new(["metric", "mean", "± 95 %", "unit", "runs"])
                .numbers(1..3)
                .numbers(4..)
                .with_rows(rows),
        }
    }

    /// The warnings for a reader of a table of these metrics, without those that are told elsewhere:
    /// what a star means is told if there is one.
    pub fn told_beside(&self, metrics: &[(&str, &MetricEstimate)]) -> Vec<&Warning> {
        let has_star = metrics.iter().any(|(_, metric)| self.is_marked(metric));
        let is_due = |one: &&Warning| one.kind != WarningKind::DifferentWindows || has_star;
        let told = self.warnings.iter().filter(|one| !one.is_told_elsewhere());
        told.filter(is_due).collect()
    }

    /// Whether the metric covers another part of the run than most: it has a star.
    fn is_marked(&self, metric: &MetricEstimate) -> bool {
        metric.window && self.warnings.iter().any(|one| one.kind == WarningKind::DifferentWindows)
    }

    fn metric_row(&self, name: &str, metric: &MetricEstimate) -> Vec<String> {
        let star = if self.is_marked(metric) { " *" } else { "" };
        let share = Misjudged::of_metric(name).filter(|_| metric.value.is_some());
        let few = share.and_then(|share| share.few(self.judged(share)));
        let digits = |value: Option<f64>| {
            value.map_or_else(|| number(None), |value| to_the_digits_of(value, metric.ci95))
        };
        let (value, interval, unit) = match few {
            Some(few) => (UNKNOWN.to_owned(), number(None), few),
            None if self.runs == 1 => (number(metric.value), String::new(), metric.unit.clone()),
            None => (digits(metric.value), digits(metric.ci95), metric.unit.clone()),
        };
        let name = format!("{name}{star}");
        if self.runs == 1 {
            return vec![name, value, unit];
        }
        let runs = match metric.runs {
            all if all == self.runs => all.to_string(),
            some => format!("{some} of {}", self.runs),
        };
        vec![name, value, interval, unit, runs]
    }

    /// The measured flows, or with `all` every flow: counts and rates, then delays; of several runs
    /// the means.
    pub fn flow_tables(&self, all: bool) -> [Table; 2] {
        let runs: Vec<&[FlowMeasurements]> = match self.each_run.is_empty() {
            true => vec![&self.flows],
            false => self.each_run.iter().map(|run| run.flows.as_slice()).collect(),
        };
        let table = |head: &str, columns: &[Column]| {
            let heads = [head].into_iter().chain(columns.iter().map(|(name, _)| *name));
            let shown = (0..runs[0].len()).filter(|place| all || runs[0][*place].measured);
            let row = |place: usize| -> Vec<String> {
                let values = columns.iter().map(|column| flow_cell(&runs, place, column));
                [runs[0][place].flow.clone()].into_iter().chain(values).collect()
            };
            Table::new(heads).numbers(1..).with_rows(shown.take(most(all)).map(row))
        };
        [table("flow", &COUNTS), table("flow, ms", &DELAYS)]
    }

    /// The first links of the first run, or with `all` every link.
    pub fn link_table(&self, all: bool) -> Table {
        let rows = self.links.iter().take(most(all)).map(LinkMeasurements::cells);
        Table::new(LinkMeasurements::COLUMNS).numbers(1..).with_rows(rows)
    }
}

/// A flow's mean over the runs, of its goodput with the interval; unknown if it is a share of few
/// losses.
fn flow_cell(runs: &[&[FlowMeasurements]], place: usize, (name, value): &Column) -> String {
    let flows = || runs.iter().map(|flows| &flows[place]);
    let values: Vec<f64> = flows().filter_map(value).collect();
    let share = name.strip_suffix(" %").and_then(Misjudged::of_metric);
    let few = share.and_then(|share| share.few(flows().map(|flow| share.judged(flow)).sum()));
    let is_judged = !values.is_empty() && runs[0][place].lda.is_some();
    match few.filter(|_| is_judged) {
        Some(_) => UNKNOWN.to_owned(),
        None if name.starts_with("goodput") && values.len() > 1 => {
            let values: Vec<_> = values.into_iter().map(Some).collect();
            let (mean, ci95) = mean_and_interval(&values);
            mean.map_or_else(
                || number(None),
                |mean| estimate(mean, ci95.filter(|half| *half > 0.0)),
            )
        }
        None => number(statistics::mean(&values)),
    }
}

fn most(all: bool) -> usize {
    if all { usize::MAX } else { MOST }
}
