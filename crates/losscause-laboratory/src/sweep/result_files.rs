//! The files of a sweep's results.

use std::borrow::Cow;

use super::tables::Document;
use super::{CellOutcome, SweepResult};
use crate::store::Held;
use losscause_study::RunError;
use losscause_study::tools::atomic::{AtomicFile, finish_together};
use losscause_study::tools::csv_file::Rows;

/// Writes `sweep.json`, `sweep.csv` and, if there are values of single runs, `runs.csv`, cell by
/// cell. `head` is the result without cells.
///
/// # Errors
/// A file cannot be written, or an outcome is an error.
pub(super) fn conclude<'a>(
    held: &Held,
    head: &SweepResult,
    outcomes: impl Iterator<Item = Result<Cow<'a, CellOutcome>, RunError>>,
) -> Result<(), RunError> {
    let mut runs =
        head.runs_header().map(|header| Rows::create(&held.file(RUNS_CSV), header)).transpose()?;
    let mut csv = Rows::create(&held.file(SWEEP_CSV), head.csv_header())?;
    let target = AtomicFile::create(&held.file(SWEEP_JSON))?;
    let unwritable = |reason| RunError::unwritable(held.file(SWEEP_JSON), reason);
    let mut json = Document::begin(head, target).map_err(unwritable)?;
    for outcome in outcomes {
        let outcome = outcome?;
        json.add(&outcome).map_err(unwritable)?;
        for record in head.csv_records(&outcome) {
            csv.add(record)?;
        }
        if let Some(runs) = &mut runs {
            for record in head.runs_records(&outcome) {
                runs.add(record)?;
            }
        }
    }
    let mut files = vec![csv.into_file()?, json.end().map_err(unwritable)?];
    if let Some(runs) = runs {
        files.push(runs.into_file()?);
    }
    finish_together(files)
}

const RUNS_CSV: &str = "runs.csv";
/// The means in the directory of a sweep.
pub const SWEEP_CSV: &str = "sweep.csv";
/// The whole result there.
pub const SWEEP_JSON: &str = "sweep.json";
/// The report in the directory of a sweep, an HTML page.
pub const REPORT: &str = "report.html";

/// The files of the results.
pub(super) const RESULTS: [&str; 4] = [RUNS_CSV, SWEEP_CSV, SWEEP_JSON, REPORT];
