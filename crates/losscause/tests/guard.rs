//! The guard on paths that answer: a sender with a window, a link with a queue, and losses that have
//! nothing to do with it.

use std::collections::VecDeque;

use losscause::safeguard::Watch;
use losscause::{Acked, Loss, Observation, Safeguard, Safeguards, Signal, Span, Time, Verdict};
use proptest::prelude::*;

/// A path, and a sender of Reno or CUBIC on it that calls every loss wireless. Times are in
/// milliseconds.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// When the clock began.
    zero: Time,
    /// One packet of the link.
    packet: f64,
    /// Two round-trip times without a queue, and when the second one begins.
    bases: [f64; 2],
    changes: f64,
    /// Packets that the window never exceeds.
    most: f64,
    /// One packet in so many is lost.
    one_lost_in: u64,
    kept_1024: u32,
    seed: u64,
}

/// What became of a path.
#[derive(Clone, Debug, PartialEq)]
struct Run {
    /// What the guard said.
    said: Vec<Safeguard>,
    /// When the window was reduced.
    reduced: Vec<f64>,
    delivered: u64,
}

impl Path {
    fn run(self, until: f64) -> Run {
        let mut watch = Watch::new(GUARD);
        let mut run = Run { said: Vec::new(), reduced: Vec::new(), delivered: 0 };
        let at = |ms: f64| self.zero + Span::from_nanos((ms * 1e6) as i64);
        let mut random = self.seed;
        // When each packet in flight left and its ACK comes, and whether it is lost.
        let mut flight: VecDeque<(f64, f64, bool)> = VecDeque::new();
        let mut window = 10_f64.min(self.most);
        let mut idle_at: f64 = 0.0;
        let mut now = 0.0;
        while now < until {
            while (flight.len() as f64) < window {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                idle_at = idle_at.max(now) + self.packet;
                let base = self.bases[usize::from(now >= self.changes)];
                let acked_at = (idle_at + base).max(flight.back().map_or(0.0, |last| last.1));
                flight.push_back((now, acked_at, (random >> 33).is_multiple_of(self.one_lost_in)));
            }
            let in_flight = flight.len() as u64;
            let Some((sent, acked, is_lost)) = flight.pop_front() else { break };
            now = acked;
            if !is_lost {
                run.delivered += 1;
                let rtt = Span::from_nanos(((now - sent) * 1e6) as i64);
                let ack = Observation::first(0, at(now)).with_delay(Some(rtt));
                watch.on_ack(&ack.with_acked(Acked::new(1)));
                let growth = if run.reduced.is_empty() { 1.0 } else { 1.0 / window };
                window = (window + growth).min(self.most);
                continue;
            }
            let mut loss = Loss::new(at(now), Signal::Gap);
            (loss.sent_at, loss.in_flight_pkts) = (Some(at(sent)), in_flight);
            let said = watch.on_loss(&loss, Verdict::Wireless, Some(self.kept_1024));
            run.said.extend(said);
            // Once per round trip.
            if said.is_some() && run.reduced.last().is_none_or(|reduced| sent >= *reduced) {
                window = (window * f64::from(self.kept_1024) / 1_024.0).max(2.0);
                run.reduced.push(now);
            }
        }
        run
    }
}

const GUARD: Safeguards = Safeguards { guard: true, brake: false };

/// A path whose window fills it, and no more.
fn path() -> impl Strategy<Value = Path> {
    let kept_1024 = prop_oneof![Just(Watch::HALF), Just(Watch::CUBIC)];
    (30.0..500.0_f64, 20.0..150.0_f64, 20..150_u64, kept_1024, any::<u64>()).prop_map(
        |(most, base, one_lost_in, kept_1024, seed)| Path {
            zero: Time::ZERO,
            packet: base / most,
            bases: [base; 2],
            changes: 0.0,
            most,
            one_lost_in,
            kept_1024,
            seed,
        },
    )
}

/// A base that is 43 % longer looks like a queue to CUBIC's guard, one of twice the length to
/// Reno's.
#[test]
fn a_longer_path_costs_few_reductions() {
    let mut reductions = Vec::new();
    for most in [40.0, 150.0, 500.0] {
        for base in [25.0, 60.0, 150.0] {
            for one_lost_in in [25, 60, 120] {
                for (kept_1024, times) in [(Watch::CUBIC, 1.5), (Watch::HALF, 2.1)] {
                    let bases = [base, times * base];
                    let (zero, packet, changes, seed) = (Time::ZERO, base / most, 5_000.0, 7);
                    let path =
                        Path { zero, packet, bases, changes, most, one_lost_in, kept_1024, seed };
                    let run = path.run(20_000.0);
                    assert!(run.reduced.iter().all(|reduced| *reduced > changes), "{path:?}");
                    reductions.push(run.reduced.len());
                }
            }
        }
    }
    reductions.sort_unstable();
    let (median, most) = (reductions[reductions.len() / 2], reductions.last());
    assert!(median <= 2 && most <= Some(&5), "in 15 s: {reductions:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The window fills the link and a queue of twice the base.
    #[test]
    fn a_queue_of_its_own_is_no_longer_path(path in path()) {
        let base = path.bases[0];
        let run = Path { most: 3.0 * path.most, ..path }.run(20_000.0);
        prop_assert!(!run.said.is_empty());
        for said in run.said {
            let Safeguard::Guard { base: learned, .. } = said else { panic!("{said:?}") };
            prop_assert!(learned.as_millis_f64() < 1.1 * base, "{learned}");
        }
    }

    #[test]
    fn the_zero_of_the_clock_makes_no_difference(path in path(), zero in any::<i32>()) {
        let path = Path { bases: [path.bases[0], 1.5 * path.bases[0]], changes: 5_000.0, ..path };
        let other = Path { zero: Time::from_nanos(i64::from(zero) * 1_000), ..path };
        prop_assert_eq!(path.run(12_000.0), other.run(12_000.0));
    }

    /// Round-trip times every 5 ms, of which every eighth is the base. One is too short.
    #[test]
    fn one_short_round_trip_time_among_many_changes_nothing(
        queues in proptest::collection::vec(0..80_i64, 200..2_000),
        base in 10..200_i64,
        short in 1..200_i64,
        place in 20..150_usize,
        kept in 1..1_024_u32,
    ) {
        let said = |is_short: bool| {
            let mut watch = Watch::new(GUARD);
            for (number, &queue) in queues.iter().enumerate() {
                let is_empty = number % 8 == 0 && number + 60 < queues.len();
                let mut rtt = base + if is_empty { 0 } else { queue + 40 };
                if is_short && number == place {
                    rtt = short.min(base);
                }
                let ack = Observation::first(0, Time::from_nanos(5_000_000 * number as i64));
                let ack = ack.with_delay(Some(Span::from_millis(rtt)));
                watch.on_ack(&ack.with_acked(Acked::new(1)));
            }
            let at = Time::from_nanos(5_000_000 * queues.len() as i64);
            watch.on_loss(&Loss::new(at, Signal::Gap), Verdict::Wireless, Some(kept))
        };
        prop_assert_eq!(said(true), said(false));
    }
}
