//! The results of a sweep as tables for people.
//!
//! One axis: its values are the rows and the metrics the columns. Several axes: one table per
//! metric, with the last axis across. Systems are rows, or columns if there is only one axis. A
//! sweep that is no grid lists its cells, one without axes its systems.

use super::{AxisValue, CellOutcome, CellSummary, Row, SweepResult, summary};
use losscause_study::tools::figures::{estimate, number, unit_symbol};
use losscause_study::tools::table::Table;

/// Most cells of a sampled sweep in a table.
pub const MOST_ROWS: usize = 40;

impl SweepResult {
    /// The tables; none for a scored sweep. The title of one has the metric, with its unit, and what
    /// its rows and columns are; none if the columns are the metrics.
    pub fn pivots(&self) -> Vec<Table> {
        if self.is_scored() || self.cells.is_empty() {
            return Vec::new();
        }
        let systems = self.systems();
        let values = |outcome: &CellOutcome| -> Vec<String> {
            outcome.cell.values.iter().map(AxisValue::in_words).collect()
        };
        if self.sampler.is_some() || self.axes.is_empty() {
            vec![self.by_metric(self.axes.clone(), &systems, values)]
        } else if !self.is_grid {
            let base = &self.cells[0];
            let label = |outcome: &CellOutcome| {
                vec![summary(&[base.clone(), outcome.clone()])[1].in_words()]
            };
            vec![self.by_metric(vec!["differs from the base by".to_owned()], &systems, label)]
        } else if self.axes.len() == 1 && systems.len() == 1 {
            vec![self.by_metric(self.axes.clone(), &systems, values)]
        } else {
            (0..self.metrics.len()).map(|place| self.crossed(place, &systems)).collect()
        }
    }

    /// How many of the cells the tables show: all but of a sampled sweep, whose cells have no order
    /// to look them up by.
    fn shown(&self) -> usize {
        if self.sampler.is_some() { MOST_ROWS.min(self.cells.len()) } else { self.cells.len() }
    }

    /// The systems, in the order of the sweep file.
    pub fn systems(&self) -> Vec<&str> {
        let rows = self.cells.first().map_or(&[][..], |cell| cell.rows.as_slice());
        rows.chunks(self.metrics.len().max(1)).map(|rows| rows[0].system.as_str()).collect()
    }

    /// What the marks in the tables mean.
    pub fn footnote(&self) -> String {
        let rows = || self.cells.iter().flat_map(|cell| &cell.rows);
        let mut notes = match self.runs {
            1 => vec!["1 run per value: no interval".to_owned()],
            _ => {
                let runs = self.runs_in_words();
                vec![format!("mean ± half-width of the 95 % interval, {runs} per value")]
            }
        };
        if rows().any(|row| {
            row.measured.is_some() && row.runs_with_value.is_some_and(|some| some < row.runs)
        }) {
            notes.push("(n/N): only n of N runs have a value".to_owned());
        }
        if rows().any(|row| row.measured.is_none()) {
            notes.push("–: no run has a value".to_owned());
        }
        if self.shown() < self.cells.len() {
            notes.push(format!(
                "the first {} of {} cells; sweep.csv has all",
                self.shown(),
                self.cells.len()
            ));
        }
        notes.join("; ")
    }

    /// Rows are cells and systems, columns are metrics.
    fn by_metric(
        &self,
        head: Vec<String>,
        systems: &[&str],
        labels: impl Fn(&CellOutcome) -> Vec<String>,
    ) -> Table {
        let metrics = self.metrics.iter();
        let columns = metrics.map(|(metric, unit)| format!("{metric}{}", in_unit(unit)));
        let mut table = of_values(head, systems, columns);
        for outcome in self.cells.iter().take(self.shown()) {
            for (system, rows) in systems.iter().zip(outcome.rows.chunks(self.metrics.len())) {
                let labels = labels(outcome).into_iter().chain(label_of(systems, system));
                table.row(labels.chain(rows.iter().map(Row::in_words)));
            }
        }
        table
    }

