//! Packets of a sender with the known cause of their losses.

extern crate std;

use std::vec::Vec;

use super::Passed;
use crate::{Span, Time};

pub(super) const PACKET: u64 = 1_500;

/// A minute of bursts that a link of 12.5 MB/s (100 Mb/s) brings: a flight per 50 ms, which falls
/// to 0.7 of itself where a packet of it was dropped and else grows by a packet. `drops` gets the
/// microsecond.
pub(super) fn course(mut drops: impl FnMut(u64) -> bool) -> Vec<Passed> {
    let mut course = Vec::new();
    let mut flight = 10;
    for round in 0..1_200_u64 {
        let mut is_any_lost = false;
        for place in 0..flight {
            let us = 50_000 * round + 120 * place;
            let is_lost = drops(us);
            is_any_lost |= is_lost;
            let at = Time::ZERO + Span::from_micros(us as i64);
            course.push(Passed { at, bytes: PACKET, is_lost });
        }
        flight = if is_any_lost { (flight * 7 / 10).max(2) } else { flight + 1 };
    }
    course
}

/// What a bucket drops that fills at `rate` bytes per second.
pub(super) fn bucket(rate: u64, holds: u64) -> impl FnMut(u64) -> bool {
    let mut tokens = holds as f64;
    let mut filled_us = 0;
    move |us| {
        tokens = (tokens + (us - filled_us) as f64 * rate as f64 / 1e6).min(holds as f64);
        filled_us = us;
        let is_dropped = tokens < PACKET as f64;
        tokens -= if is_dropped { 0.0 } else { PACKET as f64 };
        is_dropped
    }
}

/// One packet in `one_in`, at random.
pub(super) fn air(one_in: u64, mut state: u64) -> impl FnMut(u64) -> bool {
    move |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33).is_multiple_of(one_in)
    }
}
