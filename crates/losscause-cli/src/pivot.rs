//! The results of a sweep as tables within the terminal's width.

use std::fmt::Write;

use comfy_table::{ContentArrangement, Table};
use losscause_laboratory::sweep::{CellOutcome, Pivot, SweepResult, summary};

use crate::output;

/// The tables of a sweep.
pub(crate) fn tables(result: &SweepResult, width: u16) -> String {
    if result.is_scored() {
        return format!("{}\n{}\n", result.title, scores(&result.cells, width));
    }
    let mut text = format!("{}\n", result.title);
    for Pivot { title, head, columns, rows } in result.pivots() {
        if let Some(title) = title {
            let _ = writeln!(text, "\n{title}");
        }
        text += &blocks(&head, &columns, &rows, width);
    }
    text += &result.footnote();
    text.push('\n');
    for claim in &result.claims {
        let _ = writeln!(text, "{}", claim.in_words());
    }
    text
}

/// A row: its labels, and its values.
type TableRow = (Vec<String>, Vec<String>);

/// Tables of as many columns as fit the width, one below the other, each with the labels of the
/// rows.
fn blocks(head: &[String], columns: &[String], rows: &[TableRow], width: u16) -> String {
    let wide = |text: &String| text.chars().count() + 2;
    let label = |k: usize| {
        rows.iter().map(|(labels, _)| wide(&labels[k])).chain([wide(&head[k])]).max().unwrap_or(0)
    };
    let column = |k: usize| {
        rows.iter()
            .map(|(_, values)| wide(&values[k]))
            .chain([wide(&columns[k])])
            .max()
            .unwrap_or(0)
    };
    let labels: usize = (0..head.len()).map(label).sum();
    // Long labels are wrapped rather than leaving no place for values.
    let free = usize::from(width).saturating_sub(labels.min(usize::from(width) / 2));
    let mut text = String::new();
    let mut from = 0;
    while from < columns.len() {
        let mut to = from + 1;
        let mut used = column(from);
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
        let gained = one.gained.join("\n");
        let lost = one.lost.join("\n");
        table.add_row([one.cell.to_string(), one.in_words(), numbers, claims, gained, lost]);
    }
    table
}