    /// One metric: the last axis across, or the systems if there is one axis.
    fn crossed(&self, place: usize, systems: &[&str]) -> Table {
        let metrics = self.metrics.len();
        let shown = |outcome: &CellOutcome, s: usize| outcome.rows[s * metrics + place].in_words();
        let (metric, unit) = self.metric(place);
        let title = format!("{metric}{}, by {}", in_unit(unit), self.across());
        let Some((_, [_, ..])) = self.axes.split_last() else {
            let columns = systems.iter().map(|system| (*system).to_owned());
            let row = |outcome: &CellOutcome| {
                let values = (0..systems.len()).map(|s| shown(outcome, s));
                [outcome.cell.values[0].in_words()].into_iter().chain(values).collect::<Vec<_>>()
            };
            let table = of_values(self.axes.clone(), &[], columns).title(title);
            return table.with_rows(self.cells.iter().map(row));
        };
        let last = self.axes.len() - 1;
        let labels = |outcome: &CellOutcome| -> Vec<String> {
            outcome.cell.values[..last].iter().map(AxisValue::in_words).collect()
        };
        let of_first_row = |outcome: &&CellOutcome| {
            outcome.cell.values[..last] == self.cells[0].cell.values[..last]
        };
        let first_row = self.cells.iter().take_while(of_first_row);
        let columns: Vec<String> =
            first_row.map(|outcome| outcome.cell.values[last].in_words()).collect();
        let across = columns.len();
        let mut table = of_values(self.axes[..last].to_vec(), systems, columns).title(title);
        for cells in self.cells.chunks(across) {
            for (s, system) in systems.iter().enumerate() {
                let labels = labels(&cells[0]).into_iter().chain(label_of(systems, system));
                table.row(labels.chain(cells.iter().map(|outcome| shown(outcome, s))));
            }
        }
        table
    }

    /// The differences of a scored sweep's cells from the base, and each cell's score.
    pub fn scores(&self) -> Table {
        let header = ["cell", "differs from the base by", "numbers", "claims", "gained", "lost"];
        let row = |one: CellSummary| {
            let score = one.score.map(|score| {
                let numbers = format!("{}/{}", score.within_tolerance, score.numbers);
                (numbers, format!("{}/{}", score.holding, score.settled))
            });
            let (numbers, claims) = score.unwrap_or_default();
            let gained = one.gained.join("\n");
            let lost = one.lost.join("\n");
            [one.cell.to_string(), one.in_words(), numbers, claims, gained, lost]
        };
        let rows = summary(&self.cells).into_iter().map(row);
        Table::new(header).numbers(..1).numbers(2..4).with_rows(rows)
    }

    /// What the rows and columns of a crossed table are.
    fn across(&self) -> String {
        match self.axes.split_last() {
            Some((last, [])) => format!("{last} (down) and system (across)"),
            Some((last, others)) => format!("{} (down) and {last} (across)", others.join(", ")),
            None => String::new(),
        }
    }
}

impl CellSummary {
    /// How the cell differs from the base: "tick: 0.01 s; errors: late".
    pub fn in_words(&self) -> String {
        let changes: Vec<String> = self
            .changes
            .iter()
            .map(|change| format!("{}: {}", change.axis, change.value))
            .collect();
        if changes.is_empty() { "(the base)".to_owned() } else { changes.join("; ") }
    }
}

/// A table with these columns of labels, one for the systems if there are several, and columns of
/// values.
fn of_values(
    head: Vec<String>,
    systems: &[&str],
    columns: impl IntoIterator<Item = String>,
) -> Table {
    let head: Vec<String> = head.into_iter().chain(label_of(systems, "system")).collect();
    let labels = head.len();
    Table::new(head.into_iter().chain(columns)).labels(labels).numbers(labels..)
}

/// The label, if there are several systems to tell apart.
fn label_of(systems: &[&str], label: &str) -> Option<String> {
    (systems.len() > 1).then(|| label.to_owned())
}

/// " kb/s", nothing for pure numbers.
fn in_unit(unit: &str) -> String {
    match unit_symbol(unit) {
        "" => String::new(),
        symbol => format!(" {symbol}"),
    }
}

impl Row {
    /// `12.3 ± 0.4`, to two digits of the interval, and if only some runs have a value, in how many.
    pub fn in_words(&self) -> String {
        let Some(mean) = self.measured else { return number(None) };
        let text = estimate(mean, self.ci95);
        match self.runs_with_value {
            Some(some) if some < self.runs => format!("{text} ({some}/{})", self.runs),
            _ => text,
        }
    }
}
