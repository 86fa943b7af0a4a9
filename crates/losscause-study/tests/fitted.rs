//! A simulated link is fitted to a capture at its sender, and the scenario that comes out carries
//! as much.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::fs::File;

use losscause::Time;
use losscause::diagnosis::Cause;
use losscause_capture::{Analysis, Cost, Fit, Flow, Options, Vantage, analyze};
use losscause_study::capture_files::{CaptureFiles, CaptureSettings};
use losscause_study::{Run, fitted, run};

mod common;

use common::experiment;

/// 10 Mb/s, 40 ms, about one bandwidth-delay product of queue.
const LINK: &str = r#"
title = "a link"
duration_s = 15
packet_bytes = 1500
header_bytes = 52
[measure]
bottleneck = "link"
[[link]]
name = "link"
rate_bps = 10e6
delay_ms = 20
queue_packets = 35
[[flow]]
name = "transfer"
protocol = "tcp"
path = ["link"]
[tcp]
mode = "linux"
variant = "reno"
"#;

/// The captures at the sender and at the receiver, and the goodput in kb/s.
fn captured(settings: &[&str]) -> ([Analysis; 2], f64) {
    let experiment = experiment(LINK, settings);
    let directory = tempfile::tempdir().unwrap();
    let snapped = CaptureSettings { tick: losscause::Span::from_millis(1), snap_bytes: 128 };
    let mut captures = CaptureFiles::create(directory.path(), &experiment, 1, snapped).unwrap();
    let mut run = Run::new(&experiment, 1).unwrap();
    let _ = run.advance(Time::MAX, &mut captures, |run, captures| {
        captures.write_until(run.now());
        std::ops::ControlFlow::Continue(())
    });
    captures.finish().unwrap();
    let seen = ["sender.pcap", "receiver.pcap"].map(|name| {
        let file = File::open(directory.path().join(name)).unwrap();
        analyze(file, name, &Options::all()).unwrap()
    });
    (seen, run.measurements().metric("goodput").unwrap())
}

fn flow(analysis: &Analysis) -> &Flow {
    analysis.flows.iter().max_by_key(|flow| flow.bytes).unwrap()
}

/// Whether `value` differs from `expected` by at most this share of it.
fn is_near(value: f64, expected: f64, share: f64) -> bool {
    (value - expected).abs() <= share * expected
}

