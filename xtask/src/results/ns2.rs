//! `ns2`: the cells of the comparison with ns-2, from `docs/validation/ns2-results.csv`.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::{Origin, Page};
use crate::shell::root;

const DATA: &str = "docs/validation/ns2-results.csv";

/// Drops in all runs of ns-2 together from which a cell's ratio of drops counts.
const LEAST_DROPS: f64 = 100.0;

/// A cell, as the file has it. Counts are means over the seeds.
#[derive(Deserialize)]
struct Cell {
    protocol: String,
    errors: String,
    loss: f64,
    rate_kbps: u32,
    rtt_ms: f64,
    queue_limit: u32,
    flows: u32,
    cross_load: f64,
    payload_bytes: u32,
    red: u32,
    seeds: u32,
    goodput_ratio: Option<f64>,
    goodput_ci95: Option<f64>,
    queue_drops_ns2: f64,
    queue_drops_ours: f64,
    queue_drops_ratio: Option<f64>,
    queue_drops_ci95: Option<f64>,
}

/// Cells of one protocol.
#[derive(Default)]
struct Tally {
    cells: usize,
    goodputs: Vec<f64>,
    drops: Vec<f64>,
}

/// The page.
pub(super) fn page() -> Result<Page> {
    let cells = csv::Reader::from_path(root().join(DATA))
        .with_context(|| DATA.to_owned())?
        .deserialize()
        .collect::<Result<Vec<Cell>, _>>()
        .context(DATA)?;
    let mut tallies: BTreeMap<(&str, &str), Tally> = BTreeMap::new();
    for cell in &cells {
        let queue = if cell.red == 1 { "RED" } else { "DropTail" };
        let tally = tallies.entry((queue, &cell.protocol)).or_default();
        tally.cells += 1;
        tally.goodputs.extend(cell.goodput_ratio);
        if cell.queue_drops_ns2 * f64::from(cell.seeds) >= LEAST_DROPS {
            tally.drops.extend(cell.queue_drops_ratio);
        }
    }
    let mut body =
        "## By protocol\n\nRatios are losscause over ns-2, least to greatest of the cells; of drops, where ns-2 dropped at least 100 packets.\n\n\
         | queue | protocol | cells | goodput | queue drops |\n|---|---|--:|--:|--:|\n"
            .to_owned();
    for ((queue, protocol), tally) in &tallies {
        let Tally { cells, goodputs, drops } = tally;
        let _ = writeln!(
            body,
            "| {queue} | {protocol} | {cells} | {} | {} |",
            range(goodputs),
            range(drops)
        );
    }
    body.push_str(
        "\n## Cells\n\nMeans over the seeds with 95 % intervals; x is the load of other packets on the last link. \
         A ratio of queue drops needs enough drops.\n\n\
         | protocol | queue | errors | rate, Mb/s | RTT, ms | flows | x | payload | seeds | goodput ratio | drops | ns-2's | drops ratio |\n\
         |---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for cell in &cells {
        let queue = if cell.red == 1 { "RED " } else { "" };
        let _ = writeln!(
            body,
            "| {} | {queue}{} | {} % {} | {} | {} | {} | {} | {} | {} | {} | {:.1} | {:.1} | {} |",
            cell.protocol,
            cell.queue_limit,
            100.0 * cell.loss,
            cell.errors,
            f64::from(cell.rate_kbps) / 1e3,
            cell.rtt_ms,
            cell.flows,
            cell.cross_load,
            cell.payload_bytes,
            cell.seeds,
            ratio(cell.goodput_ratio, cell.goodput_ci95),
            cell.queue_drops_ours,
            cell.queue_drops_ns2,
            ratio(cell.queue_drops_ratio, cell.queue_drops_ci95),
        );
    }
    Ok(Page {
        name: "ns2".to_owned(),
        title: "Against ns-2: every cell".to_owned(),
        command: "`cargo xtask validate` measures, `cargo xtask results ns2` writes this page"
            .to_owned(),
        origin: Origin::Data(&[DATA]),
        body,
    })
}

fn range(values: &[f64]) -> String {
    let least = values.iter().copied().reduce(f64::min);
    let greatest = values.iter().copied().reduce(f64::max);
    match (least, greatest) {
        (Some(least), Some(greatest)) => format!("{least:.3} to {greatest:.3}"),
        _ => "–".to_owned(),
    }
}

fn ratio(value: Option<f64>, ci95: Option<f64>) -> String {
    match (value, ci95) {
        (Some(value), Some(ci95)) => format!("{value:.3} ± {ci95:.3}"),
        (Some(value), None) => format!("{value:.3}"),
        (None, _) => "–".to_owned(),
    }
}
