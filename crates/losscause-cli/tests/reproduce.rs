//! `reproduce` and `list` as a user meets them.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

#[path = "common/command.rs"]
mod command;

use command::{losscause, text};
use serde_json::Value;

/// Must refuse with this sentence, and leave the directory empty.
fn refuses(arguments: &[&str], sentence: &str) {
    let place = tempfile::tempdir().unwrap();
    let output = losscause(arguments, place.path());
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert_eq!(text(&output.stderr).trim_end(), format!("losscause: {sentence}"));
    assert_eq!(text(&output.stdout), "");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn the_number_of_threads_does_not_change_a_byte() {
    let place = tempfile::tempdir().unwrap();
    let run = |jobs: &str| {
        losscause(
            &["reproduce", "cen2003/table2", "--runs", "2", "--jobs", jobs, "--format", "json"],
            place.path(),
        )
    };
    let one = run("1");
    let two = run("2");
    assert!(one.status.success(), "{}", text(&one.stderr));
    assert!(one.stdout == two.stdout);
    assert!(!one.stdout.is_empty());
}

#[test]
fn the_json_has_one_item_per_system_and_metric_and_every_claim() {
    let place = tempfile::tempdir().unwrap();
    let output = losscause(
        &["reproduce", "cen2003/table3", "--runs", "1", "--format", "json"],
        place.path(),
    );
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let items = result["items"].as_array().unwrap();
    assert_eq!(items.len(), 7 * 4);
    let spike = items.iter().find(|i| i["id"] == "WB.N1.Spike.M_w").unwrap();
    assert_eq!(spike["published"], 20.0);
    assert_eq!(spike["parameters"], serde_json::json!({ "N": 1, "loss": "high" }));
    assert_eq!(spike["status"], "preview", "one run is fewer than the paper's ten");
    assert!(spike["within"].is_boolean());
    let unscored = items.iter().find(|i| i["id"] == "WB.N1.TFRC.M_w").unwrap();
    assert_eq!((&unscored["status"], &unscored["within"]), (&"not-scored".into(), &true.into()));
    let claims = result["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 100);
    assert!(claims.iter().find(|c| c["id"] == "WLH1-thput").unwrap()["holds"].is_null());
    assert!(claims.iter().find(|c| c["id"] == "WB1-order").unwrap()["holds"].is_boolean());
    assert!(result["wall_s"].is_null());
}

#[test]
fn only_a_report_and_the_result_appear_where_asked() {
    let place = tempfile::tempdir().unwrap();
    let output =
        losscause(&["reproduce", "cen2003/table2", "--runs", "1", "--out", "a/b"], place.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let out = place.path().join("a/b");
    let mut names: Vec<_> =
        std::fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["origin.json", "report.html", "result.json"]);
    let result: Value =
        serde_json::from_slice(&std::fs::read(out.join("result.json")).unwrap()).unwrap();
    assert_eq!(result["seed"], 1);
    let reproduced = |item: &&Value| item["status"] == "reproduced" && !item["measured"].is_null();
    let items = result["items"].as_array().unwrap();
    assert_eq!(items.iter().find(reproduced), None, "what one run measured reproduces nothing");
}

#[test]
fn a_named_item_prints_its_table_and_few_runs_make_a_preview() {
    let place = tempfile::tempdir().unwrap();
    let output = losscause(&["reproduce", "cen2003/table2", "--runs", "2"], place.path());
    let printed = text(&output.stdout);
    assert!(printed.starts_with("cen2003/table2 (Table II): "), "{printed}");
    assert!(
        printed.contains("(✓)") && printed.contains(" ·"),
        "marks of previews and of what is not scored: {printed}"
    );
    assert!(printed.contains(" of 22 within tolerance after 2 of 10 runs"), "{printed}");
    let last = printed.trim_end().lines().last().unwrap();
    assert!(last.starts_with("preview: ") && !last.contains('%'), "{last}");
}

#[test]
fn a_check_names_what_got_worse_and_exits_with_one() {
    let place = tempfile::tempdir().unwrap();
    let table3 = ["reproduce", "cen2003/table3", "--runs", "1"];
    let first = losscause(&[&table3[..], &["--out", "o"]].concat(), place.path());
    assert!(first.status.success(), "{}", text(&first.stderr));
    let check = |arguments: &[&str]| losscause(&[&table3[..], arguments].concat(), place.path());

    let same = check(&["--check", "o/result.json"]);
    assert_eq!(same.status.code(), Some(0), "{}", text(&same.stderr));
    assert!(
        text(&same.stderr).contains(" numbers and claims in both, 0 got worse, 0 better"),
        "{}",
        text(&same.stderr)
    );

    let begun = |output: &std::process::Output| text(&output.stdout).contains("biaz1999/grid11");
    let other = losscause(
        &["reproduce", "biaz1999/grid11", "--runs", "1", "--check", "o/result.json"],
        place.path(),
    );
    assert!(other.status.code() == Some(2) && !begun(&other), "refused before the runs");
    let problem = "o/result.json: has none of the numbers that would be measured, expected a result with the same items";
    assert!(text(&other.stderr).contains(problem), "{}", text(&other.stderr));

    let overwriting = check(&["--check", "o/result.json", "--out", "o"]);
    assert_eq!(overwriting.status.code(), Some(2));
    assert_eq!(
        text(&overwriting.stderr).trim_end(),
        "losscause: o/result.json: is also an input and would be overwritten, expected another place for the output"
    );

    // As if a number that is outside its tolerance had been within, and a claim that fails had
    // held.
    let written = std::fs::read_to_string(place.path().join("o/result.json")).unwrap();
    let mut result: Value = serde_json::from_str(&written).unwrap();
    let items = result["items"].as_array_mut().unwrap();
    let missed = items
        .iter_mut()
        .find(|item| item["status"] == "preview" && item["within"] == false)
        .unwrap();
    missed["within"] = true.into();
    let name = format!("worse: cen2003 {}: met before", missed["id"].as_str().unwrap());
    let claim = result["claims"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .find(|claim| claim["holds"] == true)
        .unwrap();
    claim["holds"] = false.into();
    std::fs::write(place.path().join("old.json"), result.to_string()).unwrap();
    let worse = check(&["--check", "old.json"]);
    assert_eq!(worse.status.code(), Some(1));
    let told = text(&worse.stderr);
    assert!(told.contains(&name) && told.contains(" in both, 1 got worse, 1 better"), "{told}");
}

#[test]
fn a_file_that_is_no_result_is_refused_before_the_runs() {
    let place = tempfile::tempdir().unwrap();
    let refusal = |content: &str| {
        std::fs::write(place.path().join("old.json"), content).unwrap();
        let output = losscause(&["reproduce", "--check", "old.json"], place.path());
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()));
        assert!(!place.path().join("out").exists());
        text(&output.stderr).trim_end().to_owned()
    };
    let expected = "expected a result.json or the output of `losscause reproduce --format json`";
    assert_eq!(
        refusal("[]"),
        format!("losscause: old.json: is no result of a reproduction, {expected}")
    );
    let ours = env!("CARGO_PKG_VERSION");
    assert_eq!(
        refusal(r#"{ "version": "0.0.1" }"#),
        format!(
            "losscause: old.json: was written by version 0.0.1, and this is {ours}, expected a result of the same version"
        )
    );
    let other_build = refusal(&format!(r#"{{ "version": "{ours}" }}"#));
    assert!(other_build.starts_with(&format!(
        "losscause: old.json: was written by another build of version {ours}, "
    )));
    refuses(
        &["reproduce", "--check", "none.json"],
        &format!("none.json: there is no such file, {expected}"),
    );
}

#[test]
fn all_items_and_named_items_are_not_asked_for_together() {
    let place = tempfile::tempdir().unwrap();
    let output = losscause(&["reproduce", "--all", "cen2003"], place.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("'--all' cannot be used with"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    refuses(
        &["reproduce", "cen2030"],
        r#"cen2030: is no paper (did you mean "cen2003"?), expected one of barman2002, cen2003, biaz1999, koo2007, dalwadi, extra"#,
    );
    let place = tempfile::tempdir().unwrap();
    let output = losscause(&["reproduce", "cen2003/tabel2"], place.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr)
            .starts_with("losscause: cen2003/tabel2: is no item (did you mean \"table2\"?)")
    );
    refuses(
        &["list", "scenarios", "cen2003/WHL"],
        r#"cen2003/WHL: is no scenario (did you mean "WLH"?), expected one of WLH, WB"#,
    );
}

#[test]
fn no_run_and_no_thread_are_refused() {
    refuses(&["reproduce", "--runs", "0"], "--runs 0: expected a whole number from 1 to 10000");
    refuses(&["reproduce", "--jobs", "0"], "--jobs 0: expected 1 or more threads");
}

#[test]
fn a_place_that_takes_no_files_is_refused_before_the_runs() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("plain"), "").unwrap();
    let output = losscause(&["reproduce", "cen2003/table2", "--out", "plain"], place.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).starts_with("losscause: plain: is a file, expected a directory"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(text(&output.stdout), "");
}

#[test]
fn a_printed_scenario_is_one_that_simulate_runs() {
    let place = tempfile::tempdir().unwrap();
    let printed = losscause(&["list", "scenarios", "cen2003/WB"], place.path());
    std::fs::write(place.path().join("mine.toml"), &printed.stdout).unwrap();
    let short = "simulate mine.toml --set duration_s=30 --set measure.to_s=30 --format json";
    let output = losscause(&short.split(' ').collect::<Vec<_>>(), place.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn a_papers_scenario_runs_by_its_name() {
    let place = tempfile::tempdir().unwrap();
    let short = ["simulate", "cen2003/WLH", "--set", "duration_s=30", "--set", "measure.to_s=30"];
    let output = losscause(&short, place.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    refuses(
        &["simulate", "cen2003/WHL"],
        r#"cen2003/WHL: is no scenario (did you mean "WLH"?), expected one of WLH, WB"#,
    );
}

#[test]
fn list_names_algorithms_protocols_papers_and_experiments() {
    let place = tempfile::tempdir().unwrap();
    let output = losscause(&["list", "--format", "json"], place.path());
    let lists: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (list, name) in [
        ("algorithms", "ZigZag"),
        ("protocols", "tcp"),
        ("scenarios", "cen2003/WLH"),
        ("papers", "cen2003"),
    ] {
        assert!(
            lists[list].as_array().unwrap().iter().any(|entry| entry["name"] == name),
            "{list}"
        );
    }
    for (experiment, item) in [
        ("live", "live/sharing"),
        ("quic", "quic/harm"),
        ("sockets", "sockets/busy"),
        ("media", "media/wlh"),
    ] {
        let mut entries = lists["experiments"].as_array().unwrap().iter();
        let entry = entries.find(|entry| entry["name"] == experiment).expect(experiment);
        assert!(
            entry["items"].as_array().unwrap().iter().any(|listed| listed["name"] == item),
            "{entry}"
        );
    }
    let table = losscause(&["list", "experiments"], place.path());
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(
        table.contains("quic/harm") && table.contains("media/wb") && !table.contains("cen2003"),
        "{table}"
    );
    let only = losscause(&["list", "protocols", "--format", "json"], place.path());
    let only: Value = serde_json::from_slice(&only.stdout).unwrap();
    assert_eq!(only.as_object().unwrap().len(), 1);
}

#[test]
fn algorithms_beside_are_columns_and_change_no_score() {
    let place = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let arguments = ["reproduce", "cen2003/table2", "--runs", "1"];
        let output = losscause(&[&arguments[..], more].concat(), place.path());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let alone = run(&[]);
    let beside = run(&["--also", "zbs,Spike", "--out", "out"]);
    let header = beside.lines().find(|line| line.contains("Omni")).unwrap();
    assert!(header.contains("also ZBS") && header.contains("also Spike"), "{beside}");
    let last = |printed: &str| printed.lines().last().map(str::to_owned);
    assert_eq!(last(&beside), last(&alone));
    assert!(!alone.contains("also"));
    let report = std::fs::read_to_string(place.path().join("out/report.html")).unwrap();
    assert!(
        report.contains("<th>also ZBS</th><th>also Spike</th>")
            && report.contains("Their values are not scored.")
    );
}

#[test]
fn an_algorithm_that_runs_beside_no_table_is_refused() {
    let media = "--also ZBS: only valid with papers; remove it";
    refuses(&["reproduce", "media", "--also", "ZBS"], media);
    refuses(
        &["reproduce", "koo2007/figure4", "--also", "ZBS"],
        "--also ZBS: no algorithm of a paper runs in what would be measured, expected a table or figure in which one does",
    );
    let place = tempfile::tempdir().unwrap();
    let items = ["dalwadi/table4.1", "cen2003/table2"];
    let output = losscause(
        &[&["reproduce"], &items[..], &["--runs", "1", "--also", "flip-flop"]].concat(),
        place.path(),
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("also Flip Flop"));
    assert!(
        text(&output.stderr).contains("also Flip Flop is not in cen2003/table2: "),
        "{}",
        text(&output.stderr)
    );
}
