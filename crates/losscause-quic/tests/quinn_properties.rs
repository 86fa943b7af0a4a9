//! Invariants over arbitrary calls.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "quinn/mod.rs"]
mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Driver, MTU, NO_CAPS, Scripted, rtt_estimator};
use losscause::{BuiltIn, End, Numbers};
use losscause_quic::Caps;
use losscause_quic::quinn::{Base, LossTolerant};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use quinn::congestion::{Controller, ControllerFactory, CubicConfig, NewRenoConfig};

/// A call with arbitrary arguments; times are milliseconds.
#[derive(Clone, Debug)]
enum Call {
    Sent { bytes: u64, last: u64 },
    Ack { age: u64, bytes: u16, app_limited: bool },
    EndAcks { largest: Option<u64> },
    Congestion { age: u64, persistent: bool, lost_bytes: u64 },
    Mtu(u16),
    Wait(u64),
}

fn call() -> impl Strategy<Value = Call> {
    let age = || prop_oneof![0..200_u64, 0..100_000_u64];
    let number = || prop_oneof![0..300_u64, any::<u64>()];
    prop_oneof![
        4 => (prop_oneof![0..20_000_u64, any::<u64>()], number()).prop_map(|(bytes, last)| Call::Sent { bytes, last }),
        8 => (age(), any::<u16>(), any::<bool>())
            .prop_map(|(age, bytes, app_limited)| Call::Ack { age, bytes, app_limited }),
        4 => option::of(number()).prop_map(|largest| Call::EndAcks { largest }),
        4 => (age(), any::<bool>(), prop_oneof![0..20_000_u64, any::<u64>()])
            .prop_map(|(age, persistent, lost_bytes)| Call::Congestion { age, persistent, lost_bytes }),
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
        let zero = Instant::now() + Duration::from_secs(200);
        let mut now = zero;
        let mut mtu = MTU;
        let rtt = rtt_estimator();
        let mut controller = factory.controller(now, mtu);
        let ago = |now: Instant, age| now - Duration::from_millis(age);
        for call in calls {
            match call {
                Call::Sent { bytes, last } => controller.on_sent(now, bytes, last),
                Call::Ack { age, bytes, app_limited } => {
                    controller.on_ack(now, ago(now, age), bytes.into(), app_limited, &rtt);
                }
                Call::EndAcks { largest } => controller.on_end_acks(now, 0, false, largest),
                Call::Congestion { age, persistent, lost_bytes } => {
                    controller.on_congestion_event(now, ago(now, age), persistent, lost_bytes);
                }
                Call::Mtu(to) => {
                    mtu = to;
                    controller.on_mtu_update(to);
                }
                Call::Wait(ms) => now += Duration::from_millis(ms),
            }
            prop_assert!(controller.window() >= 2 * u64::from(mtu));
            prop_assert!(controller.last_verdicts().count() <= 16);
            let counts = controller.counts();
            let overruled = counts.guarded + counts.braked;
            let capped = counts.run_caps + counts.share_caps + counts.rate_caps;
            prop_assert!(overruled + capped <= counts.congestion);
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
            let Some(newest) = waiting.last() else { continue };
            driver.lose(*newest, waiting.len() as u64);
            let counts = driver.controller.counts();
            let packets = number as f64 + 1.0;
            prop_assert!(counts.wireless as f64 <= max_share * (packets + 512.0), "{counts:?} of {packets}");
            prop_assert!(counts.wireless <= u64::from(max_run) * (counts.reductions + 1), "{counts:?}");
            waiting.clear();
        }
    }

    /// If every loss is congestion, or in a dry run of any algorithm, the wrapper is the base
    /// controller.
    #[test]
    fn with_always_congestion_or_in_a_dry_run_the_window_is_the_bases(
        lost in vec(prop::bool::weighted(0.05), 1..800),
        cubic: bool,
        dry in option::of(0..BuiltIn::ALL.len()),
    ) {
        let lda = dry.map_or(BuiltIn::AlwaysCongestion, |algorithm| BuiltIn::ALL[algorithm]);
        let lda = lda.build(End::Sender).expect("published parameters");
        let factory = LossTolerant::new(base(cubic), lda).expect("at a sender").with_dry_run(dry.is_some());
        let mut ours = Driver::new(|now| factory.controller(now, MTU));
        let bare: Arc<dyn ControllerFactory> =
            if cubic { Arc::new(CubicConfig::default()) } else { Arc::new(NewRenoConfig::default()) };
        let mut theirs = Driver::at(ours.now, |now| Boxed(bare.build(now, MTU)));
        prop_assert_eq!(windows(&mut ours, &lost), windows(&mut theirs, &lost));
    }

    /// Packets in bursts of one to eight, some lost; the controller is told what quinn tells.
    #[test]
    fn lost_packets_are_found_and_counted(bursts in vec((1..9_usize, any::<u8>()), 4..100)) {
        let factory = Scripted::default().factory(Base::cubic()).with_caps(NO_CAPS).expect("in range");
        let mut driver = Driver::new(|now| factory.controller(now, MTU));
        let mut lost = Vec::new();
        let mut acked = Vec::new();
        for (pkts, pattern) in &bursts {
            driver.burst(*pkts);
            // The first packet of a burst arrives, and so does its last: the burst before ends with
            // a known packet.
            let lost_here: Vec<bool> = (0..*pkts).map(|i| i > 0 && i + 1 < *pkts && pattern >> i & 1 == 1).collect();
            acked.push(lost_here.iter().filter(|lost| !**lost).count());
            lost.push(lost_here);
            driver.wait_ms(1);
        }
        let mut first = 0;
        let mut expected = Vec::new();
        for (burst, lost) in lost.iter().enumerate() {
            driver.wait_ms(1);
            driver.ack((first..first + lost.len()).filter(|number| !lost[number - first]));
            let missing: Vec<usize> = (first..first + lost.len()).filter(|number| lost[number - first]).collect();
            if let Some(newest) = missing.last() {
                driver.lose(*newest, missing.len() as u64);
                let verdict = driver.controller.last_verdicts().last().expect("a verdict");
                prop_assert_eq!(verdict.lost_pkts as usize, missing.len(), "burst {}", burst);
                prop_assert!(verdict.rtt.is_some());
                let Some(Numbers { first: low, last: high }) = verdict.numbers else { panic!("no numbers") };
                // Which of the burst is not known, apart from its last packet.
                prop_assert!(low >= first as u64 && high < (first + lost.len()) as u64);
                expected.push(missing.len());
            }
            first += lost.len();
        }
        let counts = driver.controller.counts();
        prop_assert_eq!(counts.congestion as usize, expected.iter().sum::<usize>());
    }
}

