//! Runs of a TFRC flow that asks an algorithm: verdicts, shares, records.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use losscause_sim::{Event, EventKind, LinkEvent};
use losscause_study::run::{Warning, WarningKind, warnings};
use losscause_study::{Experiment, Jobs, Measurements, run, run_recorded};

mod common;

const TFRC: &str = r#"
title = "one TFRC flow over a radio link"
duration_s = 60
[measure]
from_s = 20
bottleneck = "radio"
[[link]]
name = "radio"
rate_bps = 500e3
delay_ms = 20
queue_packets = 10
channel = { kind = "bernoulli", loss = 0.03 }
[[flow]]
name = "video"
protocol = "tfrc"
path = ["radio"]
"#;

fn experiment(settings: &[&str]) -> Experiment {
    common::experiment(TFRC, settings)
}

fn measured(settings: &[&str]) -> Measurements {
    run(&experiment(settings), 1).unwrap()
}

#[test]
fn recording_changes_nothing_and_agrees_with_the_counts() {
    let experiment = experiment(&["flow.video.lda=ZigZag"]);
    let mut events: Vec<Event> = Vec::new();
    let recorded = run_recorded(&experiment, 7, &mut events).unwrap();
    assert_eq!(recorded, run(&experiment, 7).unwrap());
    let radio = |wanted: LinkEvent| {
        let hits = events.iter().filter(|event| match event.kind {
            EventKind::Link { link, what, .. } => link.0 == 0 && what == wanted,
            _ => false,
        });
        hits.count() as u64
    };
    assert_eq!(radio(LinkEvent::Corrupted), recorded.links[0].wireless_drops);
    assert_eq!(radio(LinkEvent::QueueDrop), recorded.links[0].queue_drops);
    assert_eq!(radio(LinkEvent::Deliver), recorded.links[0].delivered_packets);
    assert!(radio(LinkEvent::Deliver) > 100, "the flow has to run for this test to mean anything");
}

#[test]
fn constant_algorithms_err_always_on_one_side_and_never_else() {
    for (lda, m_w) in [("always congestion", 100.0), ("always wireless", 0.0), ("omniscient", 0.0)]
    {
        let run = measured(&[&format!("flow.video.lda={lda}")]);
        assert_eq!(run.metric("M_w"), Some(m_w));
        assert!(run.metric("wireless_drops").unwrap() > 10.0);
        if let Some(m_c) = run.metric("M_c") {
            assert_eq!(m_c, if lda == "always wireless" { 100.0 } else { 0.0 });
        }
    }
}

#[test]
fn the_shares_of_the_schemes_that_zbs_uses_add_up() {
    let run = measured(&["flow.video.lda=ZBS"]);
    let usage: Vec<_> =
        run.metrics.iter().filter(|metric| metric.metric.starts_with("usage.")).collect();
    assert!(!usage.is_empty());
    let sum: f64 = usage.iter().filter_map(|metric| metric.value).sum();
    assert!((sum - 100.0).abs() < 1e-9, "{usage:?}");
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let experiment = experiment(&["flow.video.lda=Spike"]);
    let seeds: Vec<u64> = (1..=6).collect();
    let json = |jobs: usize| {
        let runs =
            Jobs::new(jobs).unwrap().map(&seeds, |seed| run(&experiment, *seed).unwrap(), |_| ());
        format!("{runs:?}")
    };
    assert_eq!(json(1), json(2));
    assert_ne!(
        run(&experiment, 1).unwrap(),
        run(&experiment, 2).unwrap(),
        "another seed is another run"
    );
}

#[test]
fn no_warning_counts_the_runs_that_have_a_share_of_few_losses() {
    let experiment =
        experiment(&["flow.video.lda=always congestion", "link.radio.channel.loss=0.1"]);
    let runs: Vec<Measurements> = (1..=4).map(|seed| run(&experiment, seed).unwrap()).collect();
    let with = |metric: &str| runs.iter().filter(|run| run.metric(metric).is_some()).count();
    assert!((1..4).contains(&with("M_c")) && with("P_CC") == with("M_c"));
    assert!((1..10).contains(&runs.iter().map(|run| run.flows[0].judged_congestion).sum::<u64>()));
    let told: Vec<Warning> = warnings(&experiment, &runs);
    assert!(told.iter().all(|one| one.kind != WarningKind::MissingValues), "{told:?}");
}
