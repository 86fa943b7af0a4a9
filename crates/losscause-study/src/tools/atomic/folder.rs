//! A directory of results: it has one owner, and its files belong together.
//!
//! The owner is the verb that wrote there; `origin.json` names it. While a process works for the
//! directory, it holds a lock. The files of a set are written under other names first. Then the old
//! set is removed, the new files get their names, and last `origin.json`, which says that the set
//! is complete. No signal interrupts this. So a directory never has files of two sets, and one that
//! a killed program has left without all its files says so.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::lock::{Attempt, try_lock};
use super::{AtomicFile, put_in_place, whole};
use crate::{InputError, RunError};

/// The file that names the owner of a directory.
pub const ORIGIN: &str = "origin.json";
/// The file that is locked while a process works for the directory.
pub const LOCK: &str = ".lock";

/// A directory that no other process writes to, until this is dropped.
#[derive(Debug)]
pub struct Hold {
    /// The lock ends with the file.
    _lock: File,
}

/// A directory for one set of results of a verb, locked for this process.
#[derive(Debug)]
pub struct Folder {
    directory: PathBuf,
    origin: Origin,
    _hold: Hold,
}

/// The content of `origin.json`. That of a sweep says more.
#[derive(Debug, Serialize, Deserialize)]
struct Origin {
    /// Name and version of the program.
    program: String,
    /// The verb that wrote the results.
    verb: String,
    /// Names of the files of the set.
    files: Vec<String>,
    /// Whether all of them are there, and belong together.
    complete: bool,
}

/// The only part of an `origin.json` that every verb writes.
#[derive(Deserialize)]
struct Owner {
    verb: String,
}

/// Locks a directory for this process. It is created if it is missing.
///
/// # Errors
/// It cannot be created or written, or another process has locked it.
pub fn hold(directory: &Path) -> Result<Hold, RunError> {
    let unwritable =
        |reason| RunError::Unwritable { file: directory.display().to_string(), reason };
    fs::create_dir_all(directory).map_err(unwritable)?;
    let options = File::options().create(true).truncate(false).write(true).to_owned();
    let lock = options.open(directory.join(LOCK)).map_err(unwritable)?;
    // Where files have no locks, nothing can be said about other processes.
    match try_lock(&lock) {
        Attempt::Held => {
            let problem = "is in use by another process".to_owned();
            Err(refused(directory, problem, "a directory of its own").into())
        }
        Attempt::Locked | Attempt::Unsupported => Ok(Hold { _lock: lock }),
    }
}

/// Refuses a directory that another verb has written to, or that has files of these names of which
/// nothing says who wrote them.
///
/// # Errors
/// It is such a directory.
pub fn refuse_others(directory: &Path, verb: &str, names: &[&str]) -> Result<(), InputError> {
    const EXPECTED: &str = "another directory, or one that is empty";
    match fs::read(directory.join(ORIGIN)) {
        Ok(text) => match serde_json::from_slice::<Owner>(&text) {
            Ok(owner) if owner.verb == verb => Ok(()),
            Ok(owner) => {
                let problem = format!("holds the results of losscause {}", owner.verb);
                Err(refused(directory, problem, EXPECTED))
            }
            Err(_) => {
                Err(refused(directory, format!("has an {ORIGIN} of another program"), EXPECTED))
            }
        },
        Err(_) => match names.iter().find(|name| directory.join(name).exists()) {
            Some(name) => {
                Err(refused(directory, format!("holds {name} and no {ORIGIN}"), EXPECTED))
            }
            None => Ok(()),
        },
    }
}

fn refused(directory: &Path, problem: String, expected: &'static str) -> InputError {
    InputError::File { file: directory.display().to_string(), problem, expected }
}

impl Folder {
    /// Locks a directory for results of `verb` in files of these names. It is created if it is
    /// missing.
    ///
    /// # Errors
    /// It cannot be created or written, another process uses it, or it holds results of another
    /// verb or files of these names.
    pub fn open(directory: &Path, verb: &str, names: &[&str]) -> Result<Self, RunError> {
        // A directory that is refused is left as it is, without a lock.
        refuse_others(directory, verb, names)?;
        let hold = hold(directory)?;
        refuse_others(directory, verb, names)?;
        // Before the work: none of them can be written if one is a directory, for example.
        for name in names {
            AtomicFile::create(&directory.join(name))?;
        }
        let origin = Origin {
            program: format!("losscause {}", env!("CARGO_PKG_VERSION")),
            verb: verb.to_owned(),
            files: names.iter().map(|name| (*name).to_owned()).collect(),
            complete: true,
        };
        Ok(Self { directory: directory.to_owned(), origin, _hold: hold })
    }

