//! The one timer, which waits for a timeout (RFC 6298, section 5), a probe (RFC 8985, section 7) or
//! late packets (RFC 8985, section 6.2).

use losscause::{Algorithm, Observer, Span, Time};

use super::Linux;
use super::alert::State;
use super::intake::Brought;
use super::reduction::News;
use super::transmit::Due;
use crate::tcp::linux::probe::Probe;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimerKind {
    Retransmit,
    Probe,
    Reorder,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    pub(super) kind: TimerKind,
    pub(super) at: Time,
}

impl<L: Algorithm> Linux<L> {
    /// Whether this ACK moves the timer on. A report does if the first packet was sent after the
    /// reported one.
    pub(super) fn moves_timer(&self, brought: &Brought) -> bool {
        let younger = |(first, _): (Time, Time)| {
            self.packets.first().is_some_and(|head| head.sent_at > first)
        };
        brought.advances || brought.reported.is_some_and(younger)
    }

    /// Arms the timer for a probe if one is due, else for the timeout.
    pub(super) fn set_timer(&mut self, now: Time) {
        if !self.schedule_probe(now, true) {
            self.rearm(now);
        }
    }

    /// Arms the timer for a probe, if nothing is wrong. `advances` if the timeout counts from now,
    /// else it counts from the first packet.
    pub(super) fn schedule_probe(&mut self, now: Time, advances: bool) -> bool {
        let calm = matches!(self.state, State::Open | State::Reduced);
        let syn = self.stream.una == 0 && self.config.quirks.syn_bytes.is_some();
        let Some(first) = self.packets.first().filter(|_| calm && !syn) else { return false };
        let until_rto =
            if advances { self.rtt.rto() } else { first.sent_at + self.rtt.rto() - now };
        let wait =
            Probe::wait(&self.rtt, self.config.min_rto, self.packets.outstanding(), until_rto);
        self.arm_after_departure(now, TimerKind::Probe, wait);
        true
    }

    /// Arms the timer for the timeout (RFC 6298, section 5): from now on, or in place of another
    /// timer, from the first packet on.
    pub(super) fn rearm(&mut self, now: Time) {
        if self.timer.is_some_and(|timer| timer.kind != TimerKind::Retransmit) {
            self.rearm_from_first(now);
        } else if self.packets.outstanding() > 0 {
            self.arm_after_departure(now, TimerKind::Retransmit, self.rtt.rto());
        } else {
            self.timer = None;
        }
    }

    fn rearm_from_first(&mut self, now: Time) {
        match self.packets.first().map(|first| first.sent_at) {
            Some(sent_at) => {
                let wait = sent_at + self.rtt.rto() - now;
                self.arm_after_departure(now, TimerKind::Retransmit, wait);
            }
            None => self.timer = None,
        }
    }

    /// Arms the timer `wait` after pacing lets the next packet leave (`tcp_reset_xmit_timer`).
    pub(super) fn arm_after_departure(&mut self, now: Time, kind: TimerKind, wait: Span) {
        let held = self.pacer.as_ref().map_or(Span::ZERO, |pacer| pacer.departs_at(now) - now);
        self.arm(now, kind, wait + held);
    }

    pub(super) fn arm(&mut self, now: Time, kind: TimerKind, wait: Span) {
        self.timer = Some(Timer { kind, at: self.clock.fires(now, wait) });
    }

    pub(super) fn on_probe_timeout(&mut self, now: Time) {
        if self.packets.outstanding() > 0 && !self.probe.is_outstanding() {
            self.due = Due::Probe;
        } else {
            self.rearm_from_first(now);
        }
    }

    pub(super) fn on_reorder_timeout(&mut self, now: Time, observer: &mut impl Observer) {
        let in_flight = self.packets.in_flight();
        let losses = self.packets.losses();
        self.rack.on_timer();
        self.find_losses(now);
        if self.packets.in_flight() != in_flight {
            if self.state != State::Recovery {
                self.recover(now, observer);
                let found = self.packets.losses() - losses;
                let news = News {
                    delivered: 1,
                    losses: found,
                    rtt: None,
                    prior_in_flight_pkts: in_flight,
                };
                if !self.control.follows_rate() {
                    self.grow_or_reduce(now, false, &news);
                }
            } else {
                self.judge_further_losses(now, observer);
            }
            self.due = Due::Lost;
        }
        if self.timer.is_none_or(|timer| timer.kind != TimerKind::Retransmit) {
            self.rearm_from_first(now);
        }
    }
}
