//! The results of `simulate` as tables: the metrics that a run is judged by, the measured flows and
//! the links. With `--verbose`, all of them.

use std::io;

use losscause_study::run::{SeriesRow, SimulationResult};
use losscause_study::tools::figures::seeds;
use losscause_study::tools::table::Table;

use crate::output::{self, number, plural};

/// The answer; then the metrics, the flows, and of one run the links.
pub(super) fn print(result: &SimulationResult, verbose: bool) -> io::Result<()> {
    answer(result)?;
    let SimulationResult { title, seed, runs, .. } = result;
    let seeds = seeds(*seed, *runs);
    output::line(&match runs {
        1 => format!("{title} ({seeds})"),
        runs => format!("{title} ({runs} runs, {seeds})"),
    })?;
    let shown = result.shown(verbose);
    output::print_table(&result.metric_table(&shown))?;
    if *runs > 1 {
        output::line("flows, means over the runs")?;
    }
    let flows = result.flow_tables(verbose);
    flows.iter().try_for_each(output::print_table)?;
    let mut links_left = 0;
    if *runs == 1 {
        let links = result.link_table(verbose);
        output::print_table(&links)?;
        links_left = result.links.len() - links.rows.len();
    }
    without_value(result, verbose)?;
    let metrics_left = if verbose { 0 } else { result.metrics.len() - shown.len() };
    let flows_left = result.flows.len() - flows[0].rows.len();
    let parts = [(metrics_left, "metric"), (flows_left, "flow"), (links_left, "link")];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, what)| plural(count as u64, what)).collect();
    match parts.is_empty() {
        true => Ok(()),
        false => output::line(&format!("--verbose shows {} more.", parts.join(", "))),
    }
}

/// The answer before the tables.
fn answer(result: &SimulationResult) -> io::Result<()> {
    for sentence in result.answer() {
        output::sentence(&sentence)?;
    }
    output::line("")
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
    let row = |row: &SeriesRow| {
        [
            number(Some(row.to_s)),
            row.flow.clone(),
            number(Some(row.goodput_kbps)),
            number(row.cwnd_packets),
            number(row.rate_kbps),
            row.queue_packets.to_string(),
            number(row.delay_ms),
            row.queue_drops.to_string(),
            row.wireless_drops.to_string(),
        ]
    };
    let table = Table::new(header).numbers(..1).numbers(2..).with_rows(rows.iter().map(row));
    output::print_table(&table)
}

/// The warnings, one per line.
pub(super) fn warnings(result: &SimulationResult, verbose: bool) -> io::Result<()> {
    let told = result.told_beside(&result.shown(verbose)).into_iter();
    told.map(|warning| format!("warning: {}", warning.text))
        .try_for_each(|warning| output::sentence(&warning))
}
