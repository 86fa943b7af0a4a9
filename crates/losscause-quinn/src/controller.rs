//! The controller: quinn's calls go to the base controller, except for losses that the algorithm takes for wireless.
//!
//! ```text
//! quinn calls                   base     algorithm
//! on_sent                       -        tracker: which packets
//! on_ack (per packet)           grows    tracker: which packet, by its time of sending
//! on_end_acks                   -        one sample: round-trip time, spanned and missing packets
//! on_congestion_event
//!   mark, persistent            told     told, not asked
//!   no fresh round-trip time    told     told, not asked
//!   wireless, within the caps   NOT      told and asked
//!   anything else               told     told and asked
//! on_mtu_update                 told     -
//! ```
//!
//! *What "wireless" does*: the base does not hear of the loss, so the window stays, and growth or slow start goes on.
//!
//! *Once per round trip*: quinn reports the losses of one round trip in several batches. The base ignores losses of
//! packets that were sent before its last reduction (RFC 9002, section 7.3.2), so the first congestion batch reduces the
//! window and the others do not, whether ignored batches came before it, between or after.
//!
//! *A revised verdict* ([`SenderLda::on_recovery_end`]): the base as it was before its reduction takes its place, if the
//! caps allow to ignore the recovery's losses, the window becomes larger by it, and slow start does not return.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use losscause::ack::{DeclaredLoss, Growing};
use losscause::{AnySenderLda, Judgement, SenderDifferentiator, SenderLda, Signal, Span, Time, Verdict};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerMetrics};

use crate::base::BaseController;
use crate::caps::{CapCounts, Refusal};
use crate::monitor::push;
use crate::signals::{Clock, Numbering};
use crate::{Caps, Counts, LossVerdict, Monitor, Overruled, Response, VerdictSink};

/// quinn's controller with an algorithm in front; built by [`LossTolerant`](crate::LossTolerant).
///
/// The present state of a connection is a clone of it:
///
/// ```
/// # fn read(connection: &quinn::Connection) {
/// use losscause_quinn::LossTolerantController;
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
    sender: SenderDifferentiator<AnySenderLda, Growing>,
    needs_cwnd: bool,
    /// For the present, and for the times of sending that ACKs and losses name.
    clock: Clock,
    sent_clock: Clock,
    numbering: Numbering,
    mtu: u16,
    /// Packets of the current ACK.
    acked: u32,
    caps: CapCounts,
    recovery: Option<Recovery>,
    counts: Counts,
    last: VecDeque<LossVerdict>,
    connection: u64,
    monitor: Monitor,
    sink: Option<Arc<dyn VerdictSink>>,
}

/// Since the first loss that was declared after the last recovery.
#[derive(Clone, Debug, Default)]
struct Recovery {
    /// Whether the base was told of a loss or mark, and whether that reduced its window.
    told: bool,
    reduced: bool,
    /// Lost packets counted as congestion or undecided, by the algorithm's own verdict.
    congestion: u32,
    undecided: u32,
    /// The base before it reduced the window, if only the algorithm's verdict reduced it.
    before: Option<BaseController>,
}

impl LossTolerantController {
    /// How many verdicts [`LossTolerantController::last_verdicts`] keeps.
    pub const LAST_VERDICTS: usize = 16;

    pub(crate) fn new(
        base: BaseController,
        lda: AnySenderLda,
        caps: Caps,
        memory_pkts: usize,
        clock_zero: Instant,
        mtu: u16,
        (monitor, sink): (Monitor, Option<Arc<dyn VerdictSink>>),
    ) -> Self {
        let needs_cwnd = lda.needs().cwnd;
        let mut controller = Self {
            base,
            sender: SenderDifferentiator::with_memory(lda, Growing::up_to(memory_pkts)),
            needs_cwnd,
            clock: Clock::from(clock_zero),
            sent_clock: Clock::from(clock_zero),
            numbering: Numbering::default(),
            mtu,
            acked: 0,
            caps: CapCounts::new(caps),
            recovery: None,
            counts: Counts::default(),
            last: VecDeque::new(),
            connection: monitor.next_connection(),
            monitor,
            sink,
        };
        controller.tell_cwnd();
        controller
    }

    /// The counts of this connection.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The last verdicts of this connection, the oldest first.
    pub fn last_verdicts(&self) -> impl Iterator<Item = &LossVerdict> {
        self.last.iter()
    }

