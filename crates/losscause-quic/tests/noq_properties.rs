//! Invariants over arbitrary calls of noq.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "noq/mod.rs"]
mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Driver, MTU, NO_CAPS, Scripted, rtt_estimator};
use losscause::{BuiltIn, End, Numbers, Span};
use losscause_quic::Caps;
use losscause_quic::noq::{Base, LossTolerant, LossTolerantController};
use noq_proto::congestion::{Controller, Cubic, CubicConfig, NewReno, NewRenoConfig};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// A call with arbitrary arguments; times are milliseconds.
#[derive(Clone, Debug)]
enum Call {
    Sent { bytes: u16, number: u64 },
    Ack { age: u64, bytes: u16, number: u64, app_limited: bool },
    EndAcks,
    Lost { bytes: u16, number: u64 },
    Congestion { age: u64, persistent: bool, ecn: bool, bytes: u64, number: u64 },
    Spurious,
    Mtu(u16),
    Wait(u64),
}

fn call() -> impl Strategy<Value = Call> {
    let age = || prop_oneof![0..200_u64, 0..100_000_u64];
    let number = || prop_oneof![9 => 0..300_u64, 1 => any::<u64>()];
    prop_oneof![
        8 => (any::<u16>(), number()).prop_map(|(bytes, number)| Call::Sent { bytes, number }),
        8 => (age(), any::<u16>(), number(), any::<bool>())
            .prop_map(|(age, bytes, number, app_limited)| Call::Ack { age, bytes, number, app_limited }),
        4 => Just(Call::EndAcks),
        4 => (any::<u16>(), number()).prop_map(|(bytes, number)| Call::Lost { bytes, number }),
        4 => (age(), any::<bool>(), any::<bool>(), prop_oneof![0..20_000_u64, any::<u64>()], number())
            .prop_map(|(age, persistent, ecn, bytes, number)| {
                Call::Congestion { age, persistent, ecn, bytes, number }
            }),
        1 => Just(Call::Spurious),
        1 => (1200..=u16::MAX).prop_map(Call::Mtu),
        4 => (0..50_u64).prop_map(Call::Wait),
    ]
}

fn base(cubic: bool) -> Base {
    if cubic { Base::cubic() } else { Base::new_reno() }
}

