//! Files that appear whole or not at all.
//!
//! An unfinished file is removed when it is dropped, and by [`remove_unfinished`] when a signal
//! ends the program. If the program was killed, the next one that writes to the same directory
//! removes it: unfinished files are locked, and a lock ends with its process. A set of files that was
//! getting its names ([`finish_together`]) is completed instead.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, PersistError};

use crate::RunError;

pub mod folder;
pub mod lock;
mod set;
mod unfinished;

use set::{Entry, List};
#[cfg(feature = "capture-files")]
pub(crate) use unfinished::is_unfinished;
pub use unfinished::remove_abandoned;
pub use unfinished::remove_unfinished;
use unfinished::{Registration, Registry};

/// A file under construction, in the directory of its final path. [`AtomicFile::finish`] gives it
/// its name. If it is dropped before, nothing is left behind, and an older file of that name is
/// unchanged. A device or pipe, such as `/dev/stdout`, is written directly.
#[derive(Debug)]
pub struct AtomicFile {
    target: PathBuf,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// The fields are dropped in this order: a file is registered for as long as it exists.
    Temporary(BufWriter<NamedTempFile>, Registration),
    Direct(BufWriter<File>),
}

impl AtomicFile {
    /// Starts a file that will be called `target`.
    ///
    /// # Errors
    /// [`RunError::Unwritable`] if `target` is a directory or its directory does not exist or
    /// cannot be written.
    pub fn create(target: &Path) -> Result<Self, RunError> {
        let unwritable = |reason| RunError::unwritable(target, reason);
        let content = match std::fs::metadata(target) {
            Ok(old) if old.is_dir() => return Err(unwritable(io::ErrorKind::IsADirectory.into())),
            Ok(old) if !old.is_file() => {
                let file = File::options().write(true).open(target).map_err(unwritable)?;
                Content::Direct(BufWriter::new(file))
            }
            _ => {
                let directory = match target.parent() {
                    Some(parent) if !parent.as_os_str().is_empty() => parent,
                    _ => Path::new("."),
                };
                let (file, registration) =
                    Registry::lock().create(directory).map_err(unwritable)?;
                Content::Temporary(BufWriter::new(file), registration)
            }
        };
        Ok(Self { target: target.to_owned(), content })
    }

    /// Flushes the content to the disk and gives the file its name, replacing a file that had it.
    ///
    /// # Errors
    /// [`RunError::Unwritable`] if the disk is full or the name cannot be taken.
    pub fn finish(self) -> Result<(), RunError> {
        self.finish_with(|file, target| file.persist(target))
    }

    /// The same as [`AtomicFile::finish`], but a file that has the name by now is kept.
    ///
    /// # Errors
    /// As there; the reason is [`io::ErrorKind::AlreadyExists`] if there is such a file.
    pub fn finish_new(self) -> Result<(), RunError> {
        self.finish_with(|file, target| file.persist_noclobber(target))
    }

    fn finish_with(
        self,
        persist: impl FnOnce(NamedTempFile, &Path) -> Result<File, PersistError>,
    ) -> Result<(), RunError> {
        let flushed = self.flushed()?;
        flushed.persist(&mut Registry::lock(), persist)
    }

    /// The same file with its content on the disk: only the name is missing.
    fn flushed(self) -> Result<Flushed, RunError> {
        let Self { target, content } = self;
        let unwritable = |reason| RunError::unwritable(&target, reason);
        let content = match content {
            Content::Temporary(writer, registration) => {
                let file = writer.into_inner().map_err(io::IntoInnerError::into_error);
                let file = file.and_then(|file| file.as_file().sync_all().map(|()| file));
                Some((file.map_err(unwritable)?, registration))
            }
            Content::Direct(mut writer) => {
                writer.flush().map_err(unwritable)?;
                None
            }
        };
        Ok(Flushed { target, content })
    }

    /// The error for a failed write to this file.
    pub fn failed(&self, reason: io::Error) -> RunError {
        RunError::unwritable(&self.target, reason)
    }
}

/// A file that is on the disk, and has no name yet; none of a device, which has its own.
struct Flushed {
    target: PathBuf,
    content: Option<(NamedTempFile, Registration)>,
}

impl Flushed {
    /// Gives the file its name. No signal interrupts it, because the registry is locked.
    fn persist(
        self,
        registry: &mut Registry,
        persist: impl FnOnce(NamedTempFile, &Path) -> Result<File, PersistError>,
    ) -> Result<(), RunError> {
        let Some((file, registration)) = self.content else { return Ok(()) };
        let persisted = persist(file, &self.target);
        registration.end_in(registry);
        match persisted {
            Ok(_) => Ok(()),
            Err(PersistError { error: reason, .. }) => {
                Err(RunError::unwritable(&self.target, reason))
            }
        }
    }
}

