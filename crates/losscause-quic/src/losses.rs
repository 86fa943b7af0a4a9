//! What happens to a loss: the algorithm's verdict, the rules that overrule it, and the response.
//!
//! ```text
//! a loss or a mark                 base         algorithm
//!   mark, persistent               told         told, not asked
//!   no fresh round-trip time       told         told, not asked
//!   packets not remembered         told         told, not asked
//!   wireless, a safeguard speaks   told         told and asked
//!   wireless, within the caps      NOT told     told and asked
//!   anything else                  told         told and asked
//! ```
//!
//! *What "wireless" does*: the base does not hear of the loss, and growth or slow start goes on.
//!
//! *A recovery is one event*: while its losses are ignored, the base grows, but the window to send by
//! ([`Losses::window`]) is that before the first of them, until the recovery has ended. If a later
//! one is congestion, the base hears of it in the state that it had at the first
//! ([`Base::rewound`]). A policer that ends a slow start would otherwise drop what the window has
//! grown until its losses show what they are.
//!
//! *In a dry run* the base is told of every loss, and nothing is taken back: its window is the stack's
//! own. Verdicts, caps and counts are as if it had not been told.
//!
//! *Once per round trip*: a transport reports the losses of one round trip in several batches. The
//! base ignores losses of packets that were sent before its last reduction (RFC 9002, section
//! 7.3.2), so the first congestion batch reduces the window and the others do not, whether ignored
//! batches came before it, between or after.
//!
//! *A revised verdict* ([`Algorithm::on_recovered`]): the base gets its window back, if the adapter
//! can give it ([`Base::without_reduction`]), the caps allow to ignore the recovery's losses, and
//! the window becomes larger by it.
//!
//! *Spurious losses* ([`Losses::take_back`]): the packets of the last recovery's losses have
//! arrived after all. Algorithm and caps forget the losses. The base hears of it only if they
//! reduced its window: otherwise it would take back an earlier reduction, which was right. A mark in
//! the recovery makes its reduction final. The brake keeps what it has counted.

use std::collections::VecDeque;

use losscause::ack::Memory;
use losscause::caps::{CapCounts, Refusal};
use losscause::safeguard::Watch;
use losscause::{
    Algorithm, Judgement, Loss, Numbers, Observation, Observer, SenderDifferentiator, Signal, Span,
    Time, Verdict,
};

use crate::monitor::push;
use crate::observer::AnyObserver;
use crate::{
    Caps, ControllerObserver, Counts, LossVerdict, Monitor, Overruled, Response, Spurious, Undone,
    trace,
};

/// The controller below, as far as it is looked at here.
pub trait Base: Clone {
    /// The congestion window, bytes.
    fn window(&self) -> u64;

    /// The share of the window that a reduction keeps, 1/1024, from 0 to 1024; none if it is not
    /// known. Without it the guard is silent ([`Caps::safeguards`]).
    fn kept_1024(&self) -> Option<u32> {
        None
    }

    /// The controller in the state that it had as `before`, when it had heard of fewer packets. None
    /// if it cannot be put back.
    fn rewound(&self, before: Self) -> Option<Self> {
        let _ = before;
        None
    }

    /// The controller without the reduction before which it was `before`. None if it cannot be
    /// put back, or would return into slow start by it.
    fn without_reduction(&self, before: Self) -> Option<Self> {
        let _ = before;
        None
    }
}

/// An ACK whose packets were all reported to the differentiator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// When it arrived.
    pub at: Time,
    /// Packets that it acknowledges for the first time.
    pub pkts: u32,
    /// The largest number that it acknowledges, if known.
    pub largest: Option<u64>,
}

/// A loss or a mark, as the transport declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it was declared.
    pub at: Time,
    /// How.
    pub signal: Signal,
    /// Bytes lost; 0 for a mark.
    pub lost_bytes: u64,
    /// Bytes of a full packet. If `lost_bytes` are more packets than the differentiator counts,
    /// they are the count.
    pub packet_bytes: u16,
}

/// Decides about the losses of one connection, and reports them.
#[derive(Clone)]
pub struct Losses<B> {
    dry_run: bool,
    caps: CapCounts,
    watch: Watch,
    recovery: Option<Recovery<B>>,
    declared: Declared,
    counts: Counts,
    last: VecDeque<LossVerdict>,
    connection: u64,
    monitor: Monitor,
    observer: AnyObserver,
    /// The transport's name.
    transport: &'static str,
}

