//! The finished cells of an experiment in a directory, so that it can be resumed after a kill. Sweeps
//! and the plans of papers share it.
//!
//! | module | what it does |
//! |---|---|
//! | `origin` | what the results depend on: only the same experiment is resumed |
//! | `journal` | the finished cells, one line each |
//! | `kept` | parts by their names, such as runs; [`RunList`] |

use std::path::{Path, PathBuf};

use losscause_study::files::Inputs;
use losscause_study::tools::atomic;
use losscause_study::tools::atomic::folder::{
    self, Created, EXPECTED, Folder, Hold, ORIGIN, hold, refused,
};
use losscause_study::{InputError, RunError};

mod journal;
mod kept;
mod origin;

pub(crate) use journal::{Journal, Outcome};
pub(crate) use kept::Kept;
pub use kept::{Run, RunList};
pub(crate) use losscause_study::origin::program;
pub use origin::Kind;
pub(crate) use origin::{Drawn, Origin, fnv1a};

/// The place in which an experiment keeps its finished cells, and what becomes of those of an earlier
/// one.
///
/// ```
/// use losscause_laboratory::store::Store;
///
/// let place = tempfile::tempdir()?;
/// let store = Store::new(place.path()).resuming();
/// assert!(!store.has_cells());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
    /// Whether a [`Folder`] of results is there, which has the lock and the directory's
    /// `origin.json`.
    is_in_folder: bool,
    earlier: Earlier,
}

/// What becomes of the finished cells of an earlier experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Earlier {
    /// They are not touched: the experiment is refused.
    Refuses,
    Resumed,
    Dropped,
}

/// A store of one experiment, locked for this process until this is dropped.
#[derive(Debug)]
pub struct Held {
    store: Store,
    _cells: Created,
    _hold: Option<Hold>,
}

impl Store {
    /// A store in `directory`, which is created when the experiment begins, and is then its own. If
    /// it has finished cells, the experiment is refused.
    pub fn new(directory: &Path) -> Self {
        let directory = directory.to_owned();
        Self { directory, is_in_folder: false, earlier: Earlier::Refuses }
    }

    /// A store in a folder of results, until they are whole ([`Store::clear`]).
    pub fn within(folder: &Folder) -> Self {
        Self { is_in_folder: true, ..Self::new(folder.directory()) }
    }

    /// The same, but keeps the finished cells of the same experiment.
    #[must_use]
    pub fn resuming(self) -> Self {
        Self { earlier: Earlier::Resumed, ..self }
    }

    /// The same, but drops the finished cells of an experiment of the same name.
    #[must_use]
    pub fn restarting(self) -> Self {
        Self { earlier: Earlier::Dropped, ..self }
    }

    /// Locks the directory for the experiment of that origin. It is created if it is missing.
    /// `results`: the files that stand there at the end, beside the cells.
    ///
    /// # Errors
    /// It cannot be created or written, it would overwrite an input, another process has locked it,
    /// or it holds another experiment.
    pub(crate) fn open(&self, origin: &Origin, results: &[&str]) -> Result<Held, RunError> {
        let inputs = Inputs::of(origin.files.keys());
        inputs.keep_from(&self.cells())?;
        inputs.keep_from(&self.origin())?;
        for name in results {
            inputs.keep_from(&self.directory.join(name))?;
        }
        let hold = (!self.is_in_folder).then(|| hold(&self.directory)).transpose()?;
        // As a kill leaves them: they are no cells.
        atomic::remove_abandoned(&self.cells());
        let kept = self.kept_origin()?;
        if let Some(kept) = &kept {
            match (self.earlier, origin.difference(kept)) {
                (_, Some(difference)) if !origin.is_of_the_same(kept) => {
                    return Err(self.refuse(difference, EXPECTED).into());
                }
                (Earlier::Resumed, Some(difference)) => {
                    return Err(self.refuse(difference, origin.experiment.same()).into());
                }
                (Earlier::Refuses, difference) if self.has_cells() => {
                    let this = origin.experiment.this();
                    let problem = match difference {
                        None => format!("has finished {this}"),
                        Some(difference) => format!("has finished cells and {difference}"),
                    };
                    let expected = "--resume to keep them, or --restart to drop them";
                    return Err(self.refuse(problem, expected).into());
                }
                _ => {}
            }
        }
        // No table stands beside the origin of another experiment.
        if kept.as_ref() != Some(origin) || self.earlier == Earlier::Dropped {
            results.iter().try_for_each(|name| atomic::remove(&self.directory.join(name)))?;
        }
        if self.earlier != Earlier::Resumed {
            self.clear()?;
        }
        let cells = folder::create(&self.cells())?;
        let text = serde_json::to_string_pretty(origin).expect("names are JSON") + "\n";
        atomic::write(&self.origin(), text.as_bytes())?;
        Ok(Held { store: self.clone(), _cells: cells, _hold: hold })
    }

    /// Drops the cells: in a folder of results, the results have them now.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn clear(&self) -> Result<(), RunError> {
        let cells = self.cells();
        // No kill leaves cells without their origin.
        atomic::remove(&cells.join(FINISHED))?;
        match std::fs::remove_dir_all(&cells) {
            Err(reason) if reason.kind() != std::io::ErrorKind::NotFound => {
                Err(RunError::unwritable(cells, reason))
            }
            _ => Ok(()),
        }
    }

    /// Whether a cell is finished.
    pub fn has_cells(&self) -> bool {
        let finished = |entry: std::fs::DirEntry| {
            entry.file_name() != ORIGIN
                && entry.metadata().is_ok_and(|about| about.is_dir() || about.len() > 0)
        };
        std::fs::read_dir(self.cells()).is_ok_and(|entries| entries.flatten().any(finished))
    }

    /// The origin of the experiment whose cells are in the directory.
    fn kept_origin(&self) -> Result<Option<Origin>, RunError> {
        let text = std::fs::read_to_string(self.origin()).ok();
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

    fn origin(&self) -> PathBuf {
        let directory = if self.is_in_folder { self.cells() } else { self.directory.clone() };
        directory.join(ORIGIN)
    }
}

impl Held {
    /// The directory of the finished cells.
    pub fn cells(&self) -> PathBuf {
        self.store.cells()
    }

    /// Whether finished cells of an earlier experiment are kept.
    pub fn resumes(&self) -> bool {
        self.store.earlier == Earlier::Resumed
    }

    /// The place of a file of the results.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.store.directory.join(name)
    }

    /// The finished cells, of an earlier experiment too if the store resumes and `is_known` finds
    /// that they are of this one; `take` gets each of those. There are `count` cells.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn journal<T: Outcome>(
        &self,
        count: usize,
        is_known: impl Fn(&T) -> bool,
        take: impl FnMut(T),
    ) -> Result<Journal, RunError> {
        Journal::open(&self.cells().join(FINISHED), count, self.resumes(), is_known, take)
    }
}

/// Without a finished cell nothing is left in a folder of results.
impl Drop for Held {
    fn drop(&mut self) {
        if self.store.is_in_folder && !self.store.has_cells() {
            // What cannot be removed is empty.
            let _ = self.store.clear();
        }
    }
}

/// The finished cells, in the directory of the cells.
const FINISHED: &str = "finished.jsonl";