/// A window per ACK, while every packet marked so is lost and declared with the next ACK.
fn windows<C: Controller>(driver: &mut Driver<C>, lost: &[bool]) -> Vec<u64> {
    driver.send(lost.len());
    let mut waiting = Vec::new();
    let mut windows = Vec::new();
    for (number, lost) in lost.iter().enumerate() {
        driver.wait_ms(1);
        if *lost {
            waiting.push(number);
            continue;
        }
        driver.ack([number]);
        if let Some(newest) = waiting.last() {
            driver.lose(*newest, waiting.len() as u64);
            waiting.clear();
        }
        windows.push(driver.window());
    }
    windows
}

/// A boxed controller is one, too.
struct Boxed(Box<dyn Controller>);

impl Controller for Boxed {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.0.on_sent(now, bytes, last);
    }
    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        limited: bool,
        rtt: &quinn_proto::RttEstimator,
    ) {
        self.0.on_ack(now, sent, bytes, limited, rtt);
    }
    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        lost_bytes: u64,
    ) {
        self.0.on_congestion_event(now, sent, persistent, lost_bytes);
    }
    fn on_mtu_update(&mut self, mtu: u16) {
        self.0.on_mtu_update(mtu);
    }
    fn window(&self) -> u64 {
        self.0.window()
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        self.0.clone_box()
    }
    fn initial_window(&self) -> u64 {
        self.0.initial_window()
    }
    fn into_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }
}
