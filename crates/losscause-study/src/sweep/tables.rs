//! The results of a sweep as CSV.

use super::SweepResult;
use crate::csv_file;

impl SweepResult {
    /// One line per cell and system, with the mean, interval and number of values of every metric; units in the head.
    /// Of a scored sweep: one line per value, with the published one.
    pub fn csv(&self) -> String {
        if self.is_scored() {
            return self.scored_csv();
        }
        let metrics = self.metrics.iter().flat_map(|(name, unit)| {
            [format!("{name} ({unit})"), format!("{name} ci95 ({unit})"), format!("{name} runs")]
        });
        let mut table = Table::new(self, ["system", "runs"].map(str::to_owned).into_iter().chain(metrics));
        for outcome in &self.cells {
            for rows in outcome.rows.chunks(self.metrics.len().max(1)) {
                let Some(first) = rows.first() else { continue };
                let values = rows.iter().flat_map(|row| {
                    [number(row.measured), number(row.ci95), row.runs_with_value.unwrap_or(row.runs).to_string()]
                });
                table.add(outcome, [first.system.clone(), first.runs.to_string()].into_iter().chain(values));
            }
        }
        table.text()
    }

    /// One line per run; units in the head. None for a scored sweep, whose values may combine several runs.
    pub fn runs_csv(&self) -> Option<String> {
        if self.is_scored() {
            return None;
        }
        let metrics = self.metrics.iter().map(|(name, unit)| format!("{name} ({unit})"));
        let mut table = Table::new(self, ["system", "seed"].map(str::to_owned).into_iter().chain(metrics));
        for outcome in &self.cells {
            for run in &outcome.runs {
                let values = run.metrics.values().map(|value| number(*value));
                table.add(outcome, [run.system.clone(), run.seed.to_string()].into_iter().chain(values));
            }
        }
        Some(table.text())
    }

    /// Indented JSON with a new line at its end.
    pub fn json(&self) -> String {
        super::store::json(self)
    }

    /// Whether papers are measured and scored in its cells.
    pub fn is_scored(&self) -> bool {
        self.metrics.is_empty()
    }

    fn scored_csv(&self) -> String {
        let rest = [
            "scenario",
            "parameters",
            "system",
            "metric",
            "unit",
            "measured",
            "ci95",
            "runs",
            "published",
            "within_tolerance",
        ];
        let mut table = Table::new(self, rest.map(str::to_owned));
        for outcome in &self.cells {
            for row in &outcome.rows {
                let measured = [
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
                ];
                table.add(outcome, measured);
            }
        }
        table.text()
    }
}

/// A table whose first columns are the cell's number and the axes.
struct Table {
    header: Vec<String>,
    records: Vec<Vec<String>>,
}

impl Table {
    fn new(result: &SweepResult, rest: impl IntoIterator<Item = String>) -> Self {
        let header = ["cell".to_owned()].into_iter().chain(result.axes.iter().cloned()).chain(rest).collect();
        Self { header, records: Vec::new() }
    }

    fn add(&mut self, outcome: &super::CellOutcome, rest: impl IntoIterator<Item = String>) {
        let cell = [outcome.cell.number.to_string()].into_iter();
        let values = outcome.cell.values.iter().map(|value| value.value.clone());
        self.records.push(cell.chain(values).chain(rest).collect());
    }

    fn text(self) -> String {
        csv_file::text_of_records(self.header, self.records)
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;

    use crate::sweep::{AxisValue, Cell, CellOutcome, Row, RunRow, SweepResult};

    fn row(metric: &str, measured: Option<f64>, ci95: Option<f64>, runs_with_value: Option<u32>) -> Row {
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
            published: None,
            within_tolerance: None,
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
            settings: vec![],
            seed: 5,
            runs: 2,
            axes: vec!["tick".into()],
            is_grid: true,
            sampler: None,
            seeds_by_cell: false,
            metrics: metrics.iter().map(|(name, unit)| ((*name).to_owned(), (*unit).to_owned())).collect(),
            cells: vec![CellOutcome { cell, score: None, claims: [].into(), rows, runs }],
        }
    }

    #[test]
    fn the_summary_has_a_line_per_cell_and_system_with_units_in_the_head_and_the_true_count_of_values() {
        let rows = vec![row("thput", Some(52.25), Some(0.5), Some(2)), row("M_c", Some(25.0), None, Some(1))];
        assert_eq!(
            result(&[("thput", "percent"), ("M_c", "percent")], rows, vec![]).csv(),
            "cell,tick,system,runs,thput (percent),thput ci95 (percent),thput runs,M_c (percent),M_c ci95 (percent),\
             M_c runs\n7,0.1 s,TCP,2,52.25,0.5,2,25,,1\n"
        );
    }

    #[test]
    fn every_run_has_a_line_of_its_own() {
        let run = |seed, m_c| RunRow {
            system: "TCP".into(),
            seed,
            metrics: IndexMap::from([("thput".to_owned(), Some(0.5)), ("M_c".to_owned(), m_c)]),
        };
        let result =
            result(&[("thput", "percent"), ("M_c", "percent")], vec![], vec![run(5, None), run(6, Some(25.0))]);
        assert_eq!(
            result.runs_csv().unwrap(),
            "cell,tick,system,seed,thput (percent),M_c (percent)\n7,0.1 s,TCP,5,0.5,\n7,0.1 s,TCP,6,0.5,25\n"
        );
    }

    #[test]
    fn a_scored_sweep_has_one_line_per_value_with_its_axes_first() {
        let scored =
            Row { published: Some(55.0), within_tolerance: Some(true), ..row("thput", Some(52.25), None, None) };
        let result = result(&[], vec![scored], vec![]);
        assert_eq!(
            result.csv(),
            "cell,tick,scenario,parameters,system,metric,unit,measured,ci95,runs,published,within_tolerance\n\
             7,0.1 s,cen2003/WLH,N=4,TCP,thput,percent,52.25,,2,55,true\n"
        );
        assert_eq!(result.runs_csv(), None);
    }
}
