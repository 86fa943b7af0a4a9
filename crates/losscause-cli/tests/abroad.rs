//! `losscause reproduce abroad`: what it prints, writes and refuses.
#![allow(clippy::unwrap_used)]

#[path = "common/command.rs"]
mod command;

use command::{losscause, printed};

#[test]
fn a_printed_network_is_a_scenario_that_simulate_runs() {
    let directory = tempfile::tempdir().unwrap();
    let scenario = printed(&["reproduce", "abroad", "--print", "lte/1/2"], directory.path());
    assert!(
        scenario.starts_with("# LTE/1/2\n# losscause simulate FILE --seed 1002\n"),
        "{scenario}"
    );
    std::fs::write(directory.path().join("lte.toml"), scenario).unwrap();
    let arguments = ["simulate", "lte.toml", "--seed", "1002", "--format", "json"];
    assert!(printed(&arguments, directory.path()).contains("\"queue_drops\""));
}

#[test]
fn a_report_has_the_page_the_json_and_a_row_per_flow_or_run() {
    let directory = tempfile::tempdir().unwrap();
    for (part, csv, head) in [
        ("abroad", "flows.csv", "kind,number,run_seed,flow,algorithm,"),
        ("abroad/receivers", "flows.csv", "kind,number,run_seed,flow,algorithm,"),
        ("abroad/captures", "flows.csv", "kind,number,run_seed,flow,algorithm,"),
        ("abroad/loop", "loop.csv", "kind,number,run_seed,system,"),
    ] {
        let arguments =
            ["reproduce", part, "--kind", "RED", "--kind", "rare loss", "--networks", "1"];
        let table = printed(&[&arguments[..], &["--out", "out"]].concat(), directory.path());
        assert!(table.starts_with("On fitted kinds, "), "{table}");
        assert!(table.contains("\n  held-out kinds:") && table.contains("\n  RED "), "{table}");
        let read =
            |name: &str| std::fs::read_to_string(directory.path().join("out").join(name)).unwrap();
        assert!(read("report.html").contains("held-out kinds"));
        let json = [&arguments[..], &["--format", "json", "--jobs", "1"]].concat();
        assert_eq!(printed(&json, directory.path()), read("result.json"), "any number of threads");
        assert!(read(csv).starts_with(head));
    }
}

#[test]
fn the_record_of_the_kernel_is_shown_without_a_run() {
    let directory = tempfile::tempdir().unwrap();
    let table = printed(&["reproduce", "abroad/kernel"], directory.path());
    assert!(!table.contains("fitted kinds"), "{table}");
    assert!(
        table.contains("\n  RED ") && table.contains("\nThe cause of whole flows\n"),
        "{table}"
    );
    let one = printed(&["reproduce", "abroad/kernel", "--kind", "PIE"], directory.path());
    // Columns may be as wide as other rows ask for.
    let row = |text: &str| -> Vec<String> {
        let line = text.lines().find(|line| line.starts_with("  PIE ")).unwrap();
        line.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(row(&one), row(&table));
    assert!(!one.contains("  RED "), "{one}");
}

#[test]
fn the_table_shows_a_few_algorithms_those_named_or_all() {
    let directory = tempfile::tempdir().unwrap();
    let shown = |more: &[&str]| {
        let arguments = ["reproduce", "abroad", "--kind", "RED", "--networks", "1"];
        printed(&[&arguments[..], more].concat(), directory.path())
    };
    assert!(shown(&[]).contains(" Veno ") && !shown(&[]).contains(" ZigZag "));
    let named = shown(&["--algorithms", "zigzag"]);
    assert!(named.contains(" ZigZag ") && !named.contains(" Veno "), "{named}");
    assert!(shown(&["--verbose"]).contains(" ZigZag "));
}

#[test]
fn what_does_not_belong_together_is_refused_in_a_sentence() {
    let directory = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (&["abroad", "--networks", "0"][..], "--networks 0: expected 1 or more"),
        (
            &["abroad", "--kind", "LTA", "--networks", "1"],
            "--kind LTA: \"LTA\" is unknown (did you mean \"LTE\"?), expected one of one flow, DropTail",
        ),
        (
            &["abroad/loop", "--kind", "BBR"],
            "--kind BBR: not valid with abroad/loop, which replaces the flows",
        ),
        (
            &["abroad/receivers", "--kind", "BBR"],
            "--kind BBR: not valid with abroad/receivers, which replaces the flows",
        ),
        (
            &["abroad/receivers", "--algorithms", "Veno"],
            "--algorithms Veno: judges no loss at a receiver without the truth",
        ),
        (
            &["abroad/kernel", "--kind", "LTE"],
            "--kind LTE: not valid with abroad/kernel, whose record lacks it",
        ),
        (
            &["abroad/kernel", "--networks", "3"],
            "--networks 3: not valid with abroad/kernel, whose runs are recorded",
        ),
        (
            &["abroad/kernel", "--seed", "2"],
            "--seed 2: not valid with abroad/kernel, whose runs are recorded",
        ),
        (
            &["abroad", "--print", "LTE/3"],
            "network LTE/3: expected KIND/SEED/NUMBER, such as LTE/1/3",
        ),
        (
            &["abroad", "--runs", "3"],
            "--runs 3: not valid with abroad, which runs each network once; --networks draws more",
        ),
        (&["abroad", "--paths", "3"], "--paths 3: only valid with paths; remove it"),
        (&["paths", "--networks", "3"], "--networks 3: only valid with abroad; remove it"),
        (&["cen2003", "--kind", "LTE"], "--kind LTE: only valid with abroad; remove it"),
        (
            &["cen2003", "--algorithms", "ZBS"],
            "--algorithms ZBS: only valid with paths or abroad; remove it",
        ),
        (
            &["abroad", "--algorithms", "omniscient"],
            "--algorithms omniscient: judges no loss at a sender without the truth",
        ),
        (
            &["abroad/lop"],
            "abroad/lop: \"abroad/lop\" is unknown (did you mean \"abroad/loop\"?), expected one of abroad, abroad/receivers",
        ),
        (&["abroad", "paths"], "abroad paths: expected paths or paths/loop alone"),
    ] {
        let arguments: Vec<&str> =
            ["reproduce"].into_iter().chain(arguments.iter().copied()).collect();
        let output = losscause(&arguments, directory.path());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.starts_with(&format!("losscause: {expected}")), "{arguments:?}: {error}");
    }
}