/// Gives files that belong together their names. All are on the disk before the first old one is
/// removed, so a full disk changes none. No signal comes between two of them, and no old one is left
/// beside a new one. If the program is killed at this moment, the next one that writes to the same
/// directory gives the rest their names. Of files in several directories, those of each are a set.
///
/// # Errors
/// [`RunError::Unwritable`] if the disk is full or a name cannot be taken.
pub fn finish_together(files: Vec<AtomicFile>) -> Result<(), RunError> {
    together(files, false)
}

/// The same, but a file that has one of the names by now is kept, and then none gets its name.
///
/// # Errors
/// As there; the reason is [`io::ErrorKind::AlreadyExists`] if there is such a file.
pub fn finish_new_together(files: Vec<AtomicFile>) -> Result<(), RunError> {
    together(files, true)
}

fn together(files: Vec<AtomicFile>, are_new: bool) -> Result<(), RunError> {
    let files = files.into_iter().map(AtomicFile::flushed).collect::<Result<Vec<_>, _>>()?;
    // What is left after a failure unregisters itself, so it is dropped after the lock.
    let mut left = files.into_iter();
    let mut registry = Registry::lock();
    let mut lists = Vec::new();
    let removed = match left.as_slice() {
        [_] => Ok(()),
        files => write_lists(&mut registry, files, &mut lists).and_then(|()| {
            let mut old = files.iter().filter(|file| file.content.is_some() && !are_new);
            old.try_for_each(|file| remove(&file.target))
        }),
    };
    let mut named = Vec::new();
    let finished = removed.and_then(|()| {
        left.try_for_each(|file| {
            let name = file.content.is_some().then(|| file.target.clone());
            file.persist(&mut registry, |file, target| match are_new {
                true => file.persist_noclobber(target),
                false => file.persist(target),
            })?;
            named.extend(name);
            Ok(())
        })
    });
    if are_new && finished.is_err() {
        let _ = named.iter().try_for_each(|file| remove(file));
    }
    lists.into_iter().for_each(List::remove);
    drop(registry);
    finished
}

/// Writes the list of every directory's set of `files`.
fn write_lists(
    registry: &mut Registry,
    files: &[Flushed],
    lists: &mut Vec<List>,
) -> Result<(), RunError> {
    let mut sets: BTreeMap<&Path, Vec<Entry>> = BTreeMap::new();
    for Flushed { target, content } in files {
        let Some((file, _)) = content else { continue };
        let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
        // A name that is not UTF-8 cannot be listed.
        if let (Some(directory), Some(unfinished), Some(name)) =
            (file.path().parent(), name(file.path()), name(target))
        {
            sets.entry(directory).or_default().push(Entry { unfinished, name });
        }
    }
    for (directory, entries) in sets {
        let list = List::write(registry, directory, &entries)
            .map_err(|reason| RunError::unwritable(directory, reason))?;
        lists.push(list);
    }
    Ok(())
}

