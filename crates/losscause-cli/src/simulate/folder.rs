//! The folder that `--out` names.

use std::path::Path;

use losscause_report as report;
use losscause_study::RunError;
use losscause_study::run::{RunRecord, SimulationResult};
use losscause_study::tools::atomic::folder::Folder;
use losscause_study::tools::{atomic, csv_file};

use crate::failure::Failure;

const REPORT: &str = "report.html";
const RESULT: &str = "result.json";
const LOSSES: &str = "losses.csv";

/// The files that [`write()`] writes.
pub(super) const FILES: [&str; 3] = [REPORT, RESULT, LOSSES];

/// Locks the folder, before the run.
pub(super) fn open(directory: &Path) -> Result<Folder, RunError> {
    Folder::open(directory, "simulate", &FILES)
}

/// Writes the report, the result as `--format json` prints it, and every loss of the run that the
/// report draws.
pub(super) fn write(
    folder: Folder,
    result: &SimulationResult,
    record: &RunRecord,
) -> Result<(), Failure> {
    let losses = record.losses.iter().map(|loss| loss.row());
    let files = vec![
        atomic::whole(&folder.file(RESULT), result.json().as_bytes())?,
        csv_file::whole(&folder.file(LOSSES), losses)?,
        atomic::whole(&folder.file(REPORT), report::simulation_html(result, record).as_bytes())?,
    ];
    Ok(folder.finish(files)?)
}
