//! The cost of every algorithm, counted at run time. This keeps `Info::operations` in agreement with the code.

extern crate std;

use std::vec::Vec;

use crate::filter::Real;
use crate::registry::{BuiltIn, End, Operations};
use crate::tally::{self, Count};
use crate::{Algorithm, Loss, Observation, Span, Time};

/// Packets `interval_us` apart whose ROTTs repeat `rotts_us`. The first two set the extremes and a T_min of 5 ms. Every
/// 50th arrival follows a gap of one to four packets.
fn trace(rotts_us: &[i64], interval_us: i64) -> Vec<Observation> {
    let (mut seq, mut at) = (0, Time::ZERO);
    (0..2_000_usize)
        .map(|i| {
            let packets = if i % 50 == 49 { 2 + (i as u32 / 50) % 4 } else { 1 };
            let span = Span::from_micros(if i == 1 { 5_000 } else { interval_us }) * i64::from(packets);
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

/// Traces that reach every path of the algorithms: low, middle and high ROTT; T_narr about 1, 1.7, 3 and 20, the last
/// with locks that end by time.
fn traces() -> Vec<Vec<Observation>> {
    let rotts: [&[i64]; 3] = [&[10, 40, 20], &[30_000, 60_000, 45_000, 52_000], &[90_000, 80_000, 99_000]];
    rotts.iter().flat_map(|r| [5_500, 8_500, 15_000, 100_000].map(|interval| trace(r, interval))).collect()
}

fn largest(a: Count, b: Count) -> Count {
    Count { additions: a.additions.max(b.additions), multiplications: a.multiplications.max(b.multiplications) }
}

/// The largest cost of an arrival without gap and new extremes, and of a judgement; both include their inputs.
fn measured(algorithm: BuiltIn) -> Operations {
    let (mut arrival_cost, mut loss_cost) = (Count::default(), Count::default());
    for trace in traces() {
        let mut lda = algorithm.build(End::Receiver).expect("for receivers");
        for (i, arrival) in trace.iter().enumerate() {
            let cost = tally::count(|| lda.observe(arrival));
            let in_gap = arrival.reveals_gap();
            if i > 1 && !in_gap {
                arrival_cost = largest(arrival_cost, cost);
            }
            if in_gap {
                let loss = Loss::in_gap(arrival.seq - 1, *arrival);
                let mut cost = tally::count(|| _ = lda.judge(&loss));
                // The tracker subtracts once for n, where a rule uses it.
                let evidence = lda.judge(&loss).evidence().copied();
                cost.additions += u32::from(evidence.is_some_and(|evidence| evidence.lost.is_some()));
                loss_cost = largest(loss_cost, cost);
            }
        }
    }
    // The tracker subtracts once for the ROTT and once for T_i.
    let needs = algorithm.build(End::Receiver).expect("for receivers").needs();
    let inputs = u32::from(needs.delay) + u32::from(needs.spacing);
    Operations {
        additions_per_arrival: arrival_cost.additions + inputs,
        additions_after_loss: loss_cost.additions,
        multiplications_per_arrival: arrival_cost.multiplications,
        multiplications_after_loss: loss_cost.multiplications,
    }
}

#[test]
fn every_algorithm_costs_what_it_is_said_to_cost() {
    // Sift's cost is not counted: it is not in the paper's table.
    for algorithm in BuiltIn::at_receivers().filter(|algorithm| algorithm.info().operations.is_some()) {
        assert_eq!(Some(measured(algorithm)), algorithm.info().operations, "{algorithm}");
    }
}

#[test]
fn a_new_extreme_costs_spike_two_multiplications_more() {
    let mut spike = BuiltIn::Spike.build(End::Receiver).expect("for receivers");
    let trace = trace(&[50_000], 10_000);
    spike.observe(&trace[0]);
    let with_new_maximum = tally::count(|| spike.observe(&trace[1]));
    let without = tally::count(|| spike.observe(&trace[2]));
    assert_eq!(with_new_maximum.multiplications, 2);
    assert_eq!(without.multiplications, 0);
}

#[test]
fn an_added_multiplication_would_be_counted() {
    let span = Span::from_millis(3);
    let count = tally::count(|| {
        let _ = Real::from_span(span) * Real::new(0.5) < Real::from_span(span - Span::ZERO);
        let _ = span * 3 / 2;
    });
    assert_eq!(count, Count { additions: 2, multiplications: 3 });
}

#[test]
fn the_algorithms_compute_in_counted_types_only() {
    let sources = [
        ("biaz.rs", include_str!("biaz.rs")),
        ("spike.rs", include_str!("spike.rs")),
        ("zigzag.rs", include_str!("zigzag.rs")),
        ("zbs.rs", include_str!("zbs.rs")),
        ("constant.rs", include_str!("constant.rs")),
        ("../filter/mean.rs", include_str!("../filter/mean.rs")),
        ("../filter/extremes.rs", include_str!("../filter/extremes.rs")),
        ("../filter/lookback.rs", include_str!("../filter/lookback.rs")),
    ];
    for (file, source) in sources {
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        for uncounted in ["as_nanos", "as_secs", "as i64", "as f64", "f64::from", "wrapping_"] {
            assert!(!code.contains(uncounted), "{file} computes with {uncounted}, which is not counted");
        }
    }
}
