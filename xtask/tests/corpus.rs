//! The fuzzer's corpus, replayed without a fuzzer: what was found once is not to come back.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::path::Path;

#[path = "../../fuzz/src/lib.rs"]
#[allow(unreachable_pub)] // Elsewhere it is a crate of its own.
mod fuzz;

#[test]
fn every_target_takes_every_file_of_its_corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    for (name, target) in fuzz::TARGETS {
        let mut files: Vec<_> = std::fs::read_dir(corpus.join(name)).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "{name} has no corpus");
        for file in files {
            // Shown only if the test fails: the last line is the file that did it.
            println!("{}", file.display());
            target(&std::fs::read(&file).unwrap());
        }
    }
}

/// What is said about the scenario `name` of the corpus.
fn refusal(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/scenario").join(name);
    let text = std::fs::read_to_string(file).unwrap();
    let experiment = losscause_study::Scenario::parse(&text, "x.toml").and_then(|scenario| scenario.experiment());
    experiment.map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_file_of_a_few_lines_cannot_ask_for_gigabytes() {
    let paths = "there and back, expected at most 200000";
    assert_eq!(
        refusal("many_private_links.toml"),
        format!("x.toml: flow.f.path: brings the links on all paths to 800000, {paths}")
    );
    assert_eq!(
        refusal("many_groups_of_many_flows.toml"),
        format!("x.toml: flow.f10.path: brings the links on all paths to 220000, {paths}")
    );
    for (name, key) in [
        ("count_1e9", "flow.f.count: is 1000000000, expected a whole number from 0 to 10000"),
        ("duration_1e18", "duration_s: is 1000000000000000000, expected"),
        ("queue_1e18", "link.a.queue_packets: is 1000000000000000000, expected"),
        ("slots_1e18", "link.a.slots_per_packet: is 1000000000000000000, expected"),
    ] {
        let found = refusal(&format!("{name}.toml"));
        assert!(found.starts_with(&format!("x.toml: {key}")), "{found}");
    }
}

#[test]
fn a_sweep_of_more_cells_or_runs_than_fit_into_memory_is_refused() {
    let refusal = |name: &str| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/sweep").join(name);
        let text = std::fs::read_to_string(file).unwrap();
        losscause_laboratory::sweep::Sweep::parse(&text, Path::new("x.toml")).unwrap_err().to_string()
    };
    assert_eq!(
        refusal("grid_of_2_to_the_60.toml"),
        "x.toml: axis: the axes make more than 1000000 cells, which is the maximum"
    );
    assert_eq!(refusal("runs_4e9.toml"), "x.toml: runs: is 4294967295, expected a whole number from 1 to 10000");
}
