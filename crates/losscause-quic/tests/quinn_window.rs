//! What a verdict does to the window, call by call.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "quinn/mod.rs"]
mod common;

use common::{Driver, MTU, NO_CAPS, Scripted};
use losscause::Verdict::{self, Congestion, Undecided, Wireless};
use losscause_quic::quinn::{Base, LossTolerantController};
use losscause_quic::{Caps, Counts, Overruled, Response};
use quinn::congestion::Controller;

fn driver(base: Base, scripted: &Scripted) -> Driver<LossTolerantController> {
    Driver::new(|now| scripted.factory(base).controller(now, MTU))
}

/// A driver whose algorithm gives these verdicts; packets 0 to 39 are sent 1 ms apart and 0 to 9
/// are acknowledged 40 ms later. In slow start.
fn in_slow_start(base: Base, verdicts: &[Verdict]) -> Driver<LossTolerantController> {
    let mut driver = driver(base, &Scripted::saying(verdicts.iter().copied()));
    driver.send(40);
    for number in 0..10 {
        driver.ack([number]);
        driver.wait_ms(1);
    }
    driver
}

/// The same with a window reduced once, so that it is in congestion avoidance; 40 more packets are
/// sent.
fn in_avoidance(base: Base, verdicts: &[Verdict]) -> Driver<LossTolerantController> {
    let mut all = vec![Congestion];
    all.extend(verdicts);
    let mut driver = in_slow_start(base, &all);
    driver.ack([13]);
    driver.lose(10, 1);
    driver.wait_ms(1);
    driver.send(40);
    driver.ack(14..50);
    driver.wait_ms(1);
    driver
}

const BASES: [fn() -> Base; 2] = [Base::new_reno, Base::cubic];

#[test]
fn a_wireless_loss_keeps_the_window_and_slow_start_goes_on() {
    for base in BASES {
        let mut driver = in_slow_start(base(), &[Wireless]);
        let window = driver.window();
        driver.ack([13]);
        driver.lose(10, 1);
        assert_eq!(driver.window(), window + u64::from(MTU), "the ACK of packet 13 grew it");
        driver.wait_ms(1);
        driver.ack(14..24);
        assert_eq!(driver.window(), window + u64::from(MTU), "until the recovery has ended");
        driver.send(1);
        driver.ack(24..=40);
        assert_eq!(driver.window(), window + 28 * u64::from(MTU), "every later ACK too");
        let counts = driver.controller.counts();
        assert_eq!((counts.wireless, counts.congestion, counts.reductions), (1, 0, 0));
    }
}

#[test]
fn a_congestion_loss_reduces_as_the_base_does() {
    for (base, factor) in [(Base::new_reno(), 0.5), (Base::cubic(), 0.7)] {
        let mut driver = in_slow_start(base, &[Congestion]);
        driver.ack([13]);
        let window = driver.window();
        driver.lose(10, 1);
        assert_eq!(driver.window(), (window as f64 * factor) as u64);
    }
}

#[test]
fn an_undecided_loss_is_congestion() {
    let mut driver = in_slow_start(Base::cubic(), &[Undecided]);
    driver.ack([13]);
    driver.lose(10, 1);
    let counts = driver.controller.counts();
    assert_eq!((counts.undecided, counts.congestion, counts.reductions), (1, 0, 1));
}

#[test]
fn congestion_after_an_ignored_batch_reduces_once_from_before() {
    for (base, factor) in [(Base::new_reno(), 0.5), (Base::cubic(), 0.7)] {
        let mut driver = in_avoidance(base, &[Wireless, Congestion, Congestion, Wireless]);
        let mut lose_one = |number: usize| {
            driver.ack([number + 3]);
            let window = driver.window();
            driver.lose(number, 1);
            driver.wait_ms(1);
            (window, driver.window())
        };
        let (before, after) = lose_one(50);
        assert_eq!(after, before, "ignored");
        let (before, after) = lose_one(54);
        assert_eq!(
            after,
            (before as f64 * factor) as u64,
            "reduced, from the window that was kept"
        );
        let (before, after) = lose_one(58);
        assert_eq!(after, before, "sent before the reduction: not again");
        let (before, after) = lose_one(62);
        assert_eq!(after, before, "ignored");
        let responses: Vec<Response> =
            driver.controller.last_verdicts().skip(1).map(|v| v.response).collect();
        assert_eq!(
            responses,
            [Response::Kept, Response::Reduced, Response::AlreadyReduced, Response::Kept]
        );
        assert_eq!(driver.controller.counts().reductions, 2, "one to leave slow start, one here");
    }
}

