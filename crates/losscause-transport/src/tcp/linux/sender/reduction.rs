//! A loss: the algorithm's verdict, and the reduction of the window that follows from it (RFC
//! 6937).

use losscause::{
    Algorithm, Loss, Numbers, Observer, Safeguard, Signal, Span, Time, Verdict, ask, tell,
};

use super::Linux;
use super::alert::State;
use crate::tcp::control::{AckEvent, Delivery, Growth, RateSample, Repair};
use crate::tcp::linux::pacing::by_window;
use crate::tcp::linux::prr::{Delivered, Prr};
use crate::tcp::linux::rate::RateSampler;
use crate::tcp::loss_event::{Answer, LossEvent};
use crate::tcp::stream::Stream;
use crate::tcp::window::Window;

/// A recovery that has not ended.
#[derive(Clone, Debug)]
pub(super) struct Recovering {
    pub(super) began: Time,
    pub(super) retransmissions: u64,
    /// The window before the cut, if there was one.
    pub(super) uncut: Option<Window>,
    /// Whether the window was kept so far.
    pub(super) spared: bool,
    /// The algorithm's verdict on the loss that opened it.
    pub(super) opened_by: Verdict,
}

/// What an event tells about the network.
#[derive(Clone, Copy, Debug)]
pub(super) struct News {
    /// Packets delivered, whether acknowledged or reported.
    pub(super) delivered: u64,
    /// Packets found lost.
    pub(super) losses: u64,
    /// The round-trip time of the newest packet, if it was measured.
    pub(super) rtt: Option<Span>,
    /// Packets in flight before.
    pub(super) prior_in_flight_pkts: u64,
}

impl<L: Algorithm> Linux<L> {
    /// A packet is lost: asks why, and repairs it.
    pub(super) fn recover(&mut self, now: Time, observer: &mut impl Observer) {
        self.told.clear();
        let (opened_by, verdict) = self.judge(now, observer);
        let retransmissions = self.stats.retransmissions;
        let mut uncut = None;
        let ssthresh = self.cwnd.current_ssthresh(self.state >= State::Reduced);
        self.undo.begin(self.stream.una, self.resent_and_probe(), self.cwnd.pkts(), ssthresh);
        if self.state == State::Reduced {
            self.undo.forbid();
        } else {
            uncut = self.reduce(now, verdict);
            if uncut.is_some() {
                self.ecn.on_loss(self.stream.sent);
            }
        }
        let spared = verdict.is_wireless();
        self.recovering =
            Some(Recovering { began: now, retransmissions, uncut, spared, opened_by });
        self.state = State::Recovery;
        self.stats.fast_retransmits += 1;
    }

    /// The algorithm's verdict, and the one to act on.
    fn judge(&mut self, now: Time, observer: &mut impl Observer) -> (Verdict, Verdict) {
        let mut loss = self.declared(now, Signal::Gap);
        if let Some(found) = self.packets.take_found() {
            (loss.numbers, loss.lost_pkts, loss.sent_at) =
                (Some(found.numbers), found.pkts, Some(found.sent_at));
        }
        loss.label = self.labelled.then_some(Verdict::Wireless);
        self.told.extend(loss.numbers);
        let told = tell(&mut self.lda, &loss, observer);
        let verdict = ask(&self.lda, &told, observer).verdict;
        (verdict, self.safeguarded(&loss, verdict))
    }

    /// The verdict to act on if the algorithm's is `verdict`.
    pub(super) fn safeguarded(&mut self, loss: &Loss, verdict: Verdict) -> Verdict {
        let kept_1024 = self.control.kept_1024();
        match self.watch.as_mut().and_then(|watch| watch.on_loss(loss, verdict, kept_1024)) {
            None => return verdict,
            Some(Safeguard::Guard { .. }) => self.stats.guarded += 1,
            Some(Safeguard::Brake { .. }) => self.stats.braked += 1,
        }
        Verdict::Congestion
    }

    /// Further packets of a recovery are lost. If the window was spared so far, the algorithm or a
    /// safeguard may call for the reduction now. The first verdict stands for the whole event in the
    /// observer's counts.
    pub(super) fn judge_further_losses(&mut self, now: Time, observer: &mut impl Observer) {
        let Some(found) = self.packets.take_found() else { return };
        let scope = self.lda.scope();
        let is_told = scope.observes_every_loss || observer.wants_every_loss();
        if !is_told && self.watch.is_none() {
            return;
        }
        let mut loss = self.declared(now, Signal::Gap);
        (loss.numbers, loss.lost_pkts, loss.sent_at) =
            (Some(found.numbers), found.pkts, Some(found.sent_at));
        loss.is_further = true;
        let mut told = loss;
        if is_told {
            self.told.push(found.numbers);
            told = tell(&mut self.lda, &loss, observer);
        }
        let Some(recovering) = &self.recovering else { return };
        if !recovering.spared {
            if let Some(watch) = &mut self.watch {
                watch.on_loss(&loss, recovering.opened_by, None);
            }
            return;
        }
        let judged = if is_told && scope.judges_every_loss {
            ask(&self.lda, &told, observer).verdict
        } else {
            recovering.opened_by
        };
        let verdict = self.safeguarded(&loss, judged);
        if verdict.is_wireless() {
            return;
        }
        // The spared window, which the recovery approaches again only packet by packet.
        self.end_reduction();
        let uncut = self.reduce(now, verdict);
        if uncut.is_some() {
            self.ecn.on_loss(self.stream.sent);
        }
        if let Some(recovering) = &mut self.recovering {
            recovering.spared = false;
            recovering.uncut = uncut;
        }
    }