/// Since the first loss that was declared after the last recovery.
#[derive(Clone, Debug)]
struct Recovery<B> {
    /// Whether the base had a congestion event, and whether that reduced its window.
    has_event: bool,
    reduced: bool,
    /// Lost packets counted as congestion or undecided, by the algorithm's own verdict.
    congestion: u32,
    undecided: u32,
    /// The base before it reduced the window, if only the algorithm's verdict reduced it.
    before: Option<B>,
    /// The base before the first loss that it does not hear of, or in a dry run would not.
    before_wireless: Option<B>,
}

/// The losses of the recovery under way, or else of the last one.
#[derive(Clone, Copy, Debug, Default)]
struct Declared {
    numbers: Option<Numbers>,
    /// Lost packets that the caps counted, and those of them that were ignored.
    counted_pkts: u32,
    ignored_pkts: u32,
    /// Whether lost packets reduced the window, and whether a mark came.
    reduced: bool,
    marked: bool,
}

impl<B> Default for Recovery<B> {
    fn default() -> Self {
        Self {
            has_event: false,
            reduced: false,
            congestion: 0,
            undecided: 0,
            before: None,
            before_wireless: None,
        }
    }
}

impl<B: Base> Losses<B> {
    /// How many verdicts [`Losses::last_verdicts`] keeps.
    pub const LAST_VERDICTS: usize = 16;

