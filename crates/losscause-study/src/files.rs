//! Where files are read from: the disk, a map in memory, or the files that the program carries.
//!
//! Scenarios, sweeps and what they refer to are read through [`Files`], so that a page or a test
//! needs no disk:
//!
//! ```
//! use std::path::Path;
//! use losscause_study::files::Memory;
//! use losscause_study::{Context, Scenario};
//!
//! let files = Memory::new().with("s.toml", "title = \"nothing\"\nduration_s = 1");
//! let scenario = Scenario::load(Path::new("s.toml"), &Context::default().with_files(files))?;
//! assert_eq!(scenario.document().title, "nothing");
//! # Ok::<(), losscause_study::InputError>(())
//! ```

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::error::{InputError, nearest};

mod inputs;
pub mod watched;

pub use inputs::Inputs;
pub use watched::Watched;

/// A source of files.
pub trait Files: Debug + Send + Sync {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if this source has no such file; any other kind if it has one
    /// that cannot be read.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + '_>>;

    /// The paths that may be meant by `path`, which this source lacks: an error suggests the nearest
    /// of them.
    fn alternatives(&self, path: &Path) -> Vec<String> {
        let _ = path;
        Vec::new()
    }
}

impl<F: Files + ?Sized> Files for Arc<F> {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + '_>> {
        self.as_ref().open(path)
    }

    fn alternatives(&self, path: &Path) -> Vec<String> {
        self.as_ref().alternatives(path)
    }
}

/// The files of this machine. On a target without a file system every file is refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + '_>> {
        // Reading a directory fails with a different error on every system.
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(Box::new(std::fs::File::open(path)?))
    }

    /// The path with every missing part replaced by the nearest name that is there.
    fn alternatives(&self, path: &Path) -> Vec<String> {
        let mut found = PathBuf::new();
        for part in path.components() {
            let next = found.join(part);
            found = if next.exists() {
                next
            } else {
                match nearest_in(&found, &part.as_os_str().to_string_lossy()) {
                    Some(name) => found.join(name),
                    None => return Vec::new(),
                }
            };
        }
        vec![found.display().to_string()]
    }
}

/// The name in `directory` that may be meant by `name`: one whose part before the first dot is near.
fn nearest_in(directory: &Path, name: &str) -> Option<String> {
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let entries = std::fs::read_dir(directory).ok()?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut near: Vec<String> =
        names.filter(|other| nearest(&stem(name), [stem(other).as_str()]).is_some()).collect();
    near.sort();
    near.into_iter().min_by_key(|other| strsim::osa_distance(name, other))
}

/// Files in memory, by their paths. `.` and `..` in a path are resolved: `a/../b` is `b`.
#[derive(Clone, Debug, Default)]
pub struct Memory(BTreeMap<PathBuf, Vec<u8>>);

impl Memory {
    /// No files.
    pub fn new() -> Self {
        Self::default()
    }

    /// The files so far and the one at `path`, which replaces an earlier one there.
    #[must_use]
    pub fn with(mut self, path: impl AsRef<Path>, content: impl Into<Vec<u8>>) -> Self {
        self.0.insert(normal(path.as_ref()), content.into());
        self
    }
}

impl Files for Memory {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + '_>> {
        match self.0.get(&normal(path)) {
            Some(content) => Ok(Box::new(content.as_slice())),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn alternatives(&self, _: &Path) -> Vec<String> {
        self.0.keys().map(|path| path.display().to_string()).collect()
    }
}

/// The files of the first source, then those of the second.
#[derive(Clone, Copy, Debug)]
pub struct Either<A, B>(pub A, pub B);

impl<A: Files, B: Files> Files for Either<A, B> {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + '_>> {
        match self.0.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.1.open(path),
            found => found,
        }
    }

    fn alternatives(&self, path: &Path) -> Vec<String> {
        [self.0.alternatives(path), self.1.alternatives(path)].concat()
    }
}

/// Largest scenario or sweep file that is read, bytes.
pub const LARGEST_DOCUMENT: u64 = 1 << 20;
/// Largest file of results that is read again, bytes.
pub const LARGEST_RESULT: u64 = 64 << 20;

/// The text of the file at `path`. A file of more than `largest` bytes is refused, so that a device
/// without an end is, too. `expected` says in an error what the file should be.
pub fn text(
    files: &dyn Files,
    path: &Path,
    largest: u64,
    expected: &'static str,
) -> Result<String, InputError> {
    let file = || path.display().to_string();
    let mut bytes = Vec::new();
    let read =
        files.open(path).and_then(|content| content.take(largest + 1).read_to_end(&mut bytes));
    read.map_err(|reason| unreadable(files, path, &reason, expected))?;
    if is_capture(path, &bytes) {
        let problem = format!("is a capture (losscause analyze {} reads it)", file());
        return Err(InputError::file(file(), problem, expected));
    }
    if bytes.len() as u64 > largest {
        let problem = format!("is larger than {} MiB", largest >> 20);
        return Err(InputError::file(file(), problem, expected));
    }
    String::from_utf8(bytes)
        .map_err(|_| InputError::unreadable(path, &io::ErrorKind::InvalidData.into(), expected))
}

