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

use losscause::ack::Growing;
use losscause::{Algorithm, AnyAlgorithm, SenderDifferentiator, Signal};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerMetrics};

use super::base::BaseController;
use super::signals::Numbering;
use crate::clock::Clock;
use crate::{Ack, Caps, Choice, Counts, Event, LossVerdict, Losses};

/// quinn's controller with an algorithm in front; built by [`LossTolerant`](super::LossTolerant).
///
/// The present state of a connection is a clone of it:
///
/// ```
/// # fn read(connection: &quinn::Connection) {
/// use losscause_quic::quinn::LossTolerantController;
///
/// let state = connection.congestion_state().into_any();
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
    /// For the present, and for the times of sending that ACKs and losses name.
    clock: Clock,
    sent_clock: Clock,
    numbering: Numbering,
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
            sent_clock: Clock::from(clock_zero),
            numbering: Numbering::default(),
            mtu,
            acked: 0,
            losses,
        };
        controller.tell_cwnd();
        controller
    }

    /// The counts of this connection.
    pub fn counts(&self) -> Counts {
        self.losses.counts()
    }

    /// The last verdicts of this connection, the oldest first.
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

fn signal(persistent: bool, lost_bytes: u64) -> Signal {
    match (lost_bytes, persistent) {
        (0, _) => Signal::EcnMark,
        (_, true) => Signal::PersistentCongestion,
        (_, false) => Signal::Gap,
    }
}

impl Controller for LossTolerantController {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        let at = self.clock.time(now);
        let numbers = self.numbering.batch(bytes, last_packet_number, u64::from(self.mtu));
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
        self.sender.on_acked_sent_at(self.sent_clock.time(sent));
        self.base.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        _in_flight: u64,
        _app_limited: bool,
        largest: Option<u64>,
    ) {
        let ack = Ack { at: self.clock.time(now), pkts: std::mem::take(&mut self.acked), largest };
        if self.losses.end_of_ack(&mut self.sender, &mut self.base, ack) {
            self.base.on_mtu_update(self.mtu);
        }
        self.tell_cwnd();
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        if lost_bytes > 0 {
            self.sender.on_lost_bytes(self.sent_clock.time(sent), lost_bytes, u64::from(self.mtu));
        }
        let event = Event {
            at: self.clock.time(now),
            signal: signal(is_persistent_congestion, lost_bytes),
            lost_bytes,
            packet_bytes: self.mtu,
        };
        self.losses.declare(&mut self.sender, &mut self.base, event, |base| {
            base.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
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
