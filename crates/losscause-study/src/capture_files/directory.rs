//! The directory of captures: new, empty, or with captures that this program wrote earlier.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use crate::tools::atomic::is_unfinished;
use crate::{InputError, RunError};

pub(super) const SENDER: &str = "sender.pcap";
pub(super) const BOTTLENECK: &str = "bottleneck.pcap";
pub(super) const RECEIVER: &str = "receiver.pcap";
pub(super) const DROPS: &str = "drops.csv";

/// The names of all files of captures.
pub const FILE_NAMES: [&str; 4] = [SENDER, BOTTLENECK, RECEIVER, DROPS];

/// Creates a directory for captures if it is missing. It may hold captures of an earlier run, which
/// will be replaced: then its `drops.csv` begins with these columns, separated by commas.
///
/// # Errors
/// It cannot be created or read, or holds files that this program did not write as captures of a
/// run.
pub fn prepare(directory: &Path, columns: &str) -> Result<(), RunError> {
    let unwritable =
        |reason| RunError::Unwritable { file: directory.display().to_string(), reason };
    if fs::metadata(directory).is_ok_and(|found| !found.is_dir()) {
        return Err(unwritable(io::ErrorKind::NotADirectory.into()));
    }
    fs::create_dir_all(directory).map_err(unwritable)?;
    let mut holds_captures = false;
    for entry in fs::read_dir(directory).map_err(unwritable)? {
        let name = entry.map_err(unwritable)?.file_name();
        match name.to_str() {
            Some(name) if is_unfinished(name) => {}
            Some(SENDER | BOTTLENECK | RECEIVER | DROPS) => holds_captures = true,
            _ => return Err(refuse(directory, &format!("holds {}", name.display()))),
        }
    }
    if holds_captures && !has_our_drops(directory, columns) {
        return Err(refuse(directory, "holds captures of another origin"));
    }
    Ok(())
}

/// Whether there is a `drops.csv` that begins with these columns.
fn has_our_drops(directory: &Path, columns: &str) -> bool {
    let mut line = String::new();
    let read = fs::File::open(directory.join(DROPS))
        .and_then(|file| BufReader::new(file).read_line(&mut line));
    read.is_ok() && line.trim_end() == columns
}

fn refuse(directory: &Path, problem: &str) -> RunError {
    let problem =
        format!("{problem}, expected a new or empty directory, or one of an earlier --pcap");
    InputError::Option { option: format!("--pcap {}", directory.display()), problem }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "time_s,cause";

    #[test]
    fn a_directory_with_files_of_others_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        assert!(prepare(&directory.path().join("new/below"), OURS).is_ok());
        assert!(prepare(&directory.path().join("new/below"), OURS).is_ok(), "it is empty");
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
        fs::write(directory.path().join(DROPS), format!("{OURS}\n")).unwrap();
        assert!(prepare(directory.path(), OURS).is_ok());
    }

    #[test]
    fn a_file_is_no_directory() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(prepare(&file, OURS).unwrap_err().is_bad_input());
    }
}