    pub(crate) fn new(
        caps: Caps,
        dry_run: bool,
        monitor: Monitor,
        observer: AnyObserver,
        transport: &'static str,
    ) -> Self {
        Self {
            dry_run,
            caps: CapCounts::new(caps),
            watch: Watch::new(caps.safeguards),
            recovery: None,
            declared: Declared::default(),
            counts: Counts::default(),
            last: VecDeque::new(),
            connection: monitor.next_connection(),
            monitor,
            observer,
            transport,
        }
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

    /// The controller's number in a [`Choice`](crate::Choice), as in [`LossVerdict::connection`].
    pub fn connection(&self) -> u64 {
        self.connection
    }

    /// The window to send by, bytes: that of `base`, or that which it had before the losses of the
    /// recovery under way were ignored.
    pub fn window(&self, base: &B) -> u64 {
        let held = self.recovery.as_ref().filter(|_| !self.dry_run);
        let before = held.and_then(|recovery| recovery.before_wireless.as_ref());
        before.map_or(base.window(), |before| base.window().min(before.window()))
    }

    /// The size of packets has changed, and the base was told: what it was before is not held any
    /// more.
    pub fn on_mtu_update(&mut self) {
        if let Some(recovery) = self.recovery.as_mut().filter(|_| !self.dry_run) {
            recovery.before_wireless = None;
        }
    }

    /// An ACK ended. Returns whether a reduction was undone.
    #[inline]
    pub fn end_of_ack<L: Algorithm, M: Memory>(
        &mut self,
        sender: &mut SenderDifferentiator<L, M>,
        base: &mut B,
        ack: Ack,
    ) -> bool {
        self.caps.on_acked(ack.pkts);
        let revised = sender.end_of_ack(
            ack.at,
            ack.largest,
            &mut (Feed(&mut self.watch), self.observer.get()),
        );
        self.recovery.is_some() && !sender.is_recovering() && self.end_recovery(base, revised)
    }

    fn end_recovery(&mut self, base: &mut B, revised: Option<Judgement>) -> bool {
        let undone = revised
            .filter(|revised| revised.verdict.is_wireless())
            .is_some_and(|revised| self.undo(base, revised));
        let is_avoided = self.recovery.take().is_some_and(|recovery| !recovery.has_event);
        if is_avoided {
            self.counts.avoided += 1;
            self.monitor.on_avoided(self.connection);
            self.observer.get().on_avoided(self.connection);
        }
        undone
    }

    /// A loss or a mark was declared, after every lost packet that the adapter knows was reported
    /// to `sender`. Unless it is ignored, `on_congestion_event` passes it on to the base. Returns
    /// the response; if it is [`Response::Kept`], `on_congestion_event` was not called.
    pub fn declare<L: Algorithm, M: Memory>(
        &mut self,
        sender: &mut SenderDifferentiator<L, M>,
        base: &mut B,
        event: Event,
        on_congestion_event: impl FnOnce(&mut B),
    ) -> Response {
        let Event { at, signal, lost_bytes, packet_bytes } = event;
        let loss = sender.take_in_loss(at, signal);
        self.observer.get().on_loss(&loss);
        let by_bytes =
            u32::try_from(lost_bytes.div_ceil(u64::from(packet_bytes.max(1)))).unwrap_or(u32::MAX);
        let lost_pkts = loss.lost_pkts.max(by_bytes);
        let is_answered = self.recovery.as_ref().is_some_and(|recovery| recovery.reduced);
        self.caps.on_lost(lost_pkts, is_answered);
        if self.recovery.is_none() {
            self.declared = Declared::default();
        }
        let rtt = fresh_rtt(sender, at);
        let (judgement, overruled) = self.judge(sender, &loss, lost_pkts, rtt, base.kept_1024());
        let verdict = match (judgement, overruled) {
            (Some(judgement), None) => judgement.verdict,
            _ => Verdict::Congestion,
        };
        let window_before = self.window(base);
        let response = if !verdict.is_wireless() {
            self.reduce(base, on_congestion_event, overruled.is_none())
        } else {
            let recovery = self.recovery.get_or_insert_default();
            recovery.before_wireless.get_or_insert_with(|| base.clone());
            if self.dry_run {
                on_congestion_event(base);
                Response::WouldKeep
            } else {
                Response::Kept
            }
        };
        self.remember(lost_pkts, verdict);
        self.declared.add(&loss, if is_answered { 0 } else { lost_pkts }, response);
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
            window_after: self.window(base),
        });
        response
    }

    /// The transport reports that all packets of the last losses have arrived after all, and names
    /// none of them: they are the losses of the recovery under way, or else of the last one. If
    /// these reduced the window, `on_spurious` tells the base.
    pub fn take_back<L: Algorithm, M: Memory>(
        &mut self,
        sender: &mut SenderDifferentiator<L, M>,
        base: &mut B,
        on_spurious: impl FnOnce(&mut B),
    ) {
        let declared = std::mem::take(&mut self.declared);
        let window_before = base.window();
        let is_answered = declared.numbers.is_some() && declared.reduced && !declared.marked;
        let told = self.dry_run || is_answered;
        if told {
            on_spurious(base);
        }
        let Some(numbers) = declared.numbers else { return };
        let pkts = sender.on_spurious(numbers, &mut self.observer.get());
        self.caps.take_back(declared.counted_pkts, declared.ignored_pkts);
        if let Some(recovery) = &mut self.recovery {
            let has_event = recovery.has_event;
            *recovery = Recovery { has_event, ..Recovery::default() };
        }
        let connection = self.connection;
        let window_after = base.window();
        let spurious = Spurious { connection, numbers, pkts, told, window_before, window_after };
        self.counts.take_back(&spurious);
        trace::spurious(self.transport, &spurious);
        self.monitor.on_spurious(&spurious);
        self.observer.get().on_spurious(&spurious);
    }

    /// The verdict on a loss: the algorithm's judgement, and the rule that overrules it.
    fn judge<L: Algorithm, M: Memory>(
        &mut self,
        sender: &SenderDifferentiator<L, M>,
        loss: &Loss,
        lost: u32,
        rtt: Option<Span>,
        kept_1024: Option<u32>,
    ) -> (Option<Judgement>, Option<Overruled>) {
        let unasked = match loss.signal {
            Signal::EcnMark => return (None, Some(Overruled::Mark)),
            Signal::PersistentCongestion => Some(Overruled::PersistentCongestion),
            _ if rtt.is_none() => Some(Overruled::NoFreshRtt),
            _ if loss.numbers.is_none() => Some(Overruled::UnknownPackets),
            _ => None,
        };
        if unasked.is_some() {
            self.watch.on_loss(loss, Verdict::Congestion, kept_1024);
            return (None, unasked);
        }
        let judgement = sender.judge(loss, &mut self.observer.get());
        let safeguard = self.watch.on_loss(loss, judgement.verdict, kept_1024);
        let overruled = match safeguard {
            Some(safeguard) => Some(Overruled::Safeguard(safeguard)),
            None if judgement.verdict.is_wireless() => self.refuse(lost),
            None => None,
        };
        (Some(judgement), overruled)
    }

    /// The cap that refuses to ignore `lost` packets.
    fn refuse(&mut self, lost: u32) -> Option<Overruled> {
        self.caps.ignore(lost).err().map(|refusal| match refusal {
            Refusal::Run => Overruled::RunCap,
            Refusal::Share => Overruled::ShareCap,
            Refusal::LossRate => Overruled::LossRate,
        })
    }

    /// Passes a congestion event on to the base.
    fn reduce(
        &mut self,
        base: &mut B,
        on_congestion_event: impl FnOnce(&mut B),
        revisable: bool,
    ) -> Response {
        let recovery = self.recovery.get_or_insert_default();
        let first = recovery.before_wireless.take();
        let before = first.clone().filter(|_| self.dry_run).unwrap_or_else(|| base.clone());
        if let Some(rewound) = first.filter(|_| !self.dry_run).and_then(|first| base.rewound(first))
        {
            *base = rewound;
        }
        let window = if self.dry_run { before.window() } else { base.window() };
        on_congestion_event(base);
        let reduced = base.window() < window;
        recovery.has_event = true;
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
    fn undo(&mut self, base: &mut B, revised: Judgement) -> bool {
        let Some(recovery) = &mut self.recovery else { return false };
        let Some(before) = recovery.before.take() else { return false };
        let congestion = recovery.congestion;
        let undecided = recovery.undecided;
        let larger = |restored: &B| restored.window() > base.window();
        let Some(restored) = base.without_reduction(before).filter(larger) else { return false };
        if self.caps.ignore(congestion + undecided).is_err() {
            return false;
        }
        recovery.has_event = false;
        if !self.dry_run {
            *base = restored;
        }
        let undone = Undone {
            connection: self.connection,
            lost_pkts: congestion + undecided,
            undecided_pkts: undecided,
            revised,
            window: base.window(),
        };
        self.counts.undo(&undone);
        trace::undone(self.transport, &undone);
        self.monitor.on_undone(&undone);
        self.observer.get().on_undone(&undone);
        !self.dry_run
    }

    /// Counts a loss to its recovery.
    fn remember(&mut self, lost: u32, verdict: Verdict) {
        let recovery = self.recovery.get_or_insert_default();
        match verdict {
            Verdict::Congestion => recovery.congestion = recovery.congestion.saturating_add(lost),
            Verdict::Undecided => recovery.undecided = recovery.undecided.saturating_add(lost),
            Verdict::Wireless => {}
        }
    }

    fn report(&mut self, verdict: &LossVerdict) {
        self.counts.add(verdict);
        push(&mut self.last, verdict, Self::LAST_VERDICTS);
        trace::verdict(self.transport, verdict);
        self.monitor.on_verdict(verdict);
        self.observer.get().on_verdict(verdict);
    }
}

