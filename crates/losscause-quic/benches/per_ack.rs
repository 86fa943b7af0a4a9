//! What the wrapper adds to quinn's CUBIC per ACK: `cargo bench -p losscause-quic --features
//! quinn`.
//!
//! An ACK here acknowledges two packets, as quinn's receiver sends them, while 100 packets are in
//! flight and none is lost. Each iteration makes the calls that quinn makes: one `on_sent` of two
//! packets, two `on_ack`, one `on_end_acks`.

#[path = "../tests/quinn/mod.rs"]
mod common;

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{MTU, rtt_estimator};
use criterion::{Criterion, criterion_group, criterion_main};
use losscause::registry::Registry;
use losscause_quic::quinn::{Base, LossTolerant};
use quinn::congestion::{Controller, ControllerFactory, CubicConfig};
use quinn_proto::RttEstimator;

/// A sender with a full window.
struct Sender {
    controller: Box<dyn Controller>,
    now: Instant,
    in_flight: VecDeque<Instant>,
    sent: u64,
    rtt: RttEstimator,
}

impl Sender {
    fn new(factory: Arc<dyn ControllerFactory>) -> Self {
        let now = Instant::now();
        let controller = factory.build(now, MTU);
        let mut sender =
            Self { controller, now, in_flight: VecDeque::new(), sent: 0, rtt: rtt_estimator() };
        (0..50).for_each(|_| sender.send_two());
        // Out of slow start, as a long transfer is.
        sender.controller.on_congestion_event(
            sender.now,
            now + Duration::from_nanos(1),
            false,
            1200,
        );
        sender
    }

    fn send_two(&mut self) {
        self.now += Duration::from_micros(800);
        self.in_flight.extend([self.now; 2]);
        self.sent += 2;
        self.controller.on_sent(self.now, 2 * u64::from(MTU), self.sent - 1);
    }

    fn round(&mut self) {
        self.send_two();
        for _ in 0..2 {
            let sent = self.in_flight.pop_front().unwrap_or(self.now);
            self.controller.on_ack(self.now, sent, MTU.into(), false, &self.rtt);
        }
        self.controller.on_end_acks(
            self.now,
            120_000,
            false,
            Some(self.sent - self.in_flight.len() as u64 - 1),
        );
        black_box(self.controller.window());
    }
}

fn per_ack(c: &mut Criterion) {
    let mut group = c.benchmark_group("per ACK");
    let mut measure = |name: &str, factory: Arc<dyn ControllerFactory>| {
        let mut sender = Sender::new(factory);
        group.bench_function(name, |bencher| bencher.iter(|| sender.round()));
    };
    measure("CUBIC alone", Arc::new(CubicConfig::default()));
    let registry = Registry::built_in();
    for info in registry.infos() {
        let factory =
            LossTolerant::named(Base::cubic(), info.name, &registry).expect("runs at a sender");
        measure(info.name, Arc::new(factory));
    }
    group.finish();
}

criterion_group!(benches, per_ack);
criterion_main!(benches);
