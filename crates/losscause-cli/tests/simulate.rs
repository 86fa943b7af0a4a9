//! `losscause simulate` as a user meets it.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::path::Path;
use std::process::{Command, Output};

use losscause_study::run::SimulationResult;
use serde_json::Value;

fn losscause(arguments: &[&str], directory: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_losscause")).args(arguments).current_dir(directory).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

const SCENARIO: &str = r#"
title = "constant bit rate over a poor radio link"
duration_s = 2
[parameters]
loss = 0.1
[measure]
bottleneck = "radio"
[[link]]
name = "radio"
rate_bps = 1e6
delay_ms = 10
queue_packets = 3
channel = { kind = "bernoulli", loss = "loss" }
[[flow]]
name = "source"
protocol = "cbr"
path = ["radio"]
rate_bps = 2e6
packet_bytes = 1000
measured = true
"#;

fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("s.toml"), SCENARIO).unwrap();
    directory
}

#[test]
fn the_json_has_the_promised_shape() {
    let directory = directory();
    let arguments = ["simulate", "s.toml", "--set", "loss=0.2", "--seed", "7", "--format", "json"];
    let text = stdout(&losscause(&arguments, directory.path()));
    let result: SimulationResult = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string_pretty(&result).unwrap() + "\n", text, "nothing but the result is printed");
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["scenario"], "s.toml");
    assert_eq!(json["parameters"]["loss"], 0.2);
    assert_eq!(json["settings"][0], "loss=0.2");
    assert_eq!(json["seed"], 7);
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json["format_version"], 1);
    let thput = &json["metrics"]["thput"];
    assert_eq!((&thput["unit"], &thput["ci95"], &thput["runs"]), (&"percent".into(), &Value::Null, &1.into()));
    assert!(thput["value"].as_f64().unwrap() > 95.0, "{thput}");
    assert_eq!(json["flows"][0]["flow"], "source");
    assert_eq!(json["links"][0]["link"], "radio");
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let directory = directory();
    let json = |seed| stdout(&losscause(&["simulate", "s.toml", "--seed", seed, "--format", "json"], directory.path()));
    assert_eq!(json("1"), json("1"));
    assert_ne!(json("1").replace("\"seed\": 1", ""), json("2").replace("\"seed\": 2", ""));
}

#[test]
fn the_table_names_metrics_flows_and_links() {
    let directory = directory();
    let text = stdout(&losscause(&["simulate", "s.toml"], directory.path()));
    for word in ["constant bit rate", "thput", "source", "radio", "(seed 1)"] {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
}

#[test]
fn the_trace_has_every_event_in_order_of_time_with_true_causes() {
    let directory = directory();
    let json = stdout(&losscause(&["simulate", "s.toml", "--trace", "t.csv", "--format", "json"], directory.path()));
    let json: Value = serde_json::from_str(&json).unwrap();
    let mut reader = csv::Reader::from_path(directory.path().join("t.csv")).unwrap();
    let rows: Vec<std::collections::BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let times: Vec<i64> = rows.iter().map(|row| row["time_ns"].parse().unwrap()).collect();
    assert!(times.is_sorted());
    let count = |event: &str| rows.iter().filter(|row| row["event"] == event).count() as u64;
    assert_eq!(count("queue-drop"), json["links"][0]["queue_drops"].as_u64().unwrap());
    assert_eq!(count("corrupted"), json["links"][0]["wireless_drops"].as_u64().unwrap());
    assert!(count("corrupted") > 0 && count("queue-drop") > 0);
    for row in &rows {
        let cause = match row["event"].as_str() {
            "queue-drop" => "congestion",
            "corrupted" => "wireless",
            _ => "",
        };
        assert_eq!(row["cause"], cause, "{row:?}");
        assert_eq!(row["flow"], "source");
    }
}

#[test]
fn a_trace_replaces_the_one_before_and_leaves_nothing_else_behind() {
    let directory = directory();
    std::fs::write(directory.path().join("t.csv"), "old").unwrap();
    stdout(&losscause(&["simulate", "s.toml", "--trace", "t.csv"], directory.path()));
    assert!(std::fs::read_to_string(directory.path().join("t.csv")).unwrap().starts_with("time_ns,event,flow,"));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
}

#[test]
fn the_schema_is_printed_without_a_scenario() {
    let anywhere = tempfile::tempdir().unwrap();
    let printed = |arguments: &[&str]| -> Value {
        serde_json::from_str(&stdout(&losscause(arguments, anywhere.path()))).unwrap()
    };
    assert_eq!(printed(&["simulate", "--schema"])["title"], "losscause scenario");
    assert_eq!(printed(&["simulate", "--schema", "scenario"]), printed(&["simulate", "--schema"]));
    assert_eq!(printed(&["simulate", "--schema", "result"]), SimulationResult::schema());
}

#[test]
fn the_papers_scenarios_run_by_name_in_an_empty_directory() {
    let anywhere = tempfile::tempdir().unwrap();
    for scenario in ["cen2003/WLH", "cen2003/WB"] {
        let arguments = ["simulate", scenario, "--set", "flow.test.protocol=tcp", "--set", "N=2", "--format", "json"];
        let json: Value = serde_json::from_str(&stdout(&losscause(&arguments, anywhere.path()))).unwrap();
        assert!(json["flows"][1]["goodput_kbps"].as_f64().unwrap() > 10.0, "{scenario}: {json}");
    }
}
