//! Scenarios and what they name, read without a disk.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::path::Path;

use losscause::Span;
use losscause_laboratory::papers::record::Embedded;
use losscause_sim::{ChannelSpec, VariationSpec};
use losscause_study::files::{Either, Files, Memory};
use losscause_study::{Context, Experiment, Scenario, run};

const SCENARIO: &str = r#"
title = "a link whose delay rises"
duration_s = 3.5
[[link]]
name = "radio"
rate_bps = 1e6
delay_ms = 10
delay_variation = { kind = "trace", file = "../traces/delays.txt" }
channel = { kind = "trace", file = "errors.txt", start = 0 }
queue_packets = 5
[[flow]]
name = "probe"
protocol = "cbr"
rate_bps = 8000
packet_bytes = 1000
path = ["radio"]
measured = true
"#;

const FADING: &str = r#"
title = "a fading link"
duration_s = 1
fading.pattern = "cen2003/high"
[[link]]
name = "radio"
rate_bps = 1e6
delay_ms = 10
channel = { kind = "fading" }
queue_packets = 5
"#;

fn whole() -> Memory {
    let errors = Memory::new().with("scenarios/errors.txt", "0 0 0 1 0 0 0 0");
    errors.with("scenarios/s.toml", SCENARIO).with("traces/delays.txt", "0 20\n1.5 50\n")
}

fn experiment(file: &str, files: impl Files + 'static) -> Result<Experiment, String> {
    let scenario = Scenario::load(Path::new(file), &Context::default().with_files(files));
    scenario.and_then(|scenario| scenario.experiment()).map_err(|error| error.to_string())
}

#[test]
fn a_scenario_with_its_traces_is_read_and_run_from_memory() {
    let experiment = experiment("scenarios/s.toml", whole()).unwrap();
    let radio = &experiment.network.links[0];
    let VariationSpec::Trace { points, .. } = &radio.variation else {
        panic!("{:?}", radio.variation)
    };
    assert_eq!((points[1].at, points[1].delay), (Span::from_millis(1500), Span::from_millis(50)));
    // One packet per second, at 0, 1, 2 and 3 s: the trace corrupts the fourth.
    let measured = run(&experiment, 1).unwrap();
    let probe = &measured.flows[0];
    assert_eq!((probe.sent_packets, probe.received_packets, probe.wireless_drops), (4, 3, 1));
}

#[test]
fn a_missing_file_is_refused_with_its_scenario_and_key() {
    let scenario = Memory::new().with("scenarios/s.toml", SCENARIO);
    assert_eq!(
        experiment("scenarios/s.toml", scenario.clone()).unwrap_err(),
        "scenarios/s.toml: link.radio.delay_variation.file: scenarios/../traces/delays.txt: there is no such file, \
         expected a text file with a time in seconds and a delay in milliseconds on each line"
    );
    assert_eq!(
        experiment("scenarios/s.toml", scenario.with("traces/delays.txt", "0 20")).unwrap_err(),
        "scenarios/s.toml: link.radio.channel.file: scenarios/errors.txt: there is no such file, expected a text file of \
         0 (received) and 1 (lost)"
    );
    let error = experiment("scenarios/t.toml", whole()).unwrap_err();
    assert!(
        error.starts_with(
            "scenarios/t.toml: there is no such file (did you mean \"scenarios/s.toml\"?)"
        ),
        "{error}"
    );
}

#[test]
fn a_papers_pattern_is_found_by_name_where_it_is_carried() {
    let scenario = Memory::new().with("s.toml", FADING);
    let with_papers = experiment("s.toml", Either(scenario.clone(), Embedded));
    assert!(with_papers.is_ok(), "{with_papers:?}");
    let error = experiment("s.toml", scenario.clone()).unwrap_err();
    assert!(
        error.starts_with("s.toml: fading.pattern: cen2003/high: there is no such file, expected"),
        "{error}"
    );
    let misspelt = scenario.with("s.toml", FADING.replace("high", "hihg"));
    let error = experiment("s.toml", Either(misspelt, Embedded)).unwrap_err();
    assert!(
        error.contains(
            "fading.pattern: cen2003/hihg: there is no such file (did you mean \"cen2003/high\"?)"
        ),
        "{error}"
    );
}

#[test]
fn a_pattern_of_ones_own_stands_beside_the_scenario() {
    let pattern = losscause_laboratory::papers::record::pattern("cen2003/low").unwrap();
    let files = Memory::new().with("a/s.toml", FADING.replace("cen2003/high", "low.txt"));
    let experiment = experiment("a/s.toml", files.with("a/low.txt", pattern.to_text()));
    // No flow takes the link, so that it is not laid out; its values are held against their ranges
    // all the same.
    assert!(experiment.unwrap().network.links.is_empty());
    let flow =
        "[[flow]]\nname = \"probe\"\nprotocol = \"cbr\"\nrate_bps = 8000\npath = [\"radio\"]";
    let scenario = FADING.replace("cen2003/high", "low.txt") + flow;
    let files = Memory::new().with("a/s.toml", scenario).with("a/low.txt", pattern.to_text());
    let experiment = self::experiment("a/s.toml", files).unwrap();
    let ChannelSpec::Trace { lost, .. } = &experiment.network.links[0].channel else {
        panic!("no pattern")
    };
    assert_eq!(lost.to_vec(), pattern.lost());
}
