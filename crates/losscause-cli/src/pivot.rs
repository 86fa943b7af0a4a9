//! The results of a sweep as tables within the terminal's width.
//!
//! One axis: its values are the rows and the metrics the columns. Several axes: one table per metric, with the last axis
//! across. Systems are rows, or columns if there is only one axis. A sweep that is no grid lists its cells.

use std::fmt::Write;

use comfy_table::{ContentArrangement, Table};
use losscause_study::sweep::{CellOutcome, CellSummary, Row, SweepResult, summary};

use crate::output;

/// Columns of a terminal that does not tell.
const USUAL_WIDTH: u16 = 100;

/// The width of the terminal, columns; for a pipe that of `COLUMNS`, or 100.
pub(crate) fn width() -> u16 {
    let told = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    Table::new().width().or_else(told).unwrap_or(USUAL_WIDTH)
}

/// The tables of a sweep.
pub(crate) fn tables(result: &SweepResult, width: u16) -> String {
    if result.is_scored() {
        return format!("{}\n{}\n", result.title, scores(&result.cells, width));
    }
    let systems = systems(result);
    let has_systems = systems.len() > 1;
    let mut text = format!("{}\n", result.title);
    if !result.is_grid {
        let head: Vec<String> = ["differs from the base by"].map(str::to_owned).into();
        let label =
            |outcome: &CellOutcome, _: &str| vec![changes(&summary(&[result.cells[0].clone(), outcome.clone()])[1])];
        text += &by_metric(result, head, &systems, has_systems, &label, width);
    } else if result.axes.len() == 1 && !has_systems {
        let label = |outcome: &CellOutcome, _: &str| vec![outcome.cell.values[0].value.clone()];
        text += &by_metric(result, result.axes.clone(), &systems, false, &label, width);
    } else {
        for (place, (metric, unit)) in result.metrics.iter().enumerate() {
            let _ = write!(text, "\n{metric}{}", in_unit(unit));
            let _ = writeln!(text, ", by {}", across(result));
            text += &crossed(result, place, &systems, width);
        }
    }
    text + &footnote(result)
}

/// Rows are cells and systems, columns are metrics.
fn by_metric(
    result: &SweepResult,
    mut head: Vec<String>,
    systems: &[&str],
    has_systems: bool,
    label: &dyn Fn(&CellOutcome, &str) -> Vec<String>,
    width: u16,
) -> String {
    if has_systems {
        head.push("system".to_owned());
    }
    let columns: Vec<String> =
        result.metrics.iter().map(|(metric, unit)| format!("{metric}{}", in_unit(unit))).collect();
    let digits: Vec<usize> = (0..columns.len()).map(|place| digits(result, place)).collect();
    let mut rows = Vec::new();
    for outcome in &result.cells {
        for (s, system) in systems.iter().enumerate() {
            let mut labels = label(outcome, system);
            if has_systems {
                labels.push((*system).to_owned());
            }
            let value = |place: usize| value(&outcome.rows[s * columns.len() + place], digits[place]);
            rows.push((labels, (0..columns.len()).map(value).collect()));
        }
    }
    blocks(&head, &columns, &rows, width)
}

/// One metric: the last axis across, or the systems if there is one axis.
fn crossed(result: &SweepResult, place: usize, systems: &[&str], width: u16) -> String {
    let digits = digits(result, place);
    let metrics = result.metrics.len();
    let shown = |outcome: &CellOutcome, s: usize| value(&outcome.rows[s * metrics + place], digits);
    let mut head = result.axes.clone();
    if result.axes.len() == 1 {
        let columns: Vec<String> = systems.iter().map(|system| (*system).to_owned()).collect();
        let row = |outcome: &CellOutcome| {
            let values = (0..systems.len()).map(|s| shown(outcome, s)).collect();
            (vec![outcome.cell.values[0].value.clone()], values)
        };
        return blocks(&head, &columns, &result.cells.iter().map(row).collect::<Vec<_>>(), width);
    }
    let last = head.len() - 1;
    head.truncate(last);
    let first = &result.cells[0];
    let same_row = |a: &CellOutcome, b: &CellOutcome| a.cell.values[..last] == b.cell.values[..last];
    let columns: Vec<String> = result
        .cells
        .iter()
        .take_while(|outcome| same_row(outcome, first))
        .map(|outcome| outcome.cell.values[last].value.clone())
        .collect();
    if systems.len() > 1 {
        head.push("system".to_owned());
    }
    let mut rows = Vec::new();
    for cells in result.cells.chunks(columns.len()) {
        for (s, system) in systems.iter().enumerate() {
            let mut labels: Vec<String> = cells[0].cell.values[..last].iter().map(|v| v.value.clone()).collect();
            if systems.len() > 1 {
                labels.push((*system).to_owned());
            }
            rows.push((labels, cells.iter().map(|outcome| shown(outcome, s)).collect()));
        }
    }
    blocks(&head, &columns, &rows, width)
}

/// What the rows and columns of a crossed table are.
fn across(result: &SweepResult) -> String {
    match result.axes.split_last() {
        Some((last, [])) => format!("{last} (down) and system (across)"),
        Some((last, others)) => format!("{} (down) and {last} (across)", others.join(", ")),
        None => String::new(),
    }
}

