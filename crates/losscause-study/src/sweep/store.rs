//! The store of a sweep's cells: one file per cell, written atomically, so that an interrupted sweep can be resumed.

use std::path::{Path, PathBuf};

use super::{Cell, CellOutcome};
use crate::{RunError, atomic};

/// A directory with the finished cells of one sweep and, at the end, its two summaries.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
    resumes: bool,
}

impl Store {
    /// A store in `directory`, which is created when the sweep begins.
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), resumes: false }
    }

    /// The same, but keeps the finished cells of an earlier sweep.
    pub fn resuming(self) -> Self {
        Self { resumes: true, ..self }
    }

    /// Creates the directory if it is missing.
    ///
    /// # Errors
    /// It cannot be created or written.
    pub(super) fn prepare(&self) -> Result<(), RunError> {
        let cells = self.directory.join("cells");
        let unwritable = |reason| RunError::Unwritable { file: self.directory.display().to_string(), reason };
        std::fs::create_dir_all(&cells).map_err(unwritable)?;
        // This only tests whether files can be written: an unfinished file leaves nothing behind.
        atomic::AtomicFile::create(&self.directory.join(SUMMARY)).map(drop)
    }

    /// The outcome of `cell`, if the store resumes and has an outcome of the same `origin`. A damaged file counts as
    /// missing.
    pub(super) fn finished(&self, cell: &Cell, origin: &str) -> Option<CellOutcome> {
        if !self.resumes {
            return None;
        }
        let text = std::fs::read_to_string(self.file(cell.number)).ok()?;
        let outcome: CellOutcome = serde_json::from_str(&text).ok()?;
        (outcome.cell == *cell && outcome.origin == origin).then_some(outcome)
    }

    /// Keeps the outcome of a cell.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn keep(&self, outcome: &CellOutcome) -> Result<(), RunError> {
        atomic::write(&self.file(outcome.cell.number), &json(outcome))
    }

    /// Writes `sweep.csv`, one line per measured value, and `sweep.json`, all cells.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn summarise(&self, outcomes: &[CellOutcome]) -> Result<(), RunError> {
        atomic::write(&self.directory.join(SUMMARY), &json(&outcomes))?;
        atomic::write(&self.directory.join(TABLE), &csv(outcomes))
    }

    fn file(&self, number: usize) -> PathBuf {
        self.directory.join("cells").join(format!("{number:04}.json"))
    }
}

const SUMMARY: &str = "sweep.json";
const TABLE: &str = "sweep.csv";

fn json<T: serde::Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("outcomes have text keys and finite or no numbers");
    text.push(b'\n');
    text
}

/// The axes are the first columns, followed by the measurements.
fn csv(outcomes: &[CellOutcome]) -> Vec<u8> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let axes = outcomes.first().map(|o| o.cell.values.iter().map(|v| v.axis.clone()).collect::<Vec<_>>());
    let rest =
        ["scenario", "parameters", "system", "metric", "measured", "ci95", "runs", "published", "within_tolerance"];
    let header = ["cell".to_owned()].into_iter().chain(axes.unwrap_or_default());
    let written = "a vector takes every record, and all records have the header's length";
    table.write_record(header.chain(rest.map(str::to_owned))).expect(written);
    let number = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
    for outcome in outcomes {
        for row in &outcome.rows {
            let place = [outcome.cell.number.to_string()].into_iter();
            let values = outcome.cell.values.iter().map(|v| v.value.clone());
            let measured = [
                row.scenario.clone(),
                row.at(),
                row.system.clone(),
                row.metric.clone(),
                number(row.measured),
                number(row.ci95),
                row.runs.to_string(),
                number(row.published),
                row.within_tolerance.map_or_else(String::new, |w| w.to_string()),
            ];
            table.write_record(place.chain(values).chain(measured)).expect(written);
        }
    }
    table.into_inner().expect("a vector takes everything")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::{AxisValue, Row};

    fn outcome(origin: &str) -> CellOutcome {
        let values = vec![AxisValue { axis: "tick".into(), value: "0.1 s".into() }];
        let row = Row {
            scenario: "cen2003/WLH".into(),
            parameters: [("N".to_owned(), 4.into())].into(),
            system: "TCP".into(),
            metric: "thput".into(),
            measured: Some(52.25),
            ci95: None,
            runs: 1,
            published: Some(55.0),
            within_tolerance: Some(true),
        };
        CellOutcome {
            cell: Cell { number: 7, values, settings: vec!["tcp.quirks.tick_ms=100".into()], ..Cell::default() },
            origin: origin.into(),
            score: None,
            claims: [("a-claim".to_owned(), true)].into(),
            rows: vec![row],
        }
    }

    #[test]
    fn a_finished_cell_is_found_again_and_one_of_another_origin_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path()).resuming();
        store.prepare().unwrap();
        let kept = outcome("10 runs from seed 1");
        assert_eq!(store.finished(&kept.cell, &kept.origin), None);
        store.keep(&kept).unwrap();
        assert_eq!(store.finished(&kept.cell, &kept.origin), Some(kept.clone()));
        // An imprecise parser changes the last digits of these two numbers.
        let mut precise = kept.clone();
        (precise.rows[0].measured, precise.rows[0].ci95) = (Some(949.248), Some(99.946_666_666_666_69));
        store.keep(&precise).unwrap();
        assert_eq!(store.finished(&kept.cell, &kept.origin), Some(precise), "a resumed cell has the same bytes");
        assert_eq!(store.finished(&kept.cell, "20 runs from seed 1"), None);
        assert_eq!(Store::new(directory.path()).finished(&kept.cell, &kept.origin), None, "it does not resume");
    }

    #[test]
    fn a_damaged_cell_counts_as_missing() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path()).resuming();
        store.prepare().unwrap();
        let kept = outcome("x");
        std::fs::write(directory.path().join("cells/0007.json"), "{\"cell\":").unwrap();
        assert_eq!(store.finished(&kept.cell, &kept.origin), None);
    }

    #[test]
    fn the_table_has_one_line_per_value_with_its_axes_first() {
        let text = String::from_utf8(csv(&[outcome("x")])).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "cell,tick,scenario,parameters,system,metric,measured,ci95,runs,published,within_tolerance"
        );
        assert_eq!(lines[1], "7,0.1 s,cen2003/WLH,N=4,TCP,thput,52.25,,1,55,true");
    }
}
