//! A loss: the algorithm's verdict, and the reduction of the window that follows from it (RFC 6937).

use losscause::{Algorithm, Loss, Numbers, Observer, Signal, Time, Verdict, ask, tell};

use super::super::prr::{Delivery, Prr};
use super::Linux;
use super::alert::State;

/// A recovery that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovering {
    pub(super) began: Time,
    pub(super) retransmissions: u64,
    /// cwnd and ssthresh before the cut, if there was one.
    pub(super) uncut: Option<(u32, u32)>,
    /// Whether every loss so far was called wireless.
    pub(super) spared: bool,
}

impl<L: Algorithm> Linux<L> {
    /// A packet is lost: asks why, and repairs it.
    pub(super) fn recover(&mut self, now: Time, observer: &mut impl Observer) {
        let verdict = self.judge(now, observer);
        let retransmissions = self.stats.retransmissions;
        let mut uncut = None;
        let ssthresh = self.cwnd.current_ssthresh(self.state >= State::Reduced);
        self.undo.begin(self.stream.una, self.resent_and_probe(), self.cwnd.pkts, ssthresh);
        if self.state == State::Reduced {
            self.undo.forbid();
        } else {
            if !verdict.is_wireless() {
                uncut = Some((self.cwnd.pkts, self.cwnd.ssthresh));
                self.ecn.on_loss(self.stream.sent);
            }
            self.cut(verdict.is_wireless());
        }
        let spared = verdict.is_wireless();
        self.recovering = Some(Recovering { began: now, retransmissions, uncut, spared });
        self.state = State::Recovery;
        self.stats.fast_retransmits += 1;
    }

    fn judge(&mut self, now: Time, observer: &mut impl Observer) -> Verdict {
        let mut loss = self.declared(now, Signal::Gap);
        if let Some(found) = self.packets.take_found() {
            (loss.numbers, loss.lost_pkts, loss.sent_at) = (Some(found.numbers), found.pkts, Some(found.sent_at));
        }
        loss.label = self.labelled.then_some(Verdict::Wireless);
        let loss = tell(&mut self.lda, &loss, observer);
        ask(&self.lda, &loss, observer).verdict
    }

    /// Further packets of a recovery are lost. If the window was spared so far, the algorithm may call for the
    /// reduction now. The first verdict stands for the whole event in the observer's counts.
    pub(super) fn judge_further_losses(&mut self, now: Time, observer: &mut impl Observer) {
        let is_told = self.lda.scope().observes_every_loss || observer.wants_every_loss();
        let Some(found) = self.packets.take_found().filter(|_| is_told) else { return };
        let mut loss = self.declared(now, Signal::Gap);
        (loss.numbers, loss.lost_pkts, loss.sent_at) = (Some(found.numbers), found.pkts, Some(found.sent_at));
        loss.is_further = true;
        let loss = tell(&mut self.lda, &loss, observer);
        let judged = self.lda.scope().judges_every_loss;
        let Some(recovering) = self.recovering.as_mut().filter(|recovering| recovering.spared && judged) else {
            return;
        };
        let judgement = ask(&self.lda, &loss, observer);
        if !judgement.verdict.is_wireless() {
            recovering.spared = false;
            // The spared window, which the recovery approaches again only packet by packet.
            self.cwnd.pkts = self.prr.target_pkts();
            recovering.uncut = Some((self.cwnd.pkts, self.cwnd.ssthresh));
            self.ecn.on_loss(self.stream.sent);
            self.cut(false);
        }
    }

    /// The loss of packet `una`.
    pub(super) fn declared(&self, now: Time, signal: Signal) -> Loss {
        let mut loss = Loss::new(now, signal);
        loss.numbers = Some(Numbers::one(self.stream.una));
        loss.in_flight_pkts = self.stream.flight_pkts();
        loss.cwnd_pkts = Some(f64::from(self.cwnd.pkts));
        loss
    }

    /// Retransmissions in flight, an outstanding probe included.
    pub(super) fn resent_and_probe(&self) -> u64 {
        self.packets.resent() + u64::from(self.probe.is_outstanding() && self.probe.repeats())
    }

    /// Begins a reduction of the window; `spared` leaves it as it is.
    pub(super) fn cut(&mut self, spared: bool) {
        let cwnd = self.cwnd.pkts;
        let target = if spared {
            cwnd
        } else {
            self.cwnd.ssthresh = self.congestion.on_loss(cwnd);
            self.cwnd.ssthresh
        };
        self.high = self.stream.next;
        self.cwnd.count = 0;
        self.prr = Prr::new(cwnd, target);
        self.probe.clear();
    }

    pub(super) fn is_reducing(&self) -> bool {
        matches!(self.state, State::Reduced | State::Recovery)
    }

    pub(super) fn adjust_window(&mut self, now: Time, advances: bool, delivered: u64, losses: u64) {
        if self.is_reducing() {
            let (safe, in_flight_pkts) = (advances && losses == 0, self.packets.in_flight());
            let delivery = Delivery { delivered_pkts: delivered, safe, in_flight_pkts };
            self.cwnd.pkts = self.prr.on_ack(&delivery).unwrap_or(self.cwnd.pkts);
        } else if advances {
            let delivered = u32::try_from(delivered).unwrap_or(u32::MAX);
            self.congestion.grow(now, &mut self.cwnd, delivered);
        }
    }
}
