//! The retransmission timeout (RFC 6298, section 5), and what the ACKs after it tell (RFC 5682).

use losscause::{Algorithm, Observer, Signal, Time, tell};

use super::Linux;
use super::alert::State;
use super::intake::Brought;
use super::timers::TimerKind;
use super::transmit::Due;
use crate::tcp::control::TimeoutEvent;
use crate::tcp::linux::frto::{AfterTimeout, Frto, Next};
use crate::tcp::linux::packets::Packet;
use crate::tcp::segment::Ack;

impl<L: Algorithm> Linux<L> {
    pub(super) fn on_retransmission_timeout(&mut self, now: Time, observer: &mut impl Observer) {
        self.stats.timeouts += 1;
        self.due = Due::First;
        if self.stream.una == 0 && self.config.quirks.syn_bytes.is_some() {
            self.syn_timeouts += 1;
            // The first SYNs are sent a second apart (net.ipv4.tcp_syn_linear_timeouts = 4).
            if self.syn_timeouts > SYNS_WITHOUT_BACK_OFF {
                self.rtt.back_off();
            }
        } else {
            self.enter_loss(now, observer);
            self.timeouts += 1;
            self.rtt.back_off();
        }
        self.arm(now, TimerKind::Retransmit, self.rtt.rto());
        observer.on_timeout();
    }

    fn enter_loss(&mut self, now: Time, observer: &mut impl Observer) {
        let spared = self.spares_timeout(now, observer);
        let first = self.state < State::Recovery;
        self.lose_late(now);
        let uncut_yet = self.state <= State::Disorder
            || self.high <= self.stream.una
            || self.state == State::Loss && self.timeouts == 0;
        if !spared {
            if uncut_yet {
                let ssthresh = self.cwnd.current_ssthresh(self.is_reducing());
                self.undo.begin(
                    self.stream.una,
                    self.resent_and_probe(),
                    self.cwnd.pkts(),
                    ssthresh,
                );
            }
            let timeout = TimeoutEvent {
                at: now,
                flight_pkts: self.stream.flight_pkts(),
                again: !uncut_yet,
                lost_pkts: self.packets.losses(),
            };
            self.control.on_timeout(&mut self.cwnd.window, &timeout);
            self.cwnd.set(u32::try_from(self.packets.in_flight() + 1).unwrap_or(u32::MAX));
        }
        self.state = State::Loss;
        self.high = self.stream.next;
        self.probe.clear();
        self.recovering = None;
        self.ecn.on_loss(self.stream.sent);
        self.arrivals.on_timeout(&self.stream);
        self.frto = if first || self.timeouts > 0 { Frto::Testing } else { Frto::Off };
    }

    /// The first packet counts as lost, and every other one that had time to arrive. A reported
    /// first packet means that the receiver dropped what it had reported (RFC 2018, section 8).
    fn lose_late(&mut self, now: Time) {
        if self.packets.first().is_some_and(|packet| packet.reported) {
            self.packets.forget_reports();
            self.board.clear(self.stream.una);
        }
        let una = self.stream.una;
        let late = |&(seq, packet): &(u64, &Packet)| {
            !packet.reported && (seq == una || self.rack.is_late(now, packet.sent_at))
        };
        let late: Vec<u64> = self.packets.iter().filter(late).map(|(seq, _)| seq).collect();
        late.into_iter().for_each(|seq| self.packets.lose(seq));
        // The timeout itself was declared.
        self.packets.take_found();
    }

    /// Whether a timeout leaves the window unchanged: only if the algorithm judges timeouts and
    /// calls this one wireless.
    fn spares_timeout(&mut self, now: Time, observer: &mut impl Observer) -> bool {
        let loss = self.declared(now, Signal::Timeout);
        self.told.clear();
        self.told.extend(loss.numbers);
        let loss = tell(&mut self.lda, &loss, observer);
        if !self.lda.scope().judges_timeouts {
            return false;
        }
        observer.overrule(&loss).unwrap_or_else(|| self.lda.judge(&loss)).verdict.is_wireless()
    }

    /// An ACK in the state loss. Returns whether it is dealt with.
    pub(super) fn after_timeout(
        &mut self,
        ack: &Ack,
        brought: &Brought,
        observer: &mut impl Observer,
    ) -> bool {
        let recovered = self.stream.una >= self.high;
        if brought.advances && self.is_needless(ack) {
            self.leave_loss(observer);
            return true;
        }
        let news = AfterTimeout {
            original: brought.original,
            advances: brought.advances,
            duplicate: brought.reports || brought.is_plain_duplicate(),
            new_data_sent: self.stream.next > self.high,
            recovered,
            can_send: self.has_new(),
        };
        match self.frto.on_ack(&news) {
            Next::Undo => {
                self.leave_loss(observer);
                return true;
            }
            Next::SendNew => {
                self.high = self.stream.next;
                self.due = Due::NewThenLost;
            }
            Next::Repair if recovered => {
                self.try_undo_at_end(ack, observer);
            }
            Next::Repair => self.due = Due::Lost,
        }
        false
    }

    /// The timeout was spurious.
    fn leave_loss(&mut self, observer: &mut impl Observer) {
        self.restore(true, observer);
        self.frto = Frto::Off;
        self.state = State::Open;
    }
}

/// Timeouts of the SYN that do not double the next one.
const SYNS_WITHOUT_BACK_OFF: u32 = 4;
