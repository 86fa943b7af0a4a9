//! Standard output: a table for people, JSON for scripts.

use std::io::{self, Write};

use clap::ValueEnum;
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
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

/// The width of the terminal, characters; 100 if standard output is none.
pub(crate) fn width() -> usize {
    Table::new().width().map_or(100, usize::from)
}
