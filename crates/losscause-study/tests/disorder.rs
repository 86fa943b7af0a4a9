//! Scenarios with links that reorder and double packets, jitter, and recorded traces.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::fs;

use losscause::Span;
use losscause_sim::{
    ChannelSpec, DuplicationSpec, JitterDistribution, JitterSpec, Lateness, LinkSpec,
    ReorderingSpec, Slots, TraceStart, VariationSpec,
};
use losscause_study::{Context, Experiment, InputError, Measurements, Scenario, run};

mod common;

const SCENARIO: &str = r#"
title = "one link"
duration_s = 20
packet_bytes = 1000
[measure]
bottleneck = "way"
[[link]]
name = "way"
rate_bps = 2e6
delay_ms = 10
queue_packets = 20
channel = { kind = "bernoulli", loss = 0.01 }
[[flow]]
name = "download"
protocol = "tcp"
path = ["way"]
[[flow]]
name = "video"
protocol = "tfrc"
lda = "Spike"
path = ["way"]
"#;

fn build(settings: &[&str], file: &str) -> Result<Experiment, InputError> {
    common::build(SCENARIO, file, settings, &Context::default())
}

fn measured(settings: &[&str]) -> Measurements {
    run(&build(settings, "test.toml").unwrap(), 1).unwrap()
}

/// The link with this setting.
fn way(setting: &str) -> LinkSpec {
    build(&[setting], "test.toml").unwrap().network.links[0].clone()
}

#[track_caller]
fn refused(setting: &str, sentence: &str) {
    let error = build(&[setting], "test.toml").unwrap_err().to_string();
    assert_eq!(error, format!("test.toml: link.way.{sentence}"));
}

fn ms(ms: i64) -> Span {
    Span::from_millis(ms)
}

#[test]
fn reordering_is_by_a_time_or_by_a_distance() {
    let of = |setting: &str| way(&format!("link.way.reordering={setting}")).reordering;
    let spec = |share, by| Some(ReorderingSpec { share, by });
    assert_eq!(
        of("{ share = 0.1, delay_ms = 5 }"),
        spec(0.1, Lateness::Time { most: ms(5), drawn: false })
    );
    assert_eq!(
        of("{ share = 0.1, delay_ms = \"delay_ms / 2\", drawn = true }"),
        spec(0.1, Lateness::Time { most: ms(5), drawn: true })
    );
    assert_eq!(
        of("{ share = 0.1, packets = 3 }"),
        spec(0.1, Lateness::Packets { packets: 3, most: ms(100) })
    );
    assert_eq!(
        of("{ share = 0.1, packets = 3, at_most_ms = 20 }"),
        spec(0.1, Lateness::Packets { packets: 3, most: ms(20) })
    );
    for (setting, sentence) in [
        ("{ share = 0.1 }", "delay_ms: is missing, expected it or packets"),
        (
            "{ share = 0.1, delay_ms = 5, packets = 3 }",
            "packets: cannot be combined with delay_ms; give one of them",
        ),
        (
            "{ share = 0.1, delay_ms = 5, at_most_ms = 3 }",
            "at_most_ms: needs packets, not delay_ms",
        ),
        ("{ share = 0.1, packets = 3, drawn = true }", "drawn: needs delay_ms, not packets"),
        (
            "{ share = 2, packets = 3 }",
            "share: is 2, expected a number from 0 to 1; 2 percent are 2%",
        ),
    ] {
        refused(&format!("link.way.reordering={setting}"), &format!("reordering.{sentence}"));
    }
}

#[test]
fn a_copy_follows_at_once_or_later() {
    let of = |setting: &str| way(&format!("link.way.duplication={setting}")).duplication;
    assert_eq!(of("{ share = 0.1 }"), Some(DuplicationSpec { share: 0.1, delay: Span::ZERO }));
    assert_eq!(
        of("{ share = 0.1, delay_ms = 2 }"),
        Some(DuplicationSpec { share: 0.1, delay: ms(2) })
    );
    refused(
        "link.way.duplication={ share = -1 }",
        "duplication.share: is -1, expected a number from 0 to 1",
    );
}

#[test]
fn jitter_has_a_distribution() {
    let of = |setting: &str| {
        way(&format!("link.way.delay_variation={{ kind = \"jitter\", {setting} }}")).variation
    };
    let jitter = JitterSpec {
        distribution: JitterDistribution::Normal,
        mean: ms(10),
        deviation: ms(3),
        correlation: 0.25,
        reorders: true,
    };
    assert_eq!(
        of(
            "distribution = \"normal\", mean_ms = 10, deviation_ms = 3, correlation = 0.25, reorders = true"
        ),
        VariationSpec::Jitter(jitter)
    );
    let exponential = JitterSpec {
        distribution: JitterDistribution::Exponential,
        deviation: ms(10),
        correlation: 0.0,
        reorders: false,
        ..jitter
    };
    assert_eq!(
        of("distribution = \"exponential\", mean_ms = 10"),
        VariationSpec::Jitter(exponential)
    );
    // The largest deviation of a uniform delay is the mean divided by the square root of 3.
    let uniform = of("distribution = \"uniform\", mean_ms = 10, deviation_ms = 5.7735026");
    assert!(matches!(uniform, VariationSpec::Jitter(_)));
    for (setting, sentence) in [
        (
            "distribution = \"normal\", mean_ms = 10",
            "deviation_ms: is missing, expected the standard deviation",
        ),
        (
            "distribution = \"exponential\", mean_ms = 10, deviation_ms = 10",
            "deviation_ms: is the mean with distribution exponential; remove it",
        ),
        (
            "distribution = \"normal\", mean_ms = 10, deviation_ms = 1, correlation = 1",
            "correlation: is 1, expected less: the delay would not vary",
        ),
    ] {
        refused(
            &format!("link.way.delay_variation={{ kind = \"jitter\", {setting} }}"),
            &format!("delay_variation.{sentence}"),
        );
    }
}

