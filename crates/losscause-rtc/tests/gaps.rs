//! What the wrapped estimator hears, report by report.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use losscause::{BuiltIn, End};
use losscause_rtc::{Caps, LossTolerant, Overruled};
use rtc_interceptor::{Acknowledgement, BandwidthEstimator, History, PacketReport};

/// Keeps which packets it hears of.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<(u64, bool)>>>);

impl Recorder {
    fn lost(&self) -> Vec<u64> {
        let heard = self.0.lock().expect("no test panicked");
        heard.iter().filter(|(_, arrived)| !arrived).map(|(id, _)| *id).collect()
    }
}

impl BandwidthEstimator for Recorder {
    fn on_reports(&mut self, _: Instant, reports: &[PacketReport]) {
        let heard = reports.iter().map(|report| (report.id, report.arrived));
        self.0.lock().expect("no test panicked").extend(heard);
    }

    fn target_bitrate(&self) -> f64 {
        1e6
    }
}

/// Packets sent 10 ms apart; each is (lost or its time on the way, ms).
fn reports(is_twcc: bool, packets: &[Option<u64>]) -> (Instant, Vec<PacketReport>) {
    let zero = Instant::now();
    let mut history = History::new();
    for (number, trip_ms) in (0..).zip(packets) {
        let sent_ms = 10 * u64::from(number);
        let departure = zero + Duration::from_millis(sent_ms);
        history.add_outgoing(1, number, is_twcc, number, 1_200, departure);
        let Some(trip_ms) = trip_ms else { continue };
        let arrival = Some(Duration::from_millis(1_000 + sent_ms + trip_ms));
        let acknowledgement =
            Acknowledgement { arrived: true, arrival, ..Acknowledgement::lost(number) };
        if is_twcc {
            history.on_twcc_feedback(departure, acknowledgement);
        } else {
            history.on_ccfb_feedback(departure, 1, acknowledgement);
        }
    }
    (zero + Duration::from_millis(10 * packets.len() as u64 + 50), history.take_reports())
}

/// A packet that took so many milliseconds, or is lost.
const LOST: Option<u64> = None;

#[test]
fn a_loss_without_a_queue_is_ignored_and_one_with_a_queue_is_not() {
    let heard = Recorder::default();
    let mut estimator = LossTolerant::recommended(heard.clone());
    // 3 is lost at the smallest trip time; 7 and 8 are lost 10 ms above it.
    let trips = [20, 20, 20].map(Some);
    let queue = [24, 30, 30].map(Some);
    let packets = [&trips[..], &[LOST, Some(20)], &queue[1..], &[LOST, LOST, Some(30)]].concat();
    let (now, reports) = reports(true, &packets);
    estimator.on_reports(now, &reports);
    assert_eq!(heard.lost(), [7, 8]);
    let totals = estimator.monitor().totals();
    assert_eq!((totals.wireless, totals.congestion), (1, 2));
    let verdicts = estimator.monitor().last_verdicts();
    let ids: Vec<(u64, u64)> = verdicts.iter().map(|v| (v.ids.first, v.ids.last)).collect();
    assert_eq!(ids, [(3, 3), (7, 8)]);
}

#[test]
fn rfc_8888_has_no_arrival_times_so_nothing_is_ignored() {
    let heard = Recorder::default();
    let mut estimator = LossTolerant::recommended(heard.clone());
    let (now, reports) = reports(false, &[Some(20), LOST, Some(20)]);
    estimator.on_reports(now, &reports);
    assert_eq!(heard.lost(), [1]);
    let verdict = estimator.monitor().last_verdicts().remove(0);
    assert_eq!(verdict.overruled, Some(Overruled::NoArrivalTime));
    let sentence = "1 packet lost (1): the packet behind the gap has no arrival time: congestion";
    assert_eq!(verdict.to_string(), sentence);
}

#[test]
fn the_caps_limit_what_is_ignored() {
    let wireless = BuiltIn::AlwaysWireless.build(End::Receiver).expect("published parameters");
    let heard = Recorder::default();
    let caps = Caps { max_run: 2, ..Caps::default() };
    let estimator = LossTolerant::new(heard.clone(), wireless).expect("it needs nothing");
    let mut estimator = estimator.with_caps(caps).expect("in range");
    let mut packets = vec![Some(20); 300];
    for lost in [50, 100, 150, 200] {
        packets[lost] = LOST;
    }
    let (now, reports) = reports(true, &packets);
    estimator.on_reports(now, &reports);
    assert_eq!(heard.lost(), [150, 200], "the estimate never falls, so the run goes on");
    let totals = estimator.monitor().totals();
    assert_eq!((totals.wireless, totals.capped), (2, 2));
}

/// Halves its rate when it hears of a loss.
struct Falls(Recorder, f64);

impl BandwidthEstimator for Falls {
    fn on_reports(&mut self, now: Instant, reports: &[PacketReport]) {
        if reports.iter().any(|report| !report.arrived) {
            self.1 /= 2.0;
        }
        self.0.on_reports(now, reports);
    }

    fn target_bitrate(&self) -> f64 {
        self.1
    }
}

#[test]
fn a_lower_estimate_begins_a_new_run() {
    let wireless = BuiltIn::AlwaysWireless.build(End::Receiver).expect("published parameters");
    let heard = Recorder::default();
    let caps = Caps { max_run: 2, ..Caps::default() };
    let estimator = LossTolerant::new(Falls(heard.clone(), 1e6), wireless).expect("needs nothing");
    let mut estimator = estimator.with_caps(caps).expect("in range");
    let mut packets = vec![Some(20); 360];
    for lost in [50, 100, 150, 200, 250, 300] {
        packets[lost] = LOST;
    }
    let (now, reports) = reports(true, &packets);
    reports.chunks(20).for_each(|batch| estimator.on_reports(now, batch));
    assert_eq!(heard.lost(), [150, 300]);
    assert_eq!(estimator.target_bitrate(), 250e3);
}

/// A policer that takes every fourth packet, without a queue: the brake stops it.
#[test]
fn a_policers_losses_are_braked() {
    let heard = Recorder::default();
    let estimator = LossTolerant::recommended(heard.clone());
    let caps = Caps { max_loss_rate: 1.0, max_share: 1.0, ..Caps::default() };
    let mut estimator = estimator.with_caps(caps).expect("in range");
    let packets: Vec<Option<u64>> = (0..400)
        .map(|number| (number % 4 != 2 && number > 0 || number < 100).then_some(20))
        .collect();
    let (now, reports) = reports(true, &packets);
    let zero = reports[0].departure;
    for batch in reports.chunks(20) {
        let newest = batch.last().expect("chunks are not empty").departure;
        let now = (newest + Duration::from_millis(150)).min(now + Duration::from_secs(1));
        assert!(now >= zero);
        estimator.on_reports(now, batch);
    }
    let totals = estimator.monitor().totals();
    assert!(totals.braked > totals.wireless, "{totals:?}");
}
