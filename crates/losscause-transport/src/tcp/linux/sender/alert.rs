//! The congestion states, and how an ACK moves between them (net/ipv4/tcp_input.c,
//! `tcp_fastretrans_alert`).

use losscause::Recovery as EndedRecovery;
use losscause::{Algorithm, Observer, Signal, Time, Verdict, tell};

use super::Linux;
use super::intake::Brought;
use super::timers::TimerKind;
use super::transmit::Due;
use crate::tcp::linux::clock::LEAST_TIMEOUT;
use crate::tcp::segment::Ack;

/// The kernel's congestion states, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum State {
    /// Nothing is wrong.
    Open,
    /// Something was reported beyond a gap.
    Disorder,
    /// The window falls because of a mark.
    Reduced,
    /// Losses are repaired, and the window falls.
    Recovery,
    /// The timer expired; losses are repaired in slow start.
    Loss,
}

impl<L: Algorithm> Linux<L> {
    /// Everything but a plain ACK in the state open (the kernel's `tcp_fastretrans_alert`). Returns
    /// whether the timer may still be set.
    pub(super) fn alert(
        &mut self,
        now: Time,
        ack: &Ack,
        brought: &Brought,
        observer: &mut impl Observer,
    ) -> bool {
        if brought.ece {
            self.undo.forbid();
        }
        self.leave_if_done(now, ack, observer);
        if self.state == State::Recovery {
            if brought.advances && self.undoes_partly(ack, observer) {
                return true;
            }
            if self.undo.by_duplicates() {
                self.undo_duplicated(observer);
                self.try_to_open(now, brought, observer);
            }
        } else if self.state == State::Loss {
            if self.after_timeout(ack, brought, observer) {
                return true;
            }
            let resent = self.packets.resent();
            let sets_timer = self.find_losses(now);
            let lost_again = self.packets.resent() < resent;
            if self.state != State::Open && !lost_again {
                return sets_timer;
            }
            if self.packets.lost() == 0 {
                self.try_to_open(now, brought, observer);
                return sets_timer;
            }
            // A retransmission was lost: a new recovery.
            self.recover(now, observer);
            self.due = Due::Lost;
            return sets_timer;
        } else if self.state <= State::Disorder && self.undo.by_duplicates() {
            self.undo_duplicated(observer);
        }
        let sets_timer = self.find_losses(now);
        if self.state != State::Recovery {
            if self.packets.lost() == 0 {
                self.try_to_open(now, brought, observer);
                return sets_timer;
            }
            self.recover(now, observer);
        } else {
            self.judge_further_losses(now, observer);
        }
        self.due = Due::Lost;
        sets_timer
    }

    /// Leaves a state whose packets are all acknowledged.
    fn leave_if_done(&mut self, now: Time, ack: &Ack, observer: &mut impl Observer) {
        match self.state {
            State::Open => self.undo.on_repaired(),
            State::Reduced if self.stream.una > self.high => {
                self.end_reduction();
                self.state = State::Open;
            }
            State::Recovery if self.stream.una >= self.high => {
                self.end_recovery(now, ack, observer);
            }
            _ => {}
        }
    }

    fn end_recovery(&mut self, now: Time, ack: &Ack, observer: &mut impl Observer) {
        if !self.try_undo_at_end(ack, observer) {
            self.end_reduction();
        }
        let Some(recovering) = self.recovering.take() else { return };
        let lost_pkts = self.stats.retransmissions - recovering.retransmissions;
        let ended = EndedRecovery::new(recovering.began, now, lost_pkts);
        observer.on_recovered(&ended);
        let revised = self.lda.on_recovered(&ended);
        if let (Some(judgement), Some(uncut)) = (revised, recovering.uncut)
            && judgement.verdict.is_wireless()
            && !uncut.in_slow_start()
        {
            self.cwnd.restore(uncut.cwnd, uncut.ssthresh);
        }
    }

    /// Looks for losses, and sets the timer for packets that are too young to be lost. Returns
    /// whether another timer may be set.
    pub(super) fn find_losses(&mut self, now: Time) -> bool {
        let recovering = self.state >= State::Recovery;
        let Some(wait) = self.rack.detect(now, &mut self.packets, &self.rtt, recovering) else {
            return true;
        };
        self.arm(now, TimerKind::Reorder, wait + LEAST_TIMEOUT);
        false
    }

    fn try_to_open(&mut self, now: Time, brought: &Brought, observer: &mut impl Observer) {
        if !self.has_resent() {
            self.undo.on_repaired();
        }
        if brought.ece {
            self.reduce_for_mark(now, observer);
        }
        if self.state != State::Reduced {
            self.keep_open();
        }
    }

    /// An echoed mark is certain congestion, so no algorithm is asked.
    fn reduce_for_mark(&mut self, now: Time, observer: &mut impl Observer) {
        if self.state >= State::Reduced {
            return;
        }
        let mut mark = self.declared(now, Signal::EcnMark);
        mark.lost_pkts = 0;
        tell(&mut self.lda, &mark, observer);
        self.undo.clear();
        let before = self.cwnd.window.cwnd;
        let loss = self.loss_event(now, Verdict::Congestion);
        self.control.on_mark(&mut self.cwnd.window, &loss);
        self.begin_reduction(before);
        self.state = State::Reduced;
        self.ecn.on_echo(self.stream.sent);
        self.stats.ecn_reductions += 1;
    }

    pub(super) fn keep_open(&mut self) {
        let uneasy = self.packets.reported() + self.packets.lost() > 0 || self.has_resent();
        let state = if uneasy { State::Disorder } else { State::Open };
        if self.state != state {
            self.state = state;
            self.high = self.stream.next;
        }
    }

    /// Whether a retransmission may be in flight.
    pub(super) fn has_resent(&self) -> bool {
        self.packets.resent() > 0 || self.packets.first().is_some_and(|first| first.sends > 1)
    }
}
