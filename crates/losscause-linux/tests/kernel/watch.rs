//! Connections are judged by what the kernel hands over, whatever their congestion control, and
//! nothing is left behind.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use libbpf_rs::query::ProgInfoIter;
use losscause::diagnosis::{Cause, Certainty};
use losscause_linux::watch::{Filter, Report, Snapshot, Watch};

use super::link::Link;
use super::{fit, hang};

const PAUSE: Duration = Duration::from_millis(100);

fn filter(given: &[&str]) -> Filter {
    let mut filter = Filter::default();
    given.iter().for_each(|given| filter.add(given).unwrap());
    filter
}

/// The connection from the near host of a link. Other links may have the same addresses.
fn transfer<'a>(snapshot: &'a Snapshot, link: &Link) -> Option<&'a Report> {
    let namespace = || std::fs::metadata("/proc/thread-self/ns/net").unwrap().ino();
    let near = link.near(namespace);
    let is_near = |report: &&Report| u64::from(report.netns) == near;
    snapshot.connections.iter().find(is_near)
}

/// Watches a transfer until the far host has so many bytes.
fn watched(link: &Link, control: &'static str, bytes: u64) -> Report {
    let mut watch = Watch::begin(&filter(&["port=5001"])).unwrap();
    let sending = link.start(control);
    hang::wait_until(&format!("{bytes} bytes have arrived"), || {
        watch.collect(PAUSE).unwrap();
        link.delivered() >= bytes
    });
    let snapshot = watch.last_snapshot().unwrap();
    sending.stop();
    assert_eq!(snapshot.unseen_records, 0);
    transfer(&snapshot, link).unwrap().clone()
}

fn programs() -> BTreeSet<u32> {
    ProgInfoIter::default().map(|info| info.id).collect()
}

#[test]
fn random_losses_of_any_congestion_control_are_the_air_s() {
    let Some(_one) = fit() else { return };
    for control in ["reno", "cubic"] {
        let report = watched(&Link::random(50), control, 2_000_000);
        println!("{control}: {report:?}");
        assert_eq!(report.control, control);
        assert!(report.rtt_min_ms.unwrap() >= super::link::RTT_MS - 1.0, "{report:?}");
        // One of 50 of 1,400 packets, and what slow start sends too much at first.
        assert!((10..200).contains(&report.lost_pkts), "{report:?}");
        let diagnosis = report.diagnosis.unwrap().diagnosis;
        // A busy machine may hide it; another cause would be wrong.
        assert!(
            diagnosis.cause == Cause::Air || diagnosis.certainty == Certainty::CannotTell,
            "{diagnosis}"
        );
    }
}

#[test]
fn a_queue_that_overflows_is_not_called_the_air() {
    let Some(_one) = fit() else { return };
    let report = watched(&Link::new(0), "reno", 8_000_000);
    println!("{report:?}");
    assert!(report.lost_pkts > 0 && report.queueing_ms.is_some(), "{report:?}");
    let diagnosis = report.diagnosis.unwrap().diagnosis;
    assert!(
        matches!(diagnosis.cause, Cause::FullQueue | Cause::ManagedQueue)
            || diagnosis.certainty == Certainty::CannotTell,
        "{diagnosis}"
    );
}

#[test]
fn a_path_that_is_cut_is_an_outage() {
    let Some(_one) = fit() else { return };
    let mut watch = Watch::begin(&filter(&["prefix=10.77.0.0/24"])).unwrap();
    let link = Link::new(0);
    let sending = link.start("cubic");
    // The queue is not full yet.
    link.wait_for_delivery(50_000);
    link.cut();
    let report = hang::wait_for("the timer has expired often", || {
        watch.collect(PAUSE).unwrap();
        let snapshot = watch.last_snapshot().unwrap();
        let report = transfer(&snapshot, &link).cloned()?;
        (report.by_timer_pkts > 3).then_some(report)
    });
    sending.stop();
    let diagnosis = report.diagnosis.unwrap().diagnosis;
    assert_eq!(diagnosis.cause, Cause::Outage, "{diagnosis}");
}

#[test]
fn what_a_filter_leaves_out_is_not_listed() {
    let Some(_one) = fit() else { return };
    for given in ["port=5002", "prefix=192.0.2.0/24", "process=no such process"] {
        let mut watch = Watch::begin(&filter(&[given])).unwrap();
        let link = Link::new(0);
        link.transfer("cubic", 200_000);
        watch.collect(PAUSE).unwrap();
        let snapshot = watch.last_snapshot().unwrap();
        assert!(transfer(&snapshot, &link).is_none(), "{given}: {snapshot:?}");
    }
    let mut watch = Watch::begin(&filter(&["port=5001"])).unwrap();
    let link = Link::new(0);
    let sending = link.start("cubic");
    link.wait_for_delivery(200_000);
    watch.collect(PAUSE).unwrap();
    let report = transfer(&watch.last_snapshot().unwrap(), &link).unwrap().clone();
    sending.stop();
    assert_eq!(report.process.unwrap().number, std::process::id());
}

#[test]
fn a_second_watch_is_refused_and_nothing_is_left_of_the_first() {
    let Some(_one) = fit() else { return };
    let before = programs();
    let watch = Watch::begin(&Filter::default()).unwrap();
    assert_eq!(programs().difference(&before).count(), 4);
    let refused = Watch::begin(&Filter::default()).err().unwrap().to_string();
    assert!(refused.starts_with("another `losscause watch` runs here"), "{refused}");
    let mode = fs::metadata("/run/losscause-watch.lock").unwrap().mode();
    assert_eq!(mode & 0o777, 0o600, "no other user can take the lock from root");
    drop(watch);
    hang::wait_until("the programs are gone", || programs().is_subset(&before));
    drop(Watch::begin(&Filter::default()).unwrap());
    let refused = Watch::begin(&filter(&["cgroup=/proc"])).err().unwrap().to_string();
    assert!(refused.starts_with("/proc: is no control group"), "{refused}");
}
