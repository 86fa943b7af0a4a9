//! `ns2`: the cells of the sweeps over ns-2, from the tables beside their files.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use losscause_laboratory::sweep::{AxisValue, ByTwo, SweepResult, value_in_words};
use losscause_study::tools::csv_file;
use losscause_study::tools::table::Table;

use super::{Origin, Page};
use crate::shell::root;
use crate::validate::NS2;

const DATA: &[&str] =
    &["validation/ns2/sweep.csv", "validation/ns2/own-errors.csv", "validation/ns2/red.csv"];

/// The headings of the parts, in the order of [`NS2`].
const PARTS: [&str; NS2.len()] = ["DropTail", "DropTail, independent errors", "RED, Reno"];

/// Drops in all runs of ns-2 together from which a cell's ratio of drops counts.
const LEAST_DROPS: f64 = 100.0;

/// The axis of cells with their own number of runs. Here every cell has one.
const RUNS: &str = "runs";

/// A sweep over the simulator and ns-2 as comma-separated values: a line per cell, with each metric
/// by both and its ratio.
pub(crate) fn by_two(result: &SweepResult) -> String {
    let is_setting = |axis: &&String| *axis != RUNS;
    let axes = result.axes[..result.axes.len() - 1].iter().filter(is_setting).cloned();
    let columns = |metric: &String| {
        ["ours", "ns2", "ratio", "ci95"].map(|column| format!("{metric}_{column}"))
    };
    let head = axes.chain([RUNS.to_owned()]).chain(result.metrics.keys().flat_map(columns));
    let number = |value: Option<f64>, decimals: usize| {
        value.map_or_else(String::new, |value| format!("{value:.decimals$}"))
    };
    let line = |of_cell: &[ByTwo<'_>]| {
        let ByTwo { cell, rows: [first, _], .. } = &of_cell[0];
        let settings = &cell.values[..cell.values.len() - 1];
        let settings = settings.iter().filter(|value| value.axis != RUNS);
        let place = settings.map(|AxisValue { value, .. }| value.clone());
        let values = of_cell.iter().flat_map(|ByTwo { rows: [ours, ns2], ratio, .. }| {
            let means = [ours, ns2].map(|row| number(row.measured, 2));
            [means, [number(ratio.mean, 4), number(ratio.ci95, 4)]].concat()
        });
        place.chain([first.runs.to_string()]).chain(values).collect()
    };
    let pairs = result.by_two();
    csv_file::text_of_records(head.collect(), pairs.chunks(result.metrics.len()).map(line))
}

/// A table of [`by_two`].
struct Part {
    head: Vec<String>,
    lines: Vec<Vec<String>>,
}

impl Part {
    fn read(file: &str) -> Result<Self> {
        let reader = csv::ReaderBuilder::new().has_headers(false).from_path(root().join(file));
        let lines = reader.with_context(|| file.to_owned())?.into_deserialize();
        let mut lines: Vec<Vec<String>> = lines.collect::<Result<_, _>>()?;
        Ok(Self { head: lines.remove(0), lines })
    }

    fn text<'a>(&self, line: &'a [String], column: &str) -> &'a str {
        let place = self.head.iter().position(|name| name == column);
        place.map_or("", |place| line[place].as_str())
    }

    fn number(&self, line: &[String], column: &str) -> Option<f64> {
        self.text(line, column).parse().ok()
    }

    /// Whether ns-2 dropped enough packets.
    fn has_drops(&self, line: &[String]) -> bool {
        let each = self.number(line, "queue_drops_ns2").zip(self.number(line, RUNS));
        each.is_some_and(|(drops, runs)| drops * runs >= LEAST_DROPS)
    }

    /// The least and greatest ratio of each protocol.
    fn rows(&self, name: &str) -> Vec<[String; 5]> {
        let mut protocols: BTreeMap<&str, Vec<&Vec<String>>> = BTreeMap::new();
        for line in &self.lines {
            protocols.entry(self.text(line, "protocol")).or_default().push(line);
        }
        let row = |(protocol, lines): (&str, Vec<&Vec<String>>)| {
            let of = |column: &str, lines: &[&Vec<String>]| {
                range(&lines.iter().filter_map(|l| self.number(l, column)).collect::<Vec<_>>())
            };
            let with_drops: Vec<_> = lines.iter().copied().filter(|l| self.has_drops(l)).collect();
            [
                name.to_owned(),
                protocol.to_owned(),
                lines.len().to_string(),
                of("goodput_ratio", &lines),
                of("queue_drops_ratio", &with_drops),
            ]
        };
        protocols.into_iter().map(row).collect()
    }

    /// Every cell.
    fn table(&self) -> Table {
        let is_axis = |name: &&String| !name.contains("_ours") && !name.contains("_ns2");
        let axes: Vec<&String> = self.head.iter().take_while(is_axis).collect();
        let values = ["goodput ratio", "drops", "ns-2's", "ratio", "timeouts", "ns-2's"];
        let columns = axes.iter().map(|axis| axis.as_str()).chain(values);
        let row = |line: &Vec<String>| {
            let number = |column: &str, decimals: usize| {
                self.number(line, column).map(|number| format!("{number:.decimals$}"))
            };
            let ratio = |metric: &str| {
                let ci95 = number(&format!("{metric}_ci95"), 3).map(|ci95| format!(" ± {ci95}"));
                let ratio = number(&format!("{metric}_ratio"), 3)?;
                Some(ratio + &ci95.unwrap_or_default())
            };
            let place = axes.iter().map(|axis| value_in_words(axis, self.text(line, axis)));
            let values = [
                ratio("goodput"),
                number("queue_drops_ours", 1),
                number("queue_drops_ns2", 1),
                ratio("queue_drops"),
                number("timeouts_ours", 1),
                number("timeouts_ns2", 1),
            ];
            let values = values.map(|value| value.unwrap_or_else(|| "–".to_owned()));
            place.chain(values).collect::<Vec<_>>()
        };
        Table::new(columns).numbers(1..).with_rows(self.lines.iter().map(row))
    }
}

/// The page.
/// # Errors
/// A table beside the sweep files cannot be read.
pub(crate) fn page() -> Result<Page> {
    let mut summary =
        Table::new(["queue", "protocol", "cells", "goodput", "queue drops"]).numbers(2..);
    let mut cells = String::new();
    for (name, file) in PARTS.iter().zip(DATA) {
        let part = Part::read(file)?;
        part.rows(name).into_iter().for_each(|row| summary.row(row));
        cells += &format!("\n### {name}\n\n{}", part.table().markdown());
    }
    let body = format!(
        "## By protocol\n\nRatios are losscause over ns-2, least to greatest of the cells; of drops, where ns-2 dropped at least \
         100 packets.\n\n{}\n## Cells\n\nMeans over the runs with 95 % intervals; cross_load is the load of other packets on the \
         last link. A ratio of queue drops needs enough drops.\n{cells}",
        summary.markdown()
    );
    let head = ["ns2", "Against ns-2: every cell", "`cargo xtask validate ns2`"];
    Ok(Page::new(head, Origin::Data(DATA), body))
}

fn range(values: &[f64]) -> String {
    let least = values.iter().copied().reduce(f64::min);
    let greatest = values.iter().copied().reduce(f64::max);
    match (least, greatest) {
        (Some(least), Some(greatest)) => format!("{least:.3} to {greatest:.3}"),
        _ => "–".to_owned(),
    }
}
