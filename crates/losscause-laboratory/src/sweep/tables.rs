//! The results of a sweep as CSV and as JSON. Both are also written cell by cell, for sweeps that
//! do not fit into memory.

use std::io::{self, Write};

use serde::Serialize;

use super::{CellOutcome, Row, RunRow, SweepResult};
use losscause_study::tools::csv_file;

impl SweepResult {
    /// One line per cell and system, with the mean, interval and number of values of every metric;
    /// units in the head. Of a scored sweep: one line per value, with the published one.
    pub fn csv(&self) -> String {
        let records = self.cells.iter().flat_map(|outcome| self.csv_records(outcome));
        csv_file::text_of_records(self.csv_header(), records)
    }

    /// One line per run; units in the head. None for a scored sweep, whose values may combine
    /// several runs.
    pub fn runs_csv(&self) -> Option<String> {
        let records = self.cells.iter().flat_map(|outcome| self.runs_records(outcome));
        Some(csv_file::text_of_records(self.runs_header()?, records))
    }

    /// Indented JSON with a new line at its end.
    pub fn json(&self) -> String {
        let document = || {
            let mut document = Document::begin(self, Vec::new())?;
            self.cells.iter().try_for_each(|outcome| document.add(outcome))?;
            document.end()
        };
        let bytes: io::Result<Vec<u8>> = document();
        String::from_utf8(bytes.expect("a vector takes everything")).expect("JSON is text")
    }

    /// Whether papers are measured and scored in its cells.
    pub fn is_scored(&self) -> bool {
        self.metrics.is_empty()
    }

    /// The first line of [`SweepResult::csv`].
    pub(super) fn csv_header(&self) -> Vec<String> {
        if self.is_scored() {
            let rest = "scenario parameters system metric unit measured ci95 runs published within_tolerance";
            return self.header(rest.split(' ').map(str::to_owned));
        }
        let metrics = self.metrics.iter().flat_map(|(name, unit)| {
            [format!("{name} ({unit})"), format!("{name} ci95 ({unit})"), format!("{name} runs")]
        });
        self.header(["system", "runs"].map(str::to_owned).into_iter().chain(metrics))
    }

    /// The lines of a cell in [`SweepResult::csv`].
    pub(super) fn csv_records(&self, outcome: &CellOutcome) -> Vec<Vec<String>> {
        if self.is_scored() {
            return outcome.rows.iter().map(|row| record(outcome, scored(row))).collect();
        }
        let systems = outcome.rows.chunks(self.metrics.len());
        let of_a_system = |rows: &[Row]| {
            let values = rows.iter().flat_map(|row| {
                [
                    number(row.measured),
                    number(row.ci95),
                    row.runs_with_value.unwrap_or(row.runs).to_string(),
                ]
            });
            record(
                outcome,
                [rows[0].system.clone(), rows[0].runs.to_string()].into_iter().chain(values),
            )
        };
        systems.map(of_a_system).collect()
    }

    /// The first line of [`SweepResult::runs_csv`].
    pub(super) fn runs_header(&self) -> Option<Vec<String>> {
        let metrics = self.metrics.iter().map(|(name, unit)| format!("{name} ({unit})"));
        let header =
            || self.header(["system", "seed"].map(str::to_owned).into_iter().chain(metrics));
        (!self.is_scored()).then(header)
    }

    /// The lines of a cell in [`SweepResult::runs_csv`].
    pub(super) fn runs_records(&self, outcome: &CellOutcome) -> Vec<Vec<String>> {
        let of_a_run = |run: &RunRow| {
            let values = run.metrics.values().map(|value| number(*value));
            record(outcome, [run.system.clone(), run.seed.to_string()].into_iter().chain(values))
        };
        outcome.runs.iter().map(of_a_run).collect()
    }

    /// The first columns are the cell's number and the axes.
    fn header(&self, rest: impl Iterator<Item = String>) -> Vec<String> {
        ["cell".to_owned()].into_iter().chain(self.axes.iter().cloned()).chain(rest).collect()
    }
}

fn record(outcome: &CellOutcome, rest: impl IntoIterator<Item = String>) -> Vec<String> {
    let cell = [outcome.cell.number.to_string()].into_iter();
    cell.chain(outcome.cell.values.iter().map(|value| value.value.clone())).chain(rest).collect()
}

fn scored(row: &Row) -> [String; 10] {
    [
        row.scenario.clone(),
        row.at(),
        row.system.clone(),
        row.metric.clone(),
        row.unit.clone(),
        number(row.measured),
        number(row.ci95),
        row.runs.to_string(),
        number(row.published),
        row.within_tolerance.map_or_else(String::new, |w| w.to_string()),
    ]
}

/// The JSON of a result, written cell by cell.
pub(super) struct Document<W> {
    out: W,
    is_empty: bool,
}

