//! The files of a package, and an archive of them that is the same whenever they are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

/// Files by their path, without a slash at the start.
#[derive(Default)]
pub(super) struct Files(BTreeMap<String, File>);

struct File {
    bytes: Vec<u8>,
    is_program: bool,
}

impl Files {
    pub(super) fn add(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.0.insert(path.into(), File { bytes: bytes.into(), is_program: false });
    }

    pub(super) fn add_program(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.0.insert(path.into(), File { bytes: bytes.into(), is_program: true });
    }

    /// All files below `folder`.
    pub(super) fn below(folder: &Path) -> Result<Self> {
        let mut files = Self::default();
        files.gather(folder, "")?;
        Ok(files)
    }

    fn gather(&mut self, folder: &Path, before: &str) -> Result<()> {
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let entry = entry?;
            let path = format!("{before}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                self.gather(&entry.path(), &format!("{path}/"))?;
            } else {
                self.add(path, fs::read(entry.path())?);
            }
        }
        Ok(())
    }

    /// The sum of all sizes, bytes.
    pub(super) fn size(&self) -> usize {
        self.0.values().map(|file| file.bytes.len()).sum()
    }

    /// A compressed archive with all files below `prefix`, which is empty or ends with a slash:
    /// sorted, of root, dated `epoch_s`.
    pub(super) fn tar_gz(&self, prefix: &str, epoch_s: u64) -> Result<Vec<u8>> {
        let entries: BTreeMap<String, &File> =
            self.0.iter().map(|(path, file)| (format!("{prefix}{path}"), file)).collect();
        let above = |path: &str| -> Vec<String> {
            path.match_indices('/').map(|(end, _)| path[..=end].to_owned()).collect()
        };
        let folders: BTreeSet<String> = entries.keys().flat_map(|path| above(path)).collect();
        let header = |kind, mode, size| {
            let mut header = Header::new_gnu();
            header.set_entry_type(kind);
            header.set_mode(mode);
            header.set_size(size);
            header.set_mtime(epoch_s);
            header.set_uid(0);
            header.set_gid(0);
            header
        };
        let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
        for folder in folders {
            let mut header = header(EntryType::Directory, 0o755, 0);
            archive.append_data(&mut header, folder, std::io::empty())?;
        }
        for (path, file) in entries {
            let mode = if file.is_program { 0o755 } else { 0o644 };
            let mut header = header(EntryType::Regular, mode, file.bytes.len() as u64);
            archive.append_data(&mut header, path, file.bytes.as_slice())?;
        }
        let mut compressed = archive.into_inner()?;
        compressed.flush()?;
        Ok(compressed.finish()?)
    }
}

#[cfg(test)]
mod tests {
    use flate2::read::GzDecoder;

    use super::*;

    fn two(first: &str, second: &str) -> Vec<u8> {
        let mut files = Files::default();
        for path in [first, second] {
            files.add(path, path.as_bytes());
        }
        files.add_program("bin/losscause", "program");
        files.tar_gz("losscause-1/", 1_700_000_000).unwrap()
    }

    #[test]
    fn the_order_in_which_files_were_found_leaves_no_trace() {
        assert_eq!(two("a/b", "c"), two("c", "a/b"));
    }

    #[test]
    fn entries_are_sorted_behind_their_folders_and_say_nothing_of_the_machine() {
        let archive = two("share/doc/z", "share/a");
        let mut archive = tar::Archive::new(GzDecoder::new(archive.as_slice()));
        let mut seen = Vec::new();
        for entry in archive.entries().unwrap() {
            let entry = entry.unwrap();
            let header = entry.header();
            assert_eq!((header.uid().unwrap(), header.gid().unwrap()), (0, 0));
            assert_eq!(header.mtime().unwrap(), 1_700_000_000);
            assert_eq!(header.username_bytes(), Some([].as_slice()));
            seen.push((entry.path().unwrap().display().to_string(), header.mode().unwrap()));
        }
        let expected = [
            ("losscause-1/", 0o755),
            ("losscause-1/bin/", 0o755),
            ("losscause-1/share/", 0o755),
            ("losscause-1/share/doc/", 0o755),
            ("losscause-1/bin/losscause", 0o755),
            ("losscause-1/share/a", 0o644),
            ("losscause-1/share/doc/z", 0o644),
        ];
        assert_eq!(seen, expected.map(|(path, mode)| (path.to_owned(), mode)));
    }
}
