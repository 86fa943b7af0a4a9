//! A run that is stopped, measured and advanced again is the run that was not.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use losscause::{Span, Time};
use losscause_sim::Event;
use losscause_study::run::{Trace, TraceRow, repeat, run_stopping_at};
use losscause_study::{Experiment, Jobs, Run, RunError, Stop, Workers, run, run_recorded};
use proptest::prelude::*;

mod common;

use common::{TWO_GROUPS, experiment};

/// TCP and TFRC with a hybrid algorithm, a source that comes and goes, a lossy link, a window
/// within the run.
fn mixed() -> Experiment {
    let measured = "[measure]\nfrom_s = 3\nto_s = 9\nbottleneck = \"line\"\n";
    let text = TWO_GROUPS
        .replace("[measure]\n", measured)
        .replace("[tcp]\nmax_window_pkts = 20\n", "")
        .replace("loss = 0.01", "loss = 0.02");
    let settings =
        ["duration_s=12", "flow.new.lda=ZBS", "flow.noise.start_s=2", "flow.noise.stop_s=10"];
    experiment(&text, &settings)
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_nanos((seconds * 1e9) as i64)
}

fn go_on<R>(_: &Run, _: &mut R) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn advance(run: &mut Run, seconds: f64) {
    assert!(run.advance(at(seconds), &mut (), go_on).is_continue());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn stops_and_measurements_on_the_way_change_no_measurement(
        instants in prop::collection::vec(0_i64..12_500_000_000, 0..20),
        breaks in prop::collection::vec(0_usize..40, 0..4),
        cwnd: bool,
        recorded: bool,
        seed in 1_u64..4,
    ) {
        let experiment = Experiment { cwnd, ..mixed() };
        let mut events: Vec<Event> = Vec::new();
        let expected = run_recorded(&experiment, seed, &mut events).unwrap();
        let mut stepped = Run::new(&experiment, seed).unwrap();
        let mut calls = 0;
        let mut taken = Vec::new();
        let mut trace = Trace::default();
        let mut instants = instants.iter().map(|&nanos| Time::ZERO + Span::from_nanos(nanos));
        while !stepped.is_finished() {
            let to = instants.next().unwrap_or(experiment.duration);
            let before = stepped.now();
            let mut stopped = false;
            let mut watch = |run: &Run| {
                calls += 1;
                stopped = breaks.contains(&calls);
                assert_eq!(run.measurements(), run.measurements());
                if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let outcome = if recorded {
                stepped.advance(to, &mut trace, |run, trace| {
                    taken.extend(trace.take(run.now()));
                    watch(run)
                })
            } else {
                stepped.advance(to, &mut (), |run, ()| watch(run))
            };
            prop_assert_eq!(outcome.is_break(), stopped);
            prop_assert!(stopped || stepped.now() == to.clamp(before, experiment.duration.max(before)));
            let names: Vec<String> = stepped.measurements().metrics.into_iter().map(|metric| metric.metric).collect();
            prop_assert_eq!(&names, &expected.metrics.iter().map(|m| m.metric.clone()).collect::<Vec<_>>());
        }
        prop_assert_eq!(stepped.measurements(), expected);
        if recorded {
            events.sort_by_key(|event| event.at);
            // Events of the same instant may change places; nothing is lost, doubled or late.
            prop_assert!(taken.is_sorted_by_key(|event| event.at));
            let sorted = |events: &[Event]| {
                let mut texts: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
                texts.sort();
                texts
            };
            prop_assert_eq!(sorted(&taken), sorted(&events));
        }
    }
}

/// 100 packets of 1000 bytes a second over a link that carries 125 a second, measured from 1 s to
/// 11 s.
const CBR: &str = r#"
title = "constant bit rate"
duration_s = 12
[measure]
from_s = 1
to_s = 11
bottleneck = "line"
[[link]]
name = "line"
rate_bps = 1e6
delay_ms = 10
queue_packets = 3
[[flow]]
name = "source"
protocol = "cbr"
path = ["line"]
rate_bps = 800e3
packet_bytes = 1000
measured = true
stop_s = 6
"#;

#[test]
fn undefined_values_are_none_and_a_window_is_measured_so_far() {
    let mut run = Run::new(&experiment(CBR, &[]), 1).unwrap();
    let close = |run: &Run, metric: &str, expected: f64, tolerance: f64| {
        let value = run.measurements().metric(metric).unwrap();
        assert!((value - expected).abs() <= tolerance, "{metric} is {value}, expected {expected}");
    };
    let start = run.measurements();
    assert_eq!(
        (start.metric("thput"), start.metric("goodput"), start.metric("cong")),
        (None, None, None)
    );
    assert_eq!((start.links[0].utilisation_percent, start.flows[0].start_s), (None, None));

    // 50 packets set out in 0.5 s; those of the last 18 ms are on their way.
    advance(&mut run, 0.499);
    let early = run.measurements();
    assert_eq!((early.flows[0].sent_packets, early.flows[0].received_packets), (50, 49));
    assert_eq!((early.metric("thput"), early.links[0].utilisation_percent), (None, None));
    assert_eq!(early.flows[0].bottleneck_packets, 0, "before the window");
    close(&run, "goodput", 49.0 * 8.0 / 0.499, 1e-9);

    // 2.5 s of the window: four fifths of the link, one packet more or less at its ends.
    advance(&mut run, 3.5);
    close(&run, "thput", 80.0, 100.0 / (2.5 * 125.0));
    assert!((run.measurements().links[0].utilisation_percent.unwrap() - 80.0).abs() < 0.33);
    assert_eq!(run.measurements().flows[0].stop_s, None, "it is still active");

    // The source stops after 5 of 10 s of the window; what follows the window changes nothing in
    // it.
    advance(&mut run, 11.0);
    let window = run.measurements();
    close(&run, "thput", 40.0, 0.081);
    assert!(!run.is_finished());
    assert_eq!(window.flows[0].stop_s, Some(6.0));
    advance(&mut run, 100.0);
    assert!(run.is_finished());
    assert_eq!((run.now(), run.measurements().metric("thput")), (at(12.0), window.metric("thput")));
}

#[test]
fn a_time_that_has_passed_and_one_beyond_the_end_change_nothing() {
    let experiment = experiment(CBR, &[]);
    let mut run = Run::new(&experiment, 1).unwrap();
    advance(&mut run, 7.0);
    let measured = run.measurements();
    advance(&mut run, 2.0);
    assert_eq!((run.now(), run.measurements()), (at(7.0), measured));
    advance(&mut run, 1e9);
    assert_eq!((run.now(), run.is_finished()), (experiment.duration, true));
    assert_eq!(run.measurements(), losscause_study::run(&experiment, 1).unwrap());
    run.finish(&mut ());
    assert_eq!(run.measurements(), losscause_study::run(&experiment, 1).unwrap());
}

/// 1.25 million packets a second for eleven days: a hundredth of the run is 12 billion packets.
fn busy() -> Experiment {
    let busy = CBR
        .replace("rate_bps = 1e6", "rate_bps = 20e9")
        .replace("rate_bps = 800e3", "rate_bps = 10e9");
    experiment(
        &busy
            .replace("duration_s = 12", "budget = 10\nduration_s = 1e6")
            .replace("stop_s = 6\n", ""),
        &[],
    )
}

#[test]
fn a_run_ends_early_on_request_and_else_measures_the_same() {
    let stop = Stop::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(20));
            stop.request();
        });
        assert!(matches!(run_stopping_at(&busy(), 1, &stop), Err(RunError::Stopped(_))));
    });
    let workers = Workers::from(Jobs::default()).stopping_at(&stop);
    assert!(matches!(repeat(&busy(), 1, 2, workers, |_| ()), Err(RunError::Stopped(_))));
    let mixed = mixed();
    assert_eq!(run_stopping_at(&mixed, 1, &Stop::new()).unwrap(), run(&mixed, 1).unwrap());
}

