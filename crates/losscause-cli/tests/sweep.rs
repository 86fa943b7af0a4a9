//! `sweep` as a user meets it.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

#[path = "common/files.rs"]
mod files;

use files::files;
#[cfg(target_os = "linux")]
use files::unfinished;

fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_losscause"));
    command.arg("sweep").args(arguments).current_dir(directory).env("COLUMNS", "100");
    command
}

fn sweep(directory: &Path, arguments: &[&str]) -> Output {
    command(directory, arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs take some milliseconds.
const SWEEP: &str = r#"
title = "less loss"
runs = 2
scenario = "cen2003/WLH"
metrics = ["thput", "M_c"]

[[axis]]
key = "N"
values = [1, 2]

[[axis]]
name = "loss"
values = [{ name = "high" }, { name = "none", set = ['link.last.channel={ kind = "perfect" }'] }]
"#;

fn place(text: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("s.toml"), text).unwrap();
    place
}

#[test]
fn a_sweep_writes_cells_runs_and_summary_and_resumes_from_them() {
    let place = place(SWEEP);
    let first = sweep(place.path(), &["s.toml", "--out", "o", "--jobs", "1"]);
    assert!(first.status.success(), "{}", text(&first.stderr));
    let read = |name: &str| text(&std::fs::read(place.path().join("o").join(name)).unwrap());
    let summary = read("sweep.csv");
    let runs = read("runs.csv");
    assert_eq!(summary.lines().count(), 1 + 4);
    let head =
        "cell,N,loss,system,runs,thput (percent),thput ci95 (percent),thput runs,M_c (percent),";
    assert!(summary.starts_with(head), "{summary}");
    assert_eq!(runs.lines().count(), 1 + 8);
    assert!(
        runs.starts_with(
            "cell,N,loss,system,seed,thput (percent),M_c (percent)\n0,1,high,as it is,1,"
        ),
        "{runs}"
    );
    let json: Value = serde_json::from_str(&read("sweep.json")).unwrap();
    assert_eq!((&json["metrics"]["thput"], &json["axes"][0]), (&"percent".into(), &"N".into()));
    // The summary is the mean of the runs.
    let mean = (0..2)
        .map(|k| json["cells"][3]["runs"][k]["metrics"]["thput"].as_f64().unwrap())
        .sum::<f64>()
        / 2.0;
    assert!((json["cells"][3]["rows"][0]["measured"].as_f64().unwrap() - mean).abs() < 1e-9);

    let expected = files(&place.path().join("o"));
    // Without the line of the second cell.
    let finished = place.path().join("o/cells/finished.jsonl");
    let lines = text(&std::fs::read(&finished).unwrap());
    let others: String = lines
        .split_inclusive('\n')
        .enumerate()
        .filter(|(k, _)| *k != 1)
        .map(|(_, line)| line)
        .collect();
    std::fs::write(&finished, others).unwrap();
    let again = sweep(place.path(), &["s.toml", "--out", "o", "--jobs", "2", "--resume"]);
    assert!(text(&again.stderr).contains("4 cells (3 resumed)"), "{}", text(&again.stderr));
    assert_eq!(again.stdout, first.stdout);
    assert!(files(&place.path().join("o")) == expected, "resumed cells are the same cells");

    std::fs::write(place.path().join("s.toml"), SWEEP.replace("runs = 2", "runs = 3")).unwrap();
    let other = sweep(place.path(), &["s.toml", "--out", "o", "--resume"]);
    assert_eq!(
        text(&other.stderr).trim_end(),
        "losscause: o: was begun with runs 2, not 3, expected the same sweep; --restart drops its cells and starts anew"
    );
    assert_eq!(other.status.code(), Some(2));
}

#[test]
fn a_sweep_may_ask_for_delays_as_simulate_prints_them() {
    let place = place(&SWEEP.replace(r#"["thput", "M_c"]"#, r#"["queueing_p95"]"#));
    let output = sweep(place.path(), &["s.toml", "--out", "o", "--format", "csv"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let summary = text(&output.stdout);
    let delays =
        summary.lines().skip(1).map(|row| row.split(',').nth(5).unwrap().parse::<f64>().unwrap());
    assert!(delays.clone().count() == 4 && delays.clone().all(|delay| delay > 0.0), "{summary}");
}

#[test]
fn standard_output_has_the_format_that_was_asked_for() {
    let place = place(SWEEP);
    let output = |format: &str| {
        let words = format!("s.toml --out o --runs 1 --seed 7 --restart --format {format}");
        let output = sweep(place.path(), &words.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let file = |name: &str| text(&std::fs::read(place.path().join("o").join(name)).unwrap());
    assert_eq!(output("csv"), file("sweep.csv"));
    assert_eq!(output("json"), file("sweep.json"));
    assert!(file("runs.csv").contains(",as it is,7,"));
    let table = output("table");
    assert!(table.starts_with("less loss\n\nthput %, by N (down) and loss (across)\n"), "{table}");
    assert!(table.contains("1 run per value: no interval"), "{table}");
}

#[test]
fn tables_stay_within_the_terminal_s_width() {
    let values: Vec<String> = (1..=12).map(|k| format!("{}", f64::from(k) / 100.0)).collect();
    let text_of = format!(
        "title = \"t\"\nruns = 2\nscenario = \"cen2003/WLH\"\nmetrics = [\"thput\"]\n[[axis]]\nkey = \"N\"\n\
         values = [1, 2]\n[[axis]]\nname = \"loss\"\nvalues = [{}]\n",
        values
            .iter()
            .map(|loss| format!(
                "{{ name = \"{loss}\", set = ['link.last.channel={{ kind = \"bernoulli\", loss = {loss} }}'] }}"
            ))
            .collect::<Vec<_>>()
            .join(", ")
    );
    let place = place(&text_of);
    for columns in ["60", "100"] {
        let output = command(place.path(), &["s.toml", "--out", "o", "--restart"])
            .env("COLUMNS", columns)
            .output()
            .unwrap();
        let table = text(&output.stdout);
        let widest = table.lines().skip(1).map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.parse().unwrap(), "{widest} of {columns}:\n{table}");
        assert!(table.contains("12 %"), "no column is left out:\n{table}");
    }
}

#[test]
fn a_sweep_that_makes_no_sense_is_refused_in_one_sentence() {
    let refusal = |from: &str, to: &str| {
        assert!(SWEEP.contains(from), "{from}");
        let place = place(&SWEEP.replace(from, to));
        let output = sweep(place.path(), &["s.toml", "--out", "o"]);
        assert_eq!(output.status.code(), Some(2), "{to}: {}", text(&output.stderr));
        assert!(!place.path().join("o").exists(), "{to}");
        let error = text(&output.stderr);
        assert_eq!(error.lines().count(), 1, "{error}");
        error.trim_end().strip_prefix("losscause: s.toml").unwrap_or(&error).to_owned()
    };
    assert_eq!(
        refusal("runs = 2", "runs = 0"),
        ": runs: is 0, expected a whole number from 1 to 10000"
    );
    assert_eq!(
        refusal("runs = 2", "runs = \"x\""),
        ": runs: is string \"x\", expected a whole number"
    );
    assert_eq!(
        refusal("metrics = [\"thput\", \"M_c\"]", ""),
        ": metrics: is empty, expected the metrics to measure"
    );
    assert_eq!(
        refusal("runs = 2", "mode = \"gird\""),
        ": mode: \"gird\" is unknown (did you mean \"grid\"?), expected one of grid, one-at-a-time, pairwise"
    );
    assert!(
        refusal("runs = 2", "runz = 2")
            .starts_with(": runz: the key \"runz\" is unknown (did you mean \"runs\"?)")
    );
    assert!(refusal("\"N\"", "\"M\"").starts_with(": set: M=1: the parameter \"M\" is unknown"));
    assert!(
        refusal("name = \"high\"", "name = \"high\", sett = []").contains("did you mean \"set\"?")
    );
    assert!(
        refusal("[\"thput\", ", "[\"thputt\", ")
            .starts_with(": metrics: \"thputt\" is unknown (did you mean \"thput\"?)")
    );
    assert!(refusal("cen2003/WLH", "cen2003/WHL").contains("did you mean \"WLH\"?"));
    let missing = sweep(Path::new("."), &["none.toml"]);
    assert_eq!(
        text(&missing.stderr).trim_end(),
        "losscause: none.toml: there is no such file, expected a sweep file in TOML (losscause docs sweep)"
    );
}

#[test]
fn an_axis_cannot_be_set_on_the_command_line() {
    let place = place(SWEEP);
    let output = sweep(place.path(), &["s.toml", "--set", "N=4"]);
    let expected =
        "losscause: --set N=4: the axis N of s.toml sets this key too, expected another key\n";
    assert_eq!((text(&output.stderr).as_str(), output.status.code()), (expected, Some(2)));
}

/// A sweep of 30 cells, each of some tens of milliseconds.
#[cfg(target_os = "linux")]
fn long_sweep() -> String {
    let lengths: Vec<String> = (0..30).map(|k| (1000 + k).to_string()).collect();
    format!(
        "title = \"t\"\nruns = 2\nscenario = \"cen2003/WLH\"\nmetrics = [\"thput\", \"M_w\"]\n\
         [[axis]]\nkey = \"duration_s\"\nvalues = [{}]\n",
        lengths.join(", ")
    )
}

#[test]
fn a_folder_in_which_no_cell_was_finished_is_free() {
    let place = place(SWEEP);
    std::fs::create_dir_all(place.path().join("o/cells")).unwrap();
    let output = sweep(place.path(), &["s.toml", "--out", "o"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failed_run_that_names_the_file() {
    use std::fs::File;
    let place = place(SWEEP);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = command(place.path(), &["s.toml", "--out", "o"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr)
            .contains("standard output: cannot be written (No space left on device")
    );

    // A file system of 64 KiB needs the rights of root; without them there is none to test with.
    let small = place.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&small).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        return;
    }
    std::fs::write(place.path().join("long.toml"), long_sweep()).unwrap();
    let output = sweep(place.path(), &["long.toml", "--out", "small"]);
    let left = unfinished(&small);
    Command::new("umount").arg(&small).status().unwrap();
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    // On a busy machine, lines of progress come before it.
    let names_the_file = |line: &str| {
        line.starts_with("losscause: small/") && line.contains("cannot be written (No space left")
    };
    assert!(error.lines().any(names_the_file), "{error}");
    assert_eq!(left, 0);
}

/// The page on sweeps, which users read.
const PAGE: &str = include_str!("../docs/sweep.md");

/// The content of the first code block after `heading` of that kind.
fn block<'a>(heading: &str, kind: &str) -> &'a str {
    let (_, section) = PAGE.split_once(heading).unwrap();
    let (_, rest) = section.split_once(&format!("```{kind}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_example_of_the_page_prints_what_the_page_shows() {
    let place = place("");
    std::fs::write(place.path().join("last-hop.toml"), block("## Your own scenario", "toml"))
        .unwrap();
    let shown = block("## Your own scenario", "console");
    let (line, expected) = shown.split_once("\n\n").unwrap();
    let arguments: Vec<&str> =
        line.strip_prefix("$ losscause sweep ").unwrap().split(' ').collect();
    let output = sweep(place.path(), &arguments);
    assert_eq!(text(&output.stdout).trim_end(), expected.trim_end(), "{}", text(&output.stderr));
    for file in ["sweep.csv", "runs.csv", "sweep.json", "origin.json"] {
        assert!(place.path().join("out/sweep").join(file).exists(), "{file}");
    }
}