impl<W: Write> Document<W> {
    /// Writes all fields before the cells.
    pub(super) fn begin(head: &SweepResult, mut out: W) -> io::Result<Self> {
        let text = indented(&head.without_cells());
        let before = text.strip_suffix("[]\n}").expect("the cells are the last field");
        out.write_all(before.as_bytes())?;
        Ok(Self { out, is_empty: true })
    }

    /// Writes the next cell.
    pub(super) fn add(&mut self, outcome: &CellOutcome) -> io::Result<()> {
        self.out.write_all(if self.is_empty { b"[\n    " } else { b",\n    " })?;
        self.is_empty = false;
        // No text has a line end in JSON: each begins a line of the document.
        self.out.write_all(indented(outcome).replace('\n', "\n    ").as_bytes())
    }

    /// Writes the end.
    pub(super) fn end(mut self) -> io::Result<W> {
        self.out.write_all(if self.is_empty { b"[]\n}\n" } else { b"\n  ]\n}\n" })?;
        Ok(self.out)
    }
}

pub(super) fn indented(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("results have text keys and finite or no numbers")
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;

    use crate::sweep::{AxisValue, Cell, CellOutcome, Row, RunRow, SweepResult};

    fn row(
        metric: &str,
        measured: Option<f64>,
        ci95: Option<f64>,
        runs_with_value: Option<u32>,
    ) -> Row {
        Row {
            scenario: "cen2003/WLH".into(),
            parameters: [("N".to_owned(), 4.into())].into(),
            system: "TCP".into(),
            metric: metric.into(),
            unit: "percent".into(),
            measured,
            ci95,
            runs: 2,
            runs_with_value,
            ..Row::default()
        }
    }

    fn result(metrics: &[(&str, &str)], rows: Vec<Row>, runs: Vec<RunRow>) -> SweepResult {
        let values = vec![AxisValue { axis: "tick".into(), value: "0.1 s".into() }];
        let cell = Cell { number: 7, values, ..Cell::default() };
        SweepResult {
            format_version: 1,
            title: "t".into(),
            sweep: "s.toml".into(),
            version: "0".into(),
            seed: 5,
            runs: 2,
            axes: vec!["tick".into()],
            is_grid: true,
            metrics: metrics
                .iter()
                .map(|(name, unit)| ((*name).to_owned(), (*unit).to_owned()))
                .collect(),
            cells: vec![CellOutcome { cell, rows, runs, ..CellOutcome::default() }],
            ..SweepResult::default()
        }
    }

    #[test]
    fn the_summary_has_a_line_per_cell_and_system_with_true_counts() {
        let rows = vec![
            row("thput", Some(52.25), Some(0.5), Some(2)),
            row("M_c", Some(25.0), None, Some(1)),
        ];
        assert_eq!(
            result(&[("thput", "percent"), ("M_c", "percent")], rows, vec![]).csv(),
            "cell,tick,system,runs,thput (percent),thput ci95 (percent),thput runs,M_c (percent),M_c ci95 (percent),\
             M_c runs\n7,0.1 s,TCP,2,52.25,0.5,2,25,,1\n"
        );
    }

    #[test]
    fn the_json_is_of_the_whole_result_with_any_number_of_cells() {
        for count in [0, 1, 3] {
            let mut result = result(
                &[("thput", "a \"line\"\nend")],
                vec![row("thput", Some(0.1), None, None)],
                vec![],
            );
            result.cells = vec![result.cells[0].clone(); count];
            assert_eq!(result.json(), serde_json::to_string_pretty(&result).unwrap() + "\n");
        }
    }

    #[test]
    fn every_run_has_a_line_of_its_own() {
        let run = |seed, m_c| RunRow {
            system: "TCP".into(),
            seed,
            metrics: IndexMap::from([("thput".to_owned(), Some(0.5)), ("M_c".to_owned(), m_c)]),
        };
        let result = result(
            &[("thput", "percent"), ("M_c", "percent")],
            vec![],
            vec![run(5, None), run(6, Some(25.0))],
        );
        assert_eq!(
            result.runs_csv().unwrap(),
            "cell,tick,system,seed,thput (percent),M_c (percent)\n7,0.1 s,TCP,5,0.5,\n7,0.1 s,TCP,6,0.5,25\n"
        );
    }

    #[test]
    fn a_scored_sweep_has_one_line_per_value_with_its_axes_first() {
        let scored = Row {
            published: Some(55.0),
            within_tolerance: Some(true),
            ..row("thput", Some(52.25), None, None)
        };
        let result = result(&[], vec![scored], vec![]);
        assert_eq!(
            result.csv(),
            "cell,tick,scenario,parameters,system,metric,unit,measured,ci95,runs,published,within_tolerance\n\
             7,0.1 s,cen2003/WLH,N=4,TCP,thput,percent,52.25,,2,55,true\n"
        );
        assert_eq!(result.runs_csv(), None);
    }
}
