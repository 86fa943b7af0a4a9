//! The directory of a sweep: its finished cells, so that an interrupted sweep can be resumed, and
//! the results.

use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::journal::Journal;
use super::origin::Origin;
use super::tables::{self, Document};
use super::{CellOutcome, Cells, SweepResult};
use losscause_study::files::Inputs;
use losscause_study::tools::atomic;
use losscause_study::tools::atomic::AtomicFile;
use losscause_study::tools::atomic::lock::{Attempt, try_lock};
use losscause_study::tools::csv_file::Rows;
use losscause_study::{InputError, RunError};

/// The directory in which a sweep keeps its cells and, at the end, its results.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
    resumes: bool,
}

/// The directory of one sweep, locked for this process.
#[derive(Debug)]
pub(super) struct OpenStore {
    store: Store,
    /// The lock ends with the file.
    _lock: File,
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

    /// Locks the directory for the sweep of that origin. It is created if it is missing.
    ///
    /// # Errors
    /// It cannot be created or written, it would overwrite an input, another process has locked it,
    /// or it holds another sweep.
    pub(super) fn open(&self, origin: &Origin) -> Result<OpenStore, RunError> {
        let inputs = Inputs::of(origin.files.keys());
        inputs.keep_from(&self.cells())?;
        for name in [ORIGIN, RUNS_CSV, SWEEP_CSV, SWEEP_JSON, REPORT] {
            inputs.keep_from(&self.directory.join(name))?;
        }
        let unwritable =
            |reason| RunError::Unwritable { file: self.directory.display().to_string(), reason };
        std::fs::create_dir_all(&self.directory).map_err(unwritable)?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.directory.join(LOCK));
        let lock = lock.map_err(unwritable)?;
        // Where files have no locks, nothing can be said about other processes.
        if try_lock(&lock) == Attempt::Held {
            return Err(self
                .refuse("is in use by another process".into(), "a directory of its own")
                .into());
        }
        let kept = self.kept_origin()?;
        match kept.as_ref().and_then(|kept| origin.difference(kept)) {
            Some(difference) if self.resumes => {
                return Err(self
                    .refuse(difference, "the same sweep; without --resume it starts anew")
                    .into());
            }
            Some(difference) if kept.is_some_and(|kept| kept.sweep != origin.sweep) => {
                return Err(self
                    .refuse(difference, "another directory, or one that is empty")
                    .into());
            }
            // The sweep was edited: its earlier cells are not cells of this one.
            Some(_) => std::fs::remove_dir_all(self.cells()).map_err(unwritable)?,
            None => {}
        }
        std::fs::create_dir_all(self.cells()).map_err(unwritable)?;
        atomic::remove_abandoned(&self.cells());
        atomic::write(&self.directory.join(ORIGIN), json(origin).as_bytes())?;
        Ok(OpenStore { store: self.clone(), _lock: lock })
    }

    /// The origin of the sweep whose cells are in the directory.
    fn kept_origin(&self) -> Result<Option<Origin>, RunError> {
        let text = std::fs::read_to_string(self.directory.join(ORIGIN)).ok();
        let origin = text.and_then(|text| serde_json::from_str(&text).ok());
        if origin.is_none() && self.cells().exists() {
            let problem = format!("has cells and no valid {ORIGIN}");
            return Err(self.refuse(problem, "another directory, or one that is empty").into());
        }
        Ok(origin)
    }

    fn refuse(&self, problem: String, expected: &'static str) -> InputError {
        InputError::File { file: self.directory.display().to_string(), problem, expected }
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
        self.store.resumes
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
        Journal::open(&self.cells().join(FINISHED), cells, self.store.resumes, take)
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
        if let Some(runs) = runs {
            runs.finish()?;
        }
        csv.finish()?;
        json.end().map_err(unwritable)?.finish()
    }
}

/// The finished cells, in the directory of the cells.
const FINISHED: &str = "finished.jsonl";
const ORIGIN: &str = "origin.json";
const RUNS_CSV: &str = "runs.csv";
/// The means in the directory of a sweep.
pub const SWEEP_CSV: &str = "sweep.csv";
/// The whole result there.
pub const SWEEP_JSON: &str = "sweep.json";
const LOCK: &str = ".lock";
/// The report in the directory of a sweep, an HTML page.
pub const REPORT: &str = "report.html";

fn json(value: &impl serde::Serialize) -> String {
    tables::indented(value) + "\n"
}
