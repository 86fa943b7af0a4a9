//! `losscause fade` as a user meets it.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

#[path = "common/command.rs"]
mod command;

use std::path::Path;

use command::{losscause, printed};
use serde_json::Value;

/// Two patterns of three trials of 60 packets of 20 bytes.
const CHANNEL: &str = include_str!("fade/two_patterns.toml");

fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("c.toml"), CHANNEL).unwrap();
    place
}

fn files(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Must refuse with one sentence, and leave the directory as it was.
fn refusal(directory: &Path, arguments: &[&str]) -> String {
    let before = files(directory);
    let output = losscause(arguments, directory);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty());
    assert_eq!(files(directory), before);
    let sentence =
        stderr.strip_prefix("losscause: ").and_then(|said| said.strip_suffix('\n')).unwrap();
    assert!(!sentence.contains('\n'), "more than one line: {stderr}");
    sentence.to_owned()
}

#[test]
fn the_json_has_one_object_per_pattern_in_the_order_of_the_file() {
    let place = place();
    let json: Value =
        serde_json::from_str(&printed(&["fade", "c.toml", "--format", "json"], place.path()))
            .unwrap();
    let names: Vec<&Value> =
        json.as_array().unwrap().iter().map(|pattern| &pattern["pattern"]).collect();
    assert_eq!(names, ["poor", "fair"]);
    // 10 000 bits a trial; a block of two packets of 160 bits and three zeros each takes 326: 30
    // blocks, 60 packets.
    assert_eq!(json[0]["packets"], 180);
    let number = |key: &str| json[0][key].as_f64().unwrap();
    assert_eq!(number("loss"), number("lost") / 180.0);
    assert_eq!(number("bit_error_rate"), number("wrong_bits") / (180.0 * 160.0));
    let bursts = json[0]["bursts"]
        .as_array()
        .unwrap()
        .iter()
        .zip(1..)
        .map(|(n, length)| n.as_u64().unwrap() * length);
    assert_eq!(bursts.sum::<u64>(), json[0]["lost"].as_u64().unwrap());
    assert!(json[0]["published"].is_null());
    assert_eq!(json[0]["fingerprint"].as_str().unwrap().len(), 16);
    assert_ne!(json[0]["fingerprint"], json[1]["fingerprint"]);
}

#[test]
fn the_table_has_a_column_per_pattern() {
    let place = place();
    let text = printed(&["fade", "c.toml"], place.path());
    for row in ["poor fair", "packets 180 180", "lost ", "bit error rate ", "events of 1 packet "] {
        let found = |line: &str| {
            line.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(row.trim_end())
        };
        assert!(text.lines().any(found), "{row} is not in\n{text}");
    }
    assert!(!text.contains("published"));
}

#[test]
fn a_papers_patterns_stand_beside_what_it_publishes() {
    let place = tempfile::tempdir().unwrap();
    // One short trial instead of a hundred long ones: only what is published is looked at.
    let few = ["fade", "cen2003", "--set", "trials=1", "--set", "trial_s=0.5"];
    let json: Value =
        serde_json::from_str(&printed(&[&few[..], &["--format", "json"]].concat(), place.path()))
            .unwrap();
    assert_eq!(
        json[0]["published"],
        serde_json::json!({ "loss": 0.078, "bit_error_rate": 8.7e-5 })
    );
    let text = printed(&few, place.path());
    let rows: Vec<_> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert!(rows.iter().any(|row| row == "published 7.80 % 3.10 % 1.00 %"), "{text}");
    assert!(rows.iter().any(|row| row == "published 8.7e-5 2.8e-5 7.1e-6"), "{text}");
    assert_eq!(files(place.path()), [""; 0]);
}

#[test]
fn whole_files_appear_where_asked_for_any_number_of_threads() {
    let place = place();
    let one = printed(&["fade", "c.toml", "--out", "a/b", "--jobs", "1"], place.path());
    let two = printed(&["fade", "c.toml", "--out", "c", "--jobs", "2"], place.path());
    assert_eq!(one, two);
    for name in ["poor.txt", "fair.txt"] {
        let read = |out: &str| std::fs::read_to_string(place.path().join(out).join(name)).unwrap();
        assert_eq!(read("a/b"), read("c"));
        assert_eq!(read("c").split_once("\n\n").unwrap().1.lines().count(), 3);
    }
    assert_eq!(files(&place.path().join("c")), ["fair.txt", "origin.json", "poor.txt"]);
}

#[test]
fn a_made_pattern_is_a_scenarios_channel() {
    let place = place();
    printed(&["fade", "c.toml", "--out", "."], place.path());
    let scenario = r#"
        title = "t"
        duration_s = 1
        [fading]
        pattern = "poor.txt"
        [[link]]
        name = "radio"
        rate_bps = 1e6
        delay_ms = 10
        queue_packets = 3
        channel = { kind = "fading" }
        [[flow]]
        name = "video"
        protocol = "cbr"
        path = ["radio"]
        rate_bps = 1e6
    "#;
    std::fs::write(place.path().join("s.toml"), scenario).unwrap();
    printed(&["simulate", "s.toml"], place.path());
    let text = std::fs::read_to_string(place.path().join("poor.txt")).unwrap();
    std::fs::write(place.path().join("poor.txt"), text.trim_end()).unwrap();
    assert_eq!(
        refusal(place.path(), &["simulate", "s.toml"]),
        "poor.txt, line 30: the line has no end, expected the complete pattern"
    );
}

