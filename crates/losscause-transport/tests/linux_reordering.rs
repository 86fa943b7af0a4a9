//! Linux's sender and receiver over a link that loses nothing and delays some packets, so that later
//! ones overtake them: every loss that the sender finds is none.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use losscause::{Algorithm, Judgement, Loss, Needs, Numbers, Observation, Observer, Span, Time};
use losscause_transport::tcp::{Ack, Config, Receiver, Segment, Sender, Stats, Variant};

const SECONDS: i64 = 15;
const RATE_BPS: i64 = 10_000_000;
const DELAY: Span = Span::from_millis(20);

/// What an algorithm is told.
#[derive(Clone, Default)]
struct Told(Rc<RefCell<Counts>>);

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    lost: u64,
    taken_back: u64,
}

impl Algorithm for Told {
    fn name(&self) -> &'static str {
        "told"
    }
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn observe(&mut self, _: &Observation) {}
    fn on_loss(&mut self, _: &Loss) {
        self.0.borrow_mut().lost += 1;
    }
    fn judge(&self, loss: &Loss) -> Judgement {
        ().judge(loss)
    }
    fn take_back(&mut self, _: Numbers) {
        self.0.borrow_mut().taken_back += 1;
    }
}

#[derive(Default)]
struct TakenBack(u64);

impl Observer for TakenBack {
    fn on_taken_back(&mut self, _: Numbers) {
        self.0 += 1;
    }
}

struct Outcome {
    goodput_mbps: f64,
    stats: Stats,
    told: Counts,
}

/// Every 100th packet takes `late` longer than the others.
fn transfer(variant: Variant, late: Span) -> Outcome {
    let config = Config::linux().with_variant(variant);
    let told = Told::default();
    let mut sender = Sender::with_lda(&config, told.clone()).unwrap();
    let mut receiver = Receiver::new(&config).unwrap();
    let mut observer = TakenBack::default();
    let mut out: BTreeMap<(Time, u64), Segment> = BTreeMap::new();
    let mut back: BTreeMap<(Time, u64), Ack> = BTreeMap::new();
    let mut free = Time::ZERO;
    let mut number = 0;
    let mut now = Time::ZERO;
    sender.start(now);
    while now <= Time::ZERO + Span::from_secs(SECONDS) {
        while let Some(segment) = sender.poll_transmit(now) {
            number += 1;
            free = free.max(now)
                + Span::from_nanos(i64::from(segment.wire_bytes) * 8_000_000_000 / RATE_BPS);
            let extra = if number % 100 == 0 { late } else { Span::ZERO };
            out.insert((free + DELAY + extra, number), segment);
        }
        while let Some(ack) = receiver.poll_transmit(now) {
            number += 1;
            back.insert((now + DELAY, number), ack);
        }
        let first_out = out.keys().next().map(|key| key.0);
        let first_back = back.keys().next().map(|key| key.0);
        now = [first_out, first_back, sender.poll_timeout(), receiver.poll_timeout()]
            .into_iter()
            .flatten()
            .min()
            .unwrap();
        if first_out == Some(now) {
            receiver.on_segment(now, &out.pop_first().unwrap().1, &mut ());
        } else if first_back == Some(now) {
            sender.on_ack(now, &back.pop_first().unwrap().1, &mut observer);
        } else if receiver.poll_timeout() == Some(now) {
            receiver.on_timeout(now);
        } else {
            sender.on_timeout(now, &mut observer);
        }
    }
    let told = *told.0.borrow();
    assert_eq!(observer.0, told.taken_back, "algorithm and observer hear the same");
    let bits = receiver.delivered_packets() * u64::from(config.payload_bytes) * 8;
    Outcome { goodput_mbps: bits as f64 / SECONDS as f64 / 1e6, stats: sender.stats(), told }
}

#[test]
fn needless_recoveries_are_undone_and_taken_back() {
    for variant in [Variant::Reno, Variant::Cubic, Variant::Bbr] {
        let Outcome { goodput_mbps, stats, told } = transfer(variant, Span::from_millis(8));
        assert!(stats.fast_retransmits > 0 && stats.undone > 0, "{variant:?}: {stats:?}");
        assert_eq!(stats.undone, stats.fast_retransmits, "{variant:?}: {stats:?}");
        assert_eq!(told.taken_back, told.lost, "{variant:?}");
        assert!(goodput_mbps > 9.0, "{variant:?}: {goodput_mbps} Mb/s");
        assert_eq!(stats.timeouts, 0);
    }
}

#[test]
fn the_reordering_window_grows_until_late_packets_are_waited_for() {
    // The window is a quarter of the smallest round-trip time, 10 ms, and one more for each round
    // trip with a D-SACK: 25 ms are three of them.
    for variant in [Variant::Reno, Variant::Cubic, Variant::Bbr] {
        for (late_ms, most) in [(8, 2), (25, 6)] {
            let stats = transfer(variant, Span::from_millis(late_ms)).stats;
            assert!((1..=most).contains(&stats.fast_retransmits), "{variant:?}: {stats:?}");
        }
    }
}
