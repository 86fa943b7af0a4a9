//! Runs the command in a directory, and reads what it prints.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::path::Path;
use std::process::{Command, Output};

pub(crate) fn losscause(arguments: &[&str], directory: &Path) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_losscause"));
    program.args(arguments).current_dir(directory).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What the command printed; it must succeed.
pub(crate) fn printed(arguments: &[&str], directory: &Path) -> String {
    let output = losscause(arguments, directory);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// A directory with the captures of both ends.
pub(crate) fn captures() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("sender.pcap.gz"), SENDER).unwrap();
    std::fs::write(place.path().join("receiver.pcap.gz"), RECEIVER).unwrap();
    place
}

pub(crate) const SENDER: &[u8] = include_bytes!("../captures/sender.pcap.gz");
pub(crate) const RECEIVER: &[u8] = include_bytes!("../captures/receiver.pcap.gz");