/// The error for a file of `files` that cannot be read, with the nearest path in place of a missing
/// one.
pub fn unreadable(
    files: &dyn Files,
    path: &Path,
    reason: &io::Error,
    expected: &'static str,
) -> InputError {
    let file = path.display().to_string();
    if reason.kind() == io::ErrorKind::NotFound
        && let Some(hint) = nearest(&file, files.alternatives(path).iter().map(String::as_str))
    {
        let problem = format!("there is no such file (did you mean \"{hint}\"?)");
        return InputError::file(file, problem, expected);
    }
    InputError::unreadable(path, reason, expected)
}

/// Whether these are the first bytes of a capture: pcap in either byte order, with microseconds or
/// nanoseconds, pcapng, or something compressed under the name of one.
fn is_capture(path: &Path, bytes: &[u8]) -> bool {
    const PCAP: [[u8; 4]; 5] = [
        [0xd4, 0xc3, 0xb2, 0xa1],
        [0xa1, 0xb2, 0xc3, 0xd4],
        [0x4d, 0x3c, 0xb2, 0xa1],
        [0xa1, 0xb2, 0x3c, 0x4d],
        [0x0a, 0x0d, 0x0d, 0x0a],
    ];
    let is_compressed = bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(b"\x28\xb5\x2f\xfd");
    PCAP.iter().any(|magic| bytes.starts_with(magic))
        || is_compressed && path.to_string_lossy().contains(".pcap")
}

/// `path` without `.` and with every `..` resolved against the part before it.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some() => _ = normal.pop(),
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &dyn Files, path: &str) -> Result<String, String> {
        text(files, Path::new(path), 1 << 20, "a text").map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_larger_than_it_may_be_is_refused_with_that() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), vec![b'x'; (1 << 20) + 1]).unwrap();
        let refused = text(&Disk, file.path(), 1 << 20, "less").unwrap_err().to_string();
        assert_eq!(
            refused,
            format!("{}: is larger than 1 MiB, expected less", file.path().display())
        );
        std::fs::write(file.path(), "µ").unwrap();
        assert_eq!(text(&Disk, file.path(), 2, "two bytes").as_deref(), Ok("µ"));
    }

    #[test]
    fn a_directory_and_a_missing_file_are_refused_by_the_disk() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().display().to_string();
        assert_eq!(read(&Disk, &path), Err(format!("{path}: is a directory, expected a text")));
        let missing = format!("{path}/none.txt");
        assert_eq!(
            read(&Disk, &missing),
            Err(format!("{missing}: there is no such file, expected a text"))
        );
    }

    #[test]
    fn a_missing_file_on_the_disk_is_told_the_nearest_name_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path).display().to_string();
        std::fs::create_dir(at("scenarios")).unwrap();
        for name in ["scenarios/lte.toml", "scenarios/lte.txt", "scenarios/s.toml", ".hidden"] {
            std::fs::write(at(name), "x").unwrap();
        }
        for (missing, meant) in [
            ("scenarios/ltee.toml", "scenarios/lte.toml"),
            ("scenarios/lte", "scenarios/lte.txt"),
            ("scenario/Lte.toml", "scenarios/lte.toml"),
        ] {
            let said =
                format!("{}: there is no such file (did you mean \"{}\"?)", at(missing), at(meant));
            assert_eq!(read(&Disk, &at(missing)), Err(said + ", expected a text"));
        }
        // The ending alone is not what makes two names alike.
        for missing in ["scenarios/no.toml", "hidden.toml", "other/lte.toml"] {
            let said = format!("{}: there is no such file, expected a text", at(missing));
            assert_eq!(read(&Disk, &at(missing)), Err(said));
        }
    }

    #[test]
    fn a_file_in_memory_is_found_by_every_spelling_of_its_path() {
        let files = Memory::new().with("./traces/delays.txt", "0 20");
        for path in ["traces/delays.txt", "scenarios/../traces/delays.txt", "traces/./delays.txt"] {
            assert_eq!(read(&files, path).as_deref(), Ok("0 20"), "{path}");
        }
        assert!(read(&files, "../traces/delays.txt").is_err());
    }

    #[test]
    fn a_missing_file_in_memory_is_told_the_nearest() {
        let files = Memory::new().with("delays.txt", "").with("errors.txt", [0xff]);
        let hint = "there is no such file (did you mean \"delays.txt\"?), expected a text";
        assert_eq!(read(&files, "delay.txt"), Err(format!("delay.txt: {hint}")));
        assert_eq!(
            read(&files, "zzz"),
            Err("zzz: there is no such file, expected a text".to_owned())
        );
        assert_eq!(
            read(&files, "errors.txt"),
            Err("errors.txt: is not UTF-8 text, expected a text".to_owned())
        );
    }

    #[test]
    fn the_first_source_wins_and_a_missing_file_is_in_the_second() {
        let [first, second] = ["first", "second"].map(|text| Memory::new().with("both", text));
        let files = Either(
            first.with("broken", [0xff]),
            second.with("broken", "whole").with("other", "other"),
        );
        assert_eq!(read(&files, "both").as_deref(), Ok("first"));
        assert_eq!(read(&files, "other").as_deref(), Ok("other"));
        assert!(read(&files, "broken").is_err());
    }
}
