//! `reproduce` and `list` as a user meets them.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn losscause(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_losscause")).args(arguments).current_dir(directory).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Must refuse with this sentence, and leave the directory empty.
fn refuses(arguments: &[&str], sentence: &str) {
    let place = tempfile::tempdir().unwrap();
    let output = losscause(place.path(), arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert_eq!(text(&output.stderr).trim_end(), format!("losscause: {sentence}"));
    assert_eq!(text(&output.stdout), "");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn the_number_of_threads_does_not_change_a_byte() {
    let place = tempfile::tempdir().unwrap();
    let run = |jobs: &str| {
        losscause(place.path(), &["reproduce", "cen2003/table2", "--runs", "2", "--jobs", jobs, "--format", "json"])
    };
    let (one, two) = (run("1"), run("2"));
    assert!(one.status.success(), "{}", text(&one.stderr));
    assert!(one.stdout == two.stdout);
    assert!(!one.stdout.is_empty());
}

#[test]
fn the_json_has_one_item_per_system_and_metric_and_every_claim() {
    let place = tempfile::tempdir().unwrap();
    let output = losscause(place.path(), &["reproduce", "cen2003/table3", "--runs", "1", "--format", "json"]);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let items = result["items"].as_array().unwrap();
    assert_eq!(items.len(), 7 * 4);
    let spike = items.iter().find(|i| i["id"] == "WB.N1.Spike.M_w").unwrap();
    assert_eq!(spike["published"], 20.0);
    assert_eq!(spike["parameters"], serde_json::json!({ "N": 1, "loss": "high" }));
    assert_eq!(spike["status"], "missed", "one run is fewer than the paper's ten");
    assert_eq!(items.iter().find(|i| i["id"] == "WB.N1.TFRC.M_w").unwrap()["status"], "by-definition");
    let claims = result["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 100);
    assert!(claims.iter().find(|c| c["id"] == "WLH1-thput").unwrap()["holds"].is_null());
    assert!(claims.iter().find(|c| c["id"] == "WB1-order").unwrap()["holds"].is_boolean());
    assert!(result["wall_s"].is_null());
}

#[test]
fn a_report_and_the_result_appear_where_asked_and_nothing_else_does() {
    let place = tempfile::tempdir().unwrap();
    let output = losscause(place.path(), &["reproduce", "cen2003/table2", "--runs", "1", "--out", "a/b"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let out = place.path().join("a/b");
    let mut names: Vec<_> = std::fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["report.html", "result.json"]);
    let result: Value = serde_json::from_slice(&std::fs::read(out.join("result.json")).unwrap()).unwrap();
    assert_eq!(result["seed"], 1);
    let reproduced = |item: &&Value| item["status"] == "reproduced" && !item["measured"].is_null();
    let items = result["items"].as_array().unwrap();
    assert_eq!(items.iter().find(reproduced), None, "what one run measured reproduces nothing");
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    refuses(
        &["reproduce", "cen2030"],
        r#"cen2030: is no paper (did you mean "cen2003"?), expected one of barman2002, cen2003, biaz1999, koo2007, dalwadi, extra"#,
    );
    let place = tempfile::tempdir().unwrap();
    let output = losscause(place.path(), &["reproduce", "cen2003/tabel2"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("losscause: cen2003/tabel2: is no item (did you mean \"table2\"?)"));
    refuses(
        &["list", "scenarios", "cen2003/WHL"],
        r#"cen2003/WHL: is no scenario (did you mean "WLH"?), expected one of WLH, WB"#,
    );
}

#[test]
fn no_run_and_no_thread_are_refused() {
    refuses(&["reproduce", "--runs", "0"], "--runs 0: nothing would be measured, expected 1 or more");
    refuses(&["reproduce", "--jobs", "0"], "--jobs 0: expected 1 or more threads");
}

#[test]
fn a_place_that_takes_no_files_is_refused_before_the_runs() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("plain"), "").unwrap();
    let output = losscause(place.path(), &["reproduce", "cen2003/table2", "--out", "plain"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("losscause: plain: cannot be written"), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "");
}

#[test]
fn a_printed_scenario_is_one_that_simulate_runs() {
    let place = tempfile::tempdir().unwrap();
    let printed = losscause(place.path(), &["list", "scenarios", "cen2003/WB"]);
    std::fs::write(place.path().join("mine.toml"), &printed.stdout).unwrap();
    let short = ["simulate", "mine.toml", "--set", "duration_s=30", "--set", "measure.to_s=30", "--format", "json"];
    let output = losscause(place.path(), &short);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn a_papers_scenario_runs_by_its_name() {
    let place = tempfile::tempdir().unwrap();
    let short = ["simulate", "cen2003/WLH", "--set", "duration_s=30", "--set", "measure.to_s=30"];
    let output = losscause(place.path(), &short);
    assert!(output.status.success(), "{}", text(&output.stderr));
    refuses(
        &["simulate", "cen2003/WHL"],
        r#"cen2003/WHL: is no scenario (did you mean "WLH"?), expected one of WLH, WB"#,
    );
}

#[test]
fn list_names_algorithms_protocols_scenarios_and_papers() {
    let place = tempfile::tempdir().unwrap();
    let output = losscause(place.path(), &["list", "--format", "json"]);
    let lists: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (list, name) in
        [("algorithms", "ZigZag"), ("protocols", "tcp"), ("scenarios", "cen2003/WLH"), ("papers", "cen2003")]
    {
        assert!(lists[list].as_array().unwrap().iter().any(|entry| entry["name"] == name), "{list}");
    }
    let only = losscause(place.path(), &["list", "protocols", "--format", "json"]);
    let only: Value = serde_json::from_slice(&only.stdout).unwrap();
    assert_eq!(only.as_object().unwrap().len(), 1);
}