    /// The caps.
    pub fn caps(&self) -> Caps {
        self.caps.caps()
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &AnySenderLda {
        self.sender.lda()
    }

    /// Its number among the factory's controllers, as in [`LossVerdict::connection`].
    pub fn connection(&self) -> u64 {
        self.connection
    }

    fn tell_cwnd(&mut self) {
        if self.needs_cwnd {
            self.sender.set_cwnd(self.base.window() as f64 / f64::from(self.mtu.max(1)));
        }
    }

    /// The last round-trip time, unless it is too old to say anything about a loss that is declared at `at`.
    ///
    /// A loss that an ACK declares has that ACK's. A loss timer declares a loss an eighth of a round-trip time after the
    /// packet's own ACK was due (RFC 9002, section 6.1.2), and some ACK has shown the gap before.
    fn fresh_rtt(&self, at: Time) -> Option<Span> {
        let (measured_at, rtt) = self.sender.latest_rtt()?;
        (at - measured_at <= rtt / 4).then_some(rtt)
    }

    /// The verdict on a loss: the algorithm's judgement, and the rule that overrules it.
    fn judge(&mut self, loss: &DeclaredLoss, lost: u32, rtt: Option<Span>) -> (Option<Judgement>, Option<Overruled>) {
        match loss.signal {
            Signal::EcnMark => return (None, Some(Overruled::Mark)),
            Signal::PersistentCongestion => return (None, Some(Overruled::PersistentCongestion)),
            _ if rtt.is_none() => return (None, Some(Overruled::NoFreshRtt)),
            _ if loss.numbers.is_none() => return (None, Some(Overruled::UnknownPackets)),
            _ => {}
        }
        let judgement = self.sender.judge(loss);
        let overruled = if judgement.verdict.is_wireless() {
            self.caps.ignore(lost).err().map(|refusal| match refusal {
                Refusal::Run => Overruled::RunCap,
                Refusal::Share => Overruled::ShareCap,
                Refusal::LossRate => Overruled::LossRate,
            })
        } else {
            None
        };
        (Some(judgement), overruled)
    }

    /// Tells the base of a congestion event.
    fn reduce(&mut self, event: Event, revisable: bool) -> Response {
        let before = self.base.clone();
        self.base.on_congestion_event(event.now, event.sent, event.persistent, event.lost_bytes);
        let reduced = self.base.window() < before.window();
        let recovery = self.recovery.get_or_insert_default();
        recovery.told = true;
        if !revisable {
            recovery.before = None;
        } else if reduced && !recovery.reduced {
            recovery.before = Some(before);
        }
        if !reduced {
            return Response::AlreadyReduced;
        }
        recovery.reduced = true;
        self.caps.restart_run();
        Response::Reduced
    }

    /// The algorithm takes its verdict on the recovery back.
    fn undo(&mut self, revised: Judgement) {
        let Some(recovery) = &mut self.recovery else { return };
        let Some(before) = recovery.before.take() else { return };
        let (congestion, undecided) = (recovery.congestion, recovery.undecided);
        let larger = before.window() > self.base.window();
        if !larger || before.in_slow_start() || self.caps.ignore(congestion + undecided).is_err() {
            return;
        }
        recovery.told = false;
        self.base = before;
        self.base.on_mtu_update(self.mtu);
        self.count(|counts| {
            counts.undone += 1;
            counts.congestion -= u64::from(congestion);
            counts.undecided -= u64::from(undecided);
            counts.wireless += u64::from(congestion + undecided);
        });
        tracing::debug!(
            target: "losscause_quinn::undone",
            connection = self.connection,
            lost_pkts = congestion + undecided,
            reason = %revised,
            window = self.base.window(),
        );
    }

    fn count(&mut self, count: impl Fn(&mut Counts)) {
        count(&mut self.counts);
        self.monitor.count(count);
    }

    fn count_loss(&mut self, lost: u32, verdict: Verdict, overruled: Option<Overruled>, response: Response) {
        let pkts = u64::from(lost);
        self.count(|counts| {
            match verdict {
                Verdict::Congestion => counts.congestion += pkts,
                Verdict::Wireless => counts.wireless += pkts,
                Verdict::Undecided => counts.undecided += pkts,
            }
            match overruled {
                Some(Overruled::Mark) => counts.marks += 1,
                Some(Overruled::NoFreshRtt) => counts.without_rtt += pkts,
                Some(Overruled::RunCap) => counts.run_caps += pkts,
                Some(Overruled::ShareCap) => counts.share_caps += pkts,
                Some(Overruled::LossRate) => counts.rate_caps += pkts,
                Some(Overruled::PersistentCongestion | Overruled::UnknownPackets) | None => {}
            }
            counts.reductions += u64::from(response == Response::Reduced);
        });
        let recovery = self.recovery.get_or_insert_default();
        match verdict {
            Verdict::Congestion => recovery.congestion = recovery.congestion.saturating_add(lost),
            Verdict::Undecided => recovery.undecided = recovery.undecided.saturating_add(lost),
            Verdict::Wireless => {}
        }
    }

    fn report(&mut self, verdict: &LossVerdict) {
        tracing::debug!(
            target: "losscause_quinn::verdict",
            connection = verdict.connection,
            lost_pkts = verdict.lost_pkts,
            lost_bytes = verdict.lost_bytes,
            first = verdict.numbers.map(|numbers| numbers.first),
            last = verdict.numbers.map(|numbers| numbers.last),
            rtt_ms = verdict.rtt.map(Span::as_millis_f64),
            verdict = %verdict.verdict,
            reason = %verdict.reason(),
            response = %verdict.response,
            window_before = verdict.window_before,
            window_after = verdict.window_after,
        );
        push(&mut self.last, verdict, Self::LAST_VERDICTS);
        self.monitor.record(verdict);
        if let Some(sink) = &self.sink {
            sink.on_verdict(verdict);
        }
    }
}

/// The arguments of `on_congestion_event`.
#[derive(Clone, Copy)]
struct Event {
    now: Instant,
    sent: Instant,
    persistent: bool,
    lost_bytes: u64,
}

impl Event {
    fn signal(self) -> Signal {
        match (self.lost_bytes, self.persistent) {
            (0, _) => Signal::EcnMark,
            (_, true) => Signal::PersistentCongestion,
            (_, false) => Signal::Gap,
        }
    }
}

impl Controller for LossTolerantController {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        let at = self.clock.time(now);
        let numbers = self.numbering.batch(bytes, last_packet_number, u64::from(self.mtu));
        self.sender.on_batch_sent(numbers, at);
    }

