//! A folder of results: one process writes to it at a time, and the files of a set belong together.
//!
//! The new files of a set are written under other names first. Then the old ones are removed, the
//! new ones get their names, and last comes `origin.json`, which names the verb of every file. So a
//! folder never has new files beside old ones of the same set, and a set that was interrupted there
//! is completed when the folder is opened again. A verb replaces its own files, and
//! those of which nothing is known, but none of another verb.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::lock::{Attempt, try_lock};
pub use super::unfinished::Created;
use super::unfinished::Registry;
use super::{AtomicFile, finish_together, remove_abandoned, whole};
use crate::{InputError, RunError};

/// The file that tells where the others come from.
pub const ORIGIN: &str = "origin.json";
/// The file that is locked where a folder itself cannot be.
pub const LOCK: &str = ".lock";

/// A folder that no other process writes to, until this is dropped. What was created for it and is
/// still empty then, or when a signal ends the program, is removed.
#[derive(Debug)]
pub struct Hold {
    _created: Created,
    /// The lock ends with the file. Where nothing can be locked, there is none.
    _lock: Option<File>,
}

/// A folder for one set of results of a verb, locked for this process.
#[derive(Debug)]
pub struct Folder {
    directory: PathBuf,
    origin: Origin,
    /// Whether it had the whole set already.
    is_whole: bool,
    _hold: Hold,
}

/// The content of `origin.json`; a sweep, whose folder is its own, has another.
#[derive(Debug, Serialize, Deserialize)]
struct Origin {
    /// Name and version of the program that wrote last.
    program: String,
    /// The verb that wrote each file.
    results: BTreeMap<String, String>,
}

/// Creates a folder and those above it, if they are missing. Those that are still empty when the
/// result is dropped, or when a signal ends the program, are removed.
///
/// # Errors
/// It cannot be created.
pub fn create(directory: &Path) -> Result<Created, RunError> {
    let unwritable = |reason| RunError::unwritable(directory, reason);
    Registry::lock().create_directory(directory).map_err(unwritable)
}

/// Locks a folder for this process. It is created if it is missing.
///
/// # Errors
/// It cannot be created, or another process has locked it.
pub fn hold(directory: &Path) -> Result<Hold, RunError> {
    if directory.is_file() {
        return Err(refused(directory, "is a file".to_owned(), "a directory").into());
    }
    let created = create(directory)?;
    let file_in_it = |directory: &Path| {
        let mut options = File::options();
        options.create(true).truncate(false).write(true).open(directory.join(LOCK))
    };
    // Windows opens no folder, and NFS locks only what is open for writing.
    for open in [|directory: &Path| File::open(directory), file_in_it] {
        let Ok(lock) = open(directory) else { continue };
        match try_lock(&lock) {
            // Another process may just have removed a folder that it created and left empty.
            Attempt::Locked if !directory.exists() => return hold(directory),
            Attempt::Locked => return Ok(Hold { _created: created, _lock: Some(lock) }),
            Attempt::Held => {
                let problem = "is in use by another process".to_owned();
                return Err(refused(directory, problem, "a directory of its own").into());
            }
            Attempt::Unsupported => {}
        }
    }
    Ok(Hold { _created: created, _lock: None })
}

/// The refusal of a folder because of what it holds.
pub fn refused(directory: &Path, problem: String, expected: &'static str) -> InputError {
    InputError::file(directory.display().to_string(), problem, expected)
}

/// What a folder should be if it is refused.
pub const EXPECTED: &str = "another directory, or one that is empty";

impl Folder {
    /// Locks a folder for results of `verb` in files of these names. It is created if it is missing.
    ///
    /// # Errors
    /// It cannot be created or written, another process uses it, or it holds a sweep, or a file of
    /// such a name is another verb's.
    pub fn open(directory: &Path, verb: &str, names: &[&str]) -> Result<Self, RunError> {
        let hold = hold(directory)?;
        remove_abandoned(directory);
        let mut results = match fs::read(directory.join(ORIGIN)) {
            Ok(text) => match serde_json::from_slice::<Origin>(&text) {
                Ok(origin) => origin.results,
                Err(_) => {
                    let problem = format!("has the {ORIGIN} of a sweep or of another program");
                    return Err(refused(directory, problem, EXPECTED).into());
                }
            },
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(reason) => {
                let file = directory.join(ORIGIN).display().to_string();
                return Err(RunError::Unwritable { file, reason });
            }
        };
        let is_there = |name: &&str| results.contains_key(*name) && directory.join(name).is_file();
        let is_whole = names.iter().all(is_there);
        for &name in names {
            // Before the work: none of them can be written if one is a directory, for example.
            AtomicFile::create(&directory.join(name))?;
            if let Some(other) = results.insert(name.to_owned(), verb.to_owned())
                && other != verb
            {
                let problem = format!("has the {name} of losscause {other}");
                return Err(refused(directory, problem, EXPECTED).into());
            }
        }
        let program = crate::origin::program();
        Ok(Self {
            directory: directory.to_owned(),
            origin: Origin { program, results },
            is_whole,
            _hold: hold,
        })
    }

