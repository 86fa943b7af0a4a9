//! `losscause init` as a user meets it.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

#[path = "common/command.rs"]
mod command;

use std::path::Path;
use std::process::Command;

use command::{losscause, printed};

/// The kinds below each heading of the list.
fn listed(directory: &Path) -> Vec<(String, Vec<String>)> {
    let text = printed(&["init"], directory);
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("  "), groups.last_mut()) {
            (Some(entry), Some((_, kinds))) => {
                kinds.push(entry.split_whitespace().next().unwrap().to_owned());
            }
            _ if line.ends_with(':') => groups.push((line.to_owned(), vec![])),
            _ => {}
        }
    }
    groups
}

#[test]
fn without_a_kind_the_kinds_are_listed_and_nothing_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let groups = listed(directory.path());
    let headings: Vec<&str> = groups.iter().map(|(heading, _)| heading.as_str()).collect();
    assert_eq!(headings, ["Links:", "Lessons:", "Sweeps:"]);
    assert_eq!(groups[0].1, ["wifi", "lte", "leo", "geo", "dsl", "cable", "wired"]);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn every_kind_that_is_listed_is_written_with_the_files_that_it_reads() {
    for (heading, kinds) in listed(Path::new(".")) {
        for kind in kinds {
            let directory = tempfile::tempdir().unwrap();
            printed(&["init", &kind], directory.path());
            let file = format!("{kind}.toml");
            // A bottleneck that is no link is told after all files were read.
            let verb = if heading == "Sweeps:" { "sweep" } else { "simulate" };
            let arguments = [verb, &file, "--set", "measure.bottleneck=nope"];
            let told = String::from_utf8(losscause(&arguments, directory.path()).stderr).unwrap();
            assert!(told.contains("the link \"nope\" is unknown"), "{told}");
        }
    }
}

#[test]
fn a_file_beside_that_exists_stays_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("longer-route.txt");
    std::fs::write(&trace, "0 5\n").unwrap();
    let told = printed(&["init", "longer-route"], directory.path());
    let expected = "It reads longer-route.txt, which exists and stays as it is.\n";
    assert!(told.contains(expected), "{told}");
    assert_eq!(std::fs::read_to_string(&trace).unwrap(), "0 5\n");
}

#[test]
fn a_scenario_that_is_missing_is_told_with_the_command_that_writes_it() {
    let directory = tempfile::tempdir().unwrap();
    for verb in ["simulate", "compare"] {
        let arguments = [verb, "scenarios/parking-lot.toml", "--runs", "2"];
        let output = losscause(&arguments, directory.path());
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            "losscause: scenarios/parking-lot.toml: there is no such file (losscause init \
             parking-lot writes it), expected a scenario file in TOML (losscause docs scenario)\n"
        );
    }
    let output = losscause(&["sweep", "scenarios/sweeps/misjudged.toml"], directory.path());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains(" (losscause init sweep-misjudged writes it), "), "{told}");
}

#[test]
fn a_kind_becomes_a_file_that_runs_and_is_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    printed(&["init", "geo"], directory.path());
    printed(&["init", "geo", "-o", "mine.toml"], directory.path());
    let simulated = printed(&["simulate", "mine.toml"], directory.path());
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
    let text = printed(&["init", "wifi", "-o", "-"], directory.path());
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
