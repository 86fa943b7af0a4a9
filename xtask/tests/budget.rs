//! The budget of memory and events leaves room for every scenario of the repository.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::path::{Path, PathBuf};

use losscause_laboratory::papers::record;
use losscause_laboratory::papers::reproduce::{Plan, Repetitions, Selection, Variation};
use losscause_study::{Context, Limits, Scenario};

/// A tenth of the usual.
fn context() -> Context {
    let Limits { memory_bytes, events, .. } = Limits::default();
    let limits =
        Limits { memory_bytes: memory_bytes / 10.0, events: events / 10.0, ..Limits::default() };
    record::with_papers(&Context::default().with_limits(limits))
}

/// The files below a folder of the repository that have this ending.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                files.push(path);
            }
        }
    }
    files
}

#[test]
fn every_scenario_needs_at_most_a_tenth() {
    let folders = [
        "scenarios",
        "papers",
        "validation",
        "web/scenarios",
        "crates/losscause-experiments/experiments",
    ];
    let mut count = 0;
    for file in folders.iter().flat_map(|folder| files(folder, "toml")) {
        let text = std::fs::read_to_string(&file).unwrap();
        if !text.contains("\nduration_s") || !text.contains("\n[[link]]") {
            continue;
        }
        let scenario = Scenario::load(&file, &context()).unwrap();
        scenario.experiment_with_delays().unwrap_or_else(|error| panic!("{error}"));
        count += 1;
    }
    assert!(count > 20, "{count} scenarios");
}

#[test]
fn every_scenario_of_the_documentation_needs_at_most_a_tenth() {
    let mut count = 0;
    for page in files("docs", "md") {
        let text = std::fs::read_to_string(&page).unwrap();
        for block in text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
            if !block.contains("duration_s") || !block.contains("[[link]]") {
                continue;
            }
            let scenario = Scenario::parse(block, &page.display().to_string(), &context());
            scenario.and_then(|scenario| scenario.experiment()).unwrap();
            count += 1;
        }
    }
    assert!(count > 0);
}

#[test]
fn every_system_of_the_papers_needs_at_most_a_tenth() {
    for paper in record::all() {
        let selection = Selection::every_item(paper);
        let once = Repetitions::exactly(1).unwrap();
        let plan = Plan::new_with(&context(), &selection, once, 1, &Variation::default());
        assert!(plan.unwrap_or_else(|error| panic!("{error}")).runs() > 0);
    }
}
