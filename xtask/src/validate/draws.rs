//! Random draws that both simulators share: when flows start, and which packets the channel
//! corrupts.

use losscause::{Span, Time};
use losscause_sim::rng::Stream;

use super::grid::{Cell, Run};

/// Start times of `cell`'s flows, uniform over the first moments, in the order of the flows.
pub(super) fn starts(cell: &Cell, run: &Run, seed: u64) -> Vec<Time> {
    let mut stream = Stream::new(seed, "validate/starts");
    let within_us = run.start_within_s.unsigned_abs() * 1_000_000;
    // ns-2 reads times as decimal seconds, which hold whole microseconds exactly.
    let draw = |_| Time::ZERO + Span::from_micros(stream.below(within_us) as i64);
    (0..cell.flows).map(draw).collect()
}

/// Which packets the bottleneck's channel corrupts, counted in the order of transmission, for as
/// many packets as the bottleneck can send in a run.
pub(super) fn errors(cell: &Cell, run: &Run, seed: u64) -> Vec<bool> {
    let bits = cell.rate_kbps * 1000 * run.duration_s.unsigned_abs();
    // SYNs are smaller than other packets, so there are spare slots.
    let slots = bits / (8 * u64::from(cell.payload_bytes)) + 1000;
    let mut stream = Stream::new(seed, "validate/errors");
    (0..slots).map(|_| stream.uniform() < cell.loss).collect()
}
