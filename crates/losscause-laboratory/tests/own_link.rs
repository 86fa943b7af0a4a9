//! What a user judges a link by: delays, transfers, verdicts on media flows, warnings, comparisons.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use losscause_laboratory::compare::{Plan, Variant};
use losscause_laboratory::store::RunList;
use losscause_study::run::{WarningKind, warnings};
use losscause_study::{Context, Experiment, Jobs, Measurements, Scenario, Setting, run};

/// A CBR flow of 2 Mb/s in packets of 1000 bytes over `rate_bps`, and nothing else.
const LINE: &str = r#"
title = "a line"
duration_s = 10
[parameters]
rate_bps = 4e6
loss = 0
[measure]
delays = true
[[link]]
name = "line"
rate_bps = "rate_bps"
delay_ms = 10
queue_packets = 4
channel = { kind = "bernoulli", loss = "loss" }
[[flow]]
name = "source"
protocol = "cbr"
rate_bps = 2e6
packet_bytes = 1000
measured = true
path = ["line"]
"#;

/// A TCP flow over 2 Mb/s and 40 ms.
const TRANSFER: &str = r#"
title = "a transfer"
duration_s = 30
[parameters]
loss = 0.02
[measure]
bottleneck = "line"
[[link]]
name = "line"
rate_bps = 2e6
delay_ms = 20
queue_packets = 10
channel = { kind = "bernoulli", loss = "loss" }
[[flow]]
name = "t"
protocol = "tcp"
path = ["line"]
"#;

fn experiment(text: &str, settings: &[&str]) -> Experiment {
    let settings = settings.iter().map(|text| Setting::parse(text).unwrap());
    let settings: Vec<Setting> = settings.collect();
    let scenario = Scenario::parse(text, "s.toml", &Context::default()).unwrap();
    scenario.with(&settings).unwrap().experiment().unwrap()
}

fn measured(text: &str, settings: &[&str]) -> Measurements {
    run(&experiment(text, settings), 1).unwrap()
}

fn kinds(text: &str, settings: &[&str]) -> Vec<WarningKind> {
    let experiment = experiment(text, settings);
    let runs = [run(&experiment, 1).unwrap()];
    warnings(&experiment, &runs).iter().map(|warning| warning.kind).collect()
}

#[test]
fn delays_on_a_line_worked_by_hand() {
    // 2 ms of transmission and 10 ms of propagation; the queue is always empty.
    let free = measured(LINE, &[]);
    let delay = free.metric("delay_p50").unwrap();
    assert!((delay - 12.0).abs() < 12.0 / 128.0, "{delay}");
    assert_eq!((free.metric("queueing_p99"), free.metric("jitter")), (Some(0.0), Some(0.0)));
    assert_eq!(free.metric("rtt_p50"), None, "nothing answers");
    // At 1 Mb/s a packet takes 8 ms; the queue of 4 is full, so it waits 28 to 32 ms before that.
    let full = measured(LINE, &["rate_bps=1e6"]);
    let queueing = full.metric("queueing_p50").unwrap();
    assert!((27.5..32.5).contains(&queueing), "{queueing}");
    let [flow] = &full.flows[..] else { panic!() };
    assert!((flow.delay_ms.unwrap().p50 - queueing - 18.0).abs() < 0.5);
}

#[test]
fn delays_are_measured_without_changing_anything_else() {
    for text in [LINE, TRANSFER] {
        let with = measured(text, &["measure.delays=true"]);
        let without = measured(text, &["measure.delays=false"]);
        for metric in &without.metrics {
            assert_eq!(with.metric(&metric.metric), metric.value, "{}", metric.metric);
        }
        assert_eq!(with.links, without.links);
        assert!(with.metric("delay_p50").is_some() && without.metric("delay_p50").is_none());
    }
}

#[test]
fn a_round_trip_is_two_ways_and_a_transfer_takes_its_time() {
    // 300 packets of 1460 bytes of payload at 2 Mb/s, 6 ms each: 1.8 s on the line, and slow start.
    let run = measured(
        TRANSFER,
        &["loss=0", "flow.t.bytes=437999", "measure.delays=true", "flow.t.packet_bytes=1500"],
    );
    let [flow] = &run.flows[..] else { panic!() };
    assert_eq!(flow.delivered_packets, 300, "rounded up to whole packets");
    let took = run.metric("completion_time").unwrap();
    assert!((1.8..4.0).contains(&took), "{took}");
    assert_eq!((run.metric("incomplete"), flow.completion_s), (Some(0.0), Some(took)));
    let goodput = 438_000.0 * 8e-3 / took;
    assert!((run.metric("goodput").unwrap() - goodput).abs() < 1e-6, "over its own life");
    let rtt = run.metric("rtt_p50").unwrap();
    assert!(
        (46.0..46.0 + 66.0).contains(&rtt),
        "40 ms, one transmission, at most ten packets: {rtt}"
    );
    let cut = measured(TRANSFER, &["flow.t.bytes=1e9"]);
    assert_eq!((cut.metric("completion_time"), cut.metric("incomplete")), (None, Some(1.0)));
}

