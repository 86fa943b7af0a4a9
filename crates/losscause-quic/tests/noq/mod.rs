//! A controller driven by hand, as noq drives it.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test uses a part, and may stop at a surprise"
)]

pub mod pair;
#[path = "../common/scripted.rs"]
mod scripted;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use losscause::AnyAlgorithm;
use losscause_quic::noq::{Base, LossTolerant};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, CubicConfig};
use pair::{Fate, transfer};
pub use scripted::{NO_CAPS, Scripted};

pub const MTU: u16 = 1200;

/// noq's calls for packets of [`MTU`] bytes, numbered from 0.
pub struct Driver<C> {
    pub controller: C,
    pub now: Instant,
    sent_at: Vec<Instant>,
    rtt: RttEstimator,
}

impl<C: Controller> Driver<C> {
    pub fn new(build: impl FnOnce(Instant) -> C) -> Self {
        Self::at(Instant::now(), build)
    }

    /// At a given time.
    pub fn at(now: Instant, build: impl FnOnce(Instant) -> C) -> Self {
        Self { controller: build(now), now, sent_at: Vec::new(), rtt: rtt_estimator() }
    }

    pub fn wait_ms(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    /// Sends `pkts` packets 1 ms apart.
    pub fn send(&mut self, pkts: usize) {
        for _ in 0..pkts {
            self.burst(1);
            self.wait_ms(1);
        }
    }

    /// Sends `pkts` packets at one instant.
    pub fn burst(&mut self, pkts: usize) {
        for _ in 0..pkts {
            let number = self.sent_at.len() as u64;
            self.sent_at.push(self.now);
            self.controller.on_packet_sent(self.now, MTU, number);
        }
        let newest = self.sent_at.len() as u64 - 1;
        self.controller.on_sent(self.now, pkts as u64 * u64::from(MTU), newest);
    }

    /// An ACK of these packets, in rising order.
    pub fn ack(&mut self, numbers: impl IntoIterator<Item = usize>) {
        let mut largest = None;
        for number in numbers {
            let sent = self.sent_at[number];
            let bytes = u64::from(MTU);
            self.controller.on_ack(self.now, sent, bytes, number as u64, false, &self.rtt);
            largest = Some(number as u64);
        }
        self.controller.on_end_acks(self.now, 0, false, largest);
    }

    /// These packets are declared lost.
    pub fn lose(&mut self, numbers: impl IntoIterator<Item = usize>) {
        self.declare(numbers, false);
    }

    pub fn declare(&mut self, numbers: impl IntoIterator<Item = usize>, persistent: bool) {
        let mut pkts = 0;
        let mut largest = 0;
        for number in numbers {
            self.controller.on_packet_lost(MTU, number as u64, self.now);
            pkts += 1;
            largest = largest.max(number);
        }
        let sent = self.sent_at[largest];
        let bytes = pkts * u64::from(MTU);
        let now = self.now;
        self.controller.on_congestion_event(now, sent, persistent, false, bytes, largest as u64);
    }

    /// An ACK with a mark, `newest` being the newest packet that it acknowledges.
    pub fn mark(&mut self, newest: usize) {
        let sent = self.sent_at[newest];
        self.controller.on_congestion_event(self.now, sent, false, true, 0, newest as u64);
    }

    pub fn window(&self) -> u64 {
        self.controller.window()
    }
}

impl Scripted {
    /// The factory, without caps.
    pub fn factory(&self, base: Base) -> LossTolerant {
        let factory =
            LossTolerant::new(base, AnyAlgorithm::boxed(self.clone())).expect("needs nothing");
        factory.with_caps(NO_CAPS).expect("in range")
    }
}

/// noq does not let anybody make an estimator, but hands one to controllers: this is one from a
/// connection in virtual time.
pub fn rtt_estimator() -> RttEstimator {
    static ESTIMATOR: OnceLock<RttEstimator> = OnceLock::new();
    *ESTIMATOR.get_or_init(|| {
        let caught = Arc::new(Catcher::default());
        transfer(caught.clone(), 100_000, |_, _| Fate::Arrives);
        let estimator = *caught.0.lock().expect("no test panicked");
        estimator.expect("an acknowledgement")
    })
}

/// A factory of CUBIC whose controllers keep the estimator that they are shown.
#[derive(Debug, Default)]
struct Catcher(Mutex<Option<RttEstimator>>);

impl ControllerFactory for Catcher {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        Box::new(Catching(self, Arc::new(CubicConfig::default()).build(now, mtu)))
    }
}

#[derive(Debug)]
struct Catching(Arc<Catcher>, Box<dyn Controller>);

impl Controller for Catching {
    fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: u64, _: bool, rtt: &RttEstimator) {
        *self.0.0.lock().expect("no test panicked") = Some(*rtt);
    }
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: bool, _: u64, _: u64) {}
    fn on_mtu_update(&mut self, _: u16) {}
    fn window(&self) -> u64 {
        self.1.window()
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Catching(self.0.clone(), self.1.clone_box()))
    }
    fn initial_window(&self) -> u64 {
        self.1.initial_window()
    }
    fn into_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }
}