    #[inline]
    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.acked = self.acked.saturating_add(1);
        self.sender.on_acked_sent_at(self.sent_clock.time(sent));
        self.base.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, _in_flight: u64, _app_limited: bool, largest: Option<u64>) {
        self.caps.on_acked(std::mem::take(&mut self.acked));
        let revised = self.sender.end_of_ack(self.clock.time(now), largest);
        if self.recovery.is_some() && !self.sender.is_recovering() {
            if let Some(revised) = revised.filter(|revised| revised.verdict.is_wireless()) {
                self.undo(revised);
            }
            let avoided = self.recovery.take().is_some_and(|recovery| !recovery.told);
            self.count(|counts| counts.avoided += u64::from(avoided));
        }
        self.tell_cwnd();
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent_congestion: bool, lost_bytes: u64) {
        let event = Event { now, sent, persistent: is_persistent_congestion, lost_bytes };
        let at = self.clock.time(now);
        if lost_bytes > 0 {
            self.sender.on_lost_bytes(self.sent_clock.time(sent), lost_bytes, u64::from(self.mtu));
        }
        let loss = self.sender.take_in_loss(at, event.signal());
        let by_bytes = u32::try_from(lost_bytes.div_ceil(u64::from(self.mtu.max(1)))).unwrap_or(u32::MAX);
        let lost_pkts = loss.lost_pkts.max(by_bytes);
        let is_answered = self.recovery.as_ref().is_some_and(|recovery| recovery.reduced);
        self.caps.on_lost(lost_pkts, is_answered);
        let rtt = self.fresh_rtt(at);
        let (judgement, overruled) = self.judge(&loss, lost_pkts, rtt);
        let verdict = match (judgement, overruled) {
            (Some(judgement), None) => judgement.verdict,
            _ => Verdict::Congestion,
        };
        let window_before = self.base.window();
        let response = if verdict.is_wireless() { Response::Kept } else { self.reduce(event, overruled.is_none()) };
        self.count_loss(lost_pkts, verdict, overruled, response);
        self.report(&LossVerdict {
            connection: self.connection,
            at,
            numbers: loss.numbers,
            lost_pkts,
            lost_bytes,
            rtt,
            verdict,
            judgement,
            overruled,
            response,
            window_before,
            window_after: self.base.window(),
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