    /// The place of a file of the set.
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Whether it had all files of the set when it was opened.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The folder.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Puts the set in the place of an earlier one.
    ///
    /// # Errors
    /// A file cannot be written, for example because the disk is full. Then the earlier set is as it
    /// was, unless a name cannot be taken.
    pub fn finish(self, files: Vec<AtomicFile>) -> Result<(), RunError> {
        self.put(files)
    }

    /// [`Folder::finish`], after which the folder is still locked.
    ///
    /// # Errors
    /// As there.
    pub fn put(&self, mut files: Vec<AtomicFile>) -> Result<(), RunError> {
        let origin = serde_json::to_string_pretty(&self.origin).expect("names are JSON") + "\n";
        files.push(whole(&self.file(ORIGIN), origin.as_bytes())?);
        finish_together(files)
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
    fn a_set_replaces_the_verb_s_earlier_one_and_unknown_files_but_no_others() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("new/out");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("a.csv"), "of an earlier version").unwrap();
        fs::write(directory.join("notes.txt"), "mine").unwrap();
        write(&directory, "compare", &[("a.csv", "1"), ("b.csv", "1")]).unwrap();
        write(&directory, "compare", &[("a.csv", "2"), ("b.csv", "2")]).unwrap();
        let found = ["a.csv", "b.csv", "notes.txt"].map(|name| read(&directory, name));
        assert_eq!(found, ["2", "2", "mine"]);
    }

    #[test]
    fn a_file_of_another_verb_is_refused_and_other_names_share_the_folder() {
        let place = tempfile::tempdir().unwrap();
        write(place.path(), "compare", &[("a.csv", "1")]).unwrap();
        write(place.path(), "simulate", &[("b.csv", "2")]).unwrap();
        for (verb, name, owner) in [("simulate", "a.csv", "compare"), ("fade", "b.csv", "simulate")]
        {
            let error = write(place.path(), verb, &[(name, "3")]).unwrap_err();
            let expected = format!(
                "{}: has the {name} of losscause {owner}, expected {EXPECTED}",
                place.path().display()
            );
            assert!(error.is_bad_input());
            assert_eq!(error.to_string(), expected);
        }
        assert_eq!(NAMES.map(|name| read(place.path(), name)), ["1", "2"]);
        write(place.path(), "compare", &[("a.csv", "4")]).unwrap();
        assert_eq!(NAMES.map(|name| read(place.path(), name)), ["4", "2"]);
    }

    #[test]
    fn an_origin_of_a_sweep_or_of_another_program_is_refused() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join(ORIGIN), "{\"sweep\": \"s.toml\"}").unwrap();
        let error = write(place.path(), "compare", &[("a.csv", "2")]).unwrap_err();
        assert!(error.to_string().contains("origin.json of a sweep"), "{error}");
        assert_eq!(read(place.path(), ORIGIN), "{\"sweep\": \"s.toml\"}");
    }

    #[test]
    fn a_folder_that_was_created_and_stays_empty_is_removed_and_no_other() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("mine")).unwrap();
        let folder = |name: &str| place.path().join(name);
        for name in ["new", "new/below/it", "mine", "mine/new"] {
            drop(Folder::open(&folder(name), "compare", &NAMES).unwrap());
            assert!(folder(name).exists() == (name == "mine"), "{name}");
        }
        write(&folder("new/kept"), "compare", &[("a.csv", "1")]).unwrap();
        drop(Folder::open(&folder("new/other"), "compare", &NAMES).unwrap());
        let found =
            ["new", "new/kept/a.csv", "new/other", "mine"].map(|name| folder(name).exists());
        assert_eq!(found, [true, true, false, true]);
    }

    #[test]
    fn a_folder_that_cannot_be_created_leaves_none_above_it() {
        let place = tempfile::tempdir().unwrap();
        let name = "x".repeat(300);
        assert!(hold(&place.path().join("new").join(name)).is_err());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_has_one_writer_at_a_time() {
        let place = tempfile::tempdir().unwrap();
        let first = Folder::open(place.path(), "compare", &NAMES).unwrap();
        let error = Folder::open(place.path(), "compare", &NAMES).unwrap_err();
        assert!(error.to_string().contains("is in use by another process"), "{error}");
        assert!(error.is_bad_input());
        drop(first);
        assert!(Folder::open(place.path(), "compare", &NAMES).is_ok());
    }
}
