//! The results of a sweep as tables within the terminal's width.

use std::fmt::Write;

use losscause_laboratory::sweep::SweepResult;

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
        text += &output::in_blocks(&table, width);
    }
    text += &result.footnote();
    text.push('\n');
    for claim in &result.claims {
        _ = writeln!(text, "{}", claim.in_words());
    }
    text
}
