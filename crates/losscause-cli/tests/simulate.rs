//! `losscause simulate` as a user meets it.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

#[path = "common/command.rs"]
mod command;

use command::{losscause, printed, text};
use losscause_study::run::SimulationResult;
use serde_json::Value;

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
    let text = printed(&arguments, directory.path());
    let result: SimulationResult = serde_json::from_str(&text).unwrap();
    assert_eq!(
        serde_json::to_string_pretty(&result).unwrap() + "\n",
        text,
        "nothing but the result is printed"
    );
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["scenario"], "s.toml");
    assert_eq!(json["parameters"]["loss"], 0.2);
    assert_eq!(json["settings"][0], "loss=0.2");
    assert_eq!(json["seed"], 7);
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    let command = "losscause simulate s.toml --runs 1 --set loss=0.2 --seed 7";
    assert_eq!(json["origin"]["command"], command);
    let version = printed(&["--version"], directory.path());
    let commit = json["origin"]["commit"].as_str().unwrap_or("losscause");
    assert!(version.contains(commit), "{version}");
    assert_eq!(json["format_version"], 2);
    let thput = &json["metrics"]["thput"];
    assert_eq!(
        (&thput["unit"], &thput["ci95"], &thput["runs"]),
        (&"percent".into(), &Value::Null, &1.into())
    );
    assert!(thput["value"].as_f64().unwrap() > 95.0, "{thput}");
    assert_eq!(json["flows"][0]["flow"], "source");
    assert_eq!(json["links"][0]["link"], "radio");
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let directory = directory();
    let json = |seed| {
        printed(&["simulate", "s.toml", "--seed", seed, "--format", "json"], directory.path())
    };
    assert_eq!(json("1"), json("1"));
    assert_ne!(json("1").replace("\"seed\": 1", ""), json("2").replace("\"seed\": 2", ""));
}

#[test]
fn several_runs_give_means_with_intervals_and_a_run_count() {
    let directory = directory();
    // At this rate the queue never overflows; packets are lost in every second run or so, ten or more
    // in all.
    let settings = [
        "--set",
        "flow.source.lda=ZBS",
        "--set",
        "flow.source.rate_bps=64e3",
        "--set",
        "duration_s=3",
        "--set",
        "link.radio.channel={ kind = \"gilbert-elliott\", loss = 0.2, mean_burst_packets = 4 }",
    ];
    let common =
        [&["simulate", "s.toml"], &settings[..], &["--runs", "6", "--format", "json"]].concat();
    let several = |more: &[&str]| printed(&[&common[..], more].concat(), directory.path());
    assert_eq!(several(&["--jobs", "1"]), several(&["--jobs", "2"]), "for any number of threads");
    let json: Value = serde_json::from_str(&several(&["--seed", "3"])).unwrap();
    assert_eq!((&json["runs"], &json["seed"]), (&6.into(), &3.into()));
    let seeds: Vec<u64> = json["each_run"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["seed"].as_u64().unwrap())
        .collect();
    assert_eq!(seeds, [3, 4, 5, 6, 7, 8]);
    let with = |name: &str| {
        let values =
            json["each_run"].as_array().unwrap().iter().map(|run| run["metrics"][name].as_f64());
        values.flatten().collect::<Vec<f64>>()
    };
    for (name, metric) in json["metrics"].as_object().unwrap() {
        let values = with(name);
        assert_eq!(metric["runs"].as_u64().unwrap(), values.len() as u64, "{name}");
        if !values.is_empty() {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            assert!(
                (metric["value"].as_f64().unwrap() - mean).abs() <= 1e-9 * mean.abs(),
                "{name}"
            );
        }
    }
    let judged = with("M_w").len();
    assert!((1..6).contains(&judged), "some runs have no wireless loss: {judged}");
    let warnings = json["warnings"].as_array().unwrap();
    let missing = warnings.iter().find(|warning| warning["kind"] == "missing-values").unwrap();
    assert!(missing["text"].as_str().unwrap().contains(&format!("M_w in {judged}")), "{missing}");
    let table = printed(
        &[&["simulate", "s.toml", "--seed", "3", "--runs", "6"], &settings[..]].concat(),
        directory.path(),
    );
    assert!(table.contains(&format!("{judged} of 6")), "{table}");
}

