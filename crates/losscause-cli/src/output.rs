//! Standard output: a table for people, JSON for scripts.

use std::io::{self, StdoutLock, Write};

use clap::ValueEnum;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, TableStyle};
use losscause_study::tools::plain::{self, plain};
use losscause_study::tools::table::{Cell, Column, Row, Table};
use serde::Serialize;

use crate::ink;

pub(crate) use losscause_study::tools::figures::{number, unit_symbol};

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
    document(&json_text(value)?)
}

/// Writes a document of JSON.
pub(crate) fn document(json: &str) -> io::Result<()> {
    JsonOutput::new().write_all(json.as_bytes())
}

/// Writes `value` as a line of JSON.
#[cfg(any(feature = "media", all(feature = "linux", target_os = "linux")))]
pub(crate) fn json_line(value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(value).map_err(io::Error::from)?;
    writeln!(io::stdout().lock(), "{}", plain::json(&text))
}

/// Standard output for JSON: what acts on a terminal is escaped in it. Each write is of whole
/// characters, and of many: each is looked through.
pub(crate) struct JsonOutput(StdoutLock<'static>);

impl JsonOutput {
    pub(crate) fn new() -> Self {
        Self(io::stdout().lock())
    }
}

impl Write for JsonOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = str::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData)?;
        self.0.write_all(plain::json(text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes a text that ends with its last line.
pub(crate) fn text(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(plain(text).as_bytes())?;
    out.flush()
}

/// `value` as [`json`] writes it.
pub(crate) fn json_text(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string_pretty(value).map_err(io::Error::from)? + "\n")
}

/// "1 flow", "2 flows".
pub(crate) fn plural(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Writes a line of text, or several; on a terminal in colour.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let text = plain(text);
    match ink::is_wanted() {
        true => writeln!(io::stdout().lock(), "{}", ink::coloured(&text)),
        false => writeln!(io::stdout().lock(), "{text}"),
    }
}

/// Writes a sentence, broken at words to the width of the terminal, with further lines indented.
pub(crate) fn sentence(text: &str) -> io::Result<()> {
    line(&broken(text, usize::from(width())))
}

/// Writes a paragraph: on a terminal as [`sentence`] does, elsewhere on one line.
pub(crate) fn paragraph(text: &str) -> io::Result<()> {
    match terminal_width() {
        Some(width) => line(&broken(text, usize::from(width))),
        None => line(text),
    }
}

/// The text in lines of at most `width` columns, unless a word is longer. A number, its interval
/// and a percent sign behind it are one word.
fn broken(text: &str, width: usize) -> String {
    let mut broken = String::new();
    let mut column = 0;
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match words.last_mut() {
            Some(last) if last.ends_with('±') || word.starts_with(['±', '%']) => {
                *last = format!("{last} {word}");
            }
            _ => words.push(word.to_owned()),
        }
    }
    for word in &words {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            broken += "\n   ";
            column = 3;
        }
        if column > 0 {
            broken.push(' ');
            column += 1;
        }
        broken += word;
        column += length;
    }
    broken
}

/// Rules above, below and under the header; columns separated by blanks.
const STYLE: TableStyle = TableStyle::new()
    .top_border(LineStyle::new('─', '─', '─', '─'))
    .header_separator(LineStyle::new('─', '─', '─', '─'))
    .bottom_border(LineStyle::new('─', '─', '─', '─'));

