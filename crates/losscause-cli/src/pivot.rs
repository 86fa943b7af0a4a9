//! The results of a sweep as tables within the terminal's width.

use std::fmt::Write;

use losscause_laboratory::sweep::SweepResult;
use losscause_study::tools::table::Table;

use crate::output;

/// The tables of a sweep.
pub(crate) fn tables(result: &SweepResult, width: u16) -> String {
    if result.is_scored() {
        return format!("{}\n{}\n", result.title, output::drawn(&result.scores(), Some(width)));
    }
    let mut text = format!("{}\n", result.title);
    for table in result.pivots() {
        if !table.title.is_empty() {
            _ = writeln!(text, "\n{}", table.title);
        }
        text += &blocks(&table, width);
    }
    text += &result.footnote();
    text.push('\n');
    for claim in &result.claims {
        _ = writeln!(text, "{}", claim.in_words());
    }
    text
}

/// Tables of as many columns as fit the width, one below the other, each with the labels of the
/// rows.
fn blocks(table: &Table, width: u16) -> String {
    let column = |place: usize| {
        let cells = table.cells().map(|cells| cells[place].text.chars().count());
        cells.chain([table.columns[place].name.chars().count()]).max().unwrap_or(0) + 2
    };
    let labels: usize = (0..table.labels).map(column).sum();
    // Long labels are wrapped rather than leaving no place for values.
    let free = usize::from(width).saturating_sub(labels.min(usize::from(width) / 2));
    let values: Vec<usize> = (table.labels..table.columns.len()).map(column).collect();
    let mut text = String::new();
    let mut from = 0;
    while from < values.len() {
        let mut to = from + 1;
        let mut used = values[from];
        while to < values.len() && used + values[to] <= free {
            used += values[to];
            to += 1;
        }
        _ = writeln!(text, "{}", output::drawn(&table.part(from, to), Some(width)));
        from = to;
    }
    text
}