#[test]
fn losses_by_load_have_no_steps_and_follow_the_transmission() {
    let load = "link.way.channel={ kind = \"load\", points = [[0, 0.001], [1, \"2 / 100\"]], window_s = 0.5 }";
    let ChannelSpec::Load { points, window } = way(load).channel else { panic!("another kind") };
    let points: Vec<(f64, f64)> = points.iter().map(|point| (point.load, point.loss)).collect();
    assert_eq!((points, window), (vec![(0.0, 0.001), (1.0, 0.02)], ms(500)));
    for (other, sentence) in [
        (
            "link.way.error_position=\"before-queue\"",
            "error_position: is before-queue, expected after-transmission: the load is the transmitter's",
        ),
        ("link.way.slot_ms=1", "slot_ms: does not fit this channel, which has no steps; remove it"),
    ] {
        let error = build(&[load, other], "test.toml").unwrap_err().to_string();
        assert_eq!(error, format!("test.toml: link.way.{sentence}"));
    }
}

#[test]
fn shares_of_zero_measure_what_no_keys_measure() {
    let plain = measured(&[]);
    let zero = measured(&[
        "link.way.reordering={ share = 0, packets = 3 }",
        "link.way.duplication={ share = 0, delay_ms = 5 }",
    ]);
    assert_eq!(format!("{plain:?}"), format!("{zero:?}"));
    assert!(plain.flows[0].delivered_packets > 1_000);
}

#[test]
fn a_copy_is_neither_a_loss_nor_a_packet_more() {
    let found = measured(&["link.way.duplication={ share = 0.2, delay_ms = 5 }"]);
    let link = &found.links[0];
    assert!(link.duplicated_packets > 500, "{link:?}");
    let left = link.delivered_packets + link.queue_drops + link.wireless_drops;
    let on_the_way = link.entered_packets + link.duplicated_packets - left;
    assert!(on_the_way <= 25, "the queue holds 20: {on_the_way}");
    for flow in &found.flows {
        assert!(flow.received_packets <= flow.sent_packets);
        assert!(flow.delivered_packets <= flow.received_packets);
    }
}

#[test]
fn recorded_round_trips_become_delays_and_losses() {
    let directory = tempfile::tempdir().unwrap();
    let rows = "timestamp,rtt,uplink,downlink\n\
                1000000000,40,24,16\n1020000000,0,-1,0\n1040000000,60,36,24\n";
    fs::write(directory.path().join("lens.csv"), rows).unwrap();
    fs::write(directory.path().join("delays.txt"), "12\n16\n").unwrap();
    let file = directory.path().join("test.toml").display().to_string();
    let way = |settings: &[&str]| build(settings, &file).unwrap().network.links[0].clone();
    let points = |link: &LinkSpec| match &link.variation {
        VariationSpec::Trace { points, .. } => points
            .iter()
            .map(|point| (point.at.as_millis_f64(), point.delay.as_millis_f64()))
            .collect::<Vec<_>>(),
        _ => panic!("no trace"),
    };
    let lens = "kind = \"trace\", file = \"lens.csv\", format = \"lens\"";
    let half = format!("link.way.delay_variation={{ {lens}, round_trip = \"half\" }}");
    let losses = format!("link.way.channel={{ {lens}, direction = \"up\" }}");
    let link = way(&[&half, &losses]);
    assert_eq!(points(&link), [(0.0, 20.0), (40.0, 30.0)]);
    assert_eq!(link.slots, Slots::PerTime(ms(1)));
    let ChannelSpec::Trace { lost, start } = &link.channel else { panic!("no trace") };
    assert_eq!(*start, TraceStart::Slot(0));
    let expected: Vec<bool> = (0..60).map(|ms| (20..40).contains(&ms)).collect();
    assert_eq!(lost[..], expected[..]);

    let leocc = "link.way.delay_variation={ kind = \"trace\", file = \"delays.txt\", \
                 format = \"leocc\", at_end = \"repeat\" }";
    assert_eq!(points(&way(&[leocc])), [(0.0, 12.0), (10.0, 16.0), (20.0, 16.0)]);
    let error = build(&[&losses, "link.way.slot_ms=2"], &file).unwrap_err().to_string();
    assert!(
        error.ends_with("slot_ms: does not fit this channel, which has no steps; remove it"),
        "{error}"
    );
}

#[test]
fn the_example_reconfigures_every_15_seconds() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/reconfigurations.toml");
    let scenario = Scenario::load(file.as_ref(), &Context::default()).unwrap();
    let link = scenario.experiment().unwrap().network.links[0].clone();
    let VariationSpec::Trace { points, .. } = &link.variation else { panic!("no trace") };
    let jumps: Vec<i64> = points
        .windows(2)
        .filter(|pair| (pair[1].delay - pair[0].delay).as_millis_f64().abs() > 7.0)
        .map(|pair| pair[1].at.as_nanos() / 1_000_000_000)
        .collect();
    assert_eq!(jumps, [12, 27, 42, 57]);
    let ChannelSpec::Trace { lost, .. } = &link.channel else { panic!("no trace") };
    assert_eq!(lost.len(), 60_000);
    assert!(
        [12, 27, 42, 57]
            .iter()
            .all(|second| { lost[second * 1_000..second * 1_000 + 100].iter().all(|&lost| lost) })
    );
}
