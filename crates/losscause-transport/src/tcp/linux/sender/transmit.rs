//! What leaves: lost packets, new data, probes.

use losscause::{Algorithm, Time};

use super::Linux;
use super::timers::TimerKind;
use crate::tcp::linux::frto::Frto;
use crate::tcp::linux::pacing::Ready;
use crate::tcp::segment::Segment;
use crate::tcp::stream::Stream;

/// What leaves next, beside new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Nothing,
    /// Lost packets.
    Lost,
    /// New data; if there is none to send, lost packets.
    NewThenLost,
    /// The first packet, whatever the window is, then lost ones.
    First,
    /// A tail loss probe, whatever the window is.
    Probe,
}

impl<L: Algorithm> Linux<L> {
    pub(super) fn resend_lost(&mut self, now: Time) -> Option<Segment> {
        if !self.has_room() {
            return None;
        }
        let seq = self.packets.next_lost()?;
        if !self.may_depart(now, seq) {
            return None;
        }
        if self.is_reducing() {
            self.prr.on_send();
        }
        let segment = self.resend(now, seq);
        if seq == self.stream.una && self.timer.is_none_or(|timer| timer.kind != TimerKind::Reorder)
        {
            self.arm_after_departure(now, TimerKind::Retransmit, self.rtt.rto());
        }
        Some(segment)
    }

    /// Whether pacing lets packet `seq` leave now.
    fn may_depart(&mut self, now: Time, seq: u64) -> bool {
        let Some(pacer) = &mut self.pacer else { return true };
        let cwnd_pkts = self.cwnd.pkts();
        let room_pkts = u64::from(cwnd_pkts).saturating_sub(self.packets.in_flight());
        pacer.admits(now, &Ready { seq, room_pkts, cwnd_pkts, min_rtt: self.rtt.min() })
    }

    /// Whether there is new data that the receiver has room for.
    pub(super) fn has_new(&self) -> bool {
        self.stream.next < self.stream.end.min(self.room_end)
    }

    pub(super) fn send_new(&mut self, now: Time) -> Option<Segment> {
        if !self.has_room() || !self.has_new() || !self.may_depart(now, self.stream.next) {
            return None;
        }
        if self.is_reducing() {
            self.prr.on_send();
        }
        let segment = self.extend(now);
        self.schedule_probe(now, false);
        Some(segment)
    }

    pub(super) fn send_new_then_lost(&mut self, now: Time) -> Option<Segment> {
        let segment = self.send_new(now);
        if segment.is_some() {
            return segment;
        }
        self.due = Due::Nothing;
        if self.stream.next > self.high {
            return None;
        }
        (self.frto, self.due) = (Frto::Off, Due::Lost);
        self.resend_lost(now)
    }

    /// New data if there is some and the receiver has room, else the last packet again.
    pub(super) fn send_probe(&mut self, now: Time) -> Option<Segment> {
        let new = self.has_new();
        if !new && self.packets.outstanding() == 0 {
            return None;
        }
        if new && !self.may_depart(now, self.stream.next) {
            self.rearm(now);
            return None;
        }
        let segment = if new { self.extend(now) } else { self.resend(now, self.stream.sent - 1) };
        self.probe.on_send(self.stream.next, !new);
        self.timer = None;
        self.rearm(now);
        Some(segment)
    }

    /// Sends the next packet of the stream.
    fn extend(&mut self, now: Time) -> Segment {
        let first = self.packets.outstanding() == 0;
        let seq = self.stream.next;
        self.stream.next += 1;
        self.stream.sent = self.stream.next;
        let segment = self.transmit(now, seq, false);
        if first || self.timer.is_none_or(|timer| timer.kind == TimerKind::Probe) {
            self.rearm(now);
        }
        segment
    }

    pub(super) fn resend(&mut self, now: Time, seq: u64) -> Segment {
        self.undo.on_resend(now);
        self.stats.retransmissions += 1;
        self.transmit(now, seq, true)
    }

    fn transmit(&mut self, now: Time, seq: u64, retransmission: bool) -> Segment {
        self.note_rate(now, seq);
        self.packets.on_send(now, seq);
        self.last_sent = now;
        let transmission = self.stats.segments_sent;
        self.stats.segments_sent += 1;
        let (payload_bytes, wire_bytes) = match self.config.syn_bytes() {
            Some(syn_bytes) if seq == 0 => (0, syn_bytes),
            _ => (self.config.payload_bytes, self.config.wire_bytes()),
        };
        if let Some(pacer) = &mut self.pacer {
            pacer.on_send(now, seq, payload_bytes);
        }
        let (ecn, cwr) = self.ecn.stamp(!retransmission && payload_bytes > 0);
        let sent_at = now;
        let echo_us = self.echo_us;
        Segment {
            seq,
            transmission,
            sent_at,
            retransmission,
            ecn,
            cwr,
            echo_us,
            payload_bytes,
            wire_bytes,
        }
    }

    /// Notes what is known when packet `seq` is sent, for its delivery rate.
    fn note_rate(&mut self, now: Time, seq: u64) {
        let Some(rates) = &mut self.rates else { return };
        let outstanding = self.packets.outstanding();
        let in_flight = self.packets.in_flight();
        let delivered = self.packets.delivered();
        let is_syn = seq == 0 && self.config.quirks.syn_bytes.is_some();
        if std::mem::take(&mut self.starved) && !is_syn {
            rates.limit((delivered + in_flight).max(1));
        }
        self.starved |= is_syn;
        if in_flight == 0 && rates.is_limited() {
            self.control.on_restart(&mut self.cwnd.window, now);
        }
        rates.on_send(now, seq, outstanding, delivered);
    }

    /// Nothing more may leave now.
    pub(super) fn on_stop(&mut self) {
        if let Some(pacer) = &mut self.pacer {
            pacer.end_burst();
        }
        // net/ipv4/tcp_rate.c, tcp_rate_check_app_limited.
        self.starved |= self.stream.next == self.stream.end
            && self.has_room()
            && self.packets.lost() <= self.packets.resent();
        let limited = self.packets.in_flight() >= u64::from(self.cwnd.pkts());
        if std::mem::take(&mut self.sent_some) || limited {
            let Stream { una, next, .. } = self.stream;
            self.cwnd.on_stop(limited, self.packets.outstanding(), una, next);
        }
    }
}
