//! The cost of every algorithm, counted at run time. This keeps `Info::operations` in agreement
//! with the code.
//!
//! The algorithms' own files are compiled here a second time, with the times of `time.rs` beside
//! this file: they count every operator. The crate itself computes with plain integers and floats.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    unused_imports,
    reason = "parts of the crate, for the algorithms"
)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[path = "../../src/algorithm.rs"]
mod algorithm;
#[path = "../../src/filter/mod.rs"]
mod filter;
#[path = "../../src/lda/mod.rs"]
mod lda;
#[path = "../../src/loss.rs"]
mod loss;
#[path = "../../src/observe.rs"]
mod observe;
#[path = "../../src/registry/mod.rs"]
mod registry;
mod time;
#[path = "../../src/verdict.rs"]
mod verdict;

use algorithm::{Algorithm, Needs, Observer, Scope};
use lda::{AnyAlgorithm, BuiltIn, LdaConfig};
use loss::{Loss, Recovery, Signal};
use observe::{Acked, Interval, Numbers, Observation};
use registry::{ConfigError, End, Operations};
use time::{Count, Span, Time, count};
use verdict::{Amount, Evidence, Input, Judgement, Reason, Verdict};

/// The time that many milliseconds from zero on.
fn at(ms: i64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// ZBS counts the packets of a lock down, in a plain integer.
const COUNTDOWN: u32 = 1;

/// Packets `interval_us` apart whose ROTTs repeat `rotts_us`. The first two set the extremes and a
/// T_min of 5 ms. Every 50th arrival follows a gap of one to four packets.
fn trace(rotts_us: &[i64], interval_us: i64) -> Vec<Observation> {
    let mut seq = 0;
    let mut at = Time::ZERO;
    (0..2_000_usize)
        .map(|i| {
            let packets = if i % 50 == 49 { 2 + (i as u32 / 50) % 4 } else { 1 };
            let span =
                Span::from_micros(if i == 1 { 5_000 } else { interval_us }) * i64::from(packets);
            (seq, at) = (seq + u64::from(packets), at + span);
            let rott = match i {
                0 => 0,
                1 => 100_000,
                _ => rotts_us[i % rotts_us.len()],
            };
            let first = Observation::first(seq, at).with_delay(Some(Span::from_micros(rott)));
            if i > 0 { first.after(span).with_gap(packets - 1) } else { first }
        })
        .collect()
}

/// Traces that reach every path of the algorithms: low, middle and high ROTT; T_narr about 1, 1.7,
/// 3 and 20, the last with locks that end by time.
fn traces() -> Vec<Vec<Observation>> {
    let rotts: [&[i64]; 3] =
        [&[10, 40, 20], &[30_000, 60_000, 45_000, 52_000], &[90_000, 80_000, 99_000]];
    rotts
        .iter()
        .flat_map(|r| [5_500, 8_500, 15_000, 100_000].map(|interval| trace(r, interval)))
        .collect()
}

fn largest(a: Count, b: Count) -> Count {
    Count {
        additions: a.additions.max(b.additions),
        multiplications: a.multiplications.max(b.multiplications),
    }
}

/// The largest cost of an arrival without gap and new extremes, and of a judgement; both include
/// their inputs.
fn measured(algorithm: BuiltIn) -> Operations {
    let mut arrival_cost = Count::default();
    let mut loss_cost = Count::default();
    for trace in traces() {
        let mut lda = algorithm.build(End::Receiver).expect("for receivers");
        for (i, arrival) in trace.iter().enumerate() {
            let cost = count(|| lda.observe(arrival));
            let in_gap = arrival.reveals_gap();
            if i > 1 && !in_gap {
                arrival_cost = largest(arrival_cost, cost);
            }
            if in_gap {
                let loss = Loss::in_gap(arrival.seq - 1, *arrival);
                let mut cost = count(|| _ = lda.judge(&loss));
                // The tracker subtracts once for n, where a rule uses it.
                let evidence = lda.judge(&loss).evidence().copied();
                cost.additions +=
                    u32::from(evidence.is_some_and(|evidence| evidence.lost.is_some()));
                loss_cost = largest(loss_cost, cost);
            }
        }
    }
    // The tracker subtracts once for the ROTT and once for T_i.
    let needs = algorithm.build(End::Receiver).expect("for receivers").needs();
    let inputs = u32::from(needs.delay) + u32::from(needs.spacing);
    let countdown = if algorithm == BuiltIn::Zbs { COUNTDOWN } else { 0 };
    Operations {
        additions_per_arrival: arrival_cost.additions + inputs + countdown,
        additions_after_loss: loss_cost.additions,
        multiplications_per_arrival: arrival_cost.multiplications,
        multiplications_after_loss: loss_cost.multiplications,
    }
}

#[test]
fn every_algorithm_costs_what_it_is_said_to_cost() {
    // Sift's cost is not counted: it is not in the paper's table.
    for algorithm in
        BuiltIn::at_receivers().filter(|algorithm| algorithm.info().operations.is_some())
    {
        assert_eq!(Some(measured(algorithm)), algorithm.info().operations, "{algorithm}");
    }
}

#[test]
fn a_new_extreme_costs_spike_two_multiplications_more() {
    let mut spike = BuiltIn::Spike.build(End::Receiver).expect("for receivers");
    let trace = trace(&[50_000], 10_000);
    spike.observe(&trace[0]);
    let with_new_maximum = count(|| spike.observe(&trace[1]));
    let without = count(|| spike.observe(&trace[2]));
    assert_eq!(with_new_maximum.multiplications, 2);
    assert_eq!(without.multiplications, 0);
}

#[test]
fn an_added_multiplication_would_be_counted() {
    let span = Span::from_millis(3);
    let counted = count(|| {
        let _ = span.as_nanos_f64() / 2.0 < (span - Span::ZERO).as_nanos_f64();
        let _ = 0.5 * span.as_nanos_f64() + span.as_nanos_f64();
        let _ = span * 3 / 2;
    });
    assert_eq!(counted, Count { additions: 3, multiplications: 4 });
}

#[test]
fn the_algorithms_compute_in_counted_types_only() {
    let sources = [
        ("biaz.rs", include_str!("../../src/lda/biaz.rs")),
        ("spike.rs", include_str!("../../src/lda/spike.rs")),
        ("zigzag.rs", include_str!("../../src/lda/zigzag.rs")),
        ("zbs.rs", include_str!("../../src/lda/zbs.rs")),
        ("constant.rs", include_str!("../../src/lda/constant.rs")),
        ("mean.rs", include_str!("../../src/filter/mean.rs")),
        ("extremes.rs", include_str!("../../src/filter/extremes.rs")),
        ("lookback.rs", include_str!("../../src/filter/lookback.rs")),
    ];
    for (file, source) in sources {
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        // The number of packets by which T_avg divides is a float by conversion only.
        let code = code.replace("span / f64::from(pkts)", "");
        for uncounted in ["as_nanos()", "as_secs", "as i64", "as f64", "f64::from", "wrapping_"] {
            assert!(
                !code.contains(uncounted),
                "{file} computes with {uncounted}, which is not counted"
            );
        }
    }
}
