//! Guard and brake of the programs against the reference: drawn connections, the same answer to
//! every report of losses.

use std::fmt::Write;

use losscause::safeguard::Watch;
use losscause::{Acked, Loss, Observation, Safeguard, Safeguards, Signal, Span, Time, Verdict};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::host::Host;

/// A step of a connection.
#[derive(Clone, Copy, Debug)]
enum Step {
    Ack { at: i64, rtt: Option<i64>, delivered: u32 },
    Lost { at: i64, sent_at: Option<i64>, lost: u32, flight: u32, wireless: bool, keeps: u32 },
}

/// What shapes a connection. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Path {
    began: i64,
    /// 0: a clock that stands still.
    spacing: i64,
    base: i64,
    most_queued: i64,
    flight: u32,
    /// Reports of losses per 64 steps.
    reports: u32,
    most_lost: u32,
    keeps: u32,
}

/// Random numbers of a step.
type Drawn = (i64, u32, u32, u32);

fn path() -> impl Strategy<Value = Path> {
    let times = (
        prop_oneof![Just(0_i64), 0..100_000_000_000_i64, Just(5_000_000_000_000_000)],
        prop_oneof![1 => Just(0_i64), 9 => 10_000..20_000_000_i64],
        prop_oneof![1 => Just(1_i64), 9 => 100_000..300_000_000_i64],
        prop_oneof![Just(0_i64), 0..500_000_000_i64],
    );
    let packets = (
        prop_oneof![1 => Just(0_u32), 1 => Just(1), 6 => 2..2_000_u32, 1 => Just(u32::MAX)],
        prop_oneof![1..4_u32, 4..40_u32],
        prop_oneof![4 => 1..3_u32, 2 => 1..40_u32, 1 => Just(u32::MAX)],
        prop_oneof![Just(Watch::HALF), Just(Watch::CUBIC), Just(0_u32), Just(1024), 1..1_024_u32],
    );
    (times, packets).prop_map(|((began, spacing, base, most_queued), packets)| {
        let (flight, reports, most_lost, keeps) = packets;
        Path { began, spacing, base, most_queued, flight, reports, most_lost, keeps }
    })
}

fn connection() -> impl Strategy<Value = Vec<Step>> {
    let drawn = (0..1_000_i64, any::<u32>(), any::<u32>(), any::<u32>());
    (path(), proptest::collection::vec(drawn, 100..600))
        .prop_map(|(path, drawn)| steps(path, &drawn))
}

fn steps(path: Path, drawn: &[Drawn]) -> Vec<Step> {
    let mut at = path.began;
    let mut queued = 0;
    let step = |&(share, kind, pkts, other): &Drawn| {
        at += path.spacing * share / 500;
        // One time in 500 the path is silent for up to half a minute.
        if share < 2 && path.spacing > 0 {
            at += i64::from(other % 30_000) * 1_000_000;
        }
        queued = match other % 16 {
            0 => 0,
            1 => path.most_queued,
            _ => (queued + path.most_queued * (share - 480) / 5_000).clamp(0, path.most_queued),
        };
        if kind % 64 >= path.reports {
            let rtt = (other % 10 > 0).then_some(path.base + queued);
            return Step::Ack {
                at,
                rtt,
                delivered: pkts % 4 * (1 + pkts % 1_001 / 1_000 * 20_000),
            };
        }
        let sent_at = (other % 4 > 0).then_some(at - path.base - queued);
        let lost = pkts % path.most_lost.max(1) + 1;
        Step::Lost {
            at,
            sent_at,
            lost,
            flight: path.flight.saturating_sub(other % 5),
            wireless: share % 8 > 0,
            keeps: path.keeps,
        }
    };
    drawn.iter().map(step).collect()
}

/// The connection as `bpf/safeguard.c` reads it.
fn lines(steps: &[Step]) -> String {
    let mut text = "s\n".to_owned();
    for &step in steps {
        match step {
            Step::Ack { at, rtt, delivered } => {
                writeln!(text, "a {at} {} {delivered}", rtt.unwrap_or(-1)).unwrap();
            }
            Step::Lost { at, sent_at, lost, flight, wireless, keeps } => {
                let sent_at = sent_at.map_or_else(|| "-".to_owned(), |sent_at| sent_at.to_string());
                let wireless = u8::from(wireless);
                writeln!(text, "l {at} {sent_at} {lost} {flight} {wireless} {keeps}").unwrap();
            }
        }
    }
    text
}

/// The answers of the reference.
fn reference(steps: &[Step], safeguards: Safeguards) -> Vec<Option<Safeguard>> {
    let mut watch = Watch::new(safeguards);
    let mut answers = Vec::new();
    for &step in steps {
        match step {
            Step::Ack { at, rtt, delivered } => {
                let ack = Observation::first(0, Time::from_nanos(at))
                    .with_delay(rtt.map(Span::from_nanos));
                watch.on_ack(&ack.with_acked(Acked::new(delivered.into())));
            }
            Step::Lost { at, sent_at, lost, flight, wireless, keeps } => {
                let mut loss = Loss::new(Time::from_nanos(at), Signal::Gap);
                loss.sent_at = sent_at.map(Time::from_nanos);
                loss.lost_pkts = lost;
                loss.in_flight_pkts = flight.into();
                let verdict = if wireless { Verdict::Wireless } else { Verdict::Congestion };
                answers.push(watch.on_loss(&loss, verdict, Some(keeps)));
            }
        }
    }
    answers
}

/// An answer as `bpf/safeguard.c` prints it.
fn line(answer: Option<Safeguard>) -> String {
    match answer {
        None => "0 0 0 0 0 0 0 0 0".to_owned(),
        Some(Safeguard::Guard { queue, base, kept_1024 }) => {
            format!("1 {} {} 0 0 {kept_1024} 0 0 0", queue.as_nanos(), base.as_nanos())
        }
        Some(Safeguard::Brake { lost_pkts, reports, flight_pkts, expected_1024, rounds_ago }) => {
            format!("2 0 0 {lost_pkts} {expected_1024} 0 {flight_pkts} {reports} {rounds_ago}")
        }
    }
}

#[test]
fn drawn_connections_get_the_same_safeguards() {
    let mut runner = TestRunner::deterministic();
    let connections: Vec<Vec<Step>> =
        (0..2_500).map(|_| connection().new_tree(&mut runner).unwrap().current()).collect();
    let text: String = connections.iter().map(|steps| lines(steps)).collect();
    let host = Host::safeguard();
    for (guard, brake) in [(true, true), (true, false), (false, true), (false, false)] {
        let safeguards = Safeguards { guard, brake };
        let expected: Vec<Option<Safeguard>> =
            connections.iter().flat_map(|steps| reference(steps, safeguards)).collect();
        let output = host.run(&[guard.into(), brake.into()], &text);
        let answers: Vec<&str> = output.lines().collect();
        assert_eq!(answers.len(), expected.len());
        let different = answers.iter().zip(&expected).filter(|(a, b)| **a != line(**b)).count();
        let name = |given: &Option<Safeguard>| given.map(|safeguard| safeguard.name());
        let count = |answer| expected.iter().filter(|given| name(given) == Some(answer)).count();
        let reports = expected.len();
        println!(
            "{safeguards:?}: {reports} reports, {} guarded, {} braked",
            count("guard"),
            count("brake")
        );
        assert_eq!(different, 0, "{safeguards:?}: of {reports} reports");
        assert!(reports > 100_000, "only {reports} reports");
        assert_eq!(
            [count("guard") > 1_000, count("brake") > 1_000],
            [guard, brake],
            "{safeguards:?}"
        );
    }
}