#[test]
fn a_time_series_adds_up_to_the_run() {
    let directory = directory();
    let arguments =
        ["simulate", "s.toml", "--interval", "0.3", "--series", "t.csv", "--format", "json"];
    let json: Value = serde_json::from_str(&printed(&arguments, directory.path())).unwrap();
    let rows = json["series"].as_array().unwrap();
    assert_eq!(rows.len(), 7, "six whole intervals and the rest of two seconds");
    let sum = |key: &str| rows.iter().map(|row| row[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("queue_drops"), json["flows"][0]["queue_drops"].as_u64().unwrap());
    assert_eq!(sum("wireless_drops"), json["flows"][0]["wireless_drops"].as_u64().unwrap());
    let seconds = |row: &Value| row["to_s"].as_f64().unwrap() - row["from_s"].as_f64().unwrap();
    let kbits: f64 =
        rows.iter().map(|row| row["goodput_kbps"].as_f64().unwrap() * seconds(row)).sum();
    assert!((kbits - 2.0 * json["flows"][0]["goodput_kbps"].as_f64().unwrap()).abs() < 1e-6);
    // The queue of 3 packets is always full, and each waits for three others: 24 ms, then 8 ms and
    // 10 ms.
    assert_eq!(rows[3]["queue_packets"], 3);
    assert!((38.0..42.1).contains(&rows[3]["delay_ms"].as_f64().unwrap()), "{}", rows[3]);
    let mut csv = csv::Reader::from_path(directory.path().join("t.csv")).unwrap();
    assert_eq!(csv.headers().unwrap().iter().next(), Some("from_s"));
    assert_eq!(csv.records().count(), 7);
}

#[test]
fn the_table_names_metrics_flows_and_links() {
    let directory = directory();
    let text = printed(&["simulate", "s.toml"], directory.path());
    for word in ["constant bit rate", "thput", "source", "radio", "(seed 1)"] {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
}

#[test]
fn the_trace_has_every_event_in_order_of_time_with_true_causes() {
    let directory = directory();
    let json =
        printed(&["simulate", "s.toml", "--trace", "t.csv", "--format", "json"], directory.path());
    let json: Value = serde_json::from_str(&json).unwrap();
    let mut reader = csv::Reader::from_path(directory.path().join("t.csv")).unwrap();
    let rows: Vec<std::collections::BTreeMap<String, String>> =
        reader.deserialize().map(Result::unwrap).collect();
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
fn a_trace_replaces_the_one_before_and_leaves_nothing_else() {
    let directory = directory();
    std::fs::write(directory.path().join("t.csv"), "old").unwrap();
    printed(&["simulate", "s.toml", "--trace", "t.csv"], directory.path());
    assert!(
        std::fs::read_to_string(directory.path().join("t.csv"))
            .unwrap()
            .starts_with("time_ns,event,flow,")
    );
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
}

#[test]
fn the_schema_is_printed_without_a_scenario() {
    let anywhere = tempfile::tempdir().unwrap();
    let printed = |arguments: &[&str]| -> Value {
        serde_json::from_str(&printed(arguments, anywhere.path())).unwrap()
    };
    assert_eq!(printed(&["simulate", "--schema"])["title"], "losscause scenario");
    assert_eq!(printed(&["simulate", "--schema", "scenario"]), printed(&["simulate", "--schema"]));
    assert_eq!(
        printed(&["simulate", "--schema", "result"]),
        serde_json::from_str::<Value>(SimulationResult::SCHEMA).unwrap()
    );
}

#[test]
fn the_papers_scenarios_run_by_name_in_an_empty_directory() {
    let anywhere = tempfile::tempdir().unwrap();
    for scenario in ["cen2003/WLH", "cen2003/WB"] {
        let set = "--set flow.test.protocol=tcp --set N=2";
        let words = format!("simulate {scenario} {set} --format json");
        let arguments: Vec<&str> = words.split(' ').collect();
        let json: Value = serde_json::from_str(&printed(&arguments, anywhere.path())).unwrap();
        assert!(json["flows"][1]["goodput_kbps"].as_f64().unwrap() > 10.0, "{scenario}: {json}");
    }
}

#[test]
fn a_folder_gets_the_report_the_printed_json_and_every_loss() {
    let directory = directory();
    let file = |folder: &str, name: &str| {
        std::fs::read_to_string(directory.path().join(folder).join(name)).unwrap()
    };
    for runs in ["1", "3"] {
        let set = "--set flow.source.lda=ZigZag";
        let words = format!("simulate s.toml {set} --runs {runs} --format json");
        let arguments: Vec<&str> = words.split(' ').collect();
        let table = printed(&[&arguments[..], &["--out", "one"]].concat(), directory.path());
        printed(&[&arguments[..], &["--out", "two"]].concat(), directory.path());
        assert_eq!(file("one", "result.json"), table);
        assert_eq!(table, printed(&arguments, directory.path()), "a report changes no number");
        for name in ["report.html", "result.json", "losses.csv"] {
            assert_eq!(file("one", name), file("two", name), "{name} of the same seed");
        }
        let result: SimulationResult = serde_json::from_str(&table).unwrap();
        let losses = file("one", "losses.csv");
        let count = |cause: &str| {
            losses.lines().filter(|line| line.contains(&format!(",radio,{cause},"))).count() as u64
        };
        let flow = &result.flows[0];
        assert_eq!(
            (count("congestion"), count("wireless")),
            (flow.queue_drops, flow.wireless_drops)
        );
        assert!(file("one", "report.html").starts_with("<!doctype html>"));
    }
}

#[test]
fn a_report_never_replaces_the_scenario() {
    let directory = directory();
    std::fs::rename(directory.path().join("s.toml"), directory.path().join("result.json")).unwrap();
    let output = losscause(&["simulate", "result.json", "--out", "."], directory.path());
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(directory.path().join("result.json")).unwrap(), SCENARIO);
}

#[test]
fn captures_hold_every_packet_beside_a_trace_and_the_results() {
    let directory = directory();
    let arguments =
        ["simulate", "s.toml", "--pcap", "captures", "--trace", "t.csv", "--format", "json"];
    let json: Value = serde_json::from_str(&printed(&arguments, directory.path())).unwrap();
    let captures = directory.path().join("captures");
    let mut names: Vec<String> = std::fs::read_dir(&captures)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["bottleneck.pcap", "drops.csv", "receiver.pcap", "sender.pcap"]);
    // A header of 24 bytes, and for each packet 16 and the first 128 of its bytes.
    let packets =
        |name: &str| (std::fs::metadata(captures.join(name)).unwrap().len() - 24) / (16 + 128);
    let flow = &json["flows"][0];
    assert_eq!(packets("sender.pcap"), flow["sent_packets"].as_u64().unwrap());
    let mut reader = csv::Reader::from_path(captures.join("drops.csv")).unwrap();
    let causes: Vec<String> = reader.records().map(|row| row.unwrap()[10].to_owned()).collect();
    let count = |cause: &str| causes.iter().filter(|name| *name == cause).count() as u64;
    assert_eq!(count("congestion"), json["links"][0]["queue_drops"].as_u64().unwrap());
    assert_eq!(count("wireless"), json["links"][0]["wireless_drops"].as_u64().unwrap());

    // The same run without captures gives the same results and the same trace.
    let trace = std::fs::read(directory.path().join("t.csv")).unwrap();
    let arguments = ["simulate", "s.toml", "--trace", "t.csv", "--format", "json"];
    let again: Value = serde_json::from_str(&printed(&arguments, directory.path())).unwrap();
    assert_eq!(again, json);
    assert_eq!(std::fs::read(directory.path().join("t.csv")).unwrap(), trace);
}

#[test]
fn captures_replace_earlier_ones_and_may_be_of_some_flows() {
    let directory = directory();
    let second = SCENARIO.replace(
        "[[flow]]",
        "[[flow]]\nname = \"other\"\nprotocol = \"tcp\"\npath = [\"radio\"]\n[[flow]]",
    );
    std::fs::write(directory.path().join("s.toml"), second).unwrap();
    let simulate = ["simulate", "s.toml", "--pcap", "captures"];
    printed(&simulate, directory.path());
    let sender = directory.path().join("captures/sender.pcap");
    let all = std::fs::read(&sender).unwrap();
    printed(
        &[&simulate[..], &["--pcap-flow", "source", "--pcap-snap", "80"]].concat(),
        directory.path(),
    );
    let some = std::fs::read(&sender).unwrap();
    assert!(some.len() < all.len());
    assert!(
        (some.len() - 24).is_multiple_of(16 + 80),
        "each packet of the source is cut to 80 bytes"
    );
    // The clock of TCP's timestamps is in the bytes of a capture, and nowhere else.
    let drops = std::fs::read(directory.path().join("captures/drops.csv")).unwrap();
    let tick = |ms: &str| {
        printed(&[&simulate[..], &["--pcap-tick", ms]].concat(), directory.path());
        std::fs::read(&sender).unwrap()
    };
    assert_ne!(tick("10"), all);
    assert_eq!(tick("1"), all, "1 ms is the default");
    assert!(
        std::fs::read(directory.path().join("captures/drops.csv")).unwrap().len() > drops.len()
    );
}

const QUIC: &str = r#"
title = "a download over QUIC"
duration_s = 5
[[link]]
name = "line"
rate_bps = "10M"
delay_ms = 20
queue_packets = 40
[[flow]]
name = "down"
protocol = "quic"
variant = "cubic"
lda = "Sift"
path = ["line"]
"#;

#[test]
fn quic_runs_on_quinn_and_shows_no_packets() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("q.toml"), QUIC).unwrap();
    let run =
        |more: &[&str]| losscause(&[&["simulate", "q.toml"], more].concat(), directory.path());
    let refused = |more: &[&str], sentence: &str| {
        let output = run(more);
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("losscause: {sentence}\n"));
    };
    for (option, value) in
        [("--trace", "t.csv"), ("--pcap", "p"), ("--interval", "1"), ("--out", "o")]
    {
        let problem = "shows a run of the simulator, expected no QUIC flows beside it";
        refused(&[option, value], &format!("{option}: {problem}"));
    }
    if cfg!(feature = "quic") {
        let result: SimulationResult =
            serde_json::from_str(&text(&run(&["--runs", "2", "--format", "json"]).stdout)).unwrap();
        let goodput = result.metrics["goodput"].value.unwrap();
        assert!((8_000.0..10_000.0).contains(&goodput), "{goodput} kb/s");
        assert_eq!((result.runs, result.flows.len()), (2, 0));
        assert!(text(&run(&[]).stdout).contains("goodput"), "as a table, too");
    } else {
        let how = "in a checkout: cargo install --path crates/losscause-cli --features quic";
        refused(&[], &format!("the stack quinn: this program was built without `quic`; {how}"));
    }
}