impl Declared {
    /// Adds a loss of which the caps counted `counted_pkts`, and the response to it.
    fn add(&mut self, loss: &Loss, counted_pkts: u32, response: Response) {
        self.numbers = match (self.numbers, loss.numbers) {
            (Some(before), Some(new)) => Some(Numbers {
                first: before.first.min(new.first),
                last: before.last.max(new.last),
            }),
            (before, new) => before.or(new),
        };
        self.counted_pkts = self.counted_pkts.saturating_add(counted_pkts);
        if matches!(response, Response::Kept | Response::WouldKeep) {
            self.ignored_pkts = self.ignored_pkts.saturating_add(loss.lost_pkts);
        }
        match loss.signal {
            Signal::EcnMark => self.marked = true,
            _ => self.reduced |= response == Response::Reduced,
        }
    }
}

/// Feeds a watch with what the algorithm observes.
struct Feed<'a>(&'a mut Watch);

impl Observer for Feed<'_> {
    #[inline]
    fn on_observation(&mut self, observation: &Observation, _: &'static str) {
        self.0.on_ack(observation);
    }
}

/// The last round-trip time, unless it is too old to say anything about a loss that is declared at
/// `at`.
///
/// A loss that an ACK declares has that ACK's. A loss timer declares a loss an eighth of a
/// round-trip time after the packet's own ACK was due (RFC 9002, section 6.1.2), and some ACK has
/// shown the gap before.
fn fresh_rtt<L: Algorithm, M: Memory>(
    sender: &SenderDifferentiator<L, M>,
    at: Time,
) -> Option<Span> {
    let (measured_at, rtt) = sender.latest_rtt()?;
    (at - measured_at <= rtt / 4).then_some(rtt)
}
