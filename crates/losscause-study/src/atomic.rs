//! Files that appear whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::RunError;

/// A file under construction, in the directory of its final path. [`AtomicFile::finish`] gives it its name. If it is
/// dropped before, nothing is left behind, and an older file of that name is unchanged.
#[derive(Debug)]
pub struct AtomicFile {
    target: PathBuf,
    temporary: BufWriter<NamedTempFile>,
}

impl AtomicFile {
    /// Starts a file that will be called `target`.
    ///
    /// # Errors
    /// [`RunError::Unwritable`] if `target` is a directory or its directory does not exist or cannot be written.
    pub fn create(target: &Path) -> Result<Self, RunError> {
        let unwritable = |reason| RunError::Unwritable { file: target.display().to_string(), reason };
        if target.is_dir() {
            return Err(unwritable(io::ErrorKind::IsADirectory.into()));
        }
        let directory = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".losscause-").suffix(".part");
        // Temporary files are private to their owner by default; the finished file gets the usual permissions.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temporary = builder.tempfile_in(directory).map_err(unwritable)?;
        Ok(Self { target: target.to_owned(), temporary: BufWriter::new(temporary) })
    }

    /// Flushes the content to the disk and gives the file its name, replacing a file that had it.
    ///
    /// # Errors
    /// [`RunError::Unwritable`] if the disk is full or the name cannot be taken.
    pub fn finish(self) -> Result<(), RunError> {
        let unwritable = |reason| RunError::Unwritable { file: self.target.display().to_string(), reason };
        let temporary = self.temporary.into_inner().map_err(|error| unwritable(error.into_error()))?;
        temporary.as_file().sync_all().map_err(unwritable)?;
        temporary.persist(&self.target).map(|_: File| ()).map_err(|error| unwritable(error.error))
    }

    /// The error for a failed write to this file.
    pub fn failed(&self, reason: io::Error) -> RunError {
        RunError::Unwritable { file: self.target.display().to_string(), reason }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temporary.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temporary.flush()
    }
}

/// Writes `content` to `target` as a whole.
///
/// # Errors
/// [`RunError::Unwritable`], and then `target` is as it was.
pub fn write(target: &Path, content: &[u8]) -> Result<(), RunError> {
    let mut file = AtomicFile::create(target)?;
    file.write_all(content).map_err(|reason| RunError::Unwritable { file: target.display().to_string(), reason })?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_finished_file_has_its_name_and_content_and_nothing_else_is_left() {
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
    fn a_place_below_a_regular_file_is_refused_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("plain");
        write(&file, b"").unwrap();
        let error = write(&file.join("out.csv"), b"x").unwrap_err().to_string();
        assert!(error.contains("plain/out.csv: cannot be written"), "{error}");
    }
}
