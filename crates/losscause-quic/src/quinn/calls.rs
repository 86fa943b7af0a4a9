//! The controller: quinn's calls go to the base controller, except for losses that the algorithm
//! takes for wireless.
//!
//! ```text
//! quinn calls                   base     algorithm
//! on_sent                       -        tracker: which packets
//! on_ack (per packet)           grows    tracker: which packet, by its time of sending
//! on_end_acks                   -        one sample: round-trip time, spanned and missing packets
//! on_congestion_event           unless ignored: see `Losses`
//! on_mtu_update                 told     -
//! ```
//!
//! *Once per round trip*: quinn reports the losses of one round trip in several batches. Its
//! controllers ignore losses of packets that were sent before their last reduction, so the first
//! congestion batch reduces the window and the others do not, whether ignored batches came before
//! it, between or after.
//!
//! *A revised verdict*: the base as it was before its reduction takes its place.

use std::any::Any;
use std::time::Instant;

use losscause::Signal;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerMetrics};

use super::base::{BaseController, each};
use super::controller::LossTolerantController;
use super::signals::Numbering;
use crate::Event;
use crate::clock::Clock;

/// A clock for the present, one for the times of sending that ACKs and losses name, and the numbers
/// of packets.
#[derive(Clone)]
pub(super) struct Own {
    pub(super) clock: Clock,
    sent_clock: Clock,
    numbering: Numbering,
}

impl From<Instant> for Own {
    fn from(zero: Instant) -> Self {
        let [clock, sent_clock] = [zero; 2].map(Clock::from);
        Self { clock, sent_clock, numbering: Numbering::default() }
    }
}

fn signal(persistent: bool, lost_bytes: u64) -> Signal {
    match (lost_bytes, persistent) {
        (0, _) => Signal::EcnMark,
        (_, true) => Signal::PersistentCongestion,
        (_, false) => Signal::Gap,
    }
}

impl Controller for LossTolerantController {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        let at = self.own.clock.time(now);
        let numbers = self.own.numbering.batch(bytes, last_packet_number, u64::from(self.mtu));
        self.sender.on_batch_sent(numbers, at);
    }

    #[inline]
    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.acked = self.acked.saturating_add(1);
        self.sender.on_acked_sent_at(self.own.sent_clock.time(sent));
        each!(&mut self.base, base => base.on_ack(now, sent, bytes, app_limited, rtt));
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        _in_flight: u64,
        _app_limited: bool,
        largest: Option<u64>,
    ) {
        self.end_of_ack(now, largest);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        if lost_bytes > 0 {
            self.sender.on_lost_bytes(
                self.own.sent_clock.time(sent),
                lost_bytes,
                u64::from(self.mtu),
            );
        }
        let event = Event {
            at: self.own.clock.time(now),
            signal: signal(is_persistent_congestion, lost_bytes),
            lost_bytes,
            packet_bytes: self.mtu,
        };
        self.losses.declare(&mut self.sender, &mut self.base, event, |base| {
            each!(base, base => base.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes));
        });
        self.tell_cwnd();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu;
        self.base.on_mtu_update(new_mtu);
        self.losses.on_mtu_update();
    }

    fn window(&self) -> u64 {
        self.losses.window(&self.base)
    }

    fn metrics(&self) -> ControllerMetrics {
        self.base.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.base.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