#[test]
fn a_packet_sent_after_the_reduction_and_lost_reduces_again() {
    for base in BASES {
        let mut driver = in_avoidance(base(), &[Congestion, Congestion]);
        driver.ack([53]);
        driver.lose(50, 1);
        driver.wait_ms(1);
        driver.send(10); // 80 to 89
        driver.ack([85]);
        driver.lose(81, 31); // 51, 52, and 54 to 81 without 53
        assert_eq!(driver.controller.counts().reductions, 3);
    }
}

#[test]
fn marks_and_losses_without_a_round_trip_are_never_judged() {
    let scripted = Scripted::saying([Wireless; 9]);
    let mut driver = driver(Base::cubic(), &scripted);
    driver.send(200);
    let expect = |driver: &Driver<LossTolerantController>, overruled| {
        let verdict = driver.controller.last_verdicts().last().expect("a verdict").clone();
        assert_eq!((verdict.verdict, verdict.overruled), (Congestion, Some(overruled)));
        assert_eq!(verdict.response, Response::Reduced, "{overruled}");
        assert_eq!(scripted.left(), 9);
    };
    driver.ack(0..10);
    driver.congestion_event(9, false, 0);
    expect(&driver, Overruled::Mark);
    driver.send(30); // 200 to 229
    driver.ack([205]);
    driver.congestion_event(202, true, 120_000);
    expect(&driver, Overruled::PersistentCongestion);
    // Room for another reduction.
    driver.send(60); // 230 to 289
    driver.ack(210..240);
    driver.wait_ms(1);
    driver.send(20); // 290 to 309
    driver.lose(300, 1);
    expect(&driver, Overruled::NoFreshRtt);
    // An ACK that only fills an older gap measures nothing.
    driver.send(60); // 310 to 369
    driver.ack(312..350);
    driver.wait_ms(6); // The round-trip time was 21 ms.
    driver.ack([310]);
    driver.lose(311, 1);
    expect(&driver, Overruled::NoFreshRtt);
    let counts = driver.controller.counts();
    assert_eq!((counts.wireless, counts.marks), (0, 1));
    assert!(counts.without_rtt >= 2, "{counts:?}");
}

#[test]
fn a_loss_that_the_timer_declares_soon_after_its_gap_is_judged() {
    let mut driver = in_slow_start(Base::cubic(), &[Wireless, Wireless]);
    driver.ack([11]);
    let rtt = driver.now - driver.sent_at(11);
    assert_eq!(rtt.as_millis(), 39);
    // RFC 9002: 9/8 of the round-trip time after it was sent, so an eighth after its ACK was due.
    driver.wait_ms(4);
    driver.lose(10, 1);
    assert_eq!(driver.controller.counts().wireless, 1);
    driver.ack([13]);
    driver.wait_ms(11);
    driver.lose(12, 1);
    assert_eq!(
        (driver.controller.counts().wireless, driver.controller.counts().without_rtt),
        (1, 1)
    );
}

#[test]
fn acknowledged_packets_count_for_the_caps() {
    // A hundredth of 256 packets is 2, of 400 to 406 it is 4.
    for (acked, ignored) in [(100, 2), (400, 4)] {
        let factory = Scripted::saying([Wireless; 9]).factory(Base::cubic());
        let factory = factory.with_caps(Caps { max_share: 0.01, ..NO_CAPS }).unwrap();
        let mut driver = Driver::new(|now| factory.controller(now, MTU));
        driver.send(acked + 20);
        driver.ack(0..acked);
        for number in 0..6 {
            driver.lose(acked + number, 1);
        }
        let counts = driver.controller.counts();
        assert_eq!(
            (counts.wireless, counts.share_caps),
            (ignored, 6 - ignored),
            "{acked} acknowledged"
        );
    }
}