/// Removes a file, if it is there.
///
/// # Errors
/// [`RunError::Unwritable`] if it cannot be removed.
pub fn remove(file: &Path) -> Result<(), RunError> {
    match std::fs::remove_file(file) {
        Err(reason) if reason.kind() != io::ErrorKind::NotFound => {
            Err(RunError::unwritable(file, reason))
        }
        _ => Ok(()),
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.content {
            Content::Temporary(writer, _) => writer.write(bytes),
            Content::Direct(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.content {
            Content::Temporary(writer, _) => writer.flush(),
            Content::Direct(writer) => writer.flush(),
        }
    }
}

/// Writes `content` to `target` as a whole.
///
/// # Errors
/// [`RunError::Unwritable`], and then `target` is as it was.
pub fn write(target: &Path, content: &[u8]) -> Result<(), RunError> {
    whole(target, content)?.finish()
}

/// A file with `content` that will be called `target`, for [`finish_together`].
///
/// # Errors
/// [`RunError::Unwritable`], and then `target` is as it was.
pub fn whole(target: &Path, content: &[u8]) -> Result<AtomicFile, RunError> {
    let mut file = AtomicFile::create(target)?;
    file.write_all(content).map_err(|reason| file.failed(reason))?;
    Ok(file)
}

/// Writes `content` to a new file `target` as a whole.
///
/// # Errors
/// [`RunError::Unwritable`], with the reason [`io::ErrorKind::AlreadyExists`] if there is a file of
/// that name, and then it is as it was.
pub fn write_new(target: &Path, content: &[u8]) -> Result<(), RunError> {
    if std::fs::symlink_metadata(target).is_ok() {
        let file = target.display().to_string();
        return Err(RunError::Unwritable { file, reason: io::ErrorKind::AlreadyExists.into() });
    }
    whole(target, content)?.finish_new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_finished_file_has_its_name_and_content_and_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("out.csv");
        write(&target, b"one\n").unwrap();
        write(&target, b"two\n").unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"two\n");
        assert_eq!(names_in(directory.path()), ["out.csv"]);
    }

    #[test]
    fn a_file_that_is_not_finished_leaves_the_old_one_untouched() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("out.csv");
        write(&target, b"old\n").unwrap();
        let mut file = AtomicFile::create(&target).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(std::fs::read(&target).unwrap(), b"old\n");
        assert_eq!(names_in(directory.path()), ["out.csv"]);
    }

    #[test]
    fn a_new_file_replaces_none() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("out.toml");
        let mut late = AtomicFile::create(&target).unwrap();
        late.write_all(b"late").unwrap();
        write_new(&target, b"first\n").unwrap();
        for refused in [late.finish_new(), write_new(&target, b"second\n")] {
            let Err(RunError::Unwritable { reason, .. }) = refused else { panic!("{refused:?}") };
            assert_eq!(reason.kind(), io::ErrorKind::AlreadyExists);
        }
        assert_eq!(std::fs::read(&target).unwrap(), b"first\n");
        assert_eq!(names_in(directory.path()), ["out.toml"]);
    }

    #[test]
    fn files_that_belong_together_are_replaced_together_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let [first, second] = ["a.csv", "b.csv"].map(|name| directory.path().join(name));
        for file in [&first, &second] {
            write(file, b"old").unwrap();
        }
        let both = [&first, &second].map(|file| whole(file, b"new").unwrap());
        drop(both);
        assert_eq!([&first, &second].map(|file| std::fs::read(file).unwrap()), [b"old", b"old"]);
        let both = [&first, &second].map(|file| whole(file, b"new").unwrap());
        finish_together(both.into()).unwrap();
        assert_eq!([&first, &second].map(|file| std::fs::read(file).unwrap()), [b"new", b"new"]);
        // The name of the second cannot be taken: the first is gone, and not beside an old second.
        let both = [&first, &second].map(|file| whole(file, b"third").unwrap());
        std::fs::remove_file(&second).unwrap();
        std::fs::create_dir_all(second.join("below")).unwrap();
        assert!(finish_together(both.into()).is_err());
        assert!(!first.exists());
    }

    #[test]
    fn of_two_sets_with_a_name_in_common_the_first_is_kept_and_nothing_of_the_second() {
        let directory = tempfile::tempdir().unwrap();
        let [a, b, c] = ["a.csv", "b.csv", "c.csv"].map(|name| directory.path().join(name));
        let first = [&b, &c].map(|file| whole(file, b"first").unwrap());
        let second = [&a, &b].map(|file| whole(file, b"second").unwrap());
        finish_new_together(first.into()).unwrap();
        let refused = finish_new_together(second.into());
        let Err(RunError::Unwritable { reason, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(reason.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!([&b, &c].map(|file| std::fs::read(file).unwrap()), [b"first", b"first"]);
        assert_eq!(names_in(directory.path()).len(), 2);
    }

    #[test]
    fn a_place_below_a_regular_file_is_refused_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("plain");
        write(&file, b"").unwrap();
        let error = write(&file.join("out.csv"), b"x").unwrap_err().to_string();
        assert!(error.contains("plain/out.csv: cannot be written"), "{error}");
    }

    #[test]
    fn files_of_a_killed_program_are_removed_and_others_kept() {
        let directory = tempfile::tempdir().unwrap();
        // Nothing holds a lock on the first: it was left behind.
        std::fs::write(directory.path().join(".losscause-left.part"), b"half").unwrap();
        let other = std::fs::File::create(directory.path().join(".losscause-lives.part")).unwrap();
        assert_eq!(lock::try_lock(&other), lock::Attempt::Locked);
        std::fs::write(directory.path().join(".losscause-notes"), b"of the user").unwrap();
        write(&directory.path().join("out.csv"), b"one\n").unwrap();
        let mut names = names_in(directory.path());
        names.sort();
        assert_eq!(names, [".losscause-lives.part", ".losscause-notes", "out.csv"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_a_failed_run_that_names_the_file() {
        let error = write(Path::new("/dev/full"), b"x").unwrap_err();
        assert_eq!(
            error.to_string(),
            "/dev/full: cannot be written (No space left on device (os error 28))"
        );
        assert!(!error.is_bad_input());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_written_and_not_replaced() {
        use std::os::unix::fs::FileTypeExt;
        write(Path::new("/dev/null"), b"x").unwrap();
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }
}
