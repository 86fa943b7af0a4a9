//! Standard output: a table for people, JSON for scripts.

use std::io::{self, Write};

use clap::ValueEnum;
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use serde::Serialize;

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

/// A value to the digits that its interval leaves: two significant digits of the interval.
pub(crate) fn to_the_digits_of(value: f64, ci95: Option<f64>) -> String {
    match ci95 {
        Some(ci95) if ci95 > 0.0 => format!("{value:.*}", (1.0 - ci95.log10()).ceil().clamp(0.0, 6.0) as usize),
        _ => number(Some(value)),
    }
}

/// "± 1.2", empty for none.
pub(crate) fn plus_minus(ci95: Option<f64>) -> String {
    ci95.map_or_else(String::new, |ci95| format!("± {}", to_the_digits_of(ci95, Some(ci95))))
}

/// A number for a table: at most three decimals, a dash for none.
pub(crate) fn number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value:.0}"),
        Some(value) if value.abs() >= 100.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.3}"),
    }
}
