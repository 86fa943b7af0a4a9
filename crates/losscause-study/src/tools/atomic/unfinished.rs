//! The unfinished files of this process, and those that a killed one left behind; and the
//! directories that it created.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

use super::lock::{Attempt, try_lock};
use super::set;

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    files: BTreeSet::new(),
    directories: BTreeSet::new(),
    tidy: BTreeSet::new(),
});

/// What this process knows of unfinished files.
pub(super) struct Registry {
    /// The unfinished files of this process.
    files: BTreeSet<PathBuf>,
    /// Directories that it has created for files that are still to come.
    directories: BTreeSet<PathBuf>,
    /// Directories in which it has looked for those of killed processes.
    tidy: BTreeSet<PathBuf>,
}

/// The entry of an unfinished file, which ends when it is dropped.
#[derive(Debug)]
pub(super) struct Registration(Option<PathBuf>);

/// Directories that were created, the innermost first. When this is dropped, those that are empty
/// are removed.
#[derive(Debug)]
pub struct Created(Vec<PathBuf>);

/// Removes all unfinished files of this process, and the directories that it has created and that are
/// empty. From then on nothing can start or finish a file: a thread that tries waits until the
/// process ends. A signal's handler calls this on a thread of its own and then ends the process.
pub fn remove_unfinished() {
    let registry = Registry::lock();
    for file in &registry.files {
        // A file that cannot be removed is removed by the next process that writes there.
        let _ = std::fs::remove_file(file);
    }
    // A directory's own are behind it in the set.
    registry.directories.iter().rev().for_each(remove_if_empty);
    std::mem::forget(registry);
}

impl Registry {
    pub(super) fn lock() -> MutexGuard<'static, Self> {
        REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new unfinished file in `directory`, from which those of killed processes are removed.
    pub(super) fn create(&mut self, directory: &Path) -> io::Result<(NamedTempFile, Registration)> {
        if self.tidy.insert(directory.to_owned()) {
            remove_abandoned(directory);
        }
        loop {
            let file = new_file(directory)?;
            // Another process may take a file that is not locked yet for an abandoned one.
            let is_mine = match try_lock(file.as_file()) {
                Attempt::Locked => file.path().exists(),
                Attempt::Held => false,
                Attempt::Unsupported => true,
            };
            if is_mine {
                let path = file.path().to_owned();
                self.files.insert(path.clone());
                return Ok((file, Registration(Some(path))));
            }
        }
    }

    /// Creates a directory and those above it that are missing.
    pub(super) fn create_directory(&mut self, directory: &Path) -> io::Result<Created> {
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let missing: Vec<PathBuf> =
            directory.ancestors().take_while(is_missing).map(Path::to_owned).collect();
        let created = std::fs::create_dir_all(directory);
        if let Err(reason) = created {
            missing.iter().for_each(remove_if_empty);
            return Err(reason);
        }
        self.directories.extend(missing.iter().cloned());
        Ok(Created(missing))
    }
}

impl Drop for Created {
    fn drop(&mut self) {
        if self.0.is_empty() {
            return;
        }
        let mut registry = Registry::lock();
        for directory in &self.0 {
            registry.directories.remove(directory);
            remove_if_empty(directory);
        }
    }
}

/// Removes a directory, unless something is in it.
fn remove_if_empty(directory: &PathBuf) {
    let _ = std::fs::remove_dir(directory);
}

impl Registration {
    /// Ends the entry of a file that has its name now; `registry` was locked before.
    pub(super) fn end_in(mut self, registry: &mut Registry) {
        if let Some(path) = self.0.take() {
            registry.files.remove(&path);
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            Registry::lock().files.remove(&path);
        }
    }
}

pub(super) const PREFIX: &str = ".losscause-";
const SUFFIX: &str = ".part";

fn new_file(directory: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    // Temporary files are private to their owner by default; the finished file gets the usual
    // permissions.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory)
}

/// Whether a file of this name is unfinished or the list of a set, of this process or another one.
#[cfg(feature = "capture-files")]
pub(crate) fn is_unfinished(name: &str) -> bool {
    is_unfinished_file(name) || set::is_list(name)
}

/// Whether a file of this name is unfinished.
pub(super) fn is_unfinished_file(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// Completes the sets in `directory` whose process was killed while it gave them their names, then
/// removes the unfinished files that no process holds. What cannot be removed stays.
pub fn remove_abandoned(directory: &Path) {
    files_in(directory, set::is_list).iter().for_each(|list| set::complete(list));
    for path in files_in(directory, is_unfinished_file) {
        if File::open(&path).is_ok_and(|file| try_lock(&file) == Attempt::Locked) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The files in `directory` whose names are of a kind.
fn files_in(directory: &Path, is_of_kind: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter(|entry| entry.file_name().to_str().is_some_and(&is_of_kind))
        .map(|entry| entry.path())
        .collect()
}