/// A row: its labels, and its values.
type TableRow = (Vec<String>, Vec<String>);

/// Tables of as many columns as fit the width, one below the other, each with the labels of the rows.
fn blocks(head: &[String], columns: &[String], rows: &[TableRow], width: u16) -> String {
    let wide = |text: &String| text.chars().count() + 2;
    let label = |k: usize| rows.iter().map(|(labels, _)| wide(&labels[k])).chain([wide(&head[k])]).max().unwrap_or(0);
    let column =
        |k: usize| rows.iter().map(|(_, values)| wide(&values[k])).chain([wide(&columns[k])]).max().unwrap_or(0);
    let labels: usize = (0..head.len()).map(label).sum();
    // Long labels are wrapped rather than leaving no place for values.
    let free = usize::from(width).saturating_sub(labels.min(usize::from(width) / 2));
    let mut text = String::new();
    let mut from = 0;
    while from < columns.len() {
        let (mut to, mut used) = (from + 1, column(from));
        while to < columns.len() && used + column(to) <= free {
            used += column(to);
            to += 1;
        }
        let header: Vec<&str> = head.iter().chain(&columns[from..to]).map(String::as_str).collect();
        let numbers: Vec<&str> = columns[from..to].iter().map(String::as_str).collect();
        let mut table = output::table(&header, &numbers);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        for (labels, values) in rows {
            table.add_row(labels.iter().chain(&values[from..to]));
        }
        let _ = writeln!(text, "{table}");
        from = to;
    }
    text
}

/// The differences from the base, and each cell's score.
fn scores(cells: &[CellOutcome], width: u16) -> Table {
    let header = ["cell", "differs from the base by", "numbers", "claims", "gained", "lost"];
    let mut table = output::table(&header, &["cell", "numbers", "claims"]);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    for one in summary(cells) {
        let score = one.score.map(|score| {
            let numbers = format!("{}/{}", score.within_tolerance, score.numbers);
            (numbers, format!("{}/{}", score.holding, score.settled))
        });
        let (numbers, claims) = score.unwrap_or_default();
        let (gained, lost) = (one.gained.join("\n"), one.lost.join("\n"));
        table.add_row([one.cell.to_string(), changes(&one), numbers, claims, gained, lost]);
    }
    table
}

fn changes(summary: &CellSummary) -> String {
    let changes: Vec<String> =
        summary.changes.iter().map(|change| format!("{}: {}", change.axis, change.value)).collect();
    if changes.is_empty() { "(the base)".to_owned() } else { changes.join("; ") }
}

fn systems(result: &SweepResult) -> Vec<&str> {
    let rows = result.cells.first().map_or(&[][..], |cell| cell.rows.as_slice());
    rows.chunks(result.metrics.len().max(1)).map(|rows| rows[0].system.as_str()).collect()
}

fn in_unit(unit: &str) -> String {
    match unit {
        "percent" => " %".to_owned(),
        "1" | "count" => String::new(),
        other => format!(" {other}"),
    }
}

/// Decimals for all values of a metric: the largest interval has two digits, or without one the largest value four.
fn digits(result: &SweepResult, place: usize) -> usize {
    let metrics = result.metrics.len();
    let rows = || result.cells.iter().flat_map(|cell| cell.rows.iter().skip(place).step_by(metrics));
    let largest = |value: fn(&Row) -> Option<f64>| rows().filter_map(value).map(f64::abs).fold(0.0, f64::max);
    let (interval, mean) = (largest(|row| row.ci95), largest(|row| row.measured));
    if rows().filter_map(|row| row.measured).all(|mean| mean.fract() == 0.0) && interval == 0.0 {
        return 0;
    }
    let (value, digits) = if interval > 0.0 { (interval, 2.0) } else { (mean, 4.0) };
    if value > 0.0 { (digits - 1.0 - value.log10().floor()).clamp(0.0, 6.0) as usize } else { 0 }
}

/// `12.3 ± 0.4`, and if only some runs have a value, in how many.
fn value(row: &Row, digits: usize) -> String {
    let Some(mean) = row.measured else { return "–".to_owned() };
    let mut text = format!("{mean:.digits$}");
    if let Some(ci95) = row.ci95 {
        let _ = write!(text, " ± {ci95:.digits$}");
    }
    match row.runs_with_value {
        Some(some) if some < row.runs => format!("{text} ({some}/{})", row.runs),
        _ => text,
    }
}

/// What the marks in the tables mean.
fn footnote(result: &SweepResult) -> String {
    let rows = || result.cells.iter().flat_map(|cell| &cell.rows);
    let mut notes = match result.runs {
        1 => vec!["1 run per value: no interval".to_owned()],
        runs => vec![format!("mean ± half-width of the 95 % interval, {runs} runs per value")],
    };
    if rows().any(|row| row.measured.is_some() && row.runs_with_value.is_some_and(|some| some < row.runs)) {
        notes.push("(n/N): only n of N runs have a value".to_owned());
    }
    if rows().any(|row| row.measured.is_none()) {
        notes.push("–: no run has a value".to_owned());
    }
    notes.join("; ") + "\n"
}
