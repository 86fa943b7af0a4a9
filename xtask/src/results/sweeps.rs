//! The result of a sweep over two stacks as a page: its claims, and each cell by both.

use std::fmt::Write;

use losscause_laboratory::sweep::{AxisValue, CellOutcome, Row, SweepResult};
use losscause_study::tools::table::Table;

/// The body of the page.
pub(super) fn body(result: &SweepResult) -> String {
    let mut body = String::new();
    for claim in &result.claims {
        let _ = writeln!(body, "- {}", claim.in_words());
    }
    // Without the name of a kernel's build.
    let stacks = result.stacks.values().filter_map(|identity| identity.split('-').next());
    let stacks: Vec<&str> = stacks.collect();
    let _ = writeln!(
        body,
        "\nBy {}, {} of each cell with seeds from {} on; means and 95 % intervals:\n",
        stacks.join(" and "),
        result.runs_in_words(),
        result.seed
    );
    let pairs: Vec<&[CellOutcome]> = result.cells.chunks(2).collect();
    let is_apart = |pair: &&[CellOutcome]| pair.iter().any(|cell| !cell.left_out.is_empty());
    let numbered = (1..).zip(&pairs).filter(|(_, pair)| !is_apart(pair));
    let row = |(number, pair): (u32, &&[CellOutcome])| {
        [vec![number.to_string()], place(pair), values(pair)].concat()
    };
    let table = Table::new(columns(result)).numbers(..).with_rows(numbered.map(row));
    body += &table.markdown();
    if pairs.iter().any(is_apart) {
        body += "\n## Cells apart\n\nAt least one run was disturbed at every attempt; these cells do not count:\n\n";
        for (number, pair) in (1..).zip(&pairs).filter(|(_, pair)| is_apart(pair)) {
            let why: Vec<&str> =
                pair.iter().flat_map(|cell| &cell.left_out).map(String::as_str).collect();
            let _ = writeln!(body, "- {number} ({}): {}", place(pair).join(", "), why.join("; "));
        }
    }
    body
}

/// A number, the names of the axes but the stacks', and of the metrics by both stacks.
fn columns(result: &SweepResult) -> Vec<String> {
    let axes = &result.axes[..result.axes.len() - 1];
    let [first, second] = [0, 1].map(|stack| stack_of(&result.cells[stack]));
    let metrics = result.metrics.iter().flat_map(|(metric, unit)| {
        [format!("{metric}, {unit}: {first}"), second.to_owned(), "ratio".to_owned()]
    });
    [String::new()].into_iter().chain(axes.iter().cloned()).chain(metrics).collect()
}

fn stack_of(cell: &CellOutcome) -> &str {
    cell.cell.values.last().map_or("", |stack| &stack.value)
}

/// Where the cell of both stacks is.
fn place(pair: &[CellOutcome]) -> Vec<String> {
    let values = &pair[0].cell.values;
    values[..values.len() - 1].iter().map(AxisValue::in_words).collect()
}

/// Each metric by both stacks, and its ratio.
fn values(pair: &[CellOutcome]) -> Vec<String> {
    let [first, second] = [&pair[0].rows, &pair[1].rows];
    let row = |(first, second): (&Row, &Row)| {
        let ratio = match (first.measured, second.measured) {
            (Some(a), Some(b)) if a == b => "1.000".to_owned(),
            (Some(a), Some(b)) if b != 0.0 => format!("{:.3}", a / b),
            _ => "–".to_owned(),
        };
        [first.in_words(), second.in_words(), ratio]
    };
    first.iter().zip(second).flat_map(row).collect()
}
