//! Invariants over arbitrary calls, in the order in which s2n-quic makes them.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "s2n_quic/mod.rs"]
mod common;

use common::{Driver, bare_cubic, controller};
use losscause::{BuiltIn, End};
use losscause_quic::Caps;
use losscause_quic::s2n_quic::LossTolerant;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use s2n_quic_core::recovery::CongestionController;

/// What happens next. A pattern chooses among the oldest open packets, a bit for each.
#[derive(Clone, Debug)]
enum Happening {
    Send { bytes: usize, app_limited: Option<bool>, pkts: usize },
    Ack { acked: u32, lost: u32, marks: u64 },
    Timer { lost: u32, persistent: bool },
    Mark,
    Discard,
    Mtu(u16),
    Wait(u64),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        8 => (prop_oneof![Just(1200_usize), 0..1500_usize], any::<Option<bool>>(), 1..20_usize)
            .prop_map(|(bytes, app_limited, pkts)| Happening::Send { bytes, app_limited, pkts }),
        8 => (any::<u32>(), any::<u32>(), any::<u32>(), prop_oneof![9 => Just(0), 1 => 1..3_u64])
            .prop_map(|(acked, a, b, marks)| Happening::Ack { acked, lost: a & b, marks }),
        2 => (any::<u32>(), any::<u32>(), prop::bool::weighted(0.1))
            .prop_map(|(a, b, persistent)| Happening::Timer { lost: a & b, persistent }),
        1 => Just(Happening::Mark),
        1 => Just(Happening::Discard),
        1 => (1200..9000_u16).prop_map(Happening::Mtu),
        6 => (0..60_u64).prop_map(Happening::Wait),
    ]
}

fn chosen<C: CongestionController>(driver: &Driver<C>, pattern: u32) -> Vec<usize> {
    driver
        .open()
        .take(32)
        .enumerate()
        .filter(|(bit, _)| pattern >> bit & 1 == 1)
        .map(|(_, number)| number)
        .collect()
}

fn happen<C: CongestionController>(driver: &mut Driver<C>, happening: &Happening) {
    match *happening {
        Happening::Send { bytes, app_limited, pkts } => {
            (0..pkts).for_each(|_| driver.send_one(bytes, app_limited));
        }
        Happening::Ack { acked, lost, marks } => {
            let acked = chosen(driver, acked);
            let newest = acked.last().copied().max(driver.largest_acked());
            let lost = chosen(driver, lost)
                .into_iter()
                .filter(|number| !acked.contains(number) && Some(*number) < newest);
            let lost: Vec<usize> = lost.collect();
            driver.ack_with(acked, lost, marks);
        }
        Happening::Timer { lost, persistent } => {
            let lost = chosen(driver, lost)
                .into_iter()
                .filter(|number| Some(*number) < driver.largest_acked());
            let lost: Vec<usize> = lost.collect();
            driver.lose(lost, persistent);
        }
        Happening::Mark => driver.mark(),
        Happening::Discard => {
            let oldest = driver.open().next();
            oldest.into_iter().for_each(|number| driver.discard(number));
        }
        Happening::Mtu(mtu) => driver.update_mtu(mtu),
        Happening::Wait(ms) => driver.wait_ms(ms),
    }
}

proptest! {
    #[test]
    fn nothing_panics_and_window_and_bytes_in_flight_stay_right(
        happenings in vec(happening(), 0..200),
        algorithm in 0..BuiltIn::ALL.len(),
    ) {
        let lda = BuiltIn::ALL[algorithm].build(End::Sender).expect("published parameters");
        let endpoint = LossTolerant::new(lda).expect("at a sender").with_memory_pkts(512);
        let mut driver = Driver::new(controller(endpoint));
        let mut mtu = 1200;
        for happening in &happenings {
            happen(&mut driver, happening);
            if let Happening::Mtu(to) = happening {
                mtu = *to;
            }
            prop_assert!(driver.window() >= 2 * u32::from(mtu));
            prop_assert!(driver.controller.last_verdicts().count() <= 16);
            let counts = driver.controller.counts();
            let overruled = counts.guarded + counts.braked;
            let capped = counts.run_caps + counts.share_caps + counts.rate_caps;
            prop_assert!(overruled + capped <= counts.congestion);
        }
        // Losses that wait are judged with the next call.
        driver.mark();
        prop_assert_eq!(driver.controller.bytes_in_flight() as usize, driver.open_bytes());
    }

    /// If every loss is congestion, or in a dry run of any algorithm, the wrapper is CUBIC, bit for
    /// bit: its window, pacer, slow start and recovery.
    #[test]
    fn with_always_congestion_or_in_a_dry_run_it_is_cubic(
        happenings in vec(happening(), 0..200),
        dry in option::of(0..BuiltIn::ALL.len()),
    ) {
        let lda = dry.map_or(BuiltIn::AlwaysCongestion, |algorithm| BuiltIn::ALL[algorithm]);
        let lda = lda.build(End::Sender).expect("published parameters");
        let mut ours = Driver::new(controller(LossTolerant::new(lda).expect("at a sender").with_dry_run(dry.is_some())));
        let mut theirs = Driver::new(bare_cubic());
        for happening in &happenings {
            happen(&mut ours, happening);
            happen(&mut theirs, happening);
        }
        ours.mark();
        theirs.mark();
        prop_assert_eq!(format!("{:?}", ours.controller.cubic()), format!("{:?}", theirs.controller));
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
        let endpoint = LossTolerant::new(lda).and_then(|endpoint| endpoint.with_caps(caps)).expect("in range");
        let mut driver = Driver::new(controller(endpoint));
        driver.send(lost.len());
        let mut waiting = Vec::new();
        for (number, lost) in lost.iter().enumerate() {
            driver.wait_ms(1);
            if *lost {
                waiting.push(number);
                continue;
            }
            driver.ack_losing([number], waiting.drain(..));
            let counts = driver.controller.counts();
            let packets = number as f64 + 1.0;
            prop_assert!(counts.wireless as f64 <= max_share * (packets + 512.0), "{counts:?} of {packets}");
            prop_assert!(counts.wireless <= u64::from(max_run) * (counts.reductions + 1), "{counts:?}");
        }
    }
}
