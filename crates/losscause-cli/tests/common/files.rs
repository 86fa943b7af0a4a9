//! What a command leaves in a directory.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::path::{Path, PathBuf};

/// Every file below the directory with its content.
pub(crate) fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => files.push((path.clone(), std::fs::read(path).unwrap())),
        }
    }
    files.sort();
    files
}

/// How many of them are unfinished.
pub(crate) fn unfinished(directory: &Path) -> usize {
    let is_unfinished = |path: &PathBuf| path.extension().is_some_and(|end| end == "part");
    files(directory).iter().filter(|(path, _)| is_unfinished(path)).count()
}
