//! Standard output: a table for people, JSON for scripts.

use std::io::{self, Write};

use clap::ValueEnum;
use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};
use serde::Serialize;

pub(crate) use losscause_study::figures::{number, plus_minus, to_the_digits_of};

/// Output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables for people.
    #[default]
    Table,
    /// JSON for scripts.
    Json,
}

/// Writes `value` as indented JSON with a new line at its end.
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from)?;
    writeln!(out)?;
    out.flush()
}

/// Writes a line of text.
pub(crate) fn line(text: &str) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{text}")
}

/// Rules above, below and under the header; columns separated by blanks.
const STYLE: TableStyle = TableStyle::new()
    .top_border(LineStyle::new('─', '─', '─', '─'))
    .header_separator(LineStyle::new('─', '─', '─', '─'))
    .bottom_border(LineStyle::new('─', '─', '─', '─'));

/// A table in the program's one style: columns whose name is in `numbers` are aligned to the right.
pub(crate) fn table(header: &[&str], numbers: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_header(header.to_vec());
    for (index, name) in header.iter().enumerate() {
        if numbers.contains(name)
            && let Some(column) = table.column_mut(index)
        {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Prints a table. If the terminal is narrower, the rows are printed as lists.
pub(crate) fn print_table(table: &Table) -> io::Result<()> {
    line(&fitted(table, table.width().map(usize::from)))
}

/// The table as a text of lines up to `width`; none if the output is no terminal, which takes any. A table that is too
/// wide becomes a list of its rows, one cell per line: a pager and a reader can follow it.
pub(crate) fn fitted(table: &Table, width: Option<usize>) -> String {
    let text = table.to_string();
    let is_narrow = |width: usize| text.lines().all(|line| line.trim_end().chars().count() <= width);
    if width.is_none_or(is_narrow) {
        return text;
    }
    let header: Vec<String> = table.header().map_or_else(Vec::new, |row| row.cell_iter().map(Cell::content).collect());
    let label = header.iter().skip(1).map(|name| name.chars().count()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for row in table.row_iter() {
        let cells: Vec<String> = row.cell_iter().map(Cell::content).collect();
        lines.push(cells.first().cloned().unwrap_or_default());
        for (name, value) in header.iter().zip(&cells).skip(1).filter(|(_, value)| !value.is_empty()) {
            lines.push(format!("  {name:<label$}  {value}"));
        }
    }
    lines.join("\n")
}

/// The width of the terminal, characters; 100 if standard output is none.
pub(crate) fn width() -> usize {
    Table::new().width().map_or(100, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_wider_than_the_terminal_becomes_a_list() {
        let mut table = table(&["flow", "sent", "goodput kb/s"], &["sent"]);
        table.add_row(["video.1", "12", "900.5"]).add_row(["video.2", "", "1"]);
        assert_eq!(fitted(&table, None), table.to_string());
        let width = table.to_string().lines().map(|line| line.trim_end().chars().count()).max().unwrap();
        assert_eq!(fitted(&table, Some(width)), table.to_string());
        let list = "video.1\n  sent          12\n  goodput kb/s  900.5\nvideo.2\n  goodput kb/s  1";
        assert_eq!(fitted(&table, Some(width - 1)), list);
    }
}
