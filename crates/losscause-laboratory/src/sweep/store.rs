//! The directory of a sweep: its finished cells, so that an interrupted sweep can be resumed, and
//! the results.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::journal::Journal;
use super::origin::Origin;
use super::tables::{self, Document};
use super::{CellOutcome, Cells, SweepResult};
use losscause_study::files::Inputs;
use losscause_study::tools::atomic;
use losscause_study::tools::atomic::folder::{
    self, Created, EXPECTED, Hold, ORIGIN, hold, refused,
};
use losscause_study::tools::atomic::{AtomicFile, finish_together};
use losscause_study::tools::csv_file::Rows;
use losscause_study::{InputError, RunError};

/// The directory in which a sweep keeps its cells and, at the end, its results.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
    earlier: Earlier,
}

/// What becomes of the finished cells of an earlier sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Earlier {
    /// They are not touched: the sweep is refused.
    Refuses,
    Resumed,
    Dropped,
}

/// The directory of one sweep, locked for this process.
#[derive(Debug)]
pub(super) struct OpenStore {
    store: Store,
    _cells: Created,
    _hold: Hold,
}

impl Store {
    /// A store in `directory`, which is created when the sweep begins. If the directory has finished
    /// cells, the sweep is refused.
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), earlier: Earlier::Refuses }
    }

    /// The same, but keeps the finished cells of the same sweep.
    pub fn resuming(self) -> Self {
        Self { earlier: Earlier::Resumed, ..self }
    }

    /// The same, but drops the finished cells of the same sweep file.
    pub fn restarting(self) -> Self {
        Self { earlier: Earlier::Dropped, ..self }
    }

    /// Locks the directory for the sweep of that origin. It is created if it is missing.
    ///
    /// # Errors
    /// It cannot be created or written, it would overwrite an input, another process has locked it,
    /// or it holds another sweep.
    pub(super) fn open(&self, origin: &Origin) -> Result<OpenStore, RunError> {
        let inputs = Inputs::of(origin.files.keys());
        inputs.keep_from(&self.cells())?;
        for name in RESULTS.iter().chain([&ORIGIN]) {
            inputs.keep_from(&self.directory.join(name))?;
        }
        let unwritable =
            |reason| RunError::Unwritable { file: self.directory.display().to_string(), reason };
        let hold = hold(&self.directory)?;
        let kept = self.kept_origin()?;
        if let Some(kept) = &kept {
            match (self.earlier, origin.difference(kept)) {
                (Earlier::Resumed, Some(difference)) => {
                    let expected = "the same sweep; --restart drops its cells and starts anew";
                    return Err(self.refuse(difference, expected).into());
                }
                (_, Some(difference)) if kept.sweep != origin.sweep => {
                    return Err(self.refuse(difference, EXPECTED).into());
                }
                (Earlier::Refuses, difference) if self.has_cells() => {
                    let problem = match difference {
                        None => "has finished cells of this sweep".to_owned(),
                        Some(difference) => format!("has finished cells and {difference}"),
                    };
                    let expected = "--resume to keep them, or --restart to drop them";
                    return Err(self.refuse(problem, expected).into());
                }
                _ => {}
            }
        }
        // No table stands beside the origin of another sweep.
        if kept.as_ref() != Some(origin) || self.earlier == Earlier::Dropped {
            RESULTS.iter().try_for_each(|name| atomic::remove(&self.directory.join(name)))?;
        }
        if self.earlier != Earlier::Resumed && self.cells().exists() {
            std::fs::remove_dir_all(self.cells()).map_err(unwritable)?;
        }
        // Before the cells: a folder of cells whose origin nobody knows is refused.
        atomic::write(&self.directory.join(ORIGIN), json(origin).as_bytes())?;
        let created = folder::create(&self.cells())?;
        atomic::remove_abandoned(&self.cells());
        Ok(OpenStore { store: self.clone(), _cells: created, _hold: hold })
    }

    /// Whether a cell is finished.
    fn has_cells(&self) -> bool {
        let finished = |entry: std::fs::DirEntry| {
            entry.metadata().is_ok_and(|about| about.is_dir() || about.len() > 0)
        };
        std::fs::read_dir(self.cells()).is_ok_and(|entries| entries.flatten().any(finished))
    }

    /// The origin of the sweep whose cells are in the directory.
    fn kept_origin(&self) -> Result<Option<Origin>, RunError> {
        let text = std::fs::read_to_string(self.directory.join(ORIGIN)).ok();
        let is_there = text.is_some();
        let origin = text.and_then(|text| serde_json::from_str(&text).ok());
        let problem = match origin {
            None if self.has_cells() => format!("has cells and no valid {ORIGIN}"),
            None if is_there => format!("has the {ORIGIN} of another verb or program"),
            _ => return Ok(origin),
        };
        Err(self.refuse(problem, EXPECTED).into())
    }

    fn refuse(&self, problem: String, expected: &'static str) -> InputError {
        refused(&self.directory, problem, expected)
    }

    fn cells(&self) -> PathBuf {
        self.directory.join("cells")
    }
}

impl OpenStore {
    /// The directory of the finished cells.
    pub(super) fn cells(&self) -> PathBuf {
        self.store.cells()
    }

    /// Whether finished cells of an earlier sweep are kept.
    pub(super) fn resumes(&self) -> bool {
        self.store.earlier == Earlier::Resumed
    }

    /// The finished cells, of an earlier sweep too if the store resumes; `take` gets each of those.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(super) fn journal(
        &self,
        cells: &Cells<'_>,
        take: impl FnMut(CellOutcome),
    ) -> Result<Journal, RunError> {
        Journal::open(&self.cells().join(FINISHED), cells, self.resumes(), take)
    }

    /// Writes `sweep.json`, `sweep.csv` and, if there are values of single runs, `runs.csv`, cell
    /// by cell. `head` is the result without cells.
    ///
    /// # Errors
    /// A file cannot be written, or an outcome is an error.
    pub(super) fn conclude<'a>(
        &self,
        head: &SweepResult,
        outcomes: impl Iterator<Item = Result<Cow<'a, CellOutcome>, RunError>>,
    ) -> Result<(), RunError> {
        let file = |name: &str| self.store.directory.join(name);
        let mut runs =
            head.runs_header().map(|header| Rows::create(&file(RUNS_CSV), header)).transpose()?;
        let mut csv = Rows::create(&file(SWEEP_CSV), head.csv_header())?;
        let target = AtomicFile::create(&file(SWEEP_JSON))?;
        let unwritable =
            |reason| RunError::Unwritable { file: file(SWEEP_JSON).display().to_string(), reason };
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
}

/// The finished cells, in the directory of the cells.
const FINISHED: &str = "finished.jsonl";
const RUNS_CSV: &str = "runs.csv";
/// The means in the directory of a sweep.
pub const SWEEP_CSV: &str = "sweep.csv";
/// The whole result there.
pub const SWEEP_JSON: &str = "sweep.json";
/// The report in the directory of a sweep, an HTML page.
pub const REPORT: &str = "report.html";

/// The files of the results.
const RESULTS: [&str; 4] = [RUNS_CSV, SWEEP_CSV, SWEEP_JSON, REPORT];

fn json(value: &impl serde::Serialize) -> String {
    tables::indented(value) + "\n"
}
