//! The directory of captures: new, empty, or with captures that this program wrote earlier.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use crate::tools::atomic::folder::{Hold, LOCK, hold};
use crate::tools::atomic::is_unfinished;
use crate::{InputError, RunError};

pub(super) const SENDER: &str = "sender.pcap";
pub(super) const BOTTLENECK: &str = "bottleneck.pcap";
pub(super) const RECEIVER: &str = "receiver.pcap";
pub(super) const DROPS: &str = "drops.csv";

/// The names of all files of captures.
pub const FILE_NAMES: [&str; 4] = [SENDER, BOTTLENECK, RECEIVER, DROPS];

/// Creates a directory for captures if it is missing. With `replaced` it may hold captures of an
/// earlier run, which will be replaced: then its `drops.csv` begins with these columns, separated by
/// commas. No other process writes captures there until the result is dropped.
///
/// # Errors
/// It cannot be created or read, holds files that are not to be replaced, or is in use.
pub fn prepare(directory: &Path, replaced: Option<&str>) -> Result<Hold, RunError> {
    let unwritable = |reason| RunError::unwritable(directory, reason);
    if fs::metadata(directory).is_ok_and(|found| !found.is_dir()) {
        return Err(unwritable(io::ErrorKind::NotADirectory.into()));
    }
    let hold = hold(directory)?;
    let expected = match replaced {
        Some(_) => "a new or empty directory, or one of an earlier --pcap",
        None => "a new or empty directory",
    };
    let refuse = |problem: &str| -> RunError {
        let problem = format!("{problem}, expected {expected}");
        InputError::option(format!("--pcap {}", directory.display()), problem).into()
    };
    let mut holds_captures = false;
    for entry in fs::read_dir(directory).map_err(unwritable)? {
        let name = entry.map_err(unwritable)?.file_name();
        match name.to_str() {
            Some(name) if is_unfinished(name) || name == LOCK => {}
            Some(SENDER | BOTTLENECK | RECEIVER | DROPS) if replaced.is_some() => {
                holds_captures = true;
            }
            _ => return Err(refuse(&format!("holds {}", name.display()))),
        }
    }
    match replaced {
        Some(columns) if holds_captures && !has_our_drops(directory, columns) => {
            Err(refuse("holds captures of another origin"))
        }
        _ => Ok(hold),
    }
}

/// Whether there is a `drops.csv` that begins with these columns.
fn has_our_drops(directory: &Path, columns: &str) -> bool {
    let mut line = String::new();
    let read = fs::File::open(directory.join(DROPS))
        .and_then(|file| BufReader::new(file).read_line(&mut line));
    read.is_ok() && line.trim_end() == columns
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &str = "time_s,cause";
    const OURS: Option<&str> = Some(COLUMNS);

    #[test]
    fn a_directory_with_files_of_others_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let below = directory.path().join("new/below");
        assert!(prepare(&below, OURS).is_ok());
        fs::create_dir_all(&below).unwrap();
        assert!(prepare(&below, OURS).is_ok(), "it is empty");
        let error = prepare(directory.path(), OURS).unwrap_err().to_string();
        assert!(
            error.ends_with(
                "holds new, expected a new or empty directory, or one of an earlier --pcap"
            ),
            "{error}"
        );
    }

    #[test]
    fn captures_of_others_are_kept_and_our_own_are_replaced() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(SENDER), "precious").unwrap();
        assert!(
            prepare(directory.path(), OURS).unwrap_err().to_string().contains("another origin")
        );
        fs::write(directory.path().join(DROPS), "time,cause\n").unwrap();
        assert!(prepare(directory.path(), OURS).is_err());
        fs::write(directory.path().join(DROPS), format!("{COLUMNS}\n")).unwrap();
        assert!(prepare(directory.path(), OURS).is_ok());
        let error = prepare(directory.path(), None).unwrap_err().to_string();
        assert!(error.ends_with("expected a new or empty directory"), "{error}");
    }

    #[test]
    fn a_file_is_no_directory() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(prepare(&file, OURS).unwrap_err().is_bad_input());
    }
}
