//! The results of a sweep as tables for people.
//!
//! One axis: its values are the rows and the metrics the columns. Several axes: one table per
//! metric, with the last axis across. Systems are rows, or columns if there is only one axis. A
//! sweep that is no grid lists its cells.

use super::{AxisValue, CellOutcome, CellSummary, Row, SweepResult, summary};
use losscause_study::tools::figures::{number, plus_minus, to_the_digits_of, unit_symbol};

/// Most cells of a sampled sweep in a table.
pub const MOST_ROWS: usize = 40;

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pivot {
    /// The metric, with its unit, and what its rows and columns are; none if the columns are the
    /// metrics.
    pub title: Option<String>,
    /// Names of the columns of labels.
    pub head: Vec<String>,
    /// Names of the columns of values.
    pub columns: Vec<String>,
    /// Every row's labels and values.
    pub rows: Vec<(Vec<String>, Vec<String>)>,
}

impl SweepResult {
    /// The tables; none for a scored sweep.
    pub fn pivots(&self) -> Vec<Pivot> {
        if self.is_scored() || self.cells.is_empty() {
            return Vec::new();
        }
        let systems = self.systems();
        if self.sampler.is_some() {
            let labels = |outcome: &CellOutcome| {
                outcome.cell.values.iter().map(AxisValue::in_words).collect()
            };
            vec![self.by_metric(self.axes.clone(), &systems, labels)]
        } else if !self.is_grid {
            let base = &self.cells[0];
            let label = |outcome: &CellOutcome| {
                vec![summary(&[base.clone(), outcome.clone()])[1].in_words()]
            };
            vec![self.by_metric(vec!["differs from the base by".to_owned()], &systems, label)]
        } else if self.axes.len() == 1 && systems.len() == 1 {
            let label = |outcome: &CellOutcome| vec![outcome.cell.values[0].in_words()];
            vec![self.by_metric(self.axes.clone(), &systems, label)]
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
        mut head: Vec<String>,
        systems: &[&str],
        labels: impl Fn(&CellOutcome) -> Vec<String>,
    ) -> Pivot {
        let has_systems = systems.len() > 1;
        if has_systems {
            head.push("system".to_owned());
        }
        let columns: Vec<String> = self
            .metrics
            .iter()
            .map(|(metric, unit)| format!("{metric}{}", in_unit(unit)))
            .collect();
        let mut rows = Vec::new();
        for outcome in self.cells.iter().take(self.shown()) {
            for (s, system) in systems.iter().enumerate() {
                let mut labels = labels(outcome);
                if has_systems {
                    labels.push((*system).to_owned());
                }
                let value = |place: usize| outcome.rows[s * columns.len() + place].in_words();
                rows.push((labels, (0..columns.len()).map(value).collect()));
            }
        }
        Pivot { title: None, head, columns, rows }
    }

    /// One metric: the last axis across, or the systems if there is one axis.
    fn crossed(&self, place: usize, systems: &[&str]) -> Pivot {
        let metrics = self.metrics.len();
        let shown = |outcome: &CellOutcome, s: usize| outcome.rows[s * metrics + place].in_words();
        let (metric, unit) = self.metric(place);
        let title = Some(format!("{metric}{}, by {}", in_unit(unit), self.across()));
        let mut head = self.axes.clone();
        if self.axes.len() == 1 {
            let columns = systems.iter().map(|system| (*system).to_owned()).collect();
            let row = |outcome: &CellOutcome| {
                let values = (0..systems.len()).map(|s| shown(outcome, s)).collect();
                (vec![outcome.cell.values[0].in_words()], values)
            };
            return Pivot { title, head, columns, rows: self.cells.iter().map(row).collect() };
        }
        let last = head.len() - 1;
        head.truncate(last);
        let first = &self.cells[0];
        let same_row =
            |a: &CellOutcome, b: &CellOutcome| a.cell.values[..last] == b.cell.values[..last];
        let columns: Vec<String> = self
            .cells
            .iter()
            .take_while(|outcome| same_row(outcome, first))
            .map(|outcome| outcome.cell.values[last].in_words())
            .collect();
        if systems.len() > 1 {
            head.push("system".to_owned());
        }
        let mut rows = Vec::new();
        for cells in self.cells.chunks(columns.len()) {
            for (s, system) in systems.iter().enumerate() {
                let mut labels: Vec<String> =
                    cells[0].cell.values[..last].iter().map(AxisValue::in_words).collect();
                if systems.len() > 1 {
                    labels.push((*system).to_owned());
                }
                rows.push((labels, cells.iter().map(|outcome| shown(outcome, s)).collect()));
            }
        }
        Pivot { title, head, columns, rows }
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
        let text = format!("{} {}", to_the_digits_of(mean, self.ci95), plus_minus(self.ci95));
        let text = text.trim_end();
        match self.runs_with_value {
            Some(some) if some < self.runs => format!("{text} ({some}/{})", self.runs),
            _ => text.to_owned(),
        }
    }
}
