//! Google Congestion Control alone and behind an algorithm, over the simulator's links in virtual
//! time.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "common/call.rs"]
mod common;

use common::{Call, Hears, PATHS, call};
use losscause::registry::Registry;
use losscause_rtc::{Caps, LossTolerant};
use rtc_interceptor::Gcc;

/// From 1 Mb/s, within 100 kb/s and 20 Mb/s.
fn gcc() -> Gcc {
    Gcc::new(1e6, 1e5, 2e7)
}

fn recommended(path: &str, loss: f64, seed: u64) -> Call {
    call(path, loss, seed, &mut LossTolerant::recommended(gcc()), Hears::All)
}

/// The same with caps that ignore up to a fifth of the packets.
fn wide() -> LossTolerant<Gcc> {
    let caps = Caps { max_share: 0.2, max_loss_rate: 0.3, ..Caps::default() };
    LossTolerant::recommended(gcc()).with_caps(caps).unwrap()
}

#[test]
fn three_percent_on_a_wire_leave_nine_tenths_of_the_rate() {
    let clean = call("wire", 0.0, 1, &mut gcc(), Hears::All);
    let ours = recommended("wire", 0.03, 1);
    assert!(ours.rate_bps >= 0.9 * clean.rate_bps, "{clean:?}, {ours:?}");
}

#[test]
fn ten_percent_stop_the_estimator_alone_and_not_ours_with_wide_caps() {
    for path in ["wire", "FQ-CoDel"] {
        let alone = call(path, 0.1, 1, &mut gcc(), Hears::All);
        let told = call(path, 0.1, 1, &mut gcc(), Hears::NoAirLosses);
        let ours = call(path, 0.1, 1, &mut wide(), Hears::All);
        assert!(alone.rate_bps < told.rate_bps / 10.0, "{path}: {alone:?}, {told:?}");
        assert!(ours.rate_bps >= 0.9 * told.rate_bps, "{path}: {ours:?}, {told:?}");
    }
}

#[test]
fn without_random_loss_queues_drop_as_much_as_with_the_estimator_alone() {
    for path in ["wire", "LTE", "Wi-Fi", "satellite", "FQ-CoDel"] {
        let alone = call(path, 0.0, 1, &mut gcc(), Hears::All);
        let ours = recommended(path, 0.0, 1);
        assert!(ours.queue_drops <= alone.queue_drops * 11 / 10, "{path}: {alone:?}, {ours:?}");
        assert!(ours.queued_ms <= alone.queued_ms * 1.1, "{path}: {alone:?}, {ours:?}");
    }
}

/// So many seeds have a value.
const RUNS: u64 = 10;

/// Means over the seeds: rate in Mb/s, time in queues in ms, queue drops in percent of the packets.
fn cell(run: impl Fn(u64) -> Call) -> String {
    let calls: Vec<Call> = (1..=RUNS).map(run).collect();
    let sum = |value: fn(&Call) -> f64| calls.iter().map(value).sum::<f64>();
    let drops = 100.0 * sum(|call| call.queue_drops as f64) / sum(|call| call.sent_pkts as f64);
    let rate = sum(|call| call.rate_bps) / (1e6 * RUNS as f64);
    format!("{rate:.2}, {:.0}, {drops:.2}", sum(|call| call.queued_ms) / RUNS as f64)
}

#[test]
#[ignore = "prints the table of results/webrtc.md in some minutes"]
fn table() {
    let named = |name| LossTolerant::named(gcc(), name, &Registry::built_in()).unwrap();
    for path in PATHS {
        for loss in [0.0, 0.01, 0.03, 0.1] {
            let cells = [
                cell(|seed| call(path, loss, seed, &mut gcc(), Hears::All)),
                cell(|seed| recommended(path, loss, seed)),
                cell(|seed| call(path, loss, seed, &mut wide(), Hears::All)),
                cell(|seed| call(path, loss, seed, &mut named("ZBS"), Hears::All)),
                cell(|seed| call(path, loss, seed, &mut named("Sift"), Hears::All)),
                cell(|seed| call(path, loss, seed, &mut gcc(), Hears::NoAirLosses)),
            ];
            println!("| {path} | {} % | {} |", 100.0 * loss, cells.join(" | "));
        }
    }
}