/// What was fitted to the link with these settings. The scenario's goodput must be near that of the
/// link.
fn fit(settings: &[&str]) -> Fit {
    let ([sender, _], goodput) = captured(settings);
    let flow = flow(&sender);
    let fit = flow.fitted().unwrap();
    let (text, _) = fitted::scenario(&fit, flow, "sender.pcap", "fitted.toml");
    assert!(
        text.contains("#   losscause compare fitted.toml ")
            && text.contains("fitted to sender.pcap."),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    let again =
        run(&experiment(&text, &["tcp.variant=reno"]), 1).unwrap().metric("goodput").unwrap();
    assert!(is_near(again, goodput, 0.2), "{goodput} kb/s, and {again} by\n{text}");
    fit
}

#[test]
fn a_queue_that_fills_shows_rate_and_length() {
    let fit = fit(&[]);
    assert!(is_near(fit.rate_bps, 10e6, 0.02), "{fit:?}");
    assert!(is_near(fit.propagation_ms(), 40.0, 0.02), "{fit:?}");
    let (packets, is_seen) = fit.queue_packets();
    assert!(is_seen && packets.abs_diff(35) <= 2, "{fit:?}");
    assert!(fit.random_loss < 1e-4 && fit.others.is_none(), "{fit:?}");
}

#[test]
fn random_losses_are_told_from_the_queues() {
    let fit = fit(&["link.link.channel={ kind = \"bernoulli\", loss = 0.02 }"]);
    assert!(
        is_near(fit.rate_bps, 10e6, 0.05) && is_near(fit.propagation_ms(), 40.0, 0.02),
        "{fit:?}"
    );
    // The first slow start filled the queue.
    assert!(is_near(fit.random_loss, 0.02, 0.3) && fit.queue_losses > 0, "{fit:?}");
    let (packets, is_seen) = fit.queue_packets();
    assert!(is_seen && packets.abs_diff(35) <= 2, "{fit:?}");
}

#[test]
fn traffic_that_comes_and_goes_is_seen() {
    let others = "flow.others={ protocol = \"on-off\", rate_bps = 5e6, mean_on_s = 4, mean_off_s = 4, path = [\"link\"] }";
    let fit = fit(&[others, "flow.others.measured=false", "duration_s=60"]);
    let others = fit.others.unwrap();
    assert!(is_near(fit.rate_bps, 10e6, 0.05) && is_near(others.rate_bps, 5e6, 0.1), "{fit:?}");
}

/// An uplink like LTE's, as `losscause init lte` writes it: its rate changes every 20 s, and a few
/// packets in ten thousand are lost at random.
const UPLINK: [&str; 7] = [
    "link.link.rate_variation={ kind = \"steps\", at_end = \"repeat\", points = [[0, 10e6], [20, 5e6], [40, 2e6], [60, 8e6], [80, 10e6]] }",
    "link.link.channel={ kind = \"bernoulli\", loss = 0.1 }",
    "link.link.retransmission={ attempts = 4, delay_ms = 8 }",
    "link.link.queue_packets=500",
    "duration_s=180",
    "tcp.variant=cubic",
    "tcp.max_window_pkts=5000",
];

#[test]
fn a_queue_of_a_link_whose_rate_changes_has_its_packets_and_its_losses() {
    let ([sender, _], goodput) = captured(&UPLINK);
    let flow = flow(&sender);
    let fit = flow.fitted().unwrap();
    assert!(fit.others.is_some(), "{fit:?}");
    let (packets, is_seen) = fit.queue_packets();
    assert!(is_seen && is_near(packets as f64, 500.0, 0.1), "{packets} {fit:?}");
    assert!(fit.random_loss < 3e-4, "one packet in ten thousand is lost: {fit:?}");
    let (text, doubt) = fitted::scenario(&fit, flow, "sender.pcap", "fitted.toml");
    let again = run(&experiment(&text, &[]), 1).unwrap().metric("goodput").unwrap();
    assert!(
        is_near(again, goodput, 0.1) && doubt.is_none(),
        "{goodput} kb/s, and {again} by\n{text}"
    );
    // The random loss that the delays alone show gives another transfer, and the file says so.
    let mut lossy = fit;
    lossy.random_loss = 0.005;
    let (text, doubt) = fitted::scenario(&lossy, flow, "sender.pcap", "fitted.toml");
    assert!(text.contains("does not hold") && doubt.is_some(), "{text}");
}

/// A satellite whose delay changes, and whose losses come in bursts.
const SATELLITE: [&str; 4] = [
    "link.link.rate_bps=50e6",
    "link.link.delay_variation={ kind = \"trace\", at_end = \"repeat\", points = [[0, 0], [15, 7], [30, 3], [45, 12], [60, 0]] }",
    "link.link.channel={ kind = \"gilbert-elliott\", loss = 0.005, mean_burst_packets = 2 }",
    "duration_s=60",
];

#[test]
fn a_path_that_becomes_longer_is_no_cross_traffic_and_losses_in_a_row_are_bursts() {
    let fit = fit(&[&SATELLITE[..], &["link.link.queue_packets=200"]].concat());
    assert!(fit.others.is_none() && is_near(fit.queue_packets().0 as f64, 200.0, 0.1), "{fit:?}");
    assert!(is_near(fit.rate_bps, 50e6, 0.15), "{fit:?}");
    assert!(is_near(fit.random_loss, 0.005, 0.3) && is_near(fit.random_burst, 2.0, 0.2), "{fit:?}");
}

#[test]
fn a_capture_at_the_receiver_is_refused() {
    let ([_, receiver], _) = captured(&["duration_s=3"]);
    let flow = flow(&receiver);
    assert_eq!(flow.vantage, Vantage::Receiver);
    let refused = flow.fitted().unwrap_err();
    assert_eq!(
        refused,
        format!(
            "was captured at its receiver, expected a capture at {}, which alone has its round trips",
            flow.src
        )
    );
}

/// The link behind a policer.
const POLICED: [&str; 3] = [
    "link.link.rate_bps=100e6",
    "link.link.queue={ kind = \"policer\", rate_bps = 3e6, burst_bytes = 50000 }",
    "duration_s=40",
];

#[test]
fn a_policer_is_fitted_with_its_rate_and_its_bucket() {
    let fit = fit(&POLICED);
    let policer = fit.policer.unwrap();
    assert!(is_near(policer.rate_bps, 3e6, 0.05), "{fit:?}");
    assert!(is_near(policer.burst_bytes as f64, 50_000.0, 0.2), "{fit:?}");
    assert!(fit.random_loss == 0.0 && is_near(fit.rtt_ms, 40.0, 0.05), "{fit:?}");
}

#[test]
fn a_bucket_that_is_fitted_gives_the_captured_goodput() {
    for (rate, burst, variant) in [
        ("1e6", "15000", "cubic"),
        ("5e6", "60000", "cubic"),
        ("10e6", "60000", "cubic"),
        ("3e6", "100000", "cubic"),
    ] {
        let queue = format!(
            "link.link.queue={{ kind = \"policer\", rate_bps = {rate}, burst_bytes = {burst} }}"
        );
        let variant = format!("tcp.variant={variant}");
        let ([sender, _], goodput) = captured(&[POLICED[0], &queue, &variant, POLICED[2]]);
        let flow = flow(&sender);
        let fit = flow.fitted().unwrap();
        let (text, _) = fitted::scenario(&fit, flow, "sender.pcap", "fitted.toml");
        let again = run(&experiment(&text, &[]), 1).unwrap().metric("goodput").unwrap();
        assert!(is_near(again, goodput, 0.15), "{goodput} kb/s, and {again} by\n{text}");
        assert!(!text.contains("does not hold"), "{text}");
        // A bucket of two packets gives another transfer, and the file says so.
        let mut small = fit;
        small.policer.as_mut().unwrap().burst_bytes = 3_000;
        let (text, _) = fitted::scenario(&small, flow, "sender.pcap", "fitted.toml");
        assert!(text.contains("does not hold"), "{text}");
    }
}

/// What the losses of a transfer over the link with these settings cost, what is to be done, and
/// the commands.
fn told(settings: &[&str]) -> (Cost, String, Vec<String>) {
    let ([sender, _], _) = captured(settings);
    let told = sender.diagnosis().unwrap();
    let cost = told.cost.unwrap();
    // The first line has it where the path was hardly used, and behind a policer.
    let is_low = !cost.path_rate_changes && cost.used.is_some_and(|used| used < 0.8);
    let is_policed = matches!(told.diagnosis.cause, Cause::Policer { .. });
    let is_told = sender.answer().contains("The flow got ");
    assert_eq!(is_told, is_low || is_policed, "{} {cost:?}", sender.answer());
    let is_used_up = !is_policed && cost.used.is_some_and(|used| used >= 0.9);
    let is_little = sender.answer().contains(" Losses cost the flow little: it got ");
    assert_eq!(is_little, is_used_up, "{} {cost:?}", sender.answer());
    (cost, told.advice(), told.next.clone())
}

#[test]
fn what_losses_cost_is_held_against_what_the_path_takes() {
    // 1,448 of 1,500 bytes are payload.
    let (cost, advice, next) = told(&POLICED);
    assert!(
        is_near(cost.path_rate_bps.unwrap(), 3e6 * 1448.0 / 1500.0, 0.05)
            && !cost.path_rate_changes,
        "{cost:?}"
    );
    assert!(
        cost.used.unwrap() > 0.5 && cost.slow_s.is_some() && cost.repair_s.unwrap() > 0.0,
        "{cost:?}"
    );
    assert!(
        next[2].starts_with("tc qdisc replace dev <interface> root cake bandwidth 2")
            && next.len() == 3,
        "{next:?}"
    );
    // A shaper brings more only to a flow that got less.
    assert_eq!(advice.starts_with("Shape to 2."), cost.used.unwrap() < 0.9, "{advice} {cost:?}");
    assert_eq!(
        advice.contains(" brings no more rate"),
        cost.used.unwrap() >= 0.9,
        "{advice} {cost:?}"
    );

    let (cost, advice, next) = told(&["duration_s=40"]);
    assert!(is_near(cost.path_rate_bps.unwrap(), 10e6 * 1448.0 / 1500.0, 0.03), "{cost:?}");
    assert!(cost.used.unwrap() > 0.9 && cost.slow_s.unwrap() < 2.0, "{cost:?}");
    assert!(advice.contains("fq_codel") && advice.contains("90 % of its"), "{advice}");
    assert!(
        next[2].starts_with("tc qdisc replace dev <interface> root cake bandwidth "),
        "{next:?}"
    );
}

#[test]
fn the_path_of_a_transfer_that_air_losses_slow_is_hardly_used() {
    let (cost, advice, next) =
        told(&["link.link.channel={ kind = \"bernoulli\", loss = 0.02 }", "duration_s=60"]);
    // The square root of 3/2 over the loss: 8.7 packets a round trip, 2.5 Mb/s (Mathis et al.
    // 1997).
    assert!((1.5e6..4e6).contains(&cost.goodput_bps), "{cost:?}");
    assert!(is_near(cost.path_rate_bps.unwrap(), 10e6 * 1448.0 / 1500.0, 0.05), "{cost:?}");
    assert!(cost.used.unwrap() < 0.5 && cost.slow_s.unwrap() > 30.0, "{cost:?}");
    assert!(
        !advice.contains("fq_codel") && next.iter().all(|command| !command.starts_with("tc ")),
        "{advice} {next:?}"
    );
}

#[test]
fn where_no_shaper_can_stand_a_sender_that_keeps_the_queue_short_is_compared() {
    let steps = "link.link.rate_variation={ kind = \"steps\", at_end = \"repeat\", points = \
                 [[0, 10e6], [20, 3e6], [40, 8e6], [60, 10e6]] }";
    let (cost, advice, next) =
        told(&[steps, "link.link.queue_packets=300", "tcp.max_window_pkts=2000", "duration_s=120"]);
    assert!(cost.path_rate_changes && cost.used.unwrap() >= 0.9, "{cost:?}");
    assert!(advice.contains("would have to follow its rate, which was "), "{advice}");
    let compared = "--variant 'fq_codel: link.link.queue={ kind = \"fq-codel\" }' --variant 'bbr: tcp.variant=bbr'";
    assert!(next.len() == 2 && next[1].ends_with(compared), "{next:?}");
}