    /// The loss of packet `una`.
    pub(super) fn declared(&self, now: Time, signal: Signal) -> Loss {
        let mut loss = Loss::new(now, signal);
        loss.numbers = Some(Numbers::one(self.stream.una));
        loss.in_flight_pkts = self.stream.flight_pkts();
        loss.cwnd_pkts = Some(self.cwnd.window.cwnd);
        loss
    }

    /// Retransmissions in flight, an outstanding probe included.
    pub(super) fn resent_and_probe(&self) -> u64 {
        self.packets.resent() + u64::from(self.probe.is_outstanding() && self.probe.repeats())
    }

    /// The control answers a loss with this verdict. Returns the window before, if it was cut.
    pub(super) fn reduce(&mut self, now: Time, verdict: Verdict) -> Option<Window> {
        let before = self.cwnd.window.clone();
        let loss = self.loss_event(now, verdict);
        let answer = self.control.on_loss(&mut self.cwnd.window, &loss);
        self.begin_reduction(before.cwnd);
        (answer == Answer::Cut).then_some(before)
    }

    /// The loss of a packet, for the control.
    pub(super) fn loss_event(&self, at: Time, verdict: Verdict) -> LossEvent {
        LossEvent { at, flight_pkts: self.stream.flight_pkts(), verdict, sending: None }
    }

    /// cwnd goes from `before` to what the control left it at, which may be the same, by RFC 6937.
    pub(super) fn begin_reduction(&mut self, before: f64) {
        let target_pkts = self.cwnd.pkts();
        self.cwnd.window.cwnd = before;
        self.high = self.stream.next;
        self.prr = Prr::new(self.cwnd.pkts(), target_pkts);
        self.probe.clear();
    }

    /// The window is where the reduction leads. A control that follows rates has its own.
    pub(super) fn end_reduction(&mut self) {
        if !self.control.follows_rate() {
            self.cwnd.set(self.prr.target_pkts());
        }
    }

    pub(super) fn is_reducing(&self) -> bool {
        matches!(self.state, State::Reduced | State::Recovery)
    }

    /// The control is told what an ACK brought, and the rate of pacing follows.
    pub(super) fn adjust_window(&mut self, now: Time, advances: bool, news: &News) {
        if self.control.follows_rate() {
            self.deliver(now, news);
        } else {
            self.grow_or_reduce(now, advances, news);
        }
        self.set_pacing();
    }

    /// The rate that an ACK shows, which delivers `newly_delivered` packets.
    pub(super) fn measure_rate(&mut self, now: Time, newly_delivered: u64) -> Option<RateSample> {
        let delivered = self.packets.delivered();
        let rates = self.rates.as_mut()?;
        rates.sample(now, newly_delivered > 0, delivered, self.rtt.min())
    }

    fn deliver(&mut self, now: Time, news: &News) {
        let rate = self.measure_rate(now, news.delivered);
        let repair = match self.state {
            State::Recovery => Repair::Recovery,
            State::Loss => Repair::Timeout,
            State::Open | State::Disorder | State::Reduced => Repair::Nothing,
        };
        let in_flight_pkts = self.packets.in_flight();
        let delivered_pkts = self.packets.delivered();
        let delivery = Delivery {
            at: now,
            newly_delivered_pkts: news.delivered,
            newly_lost_pkts: news.losses,
            delivered_pkts,
            delivered_at: self.rates.as_ref().map_or(now, RateSampler::delivered_at),
            lost_pkts: self.packets.losses(),
            prior_in_flight_pkts: news.prior_in_flight_pkts,
            in_flight_pkts,
            rtt: news.rtt,
            srtt: self.rtt.srtt(),
            rate,
            repair,
            departs_at: self.pacer.as_ref().map_or(now, |pacer| pacer.departs_at(now)),
        };
        self.control.on_delivery(&mut self.cwnd.window, &delivery);
        if let Some(rates) = self.rates.as_mut().filter(|_| self.control.limits_rate()) {
            rates.limit((delivered_pkts + in_flight_pkts).max(1));
        }
    }

    /// How fast packets leave from now on.
    pub(super) fn set_pacing(&mut self) {
        let Some(pacer) = &mut self.pacer else { return };
        let by_window = |srtt| {
            let outstanding = self.packets.outstanding();
            by_window(&self.cwnd.window, outstanding, self.config.payload_bytes, srtt)
        };
        if let Some(pacing) = self.control.pacing().or_else(|| self.rtt.srtt().map(by_window)) {
            pacer.set(pacing);
        }
    }

    /// The window grows by the control, or falls by RFC 6937.
    pub(super) fn grow_or_reduce(&mut self, now: Time, advances: bool, news: &News) {
        if advances {
            let growth = match (self.is_reducing(), self.cwnd.is_used()) {
                (true, _) => Growth::Repairing,
                (false, true) => Growth::Due,
                (false, false) => Growth::Unused,
            };
            let Stream { una, next, .. } = self.stream;
            let rtt = news.rtt;
            let srtt = self.rtt.srtt();
            let acked = AckEvent {
                at: now,
                newly_acked_pkts: news.delivered,
                rtt,
                srtt,
                una,
                next,
                growth,
            };
            self.control.on_ack(&mut self.cwnd.window, &acked);
        } else {
            self.control.on_dup_ack(now);
        }
        if self.is_reducing() {
            let safe = advances && news.losses == 0;
            let in_flight_pkts = self.packets.in_flight();
            let delivery = Delivered { delivered_pkts: news.delivered, safe, in_flight_pkts };
            if let Some(pkts) = self.prr.on_ack(&delivery) {
                self.cwnd.set(pkts);
            }
        }
    }
}
