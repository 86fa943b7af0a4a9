//! Runs the command in a directory.

use std::path::Path;
use std::process::{Command, Output};

/// What the command did, without its progress.
pub(crate) fn losscause(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_losscause"))
        .current_dir(directory)
        .arg("--quiet")
        .args(arguments)
        .output()
        .unwrap()
}

/// What the command printed; it must succeed.
pub(crate) fn printed(directory: &Path, arguments: &[&str]) -> String {
    let output = losscause(directory, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