#[test]
fn a_setting_that_names_nothing_or_is_out_of_range() {
    let place = place();
    let refused = |setting: &str| refusal(place.path(), &["fade", "c.toml", "--set", setting]);
    let said = refused("usrs=3");
    let expected = "--set usrs=3: the key \"usrs\" is unknown (did you mean \"users\"?), expected one of packet_bytes, ";
    assert!(said.starts_with(expected), "{said}");
    let said = refused("pattern.fair.usrs=3");
    assert!(said.starts_with("--set pattern.fair.usrs=3: the key \"usrs\" is unknown"), "{said}");
    assert_eq!(
        refused("pattern.pour.users=3"),
        "--set pattern.pour.users=3: the pattern \"pour\" is unknown (did you mean \"poor\"?), expected one of poor, fair"
    );
    assert_eq!(
        refused("pattern.poor=3"),
        "--set pattern.poor=3: names no key of the pattern, expected pattern.poor.KEY=VALUE"
    );
    assert_eq!(refused("users=0"), "c.toml: pattern.poor.users: is 0, expected 1 to 1000");
    assert_eq!(refused("users"), "--set users: there is no \"=\", expected KEY=VALUE");
}

#[test]
fn a_missing_empty_binary_or_malformed_channel_file() {
    let place = place();
    let refused = |content: &[u8]| {
        std::fs::write(place.path().join("c.toml"), content).unwrap();
        refusal(place.path(), &["fade", "c.toml"])
    };
    let expected = "expected a channel file in TOML (losscause docs jakes)";
    assert_eq!(
        refusal(place.path(), &["fade", "no.toml"]),
        format!("no.toml: there is no such file, {expected}")
    );
    assert!(
        refusal(place.path(), &["fade", "cen2030"])
            .starts_with("cen2030: is no paper (did you mean \"cen2003\"?)")
    );
    assert_eq!(
        refusal(place.path(), &["fade", "koo2007"]),
        "koo2007: has no fading channel, expected cen2003 or a file"
    );
    assert_eq!(refused(b""), format!("c.toml: is empty, {expected}"));
    assert_eq!(
        refused(&[0x7f, b'E', b'L', b'F', 0xff, 0xfe, 0]),
        format!("c.toml: is not UTF-8 text, {expected}")
    );
    let said = refused(CHANNEL.replace("seed = 1", "seed = one").as_bytes());
    assert!(said.starts_with("c.toml, line 5: "), "{said}");
    let said = refused(CHANNEL.replace("seed = 1\n", "").as_bytes());
    assert!(said.starts_with("c.toml: seed: is missing"), "{said}");
    let patterns = "expected a [[pattern]] with a name for each pattern";
    let head = CHANNEL.split_once("[[pattern]]").unwrap().0;
    assert_eq!(refused(head.as_bytes()), format!("c.toml: pattern: is missing, {patterns}"));
    assert_eq!(
        refused(CHANNEL.replace("\"fair\"", "\"poor\"").as_bytes()),
        format!("c.toml: pattern: has two entries named \"poor\", {patterns}")
    );
    assert_eq!(
        refused(CHANNEL.replace("\"fair\"", "\"../fair\"").as_bytes()),
        format!(
            "c.toml: pattern: has a name that is not made of letters, digits, - and _, {patterns}"
        )
    );
    std::fs::create_dir(place.path().join("d.toml")).unwrap();
    assert_eq!(
        refusal(place.path(), &["fade", "d.toml"]),
        format!("d.toml: is a directory, {expected}")
    );
}

#[test]
fn an_unwritable_place_is_found_before_anything_is_written() {
    let place = place();
    for (out, problem) in [
        ("c.toml", "is a file, expected a directory"),
        ("c.toml/x", "cannot be written (not a directory)"),
    ] {
        let said = refusal(place.path(), &["fade", "c.toml", "--out", out]);
        assert!(said.starts_with(&format!("{out}: {problem}")), "{said}");
    }
    // The second pattern's file: the first one's must not appear.
    std::fs::create_dir_all(place.path().join("out/fair.txt")).unwrap();
    let said = refusal(place.path(), &["fade", "c.toml", "--out", "out"]);
    assert!(said.starts_with("out/fair.txt: cannot be written (is a directory)"), "{said}");
    assert_eq!(files(&place.path().join("out")), ["fair.txt"]);
}

#[test]
fn no_thread_is_too_few() {
    let place = place();
    let said = refusal(place.path(), &["fade", "c.toml", "--out", "out", "--jobs", "0"]);
    assert_eq!(said, "--jobs 0: expected 1 or more threads");
}
