//! The directory of a sweep: one file per finished cell, so that an interrupted sweep can be resumed, and the results.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::origin::Origin;
use super::{Cell, CellOutcome, SweepResult};
use crate::atomic::lock::{Attempt, try_lock};
use crate::files::Inputs;
use crate::{InputError, RunError, atomic};

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
    /// It cannot be created or written, it would overwrite an input, another process has locked it, or it holds another
    /// sweep.
    pub(super) fn open(&self, origin: &Origin) -> Result<OpenStore, RunError> {
        let inputs = Inputs::of(origin.files.keys());
        inputs.keep_from(&self.cells())?;
        for name in [ORIGIN, RUNS_CSV, SWEEP_CSV, SWEEP_JSON, REPORT] {
            inputs.keep_from(&self.directory.join(name))?;
        }
        let unwritable = |reason| RunError::Unwritable { file: self.directory.display().to_string(), reason };
        std::fs::create_dir_all(&self.directory).map_err(unwritable)?;
        let lock = File::options().create(true).truncate(false).write(true).open(self.directory.join(LOCK));
        let lock = lock.map_err(unwritable)?;
        // Where files have no locks, nothing can be said about other processes.
        if try_lock(&lock) == Attempt::Held {
            return Err(self.refuse("is in use by another process".into(), "a directory of its own").into());
        }
        let kept = self.kept_origin()?;
        match kept.as_ref().and_then(|kept| origin.difference(kept)) {
            Some(difference) if self.resumes => {
                return Err(self.refuse(difference, "the same sweep; without --resume it starts anew").into());
            }
            Some(difference) if kept.is_some_and(|kept| kept.sweep != origin.sweep) => {
                return Err(self.refuse(difference, "another directory, or one that is empty").into());
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

    fn file(&self, number: usize) -> PathBuf {
        self.cells().join(format!("{number:04}.json"))
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

    /// The outcome of `cell`, if the store resumes and has one. A damaged file counts as missing.
    pub(super) fn finished(&self, cell: &Cell) -> Option<CellOutcome> {
        if !self.store.resumes {
            return None;
        }
        let text = std::fs::read_to_string(self.store.file(cell.number)).ok()?;
        let outcome: CellOutcome = serde_json::from_str(&text).ok()?;
        (outcome.cell == *cell).then_some(outcome)
    }

    /// Keeps the outcome of a cell.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn keep(&self, outcome: &CellOutcome) -> Result<(), RunError> {
        atomic::write(&self.store.file(outcome.cell.number), json(outcome).as_bytes())
    }

    /// Writes `sweep.json`, `sweep.csv` and, if there are values of single runs, `runs.csv`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn conclude(&self, result: &SweepResult) -> Result<(), RunError> {
        let write = |name: &str, text: &str| atomic::write(&self.store.directory.join(name), text.as_bytes());
        if let Some(runs) = result.runs_csv() {
            write(RUNS_CSV, &runs)?;
        }
        write(SWEEP_CSV, &result.csv())?;
        write(SWEEP_JSON, &result.json())
    }
}

const ORIGIN: &str = "origin.json";
const RUNS_CSV: &str = "runs.csv";
const SWEEP_CSV: &str = "sweep.csv";
const SWEEP_JSON: &str = "sweep.json";
const LOCK: &str = ".lock";
/// The report in the directory of a sweep, an HTML page.
pub const REPORT: &str = "report.html";

pub(super) fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    let text = serde_json::to_string_pretty(value).expect("results have text keys and finite or no numbers");
    text + "\n"
}