#[test]
fn an_algorithm_judges_a_cbr_flow_and_changes_nothing_else() {
    let settings = ["loss=0.05", "rate_bps=1.9e6", "flow.source.lda=always congestion"];
    let judged = measured(LINE, &settings);
    let plain = measured(LINE, &settings[..2]);
    assert_eq!((judged.metric("M_c"), judged.metric("M_w")), (Some(0.0), Some(100.0)));
    assert_eq!((plain.metric("M_c"), plain.metric("M_w")), (None, None));
    let [flow] = &judged.flows[..] else { panic!() };
    assert!(flow.judged_congestion > 10 && flow.judged_wireless > 10, "{flow:?}");
    assert_eq!(
        flow.judged_congestion + flow.judged_wireless + flow.undetected,
        flow.queue_drops + flow.wireless_drops
    );
    assert_eq!((judged.metric("goodput"), judged.links), (plain.metric("goodput"), plain.links));
}

#[test]
fn each_warning_comes_where_it_is_due_and_not_elsewhere() {
    use WarningKind::{DifferentWindows, FewLosses, NoLda, SlowStart, WindowLimited};
    let lda = "flow.t.lda=ZBS";
    let short = "link.line.queue_packets=3";
    let long = "link.line.queue_packets=200";
    let none: [WarningKind; 0] = [];
    assert_eq!(kinds(TRANSFER, &[lda, short, "duration_s=300", "loss=0.01"]), none);
    assert_eq!(kinds(TRANSFER, &["duration_s=60"]), [NoLda]);
    assert_eq!(kinds(TRANSFER, &["flow.t.lda=always congestion", "duration_s=300"]), [NoLda]);
    assert_eq!(
        kinds(TRANSFER, &[lda, short, "duration_s=300", "loss=0.01", "measure.from_s=10"]),
        [DifferentWindows]
    );
    assert_eq!(kinds(TRANSFER, &[lda, "loss=0", "tcp.max_window_pkts=5"]), [WindowLimited]);
    assert_eq!(kinds(TRANSFER, &[lda, long, "loss=0", "duration_s=0.3"]), [SlowStart]);
    assert_eq!(
        kinds(TRANSFER, &[lda, "loss=0.001", "duration_s=40", long]).first(),
        Some(&FewLosses)
    );
    let tfrc = "flow.t.protocol=tfrc";
    assert_eq!(kinds(TRANSFER, &[tfrc, lda, long, "loss=0", "duration_s=0.3"]), [SlowStart]);
    assert!(
        !kinds(TRANSFER, &[tfrc, lda, short, "duration_s=60", "loss=0.01"]).contains(&SlowStart)
    );
}

#[test]
fn a_comparison_finds_the_truths_worth_and_none_between_equals() {
    // Long enough for the truth's worth, 15 %, to stand out from chance.
    let text = TRANSFER.replace("duration_s = 30", "duration_s = 120");
    let scenario = Scenario::parse(&text, "s.toml", &Context::default()).unwrap();
    let compared = |variants: Vec<Variant>, jobs| {
        let plan = Plan::new(&scenario, variants, 5, 6).unwrap();
        plan.measure(&Jobs::new(jobs).unwrap().into(), None, |_, _| ()).unwrap()
    };
    let ldas =
        || ["none", "omniscient"].map(|lda| Variant::of_lda(&scenario, lda).unwrap()).to_vec();
    let comparison = compared(ldas(), 1);
    assert_eq!(comparison, compared(ldas(), 2), "for any number of threads");
    assert!(comparison.verdict.starts_with("omniscient: "), "{}", comparison.verdict);
    let [none, told] = &comparison.variants[..] else { panic!() };
    let goodput = &told.differences["goodput"];
    assert!(goodput.clear == Some(true) && goodput.percent.unwrap() > 10.0, "{goodput:?}");
    let mean = |place: usize| none.each_run[place].metrics["goodput"].unwrap();
    let plain = run(&scenario.experiment().unwrap(), 6).unwrap();
    assert_eq!(plain.metric("goodput"), Some(mean(1)), "none is the protocol without an algorithm");
    assert_eq!(none.each_run.iter().map(|run| run.seed).collect::<Vec<_>>(), [5, 6, 7, 8, 9, 10]);

    let same = compared(vec![Variant::unchanged(), Variant::parse("title=another").unwrap()], 2);
    assert_eq!(same.verdict, "no difference can be told from 6 runs");
    let goodput = &same.variants[1].differences["goodput"];
    assert_eq!((goodput.value, goodput.ci95, goodput.runs), (Some(0.0), Some(0.0), 6));

    let metrics = 2 * none.metrics.len();
    assert_eq!(comparison.beside(&comparison).same, metrics);
    let other =
        compared(vec![Variant::of_lda(&scenario, "none").unwrap(), Variant::unchanged()], 2);
    let found = other.beside(&comparison);
    assert_eq!((found.same, found.within, found.differing.len()), (metrics / 2, 0, metrics));
    assert!(found.differing.contains(&"unchanged, goodput: is new".to_owned()));
}
