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
use std::fmt;
use std::time::Instant;

use losscause::ack::Growing;
use losscause::{Algorithm, AnyAlgorithm, SenderDifferentiator, Signal};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerMetrics};

use super::base::{BaseController, CongestionEvent};
use crate::clock::Clock;
use crate::{Ack, Caps, Choice, Counts, Event, LossVerdict, Losses};

/// noq's controller with an algorithm in front; built by [`LossTolerant`](super::LossTolerant).
///
/// The present state of a path is a clone of it:
///
/// ```
/// # fn read(connection: &noq_proto::Connection) {
/// use losscause_quic::noq::LossTolerantController;
/// use noq_proto::PathId;
///
/// let Some(controller) = connection.congestion_state(PathId::ZERO) else { return };
/// let state = controller.clone_box().into_any();
/// if let Some(controller) = state.downcast_ref::<LossTolerantController>() {
///     println!("{:?}", controller.counts());
/// }
/// # }
/// ```
#[derive(Clone)]
pub struct LossTolerantController {
    base: BaseController,
    sender: SenderDifferentiator<AnyAlgorithm, Growing>,
    needs_cwnd: bool,
    clock: Clock,
    mtu: u16,
    /// Packets of the current ACK.
    acked: u32,
    losses: Losses<BaseController>,
}

impl LossTolerantController {
    /// How many verdicts [`LossTolerantController::last_verdicts`] keeps.
    pub const LAST_VERDICTS: usize = Losses::<BaseController>::LAST_VERDICTS;

    pub(crate) fn new(
        base: BaseController,
        choice: &Choice,
        clock_zero: Instant,
        mtu: u16,
    ) -> Self {
        let (sender, losses) = choice.build();
        let mut controller = Self {
            base,
            needs_cwnd: sender.algorithm().needs().cwnd,
            sender,
            clock: Clock::from(clock_zero),
            mtu,
            acked: 0,
            losses,
        };
        controller.tell_cwnd();
        controller
    }

    /// The counts of this path.
    pub fn counts(&self) -> Counts {
        self.losses.counts()
    }

    /// The last verdicts of this path, the oldest first.
    pub fn last_verdicts(&self) -> impl Iterator<Item = &LossVerdict> {
        self.losses.last_verdicts()
    }

    /// The caps.
    pub fn caps(&self) -> Caps {
        self.losses.caps()
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &AnyAlgorithm {
        self.sender.algorithm()
    }

    /// The controller's number among the factory's, as in [`LossVerdict::connection`].
    pub fn connection(&self) -> u64 {
        self.losses.connection()
    }

    fn tell_cwnd(&mut self) {
        if self.needs_cwnd {
            self.sender.set_cwnd(self.base.window() as f64 / f64::from(self.mtu.max(1)));
        }
    }
}

fn signal(event: &CongestionEvent) -> Signal {
    match event {
        CongestionEvent { is_ecn: true, .. } => Signal::EcnMark,
        CongestionEvent { is_persistent: true, .. } => Signal::PersistentCongestion,
        _ => Signal::Gap,
    }
}

impl Controller for LossTolerantController {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        // A larger packet is a probe of the MTU. noq does not report its loss.
        if bytes <= self.mtu {
            self.sender.on_sent(number, self.clock.time(now));
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
        self.base.on_ack(now, sent, bytes, number, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, _in_flight: u64, _app_limited: bool, _: Option<u64>) {
        let pkts = std::mem::take(&mut self.acked);
        let ack = Ack { at: self.clock.time(now), pkts, largest: None };
        if self.losses.end_of_ack(&mut self.sender, &mut self.base, ack) {
            self.base.on_mtu_update(self.mtu);
        }
        self.tell_cwnd();
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
        let told = CongestionEvent {
            sent,
            is_persistent: is_persistent_congestion,
            is_ecn,
            lost_bytes,
            largest: largest_lost_pn,
        };
        let event = Event {
            at: self.clock.time(now),
            signal: signal(&told),
            lost_bytes,
            packet_bytes: self.mtu,
        };
        self.losses.declare(&mut self.sender, &mut self.base, event, |base| {
            base.on_congestion_event(now, &told);
        });
        self.tell_cwnd();
    }

    fn on_spurious_congestion_event(&mut self) {
        self.losses.take_back(&mut self.sender, &mut self.base, |base| {
            base.on_spurious_congestion_event();
        });
        self.tell_cwnd();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu;
        self.base.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.base.window()
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

impl fmt::Debug for LossTolerantController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LossTolerantController")
            .field("base", &self.base)
            .field("algorithm", &self.algorithm().name())
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}
