//! The controller: noq's calls go to the base controller, except for losses that the algorithm
//! takes for wireless.
//!
//! ```text
//! noq calls                      base             algorithm
//! on_packet_sent                 -                tracker: the packet
//! of an ACK, in this order:
//!   on_spurious_congestion_event see `take_back`  takes the last losses back
//!   on_ack (per packet)          grows            tracker: the packet
//!   on_end_acks                  -                one sample: round-trip time, spanned and missing packets
//!   on_packet_lost (per packet)  -                tracker: the packet
//!   on_congestion_event          unless ignored: see `Losses`
//! on_mtu_update                  told             -
//! ```
//!
//! *Once per round trip*: noq reports the losses of one round trip in several batches. Its
//! controllers ignore losses of packets that were sent before their last reduction, so the first
//! congestion batch reduces the window and the others do not, whether ignored batches came before
//! it, between or after.
//!
//! *A revised verdict*: the base as it was before its reduction takes its place.
//!
//! NewReno and CUBIC of noq 1.4 leave `on_sent`, `on_packet_sent`, `on_packet_lost`,
//! `on_cwnd_limited`, `on_end_acks` and `on_ack_frequency_update` empty, so the base does not get
//! these calls.

use std::any::Any;
use std::time::Instant;

use losscause::Signal;
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerMetrics};

use super::base::{BaseController, each};
use super::controller::LossTolerantController;
use crate::Event;
use crate::clock::Clock;

/// A clock.
#[derive(Clone)]
pub(super) struct Own {
    pub(super) clock: Clock,
}

impl From<Instant> for Own {
    fn from(zero: Instant) -> Self {
        Self { clock: Clock::from(zero) }
    }
}

fn signal(is_persistent: bool, is_ecn: bool) -> Signal {
    match (is_ecn, is_persistent) {
        (true, _) => Signal::EcnMark,
        (_, true) => Signal::PersistentCongestion,
        (_, false) => Signal::Gap,
    }
}

impl Controller for LossTolerantController {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        // A larger packet is a probe of the MTU. noq does not report its loss.
        if bytes <= self.mtu {
            self.sender.on_sent(number, self.own.clock.time(now));
        }
    }

    #[inline]
    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        number: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.acked = self.acked.saturating_add(1);
        self.sender.on_acked(number);
        each!(&mut self.base, base => base.on_ack(now, sent, bytes, number, app_limited, rtt));
    }

    fn on_end_acks(&mut self, now: Instant, _in_flight: u64, _app_limited: bool, _: Option<u64>) {
        self.end_of_ack(now, None);
    }

    fn on_packet_lost(&mut self, _lost_bytes: u16, number: u64, _now: Instant) {
        self.sender.on_lost(number);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost_pn: u64,
    ) {
        let event = Event {
            at: self.own.clock.time(now),
            signal: signal(is_persistent_congestion, is_ecn),
            lost_bytes,
            packet_bytes: self.mtu,
        };
        self.losses.declare(&mut self.sender, &mut self.base, event, |base| {
            each!(base, base => base.on_congestion_event(
                now, sent, is_persistent_congestion, is_ecn, lost_bytes, largest_lost_pn,
            ));
        });
        self.tell_cwnd();
    }

    fn on_spurious_congestion_event(&mut self) {
        self.losses.take_back(&mut self.sender, &mut self.base, |base| {
            each!(base, base => base.on_spurious_congestion_event());
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
