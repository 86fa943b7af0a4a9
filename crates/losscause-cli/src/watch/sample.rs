//! What a watch may know, for tests.

use losscause::diagnosis::{Cause, Certainty, Diagnosis, Finding, PathRate, Unknown};
use losscause::{Span, Time};
use losscause_capture::{Cost, FlowDiagnosis, Vantage};
use losscause_linux::watch::{Prefix, PrefixReport, Process, Report, Snapshot};

/// Three connections: one behind a full queue, one whose losses are too few, one without losses.
pub(super) fn snapshot() -> Snapshot {
    let standing = Finding::Queued(11, 12, Span::from_millis(48));
    let mut cost = Cost::default();
    cost.goodput_bps = 9.1e6;
    cost.path_rate_bps = Some(9.6e6);
    cost.used = Some(9.1 / 9.6);
    cost.repair_s = Some(1.2);
    cost.timer_s = Some(0.0);
    let queue = FlowDiagnosis {
        diagnosis: Diagnosis {
            cause: Cause::FullQueue,
            certainty: Certainty::Clear,
            findings: [Some(standing), None, None],
        },
        path: Some(PathRate {
            rate_bps: 10_000_000,
            least_bps: 9_900_000,
            round_trip: Span::from_millis(40),
        }),
        cost: Some(cost),
        next: Vec::new(),
        vantage: Vantage::Sender,
    };
    let few = FlowDiagnosis {
        diagnosis: Diagnosis::not_shown(Unknown::TooFew, [None; 2]),
        path: None,
        cost: None,
        next: Vec::new(),
        vantage: Vantage::Sender,
    };
    let process = Process { number: 77, name: "nginx".to_owned() };
    let queued = Report {
        socket: 1,
        local: "192.0.2.1:443".parse().unwrap(),
        remote: "198.51.100.7:50000".parse().unwrap(),
        netns: 4_026_531_840,
        control: "cubic".to_owned(),
        cgroup: 1,
        process: Some(process),
        watched_s: 30.0,
        is_closed: false,
        rtt_ms: Some(86.2),
        rtt_min_ms: Some(40.1),
        queueing_ms: Some(46.1),
        cwnd_pkts: 70,
        flight_pkts: 68,
        goodput_bps: 9.1e6,
        acked_bytes: 34_125_000,
        sent_pkts: 23_600,
        lost_pkts: 59,
        lost_now_pkts: 5,
        by_timer_pkts: 1,
        spurious_pkts: 2,
        diagnosis: Some(Box::new(queue)),
    };
    let seldom = Report {
        socket: 2,
        local: "[2001:db8::1]:443".parse().unwrap(),
        remote: "[2001:db8:7::2]:50001".parse().unwrap(),
        control: "bbr".to_owned(),
        process: None,
        is_closed: true,
        rtt_ms: Some(12.0),
        queueing_ms: Some(0.3),
        goodput_bps: 48e6,
        lost_pkts: 3,
        diagnosis: Some(Box::new(few)),
        ..queued.clone()
    };
    let none = Report {
        socket: 3,
        remote: "198.51.100.8:50002".parse().unwrap(),
        rtt_ms: None,
        queueing_ms: None,
        goodput_bps: 0.0,
        lost_pkts: 0,
        diagnosis: None,
        ..queued.clone()
    };
    let prefix =
        |prefix, connections, goodput_bps, rtt_ms, lost: &[(&'static str, u64)]| PrefixReport {
            prefix,
            connections,
            goodput_bps,
            rtt_ms,
            acked_bytes: 34_125_000,
            sent_pkts: 23_600,
            lost_pkts: lost.iter().copied().collect(),
        };
    let prefixes = vec![
        prefix(Prefix::of("2001:db8:7::2".parse().unwrap()), 0, 0.0, None, &[("not-shown", 3)]),
        prefix(
            Prefix::of("198.51.100.7".parse().unwrap()),
            2,
            9.1e6,
            Some(86.2),
            &[("full-queue", 59), ("not-shown", 4)],
        ),
    ];
    Snapshot {
        time: Time::ZERO + Span::from_secs(1_700_000_000),
        connections: vec![queued, seldom, none],
        prefixes,
        unseen_records: 0,
    }
}
