//! What a verdict does to the window and the bytes in flight, call by call.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "s2n_quic/mod.rs"]
mod common;

use common::{Driver, MTU, NO_CAPS, Scripted, controller};
use losscause::Verdict::{self, Congestion, Undecided, Wireless};
use losscause::lda::{SpikeConfig, SpikeThresholds};
use losscause::{LdaConfig, Numbers, Span};
use losscause_quic::s2n_quic::{LossTolerant, LossTolerantController};
use losscause_quic::{Caps, LossVerdict, Overruled, Response};
use s2n_quic_core::recovery::CongestionController;

/// A driver whose algorithm gives these verdicts; packets 0 to 39 are sent 1 ms apart and 0 to 9
/// are acknowledged 40 ms later, so the window is 10 + 10 packets. In slow start.
fn in_slow_start(verdicts: &[Verdict]) -> Driver<LossTolerantController> {
    after_ten_acks(Scripted::saying(verdicts.iter().copied()).endpoint())
}

fn after_ten_acks(endpoint: LossTolerant) -> Driver<LossTolerantController> {
    let mut driver = Driver::new(controller(endpoint));
    driver.send(40);
    for number in 0..10 {
        driver.ack([number]);
        driver.wait_ms(1);
    }
    assert_eq!(driver.window(), 24_000);
    driver
}

fn last(driver: &Driver<LossTolerantController>) -> &LossVerdict {
    driver.controller.last_verdicts().last().expect("a verdict")
}

#[test]
fn a_wireless_loss_keeps_the_window_and_slow_start_goes_on() {
    let mut driver = in_slow_start(&[Wireless]);
    driver.ack_losing([13], [10]);
    assert_eq!(
        driver.controller.bytes_in_flight(),
        28 * 1200,
        "40 packets less 11 acknowledged and 1 lost"
    );
    driver.wait_ms(1);
    driver.ack(14..24);
    assert_eq!(driver.window(), 24_000, "until the recovery has ended");
    driver.send(1);
    driver.ack(24..=40);
    assert_eq!(driver.window(), 57_600, "every later packet too");
    let counts = driver.controller.counts();
    assert_eq!((counts.wireless, counts.congestion, counts.reductions), (1, 0, 0));
}

#[test]
fn a_congestion_or_undecided_loss_reduces_as_cubic_does() {
    for verdict in [Congestion, Undecided] {
        let mut driver = in_slow_start(&[verdict]);
        driver.ack_losing([13], [10]);
        assert_eq!(
            driver.window(),
            16_800,
            "0.7 of 24000 bytes, and the ACK in the recovery grows nothing"
        );
        assert_eq!(driver.controller.bytes_in_flight(), 28 * 1200);
        let counts = driver.controller.counts();
        assert_eq!(
            (counts.congestion + counts.undecided, counts.wireless, counts.reductions),
            (1, 0, 1)
        );
    }
}

#[test]
fn the_losses_of_an_ack_are_one_batch_with_their_numbers() {
    let mut driver = in_slow_start(&[Wireless, Congestion]);
    driver.ack_losing([20], [10, 11, 14, 16]);
    let verdict = last(&driver);
    assert_eq!((verdict.lost_pkts, verdict.numbers), (4, Some(Numbers { first: 10, last: 16 })));
    assert_eq!((verdict.lost_bytes, verdict.verdict), (4 * 1200, Wireless));
    assert_eq!(driver.controller.counts().wireless, 4);
    assert_eq!(driver.controller.bytes_in_flight(), 25 * 1200);
    assert_eq!(
        verdict.to_string(),
        "4 packets lost (10 to 16): test: as asked: wireless; window kept (24000 bytes)"
    );
}

/// Spike with thresholds of 7.5 and 5 ms above the smallest round-trip time.
fn spike() -> LossTolerant {
    let (start, end) = (Span::from_micros(7_500), Span::from_millis(5));
    let thresholds = SpikeThresholds::Fixed { start, end };
    let config = SpikeConfig { thresholds, ..SpikeConfig::tobe() };
    LossTolerant::with_parameters(&LdaConfig::Spike(config)).expect("it has what it needs")
}

/// The same ACK shows a gap and declares it lost. Before it the algorithm knows of no gap, and
/// would be undecided.
#[test]
fn a_loss_is_judged_with_what_the_ack_that_declares_it_shows() {
    let mut driver = after_ten_acks(spike());
    driver.ack_losing([13, 14, 15], [10, 11, 12]);
    let verdict = last(&driver);
    assert_eq!((verdict.verdict, verdict.lost_pkts), (Wireless, 3));
    assert_eq!(verdict.rtt.unwrap().as_millis_f64(), driver.rtt_of(15).as_secs_f64() * 1e3);
    // The threshold is 7.5 ms: wait until the round-trip time of packet 21 is 8 ms above that of
    // packet 15.
    driver.wait_ms(6 + 8);
    driver.ack_losing([19, 20, 21], [16, 17, 18]);
    assert_eq!(
        (last(&driver).verdict, last(&driver).overruled),
        (Congestion, None),
        "{}",
        last(&driver)
    );
}

#[test]
fn a_loss_that_a_timer_declares_is_judged_at_once() {
    let mut driver = in_slow_start(&[Congestion, Wireless]);
    driver.ack([11]);
    driver.wait_ms(4);
    driver.lose([10], false);
    assert_eq!(driver.window(), 17_640, "0.7 of 25200 bytes, before any other call");
    driver.ack([13]);
    driver.lose([12], false);
    assert_eq!((driver.window(), driver.controller.counts().wireless), (17_640, 1));
}

