//! `losscause init` as a user meets it.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::path::Path;
use std::process::{Command, Output};

fn losscause(arguments: &[&str], directory: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_losscause"))
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn without_a_kind_the_kinds_are_listed_and_nothing_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let text = stdout(&losscause(&["init"], directory.path()));
    let kinds: Vec<&str> =
        text.lines().take(7).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(kinds, ["wifi", "lte", "leo", "geo", "dsl", "cable", "wired"]);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_kind_becomes_a_file_that_runs_and_is_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    stdout(&losscause(&["init", "geo"], directory.path()));
    stdout(&losscause(&["init", "geo", "-o", "mine.toml"], directory.path()));
    let simulated = stdout(&losscause(&["simulate", "mine.toml"], directory.path()));
    assert!(simulated.contains("One flow over a satellite link"), "{simulated}");
    let mine = std::fs::read_to_string(directory.path().join("mine.toml")).unwrap();
    assert!(mine.contains("#   losscause simulate mine.toml"), "{mine}");

    std::fs::write(directory.path().join("mine.toml"), "changed").unwrap();
    let again = losscause(&["init", "wifi", "-o", "mine.toml"], directory.path());
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(again.stderr).unwrap(),
        "losscause: init -o mine.toml: the file exists, expected a new one (-o FILE)\n"
    );
    assert_eq!(std::fs::read_to_string(directory.path().join("mine.toml")).unwrap(), "changed");
}

#[test]
fn a_dash_prints_the_shipped_file_and_writes_none() {
    let directory = tempfile::tempdir().unwrap();
    let text = stdout(&losscause(&["init", "wifi", "-o", "-"], directory.path()));
    assert!(
        text.contains("queue = { kind = \"fq-codel\" }")
            && text.contains("retransmission = { attempts = 7")
    );
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_written_to_its_end_is_not_there() {
    let directory = tempfile::tempdir().unwrap();
    // A limit of one block of a file stands for a disk that gets full.
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" init wifi -o w.toml";
    let full = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_losscause")])
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert_eq!(full.status.code(), Some(1));
    let told = String::from_utf8(full.stderr).unwrap();
    assert!(told.starts_with("losscause: w.toml: cannot be written"), "{told}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}
