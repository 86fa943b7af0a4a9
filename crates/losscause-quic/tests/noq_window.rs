//! What a verdict does to the window, call by call, with noq.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "noq/mod.rs"]
mod common;

use common::{Driver, MTU, NO_CAPS, Scripted};
use losscause::Numbers;
use losscause::Verdict::{self, Congestion, Undecided, Wireless};
use losscause_quic::noq::{Base, LossTolerantController};
use losscause_quic::{Caps, Overruled, Response};
use noq_proto::congestion::Controller;

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

const BASES: [fn() -> Base; 2] = [Base::new_reno, Base::cubic];

#[test]
fn a_wireless_loss_keeps_the_window_and_slow_start_goes_on() {
    for base in BASES {
        let mut driver = in_slow_start(base(), &[Wireless]);
        let window = driver.window();
        driver.ack([13]);
        driver.lose([10]);
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
fn congestion_and_undecided_reduce_as_the_base_does() {
    for verdict in [Congestion, Undecided] {
        for (base, factor) in [(Base::new_reno(), 0.5), (Base::cubic(), 0.7)] {
            let mut driver = in_slow_start(base, &[verdict]);
            driver.ack([13]);
            let window = driver.window();
            driver.lose([10]);
            assert_eq!(driver.window(), (window as f64 * factor) as u64);
        }
    }
}

/// quinn's adapter cannot tell which of several packets sent at one instant are lost.
#[test]
fn the_lost_packets_of_a_burst_are_named() {
    let mut driver = driver(Base::cubic(), &Scripted::saying([Wireless]));
    driver.burst(8);
    driver.wait_ms(40);
    driver.ack([0, 1, 4, 6, 7]);
    driver.lose([2, 3]);
    let verdict = driver.controller.last_verdicts().last().expect("a verdict");
    assert_eq!(verdict.numbers, Some(Numbers { first: 2, last: 3 }));
    assert_eq!((verdict.lost_pkts, verdict.lost_bytes), (2, 2400));
}

/// quinn reports a mark as a loss of zero bytes.
#[test]
fn a_mark_reduces_and_asks_no_algorithm() {
    let scripted = Scripted::saying([Wireless]);
    let mut driver = driver(Base::cubic(), &scripted);
    driver.send(20);
    driver.ack([3]);
    let before = driver.window();
    driver.mark(3);
    assert_eq!(driver.window(), (before as f64 * 0.7) as u64);
    let counts = driver.controller.counts();
    assert_eq!((counts.marks, counts.reductions, scripted.left()), (1, 1, 1));
}

#[test]
fn persistent_congestion_reduces_to_the_minimum() {
    let scripted = Scripted::saying([Wireless]);
    let mut driver = driver(Base::cubic(), &scripted);
    driver.send(20);
    driver.ack([0]);
    driver.declare(1..10, true);
    assert_eq!((driver.window(), scripted.left()), (2 * u64::from(MTU), 1));
}

#[test]
fn a_probe_of_the_mtu_is_no_missing_packet() {
    let mut driver = driver(Base::cubic(), &Scripted::saying([Wireless]));
    driver.send(5);
    driver.controller.on_packet_sent(driver.now, MTU + 200, 5);
    driver.ack([0, 1, 2, 3]);
    driver.lose([4]);
    let verdict = driver.controller.last_verdicts().last().expect("a verdict");
    assert_eq!((verdict.numbers, verdict.lost_pkts), (Some(Numbers { first: 4, last: 4 }), 1));
}

#[test]
fn losses_of_packets_that_are_not_remembered_are_congestion() {
    let scripted = Scripted::saying([Wireless]);
    let mut driver = driver(Base::cubic(), &scripted);
    driver.send(10);
    driver.ack(0..10);
    driver.controller.on_packet_lost(MTU, 500, driver.now);
    let sent = driver.now;
    driver.controller.on_congestion_event(driver.now, sent, false, false, 1200, 500);
    let verdict = driver.controller.last_verdicts().last().expect("a verdict");
    assert_eq!((verdict.overruled, verdict.lost_pkts), (Some(Overruled::UnknownPackets), 1));
    assert_eq!(scripted.left(), 1);
}

#[test]
fn cubic_takes_a_spurious_reduction_back_and_newreno_does_not() {
    for (base, is_restored) in [(Base::cubic(), true), (Base::new_reno(), false)] {
        let mut driver = in_slow_start(base, &[Congestion]);
        driver.ack([14]);
        let before = driver.window();
        driver.lose([10, 11]);
        assert!(driver.window() < before);
        driver.wait_ms(1);
        driver.controller.on_spurious_congestion_event();
        assert_eq!(driver.window() == before, is_restored);
        let counts = driver.controller.counts();
        assert_eq!((counts.spurious, counts.restored), (2, u64::from(is_restored)));
    }
}

/// Packets 10 and 11 are lost to congestion. After that recovery, 50 counts as lost and as
/// wireless, and arrives.
#[test]
fn a_spurious_loss_that_was_ignored_takes_no_earlier_reduction_back() {
    let mut driver = in_slow_start(Base::cubic(), &[Congestion, Wireless]);
    driver.ack([14]);
    driver.lose([10, 11]);
    driver.wait_ms(1);
    driver.send(40);
    driver.ack(15..50);
    driver.ack([53]);
    driver.lose([50]);
    let before = driver.window();
    driver.controller.on_spurious_congestion_event();
    assert_eq!(driver.window(), before);
    let counts = driver.controller.counts();
    assert_eq!((counts.spurious, counts.restored, counts.reductions), (1, 0, 1));
}

#[test]
fn a_spurious_loss_takes_no_more_from_the_loss_rate_than_it_added() {
    // A tenth of 256 packets is 25.6.
    let factory = Scripted::saying([Congestion, Congestion, Congestion, Wireless]);
    let factory = factory.factory(Base::cubic());
    let factory = factory.with_caps(Caps { max_loss_rate: 0.1, ..NO_CAPS }).unwrap();
    let mut driver = Driver::new(|now| factory.controller(now, MTU));
    driver.send(60);
    driver.ack(0..10);
    driver.lose(10..30);
    driver.send(60);
    driver.ack(60..62);
    // One loss reduces the window; the twenty after it are answered and do not count.
    driver.lose([62]);
    driver.lose(63..83);
    driver.controller.on_spurious_congestion_event();
    driver.ack([83]);
    // 20 are left of the first recovery, and nine more are above the cap.
    driver.lose(84..93);
    let verdict = driver.controller.last_verdicts().last().expect("a verdict");
    assert_eq!(verdict.overruled, Some(Overruled::LossRate));
}

#[test]
fn a_mark_in_the_recovery_makes_its_reduction_final() {
    let mut driver = in_slow_start(Base::cubic(), &[Congestion]);
    driver.ack([14]);
    driver.lose([10]);
    let reduced = driver.window();
    driver.mark(14);
    driver.controller.on_spurious_congestion_event();
    assert_eq!((driver.window(), driver.controller.counts().restored), (reduced, 0));
}

#[test]
fn spurious_losses_do_not_count_for_the_caps() {
    // A hundredth of 256 packets is 2.
    let factory = Scripted::saying([Wireless; 9]).factory(Base::cubic());
    let factory = factory.with_caps(Caps { max_share: 0.01, ..NO_CAPS }).unwrap();
    let mut driver = Driver::new(|now| factory.controller(now, MTU));
    driver.send(60);
    driver.ack(0..10);
    driver.ack([14]);
    driver.lose([10, 11]);
    driver.controller.on_spurious_congestion_event();
    driver.ack([18]);
    driver.lose([15, 16]);
    driver.ack([20]);
    driver.lose([19]);
    let responses: Vec<Response> =
        driver.controller.last_verdicts().map(|verdict| verdict.response).collect();
    assert_eq!(responses, [Response::Kept, Response::Kept, Response::Reduced]);
    assert_eq!(driver.controller.counts().share_caps, 1);
}