/// A table in the program's one style. With a width, longer rows are broken into lines within it.
pub(crate) fn drawn(table: &Table, width: Option<u16>) -> String {
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(STYLE).set_header(table.columns.iter().map(|column| column.head("\n")));
    for (place, Column { is_number, .. }) in table.columns.iter().enumerate() {
        if *is_number && let Some(column) = drawn.column_mut(place) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for row in &table.rows {
        match row {
            Row::Group(name) => drawn.add_row([name]),
            Row::Cells(cells) => drawn.add_row(cells.iter().map(Cell::lines)),
        };
    }
    if let Some(width) = width {
        drawn.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    drawn.to_string()
}

/// Tables of as many columns as fit the width, one below the other, each with the labels of the
/// rows.
pub(crate) fn in_blocks(table: &Table, width: u16) -> String {
    let longest = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let column = |place: usize| {
        let cells = table.cells().map(|cells| longest(&cells[place].lines()));
        cells.chain([longest(&table.columns[place].head("\n"))]).max().unwrap_or(0) + 2
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
        text += &drawn(&table.part(from, to), Some(width));
        text.push('\n');
        from = to;
    }
    text
}

/// Prints a table. If the terminal is narrower, the rows are printed as lists.
pub(crate) fn print_table(table: &Table) -> io::Result<()> {
    line(&table_text(table))
}

/// The text of a table. If the terminal is narrower, the rows are lists.
pub(crate) fn table_text(table: &Table) -> String {
    fitted(table, terminal_width().map(usize::from))
}

/// The table as a text of lines up to `width`; none if the output is no terminal, which takes any.
/// A table that is too wide becomes a list of its rows, one cell per line: a pager and a reader can
/// follow it.
pub(crate) fn fitted(table: &Table, width: Option<usize>) -> String {
    let text = drawn(table, None);
    let is_narrow =
        |width: usize| text.lines().all(|line| line.trim_end().chars().count() <= width);
    if width.is_none_or(is_narrow) {
        return text;
    }
    let header: Vec<String> = table.columns.iter().map(|column| column.head(" ")).collect();
    let label = header.iter().skip(1).map(|name| name.chars().count()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for row in &table.rows {
        let cells: Vec<String> = match row {
            Row::Group(name) => vec![name.clone()],
            Row::Cells(cells) => cells.iter().map(Cell::lines).collect(),
        };
        let first = cells.first().cloned().unwrap_or_default();
        // A number alone does not say what it counts.
        let is_number = first.parse::<f64>().is_ok();
        let name = header.first().filter(|name| is_number && !name.is_empty());
        lines.push(name.map_or_else(|| first.clone(), |name| format!("{name} {first}")));
        for (name, value) in
            header.iter().zip(&cells).skip(1).filter(|(_, value)| !value.is_empty())
        {
            lines.push(format!("  {name:<label$}  {value}"));
        }
    }
    lines.join("\n")
}

/// The width of the terminal, columns; for a pipe that of `COLUMNS`, or 100.
pub(crate) fn width() -> u16 {
    let told = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    terminal_width().or_else(told).unwrap_or(100)
}

/// The width of the terminal that is the standard output, columns.
fn terminal_width() -> Option<u16> {
    terminal_size::terminal_size_of(io::stdout()).map(|(terminal_size::Width(columns), _)| columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_broken_at_words() {
        assert_eq!(broken("a plain flow beside it", 12), "a plain flow\n    beside\n    it");
        assert_eq!(broken("a plain flow beside it", 22), "a plain flow beside it");
        assert_eq!(broken("unbreakable word", 4), "unbreakable\n    word");
    }

    #[test]
    fn a_line_does_not_end_between_a_number_and_its_interval_or_percent_sign() {
        let text = "keeps 86 % ± 21, loses 0.00 % of all";
        let broken_at = |width| broken(text, width).lines().map(str::to_owned).collect::<Vec<_>>();
        for width in 6..=15 {
            assert_eq!(broken_at(width)[..2], ["keeps", "    86 % ± 21,"], "{width}");
        }
        assert_eq!(broken_at(16), ["keeps 86 % ± 21,", "    loses 0.00 %", "    of all"]);
    }

    #[test]
    fn a_table_wider_than_the_terminal_becomes_a_list() {
        let mut table = Table::new(["flow", "sent", "goodput kb/s"]).numbers(1..2);
        table.row(["video.1", "12", "900.5"]);
        table.row(["video.2", "", "1"]);
        let text = drawn(&table, None);
        assert_eq!(fitted(&table, None), text);
        let width = text.lines().map(|line| line.trim_end().chars().count()).max().unwrap();
        assert_eq!(fitted(&table, Some(width)), text);
        let list = "video.1\n  sent          12\n  goodput kb/s  900.5\nvideo.2\n  goodput kb/s  1";
        assert_eq!(fitted(&table, Some(width - 1)), list);
        table.row(["3", "", ""]);
        assert_eq!(fitted(&table, Some(width - 1)), format!("{list}\nflow 3"));
    }
}
