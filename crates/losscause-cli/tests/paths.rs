//! `losscause reproduce paths`: what it prints, writes and refuses.
#![allow(clippy::unwrap_used)]

#[path = "common/command.rs"]
mod command;

use command::{losscause, printed};

#[test]
fn a_printed_path_is_a_scenario_that_simulate_runs() {
    let directory = tempfile::tempdir().unwrap();
    for (path, protocol) in [("1/2", "tfrc"), ("1/2/sender", "tcp")] {
        let scenario = printed(&["reproduce", "paths", "--print", path], directory.path());
        assert!(scenario.contains(&format!("protocol = \"{protocol}\"")), "{scenario}");
        std::fs::write(directory.path().join("path.toml"), scenario).unwrap();
        let result = printed(
            &["simulate", "path.toml", "--seed", "1002", "--format", "json"],
            directory.path(),
        );
        assert!(result.contains("\"M_w\""));
    }
}

#[test]
fn a_report_has_the_map_the_json_and_a_row_per_path() {
    let directory = tempfile::tempdir().unwrap();
    let table = printed(&["reproduce", "paths", "--paths", "2", "--out", "out"], directory.path());
    assert!(table.starts_with("At the receiver, on "), "{table}");
    let read =
        |name: &str| std::fs::read_to_string(directory.path().join("out").join(name)).unwrap();
    assert!(read("report.html").contains("Where each one works, at the sender"));
    let json = printed(
        &["reproduce", "paths", "--paths", "2", "--format", "json", "--jobs", "1"],
        directory.path(),
    );
    assert_eq!(json, read("result.json"), "the same bytes with any number of threads");
    assert!(read("paths.csv").starts_with("vantage,seed,number,queue,"));
}

#[test]
fn what_does_not_belong_together_is_refused_in_a_sentence() {
    let directory = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (
            &["paths", "--runs", "3"][..],
            "--runs 3: only valid with paths/loop; paths runs each path once",
        ),
        (&["paths/loop", "--runs", "0"], "--runs 0: expected a whole number from 1 to 10000"),
        (&["paths", "--paths", "0"], "--paths 0: expected 1 or more"),
        (&["paths", "--print", "7"], "path 7: expected SEED/NUMBER, such as 1/7"),
        (
            &["paths", "--algorithms", "ZBS"],
            "--algorithms ZBS: only valid with paths/loop; paths has every algorithm in its table",
        ),
        (
            &["paths/lop"],
            "paths/lop: \"paths/lop\" is unknown (did you mean \"paths/loop\"?), expected one of paths, paths/loop",
        ),
        (&["paths", "cen2003"], "paths cen2003: expected paths or paths/loop alone"),
        (&["cen2003", "--paths", "3"], "--paths 3: only valid with paths; remove it"),
    ] {
        let arguments: Vec<&str> =
            ["reproduce"].into_iter().chain(arguments.iter().copied()).collect();
        let output = losscause(&arguments, directory.path());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(
            String::from_utf8(output.stderr).unwrap().trim_end(),
            format!("losscause: {expected}"),
            "{arguments:?}"
        );
    }
}