proptest! {
    #[test]
    fn no_sequence_of_calls_panics_or_breaks_the_minimum_window(
        calls in vec(call(), 0..300),
        cubic: bool,
        algorithm in 0..BuiltIn::ALL.len(),
    ) {
        let lda = BuiltIn::ALL[algorithm].build(End::Sender).expect("published parameters");
        let factory = LossTolerant::new(base(cubic), lda).expect("at a sender").with_memory_pkts(512);
        let mut now = Instant::now() + Duration::from_secs(200);
        let rtt = rtt_estimator();
        let mut controller = factory.controller(now, MTU);
        let ago = |now: Instant, age| now - Duration::from_millis(age);
        for call in calls {
            match call {
                Call::Sent { bytes, number } => controller.on_packet_sent(now, bytes, number),
                Call::Ack { age, bytes, number, app_limited } => {
                    controller.on_ack(now, ago(now, age), bytes.into(), number, app_limited, &rtt);
                }
                Call::EndAcks => controller.on_end_acks(now, 0, false, None),
                Call::Lost { bytes, number } => controller.on_packet_lost(bytes, number, now),
                Call::Congestion { age, persistent, ecn, bytes, number } => {
                    let sent = ago(now, age);
                    controller.on_congestion_event(now, sent, persistent, ecn, bytes, number);
                }
                Call::Spurious => controller.on_spurious_congestion_event(),
                Call::Mtu(to) => controller.on_mtu_update(to),
                Call::Wait(ms) => now += Duration::from_millis(ms),
            }
            prop_assert!(controller.window() > 0);
            prop_assert!(controller.last_verdicts().count() <= LossTolerantController::LAST_VERDICTS);
            let counts = controller.counts();
            let overruled = counts.guarded + counts.braked;
            let capped = counts.run_caps + counts.share_caps + counts.rate_caps;
            prop_assert!(overruled + capped <= counts.congestion);
            prop_assert!(counts.restored <= counts.reductions);
        }
    }

    /// An algorithm that answers every loss with "wireless", in front of a path that loses what it
    /// likes.
    #[test]
    fn always_wireless_ignores_no_more_than_the_caps(
        lost in vec(prop::bool::weighted(0.2), 100..3000),
        max_run in 0..200_u32,
        max_share in 0.0..0.3,
        max_loss_rate in 0.0..0.5,
    ) {
        let caps = Caps { max_run, max_share, max_loss_rate, ..Caps::default() };
        let lda = BuiltIn::AlwaysWireless.build(End::Sender).expect("published parameters");
        let factory = LossTolerant::new(Base::cubic(), lda).and_then(|factory| factory.with_caps(caps)).expect("in range");
        let mut driver = Driver::new(|now| factory.controller(now, MTU));
        driver.send(lost.len());
        let mut waiting = Vec::new();
        for (number, lost) in lost.iter().enumerate() {
            driver.wait_ms(1);
            if *lost {
                waiting.push(number);
                continue;
            }
            driver.ack([number]);
            if waiting.is_empty() {
                continue;
            }
            driver.lose(waiting.drain(..));
            let counts = driver.controller.counts();
            let packets = number as f64 + 1.0;
            prop_assert!(counts.wireless as f64 <= max_share * (packets + 512.0), "{counts:?} of {packets}");
            prop_assert!(counts.wireless <= u64::from(max_run) * (counts.reductions + 1), "{counts:?}");
        }
    }

    /// If every loss is congestion, or in a dry run of any algorithm, the wrapper is the base
    /// controller, spurious losses included.
    #[test]
    fn with_always_congestion_or_in_a_dry_run_the_window_is_the_bases(
        events in vec(0..40_u8, 1..800),
        cubic: bool,
        dry in option::of(0..BuiltIn::ALL.len()),
    ) {
        let lda = dry.map_or(BuiltIn::AlwaysCongestion, |algorithm| BuiltIn::ALL[algorithm]);
        let lda = lda.build(End::Sender).expect("published parameters");
        let factory = LossTolerant::new(base(cubic), lda).expect("at a sender").with_dry_run(dry.is_some());
        let mut ours = Driver::new(|now| factory.controller(now, MTU));
        let now = ours.now;
        let ours = windows(&mut ours, &events);
        let theirs = if cubic {
            windows(&mut Driver::at(now, |now| Cubic::new(Arc::new(CubicConfig::default()), now, MTU)), &events)
        } else {
            windows(&mut Driver::at(now, |now| NewReno::new(Arc::new(NewRenoConfig::default()), now, MTU)), &events)
        };
        prop_assert_eq!(ours, theirs);
    }

    /// Packets in bursts of one to eight, some lost: exactly these are named.
    #[test]
    fn lost_packets_are_named(bursts in vec((1..9_usize, any::<u8>()), 4..100)) {
        let factory = Scripted::default().factory(Base::cubic()).with_caps(NO_CAPS).expect("in range");
        let mut driver = Driver::new(|now| factory.controller(now, MTU));
        let mut first = 0;
        for (pkts, pattern) in bursts {
            driver.burst(pkts);
            driver.wait_ms(40);
            // The last packet arrives and reveals the others.
            let (lost, acked): (Vec<usize>, Vec<usize>) = (first..first + pkts)
                .partition(|number| number + 1 < first + pkts && pattern >> (number - first) & 1 == 1);
            driver.ack(acked);
            if let (Some(low), Some(high)) = (lost.first(), lost.last()) {
                driver.lose(lost.iter().copied());
                let verdict = driver.controller.last_verdicts().last().expect("a verdict");
                let numbers = Numbers { first: *low as u64, last: *high as u64 };
                prop_assert_eq!((verdict.numbers, verdict.lost_pkts as usize), (Some(numbers), lost.len()));
                prop_assert_eq!(verdict.rtt.map(Span::as_millis_f64), Some(40.0));
            }
            first += pkts;
        }
    }
}

/// A window per ACK. Packet `n` is lost if event `n` is 0, and declared with the next ACK. After it,
/// an event 1 is a mark, and an event 2 says that the last losses were none.
fn windows<C: Controller>(driver: &mut Driver<C>, events: &[u8]) -> Vec<u64> {
    driver.send(events.len());
    let mut waiting = Vec::new();
    let mut windows = Vec::new();
    let mut marked = false;
    for (number, event) in events.iter().enumerate() {
        driver.wait_ms(1);
        if *event == 0 {
            waiting.push(number);
            continue;
        }
        driver.ack([number]);
        if !waiting.is_empty() {
            driver.lose(waiting.drain(..));
        }
        match event {
            1 => {
                driver.mark(number);
                marked = true;
            }
            // All packets left before the first loss, so this is one recovery. After a mark, its
            // reduction is final with us and not with noq.
            2 if !marked => driver.controller.on_spurious_congestion_event(),
            _ => {}
        }
        windows.push(driver.window());
    }
    windows
}