    /// The place of a file of the set.
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Puts the set in the place of an earlier one.
    ///
    /// # Errors
    /// A file cannot be written, for example because the disk is full. Then the earlier set is as it
    /// was, unless a name cannot be taken.
    pub fn finish(self, files: Vec<AtomicFile>) -> Result<(), RunError> {
        let Self { directory, mut origin, _hold } = self;
        let place = directory.join(ORIGIN);
        let text = |origin: &Origin| {
            serde_json::to_string_pretty(origin).expect("names and flags are JSON") + "\n"
        };
        let sealed = whole(&place, text(&origin).as_bytes())?;
        origin.complete = false;
        let unsealed = whole(&place, text(&origin).as_bytes())?;
        let flushed = files.into_iter().map(AtomicFile::flushed).collect::<Result<Vec<_>, _>>()?;
        let (sealed, unsealed) = (sealed.flushed()?, unsealed.flushed()?);
        let removed: Vec<PathBuf> = origin.files.iter().map(|name| directory.join(name)).collect();
        put_in_place(Some(unsealed), &removed, flushed.into_iter().chain([sealed]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 2] = ["a.csv", "b.csv"];

    fn write(directory: &Path, verb: &str, contents: &[(&str, &str)]) -> Result<(), RunError> {
        let names: Vec<&str> = contents.iter().map(|(name, _)| *name).collect();
        let folder = Folder::open(directory, verb, &names)?;
        let files = contents.iter().map(|(name, text)| whole(&folder.file(name), text.as_bytes()));
        let files = files.collect::<Result<_, _>>()?;
        folder.finish(files)
    }

    fn read(directory: &Path, name: &str) -> String {
        fs::read_to_string(directory.join(name)).unwrap_or_default()
    }

    #[test]
    fn a_set_takes_the_place_of_the_verb_s_earlier_one_and_the_user_s_files_stay() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("new/out");
        write(&directory, "compare", &[("a.csv", "1"), ("b.csv", "1")]).unwrap();
        fs::write(directory.join("notes.txt"), "mine").unwrap();
        write(&directory, "compare", &[("a.csv", "2"), ("b.csv", "2")]).unwrap();
        let found = ["a.csv", "b.csv", "notes.txt"].map(|name| read(&directory, name));
        assert_eq!(found, ["2", "2", "mine"]);
        assert!(read(&directory, ORIGIN).contains("\"complete\": true"));
    }

    #[test]
    fn results_of_another_verb_and_files_of_unknown_origin_are_kept() {
        let place = tempfile::tempdir().unwrap();
        write(place.path(), "compare", &[("a.csv", "1")]).unwrap();
        let error = write(place.path(), "simulate", &[("b.csv", "2")]).unwrap_err();
        assert!(error.to_string().contains("holds the results of losscause compare"), "{error}");
        fs::remove_file(place.path().join(ORIGIN)).unwrap();
        let error = write(place.path(), "compare", &[("a.csv", "2")]).unwrap_err();
        assert!(error.to_string().contains("holds a.csv and no origin.json"), "{error}");
        fs::write(place.path().join(ORIGIN), "{}").unwrap();
        let error = write(place.path(), "compare", &[("a.csv", "2")]).unwrap_err();
        assert!(error.to_string().contains("origin.json of another program"), "{error}");
        assert_eq!(
            (read(place.path(), "a.csv"), read(place.path(), "b.csv")),
            ("1".into(), String::new())
        );
    }

    #[test]
    fn a_directory_has_one_writer_at_a_time() {
        let place = tempfile::tempdir().unwrap();
        let first = Folder::open(place.path(), "compare", &NAMES).unwrap();
        let error = Folder::open(place.path(), "compare", &NAMES).unwrap_err();
        assert!(error.to_string().contains("is in use by another process"), "{error}");
        assert!(error.is_bad_input());
        drop(first);
        assert!(Folder::open(place.path(), "compare", &NAMES).is_ok());
    }

    #[test]
    fn a_set_that_was_cut_short_says_so_and_has_no_file_of_the_earlier_one() {
        let place = tempfile::tempdir().unwrap();
        write(place.path(), "compare", &[("a.csv", "1"), ("b.csv", "1")]).unwrap();
        let folder = Folder::open(place.path(), "compare", &NAMES).unwrap();
        let files = NAMES.map(|name| whole(&folder.file(name), b"2").unwrap());
        // The name of the second cannot be taken, as if the program were killed before it.
        fs::remove_file(folder.file("b.csv")).unwrap();
        fs::create_dir(folder.file("b.csv")).unwrap();
        fs::write(folder.file("b.csv").join("x"), "").unwrap();
        assert!(folder.finish(files.into()).is_err());
        assert!(read(place.path(), ORIGIN).contains("\"complete\": false"));
        assert_eq!(read(place.path(), "a.csv"), "", "the old one is gone, and no new one is there");
    }
}
