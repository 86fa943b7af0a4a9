//! `docs/scenario.md` shows what the program takes and measures.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::path::Path;

use losscause_study::{Scenario, Setting, run};

fn read(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)).unwrap()
}

fn worked_example(page: &str) -> &str {
    let (_, rest) = page.split_once("```toml\n").unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_worked_example_is_the_shipped_one_and_gives_about_the_printed_numbers() {
    let page = read("docs/scenario.md");
    let example = Scenario::parse(worked_example(&page), "docs/scenario.md").unwrap();
    let shipped = Scenario::parse(&read("scenarios/last-hop-video.toml"), "last-hop-video.toml").unwrap();
    for lda in ["always congestion", "ZigZag", "ZBS"] {
        let measured = |scenario: &Scenario| {
            let setting = Setting::new("flow.video.lda", lda);
            run(&scenario.with(&[setting]).unwrap().experiment().unwrap(), 1).unwrap()
        };
        let run = measured(&example);
        assert_eq!(run, measured(&shipped));
        let row = page.lines().find(|line| line.starts_with("| `") && line.contains(lda)).unwrap();
        let numbers = row.split(['|', '%', ' ']).filter_map(|word| word.parse::<f64>().ok());
        let printed: Vec<f64> = numbers.collect();
        let measured = ["thput", "M_w", "goodput"].map(|name| run.metric(name).unwrap());
        // A page is read, not recomputed: it may lag behind a better model by this much, no more.
        for (printed, measured) in printed.iter().zip(measured) {
            assert!((printed - measured).abs() <= 3.0 + 0.05 * measured, "{row} should be about {measured}");
        }
        assert_eq!(printed.len(), 3, "{row}");
    }
}

#[test]
fn every_metric_of_a_run_is_explained() {
    let page = read("docs/scenario.md");
    let scenario = Scenario::parse(worked_example(&page), "docs/scenario.md").unwrap();
    let run = run(&scenario.experiment().unwrap(), 1).unwrap();
    for metric in &run.metrics {
        let name = metric.metric.split_once('.').map_or(metric.metric.clone(), |(name, _)| format!("{name}.X"));
        assert!(page.contains(&format!("`{name}`")), "{name} is not explained");
    }
    assert!(page.contains("`norm_thput.X`"), "for several groups");
}
