//! Sweeps over the simulator and another stack: each cell by both. That of the kernel is recorded as
//! a whole, those of ns-2 as the tables beside their files.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, Result};
use losscause_laboratory::sweep::{AxisValue, ByTwo, CellOutcome, SweepResult};
use losscause_study::tools::figures::plus_minus;
use losscause_study::tools::table::{Cell, Table};

use super::{Origin, Page};
use crate::shell::root;
use crate::validate::{self, NS2};

/// The axis of cells with their own number of runs. Here every cell has one.
const RUNS: &str = "runs";

/// The axes, the runs, and of each metric the mean by both, their ratio and its interval; without the
/// cells that have left-out runs.
pub(crate) fn cells(result: &SweepResult) -> Table {
    let axes = &result.axes[..result.axes.len() - 1];
    let is_setting = |axis: &str| axis != RUNS;
    let peer = result.cells[1].cell.values.last().map_or("", |stack| &stack.value);
    let peer = peer.split('-').next().unwrap_or_default();
    let columns = |metric: &String| {
        ["ours", peer, "ratio", "ci95"].map(|column| format!("{metric}_{column}"))
    };
    let head = axes.iter().filter(|axis| is_setting(axis)).cloned().chain([RUNS.to_owned()]);
    let table = Table::new(head.chain(result.metrics.keys().flat_map(columns))).numbers(1..);
    let number = |value: Option<f64>, decimals: usize| {
        Cell::from(value.map_or_else(String::new, |value| format!("{value:.decimals$}")))
    };
    let row = |(of_cell, pair): (&[ByTwo<'_>], &[CellOutcome])| {
        let is_whole = pair.iter().all(|cell| cell.left_out.is_empty());
        let ByTwo { cell, rows: [first, _], .. } = &of_cell[0];
        let settings = cell.values[..axes.len()].iter().filter(|value| is_setting(&value.axis));
        let place = settings.map(|AxisValue { value, .. }| value.clone());
        let values = of_cell.iter().flat_map(|ByTwo { rows, ratio, .. }| {
            let means = rows.map(|row| number(row.measured, 2).below(plus_minus(row.ci95)));
            means.into_iter().chain([number(ratio.mean, 4), number(ratio.ci95, 4)])
        });
        let place = place.chain([first.runs.to_string()]).map(Cell::from);
        is_whole.then(|| place.chain(values).collect::<Vec<_>>())
    };
    let pairs = result.by_two();
    let pairs = pairs.chunks(result.metrics.len()).zip(result.cells.chunks(2));
    table.with_rows(pairs.filter_map(row))
}

/// `linux`: the result of `validate linux`.
///
/// # Errors
/// It cannot be read.
pub(crate) fn linux() -> Result<Page> {
    let result = validate::recorded()?;
    let mut body = String::new();
    for claim in &result.claims {
        let _ = writeln!(body, "- {}", claim.in_words());
    }
    // Without the name of a kernel's build.
    let stacks = result.stacks.values().filter_map(|identity| identity.split('-').next());
    let units = result.metrics.iter().map(|(metric, unit)| format!("{metric} in {unit}"));
    let _ = writeln!(
        body,
        "\nBy {}, {} of each cell with seeds from {} on; means and 95 % intervals, {}:\n\n{}",
        stacks.collect::<Vec<_>>().join(" and "),
        result.runs_in_words(),
        result.seed,
        units.collect::<Vec<_>>().join(", "),
        cells(&result).markdown(),
    );
    body += "## Cells apart\n\nAt least one run was disturbed at every attempt; these cells do not count:\n\n";
    for pair in result.cells.chunks(2) {
        let why: Vec<_> = pair.iter().flat_map(|cell| cell.left_out.clone()).collect();
        if !why.is_empty() {
            let values = &pair[0].cell.values;
            let place: Vec<_> =
                values[..values.len() - 1].iter().map(AxisValue::in_words).collect();
            let _ = writeln!(body, "- {}: {}", place.join(", "), why.join("; "));
        }
    }
    let head = ["linux", "Against Linux", "`cargo xtask validate linux`, as root"];
    Ok(Page::new(head, Origin::Recorded(&[validate::LINUX]), body))
}

const DATA: &[&str] =
    &["validation/ns2/sweep.csv", "validation/ns2/own-errors.csv", "validation/ns2/red.csv"];

/// The headings of the parts, in the order of [`NS2`].
const PARTS: [&str; NS2.len()] = ["DropTail", "DropTail, independent errors", "RED, Reno"];

/// Drops in all runs of ns-2 together from which a cell's ratio of drops counts.
const LEAST_DROPS: f64 = 100.0;

/// `ns2`: the tables beside the sweeps' files.
///
/// # Errors
/// One cannot be read.
pub(crate) fn ns2() -> Result<Page> {
    let mut summary =
        Table::new(["queue", "protocol", "cells", "goodput", "queue drops"]).numbers(2..);
    let mut tables = String::new();
    for (name, file) in PARTS.iter().zip(DATA) {
        let mut reader = csv::Reader::from_path(root().join(file)).context(*file)?;
        let table = Table::new(reader.headers()?).numbers(1..);
        let lines: Vec<BTreeMap<String, String>> =
            reader.deserialize().collect::<Result<_, _>>()?;
        let protocol = |line: &BTreeMap<String, String>| line.get("protocol").cloned();
        let mut protocols: BTreeMap<_, Vec<_>> = BTreeMap::new();
        lines.iter().for_each(|line| protocols.entry(protocol(line)).or_default().push(line));
        for (protocol, lines) in protocols {
            let protocol = protocol.unwrap_or_default();
            let [goodput, drops] = ["goodput_ratio", "queue_drops_ratio"].map(|c| range(c, &lines));
            summary.row([*name, &protocol, &lines.len().to_string(), &goodput, &drops]);
        }
        let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
        let table = table.with_rows(lines.iter().map(|line| names.iter().map(|name| &line[name])));
        tables += &format!("\n### {name}\n\n{}", table.markdown());
    }
    let body = format!(
        "## By protocol\n\nRatios are losscause over ns-2, least to greatest of the cells; of drops, where ns-2 dropped at least \
         100 packets.\n\n{}\n## Cells\n\nMeans over the runs, and the 95 % intervals of ratios; cross_load is the load of other \
         packets on the last link.\n{tables}",
        summary.markdown()
    );
    let head = ["ns2", "Against ns-2: every cell", "`cargo xtask validate ns2`"];
    Ok(Page::new(head, Origin::Data(DATA), body))
}

/// The least and greatest value; of drops only where ns-2 dropped enough packets.
fn range(column: &str, lines: &[&BTreeMap<String, String>]) -> String {
    let number = |line: &BTreeMap<String, String>, column| line.get(column)?.parse::<f64>().ok();
    let has_drops = |line: &&&BTreeMap<String, String>| {
        let each = number(line, "queue_drops_ns2").zip(number(line, RUNS));
        !column.contains("drops") || each.is_some_and(|(drops, runs)| drops * runs >= LEAST_DROPS)
    };
    let values = || lines.iter().filter(has_drops).filter_map(|line| number(line, column));
    match values().reduce(f64::min).zip(values().reduce(f64::max)) {
        Some((least, greatest)) => format!("{least:.3} to {greatest:.3}"),
        None => "–".to_owned(),
    }
}
