//! The commands that the README tells a newcomer to type exist.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::path::Path;
use std::process::Command;

fn readme() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    fs::read_to_string(path).expect("README.md can be read")
}

/// The words that follow `prefix` in the README, wherever it stands at the start of a command.
fn verbs(prefix: &str) -> Vec<String> {
    let text = readme();
    let mut found: Vec<String> = text
        .match_indices(prefix)
        .filter_map(|(at, _)| {
            text[at + prefix.len()..].split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next()
        })
        .filter(|verb| !verb.is_empty())
        .map(str::to_owned)
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn every_project_verb_in_the_readme_exists() {
    let verbs = verbs("cargo xtask ");
    assert!(
        verbs.contains(&"test".to_owned()),
        "the README must say how to run the tests; it has {verbs:?}"
    );
    for verb in verbs {
        let output =
            Command::new(env!("CARGO_BIN_EXE_xtask")).args([&verb, "--help"]).output().unwrap();
        assert!(
            output.status.success(),
            "README.md names `cargo xtask {verb}`, which does not exist"
        );
    }
}

#[test]
fn an_unknown_verb_is_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["no-such-verb", "--help"])
        .output()
        .unwrap();
    assert!(!output.status.success());
}

#[test]
fn the_readme_names_the_two_commands_of_a_fresh_machine() {
    assert!(readme().contains("cargo run --release -- reproduce"));
    assert!(readme().contains("cargo xtask test"));
}
