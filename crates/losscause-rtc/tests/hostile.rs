//! Reports that no honest receiver makes: out of order, with gaps, repeated, with times that jump
//! and absurd sizes.

use std::time::{Duration, Instant};

use losscause::{BuiltIn, End};
use losscause_rtc::{Caps, LossTolerant};
use proptest::collection::vec;
use proptest::prelude::*;
use rtc_interceptor::{BandwidthEstimator, Gcc, History, PacketReport};

const MIN: f64 = 150_000.0;
const MAX: f64 = 3_000_000.0;

/// A report with the fields that [`History`] gives, and others.
fn report() -> impl Strategy<Value = PacketReport> {
    let id = prop_oneof![6 => 0..2_000_u64, 1 => any::<u64>()];
    let size = prop_oneof![8 => 0..2_000_usize, 1 => any::<usize>()];
    let departure_ms = prop_oneof![6 => 0..10_000_u64, 1 => 0..1_000_000_000_u64];
    let nanos = prop_oneof![6 => 0..20_000_000_000_u64, 1 => any::<u64>()];
    let arrival = proptest::option::weighted(0.9, nanos);
    let flags = (any::<bool>(), prop::bool::weighted(0.8), prop::bool::weighted(0.9));
    (id, size, departure_ms, arrival, flags).prop_map(
        |(id, size, departure_ms, arrival, (is_early, arrived, is_twcc))| {
            let mut report = one_report();
            let departs = Duration::from_millis(departure_ms);
            report.id = id;
            report.size = size;
            report.is_twcc = is_twcc;
            report.arrived = arrived;
            report.arrival = arrival.map(Duration::from_nanos);
            let earlier = report.departure.checked_sub(departs).filter(|_| is_early);
            report.departure = earlier.unwrap_or(report.departure + departs);
            report
        },
    )
}

/// A report that a history made.
fn one_report() -> PacketReport {
    let now = Instant::now();
    let mut history = History::new();
    history.add_outgoing(1, 0, true, 0, 1_200, now);
    let acknowledgement = rtc_interceptor::Acknowledgement {
        arrived: true,
        ..rtc_interceptor::Acknowledgement::lost(0)
    };
    history.on_twcc_feedback(now, acknowledgement);
    history.take_reports().remove(0)
}

fn feedback() -> impl Strategy<Value = Vec<(u64, Vec<PacketReport>)>> {
    vec((0..100_000_u64, vec(report(), 0..60)), 0..30)
}

proptest! {
    #[test]
    fn no_reports_panic_or_lift_the_estimate_above_its_limits(
        feedback in feedback(),
        algorithm in 0..BuiltIn::ALL.len(),
        max_run in any::<u32>(),
        max_share in 0.0..=1.0,
        max_loss_rate in 0.0..=1.0,
    ) {
        // Some algorithms are for senders only, or need the truth.
        let lda = BuiltIn::ALL[algorithm].build(End::Receiver).ok();
        let gcc = Gcc::new(1e6, MIN, MAX);
        let fitting = lda.and_then(|lda| LossTolerant::new(gcc, lda).ok());
        prop_assume!(fitting.is_some());
        let Some(estimator) = fitting else { return Ok(()) };
        let caps = Caps { max_run, max_share, max_loss_rate, ..Caps::default() };
        let mut estimator = estimator.with_caps(caps).expect("in range");
        let mut now = Instant::now();
        let mut lost = 0;
        for (later_us, reports) in feedback {
            now += Duration::from_micros(later_us);
            lost += reports.iter().filter(|report| !report.arrived).count() as u64;
            estimator.on_reports(now, &reports);
            let target = estimator.target_bitrate();
            prop_assert!((MIN..=MAX).contains(&target), "{target}");
            let counts = estimator.monitor().totals();
            prop_assert_eq!(counts.congestion + counts.wireless + counts.undecided, lost);
        }
    }

    /// If every loss is congestion, it is the wrapped estimator.
    #[test]
    fn with_always_congestion_the_estimate_is_the_wrapped_ones(feedback in feedback()) {
        let lda = BuiltIn::AlwaysCongestion.build(End::Receiver).expect("published parameters");
        let mut ours = LossTolerant::new(Gcc::new(1e6, MIN, MAX), lda).expect("it needs nothing");
        let mut theirs = Gcc::new(1e6, MIN, MAX);
        let mut now = Instant::now();
        for (later_us, mut reports) in feedback {
            now += Duration::from_micros(later_us);
            ours.on_reports(now, &reports);
            // Larger ones are passed on as this.
            reports.iter_mut().for_each(|report| report.size = report.size.min(65_535));
            theirs.on_reports(now, &reports);
            prop_assert_eq!(ours.target_bitrate(), theirs.target_bitrate());
        }
    }
}