#[test]
fn packets_of_a_new_mtu_are_counted_by_it() {
    let mut driver = driver(Base::cubic(), &Scripted::saying([Wireless]));
    driver.controller.on_mtu_update(2 * MTU);
    driver.send(10);
    driver.ack([3]);
    // One packet of the new size.
    driver.congestion_event(0, false, 2 * u64::from(MTU));
    let verdict = driver.controller.last_verdicts().last().expect("a verdict");
    assert_eq!((verdict.lost_pkts, verdict.lost_bytes), (1, 2 * u64::from(MTU)));
}

#[test]
fn losses_of_packets_that_are_not_remembered_are_congestion() {
    let scripted = Scripted::saying([Wireless]);
    let mut driver = driver(Base::cubic(), &scripted);
    driver.send(10);
    driver.ack(0..10);
    // Sent before the controller was built, as after a migration.
    let sent = driver.now - std::time::Duration::from_secs(60);
    driver.controller.on_congestion_event(driver.now, sent, false, 1200);
    let verdict = driver.controller.last_verdicts().last().expect("a verdict");
    assert_eq!((verdict.overruled, verdict.lost_pkts), (Some(Overruled::UnknownPackets), 1));
    assert_eq!(scripted.left(), 1);
}

/// Congestion avoidance, then a loss that reduces; its verdict is revised when packet 80, sent
/// later, is acknowledged.
fn revised(
    base: Base,
    during_recovery: impl Fn(&mut Driver<LossTolerantController>),
) -> (u64, u64, Counts) {
    let scripted = Scripted::saying([Congestion, Congestion]);
    let mut driver = driver(base, &scripted.clone().revising_to(Wireless));
    driver.send(40);
    driver.ack([0, 2, 3, 4]);
    driver.lose(1, 1);
    driver.wait_ms(1);
    driver.send(40);
    driver.ack(5..50);
    driver.wait_ms(1);
    driver.ack([53]);
    let before = driver.window();
    driver.lose(50, 1);
    assert!(driver.window() < before);
    driver.wait_ms(1);
    during_recovery(&mut driver);
    driver.burst(1); // 80
    driver.wait_ms(40);
    driver.ack([80]);
    (before, driver.window(), driver.controller.counts())
}

#[test]
fn a_revised_verdict_undoes_the_cut_but_not_into_slow_start() {
    for base in BASES {
        let (before, after, counts) = revised(base(), |_| ());
        assert_eq!(after, before);
        // The first reduction ended slow start, and stays.
        assert_eq!(
            (counts.undone, counts.reductions, counts.congestion, counts.wireless),
            (1, 2, 1, 1)
        );
        assert_eq!(counts.avoided, 1);
    }
}

#[test]
fn a_mark_in_the_recovery_makes_its_reduction_final() {
    for base in BASES {
        let (before, after, counts) =
            revised(base(), |driver| driver.congestion_event(53, false, 0));
        assert!(after < before);
        assert_eq!(counts.undone, 0);
    }
}

#[test]
fn a_recovery_without_congestion_is_an_avoided_reduction() {
    let mut driver = in_avoidance(Base::cubic(), &[Wireless]);
    driver.ack([53]);
    driver.lose(50, 1);
    driver.wait_ms(1);
    driver.send(1); // 80
    driver.ack([80]);
    assert_eq!(driver.controller.counts().avoided, 1);
}

#[test]
fn the_monitor_sums_all_connections_and_its_clone_its_own() {
    let factory = Scripted::saying([Wireless, Congestion]).factory(Base::cubic());
    let monitor = factory.monitor();
    for _ in 0..2 {
        let mut driver = Driver::new(|now| factory.controller(now, MTU));
        driver.send(10);
        driver.ack([3]);
        driver.lose(0, 1);
        let state = driver.controller.clone_box().into_any();
        let clone = state.downcast_ref::<LossTolerantController>().expect("its own type");
        assert_eq!(clone.counts().wireless + clone.counts().congestion, 1);
    }
    let totals = monitor.totals();
    assert_eq!((totals.wireless, totals.congestion, monitor.controllers()), (1, 1, 2));
    let connections: Vec<u64> =
        monitor.last_verdicts().iter().map(|verdict| verdict.connection).collect();
    assert_eq!(connections, [0, 1]);
    assert_eq!(
        monitor.last_verdicts()[0].to_string(),
        "1 packet lost (0): test: as asked: wireless; window kept (13200 bytes)"
    );
}