#[test]
fn losses_that_wait_for_an_ack_are_judged_before_any_other_call() {
    let mut driver = in_slow_start(&[Congestion]);
    // An ACK whose packets were sent on another path, but for a largest one without bytes in
    // flight: none is reported here.
    driver.send_one(0, None);
    driver.wait_ms(40);
    driver.tell_rtt(40);
    driver.lose([10], false);
    assert_eq!(driver.controller.counts().congestion, 0);
    driver.send_one(MTU, Some(false));
    assert_eq!((driver.controller.counts().congestion, driver.window()), (1, 16_800));
}

#[test]
fn a_round_trip_has_one_reduction() {
    let mut driver = in_slow_start(&[Wireless, Congestion, Congestion, Wireless, Congestion]);
    for number in [10, 14, 18, 22] {
        driver.ack_losing([number + 3], [number]);
        driver.wait_ms(1);
    }
    let responses: Vec<Response> =
        driver.controller.last_verdicts().map(|verdict| verdict.response).collect();
    assert_eq!(
        responses,
        [Response::Kept, Response::Reduced, Response::AlreadyReduced, Response::Kept]
    );
    // 24000 + 1200 (packet 13), then 0.7 of it; nothing grows in the recovery.
    assert_eq!(driver.window(), 17_640);
    // A packet sent after the reduction ends the recovery; a loss after it reduces again.
    driver.send(5); // 40 to 44
    driver.wait_ms(36);
    driver.ack([40]);
    driver.wait_ms(3);
    driver.ack_losing([44], [41]);
    assert_eq!(driver.controller.counts().reductions, 2);
}

#[test]
fn marks_and_losses_without_a_round_trip_are_never_judged() {
    let scripted = Scripted::saying([Wireless; 9]);
    let mut driver = after_ten_acks(scripted.endpoint());
    let expect = |driver: &Driver<LossTolerantController>, overruled| {
        assert_eq!((last(driver).verdict, last(driver).overruled), (Congestion, Some(overruled)));
        assert_eq!(scripted.left(), 9);
    };
    driver.ack_with([10], [], 1);
    expect(&driver, Overruled::Mark);
    assert_eq!((last(&driver).lost_pkts, driver.window()), (0, 16_800));
    // The round-trip time was 40 ms: a quarter of it is 10 ms.
    driver.wait_ms(11);
    driver.lose([11], false);
    expect(&driver, Overruled::NoFreshRtt);
    driver.ack([15]);
    driver.lose([12, 13, 14], true);
    expect(&driver, Overruled::PersistentCongestion);
    assert_eq!(driver.window(), 2400, "two packets");
    let counts = driver.controller.counts();
    assert_eq!(
        (counts.marks, counts.without_rtt, counts.wireless, counts.congestion),
        (1, 1, 0, 4)
    );
}

#[test]
fn acknowledged_packets_count_for_the_caps() {
    // A hundredth of 256 packets is 2, of 400 to 406 it is 4.
    for (acked, ignored) in [(100, 2), (400, 4)] {
        let endpoint = Scripted::saying([Wireless; 9]).endpoint();
        let endpoint = endpoint.with_caps(Caps { max_share: 0.01, ..NO_CAPS }).unwrap();
        let mut driver = Driver::new(controller(endpoint));
        driver.send(acked + 20);
        driver.ack(0..acked);
        for number in 0..6 {
            driver.lose([acked + number], false);
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
    let mut driver = in_slow_start(&[Wireless]);
    driver.update_mtu(2 * MTU as u16);
    driver.send_one(2 * MTU, Some(false)); // 40
    driver.send(3);
    driver.ack(10..40);
    driver.ack_losing([43], [40]);
    assert_eq!((last(&driver).lost_pkts, last(&driver).lost_bytes), (1, 2400));
}

#[test]
fn losses_of_packets_that_are_not_remembered_are_congestion() {
    let scripted = Scripted::saying([Wireless]);
    let mut driver = Driver::new(controller(scripted.endpoint().with_memory_pkts(1)));
    driver.send(300);
    driver.ack([299]);
    driver.lose([10], false);
    assert_eq!(
        (last(&driver).overruled, last(&driver).lost_pkts),
        (Some(Overruled::UnknownPackets), 1)
    );
    assert_eq!(scripted.left(), 1);
}

#[test]
fn a_loss_in_a_gappy_ack_is_judged_though_taken_for_another() {
    let mut driver = after_ten_acks(spike());
    // 12 is missing; the bytes of five packets are taken for 13 to 17.
    driver.ack([10, 11, 13, 14, 15]);
    driver.wait_ms(1);
    driver.ack_losing([16], [12]);
    assert_eq!(
        (last(&driver).verdict, driver.controller.counts().wireless),
        (Wireless, 1),
        "{}",
        last(&driver)
    );
}

#[test]
fn the_monitor_sums_up_all_paths() {
    let scripted = Scripted::saying([Wireless, Congestion]);
    let endpoint = scripted.endpoint();
    let monitor = endpoint.monitor();
    let mut driver = after_ten_acks(endpoint);
    driver.ack_losing([13], [10]);
    driver.ack_losing([16], [14]);
    let totals = monitor.totals();
    assert_eq!((totals.wireless, totals.congestion, monitor.controllers()), (1, 1, 1));
    assert_eq!(monitor.last_verdict().unwrap(), *last(&driver));
}