#[test]
fn a_long_run_can_be_stopped_after_some_thousand_events() {
    let mut run = Run::new(&busy(), 1).unwrap();
    let mut calls = 0;
    let outcome = run.advance(at(1e6), &mut (), |run, ()| {
        calls += 1;
        let sent = run.measurements().flows[0].sent_packets;
        assert!(sent <= calls * 20_000, "{sent} packets by call {calls}");
        if calls == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((outcome, calls), (ControlFlow::Break(()), 10));
    assert!(run.now() > Time::ZERO && run.now() < at(1.0), "{:?}", run.now());
    let sent = run.measurements().flows[0].sent_packets;
    assert_eq!(
        sent,
        run.now().as_nanos() as u64 / 800 + 1,
        "one at the start and one every 800 ns"
    );
}

#[test]
fn rows_of_a_trace_come_while_the_run_goes_on() {
    let experiment = experiment(CBR, &[]);
    let mut run = Run::new(&experiment, 1).unwrap();
    let mut trace = Trace::default();
    let mut rows = |until: f64| {
        assert!(run.advance(at(until), &mut trace, go_on).is_continue());
        let rows = trace.take(run.now()).map(|event| TraceRow::of(&event, &experiment.network));
        rows.map(|row| serde_json::to_value(row).unwrap()).collect::<Vec<_>>()
    };
    // The first packet: sent and transmitted at once, 8 ms later sent by the link, 10 ms later
    // received.
    let first = rows(0.009);
    let events: Vec<&str> = first.iter().map(|row| row["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["sent", "enqueue", "transmit"]);
    assert_eq!(
        (&first[0]["flow"], &first[0]["link"]),
        (&"source".into(), &serde_json::Value::Null)
    );
    assert_eq!(
        (&first[2]["link"], &first[2]["time_ns"], &first[2]["bytes"]),
        (&"line".into(), &0.into(), &1000.into())
    );
    let next = rows(0.018);
    let of_packet = |seq: i64| {
        next.iter().filter(move |row| row["seq"] == seq).map(|row| row["event"].as_str().unwrap())
    };
    assert_eq!(of_packet(0).collect::<Vec<_>>(), ["deliver", "received"]);
    assert!(
        next.iter().all(|row| row["time_ns"].as_i64().unwrap() > 9_000_000),
        "each row comes once"
    );
}

#[test]
fn a_run_at_once_is_a_run_in_steps() {
    let experiment = mixed();
    let mut stepped = Run::new(&experiment, 7).unwrap();
    for second in 1..=12 {
        advance(&mut stepped, f64::from(second));
    }
    assert_eq!(stepped.measurements(), run(&experiment, 7).unwrap());
    assert_eq!((stepped.seed(), stepped.experiment().duration), (7, at(12.0)));
}
