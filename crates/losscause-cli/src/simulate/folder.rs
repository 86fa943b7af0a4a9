//! The folder that `--out` names.

use std::path::Path;

use losscause_report as report;
use losscause_study::run::{RunRecord, SimulationResult};
use losscause_study::tools::{atomic, csv_file};

use crate::failure::Failure;
use crate::output;

const REPORT: &str = "report.html";
const RESULT: &str = "result.json";
const LOSSES: &str = "losses.csv";

/// The files that [`write()`] writes.
pub(super) const FILES: [&str; 3] = [REPORT, RESULT, LOSSES];

/// Writes into `directory`, which exists: the report, the result as `--format json` prints it, and
/// every loss of the run that the report draws.
pub(super) fn write(
    directory: &Path,
    result: &SimulationResult,
    record: &RunRecord,
) -> Result<(), Failure> {
    atomic::write(&directory.join(RESULT), output::json_text(result)?.as_bytes())?;
    csv_file::write(&directory.join(LOSSES), record.losses.iter().map(|loss| loss.row()))?;
    atomic::write(&directory.join(REPORT), report::simulation_html(result, record).as_bytes())?;
    Ok(())
}
