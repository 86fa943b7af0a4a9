//! What an ACK brings: packets that it acknowledges and reports, a round-trip time, the algorithm's
//! sample.

use losscause::{Algorithm, Observation, Span, Time};

use super::Linux;
use crate::tcp::control::RttSample;
use crate::tcp::linux::packets::Packet;
use crate::tcp::segment::Ack;

/// A receiver holds an ACK back while it waits for a second packet (RFC 9293, section 3.8.6.3):
/// Linux for 40 ms. An ACK of one packet in order that comes this long after the last may be such a
/// one: its round-trip time would show the algorithm a queue that is not there. The kernel's
/// programs of the crate `losscause-linux` have the same rule.
const HELD_BACK: Span = Span::from_millis(30);

/// What an ACK brings.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Brought {
    pub(super) advances: bool,
    pub(super) reports: bool,
    pub(super) duplicate: Option<u64>,
    /// A packet sent once before [`Linux::high`] was set.
    pub(super) original: bool,
    /// A packet that had been sent more than once was acknowledged.
    pub(super) acked_resent: bool,
    /// Times at which packets sent once were sent: acknowledged, first and last; reported, first
    /// and last.
    pub(super) acked: Option<(Time, Time)>,
    pub(super) reported: Option<(Time, Time)>,
    pub(super) ece: bool,
}

impl Brought {
    /// Whether it is the last ACK once more, without any news.
    pub(super) fn is_plain_duplicate(&self) -> bool {
        !self.advances && !self.reports && self.duplicate.is_none()
    }
}

fn widen(times: &mut Option<(Time, Time)>, at: Time) {
    *times = Some(times.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
}

impl<L: Algorithm> Linux<L> {
    /// Records what `ack` acknowledges and reports.
    pub(super) fn take_in(&mut self, now: Time, ack: &Ack) -> Brought {
        let mut brought = Brought { duplicate: ack.sack.duplicate(ack.next), ..Brought::default() };
        for (start, end) in ack.sack.ranges(ack.next) {
            self.take_reports(
                now,
                start.max(self.stream.una),
                end.min(self.stream.sent),
                &mut brought,
            );
        }
        brought.advances = ack.next > self.stream.una;
        for seq in self.stream.una..ack.next {
            let Some(packet) = self.packets.pop() else { break };
            self.take_acked(now, seq, &packet, &mut brought);
        }
        self.board.update(ack.next, self.stream.sent, &ack.sack);
        self.stream.una = ack.next;
        self.packets.tidy();
        if brought.advances {
            self.timeouts = 0;
            self.stats.new_acks += 1;
            self.stats.window_limited_acks += u64::from(self.is_window_limited());
        }
        if let Some(seq) = brought.duplicate {
            self.rack.on_duplicate();
            self.undo.on_duplicate(seq);
        }
        brought
    }

    /// Records the packets of `start..end` that were not reported before.
    fn take_reports(&mut self, now: Time, start: u64, end: u64, brought: &mut Brought) {
        let mut seq = start;
        while seq < end {
            if seq < self.board.end() {
                let Some(hole) = self.board.next_hole(seq) else {
                    seq = self.board.end();
                    continue;
                };
                seq = hole;
                if seq >= end {
                    return;
                }
            }
            if let Some(packet) = self.packets.report(seq) {
                brought.reports = true;
                self.rack.on_delivered(now, seq, &packet, &self.rtt);
                if packet.sends == 1 {
                    brought.original |= seq < self.high;
                    widen(&mut brought.reported, packet.sent_at);
                }
            }
            seq += 1;
        }
    }

    fn take_acked(&mut self, now: Time, seq: u64, packet: &Packet, brought: &mut Brought) {
        if packet.sends > 1 {
            brought.acked_resent = true;
        } else if !packet.reported {
            brought.original |= seq < self.high;
            widen(&mut brought.acked, packet.sent_at);
        }
        if !packet.reported {
            self.rack.on_delivered(now, seq, packet, &self.rtt);
        }
    }

    /// Measures round-trip times. Returns that of the newest packet. An ACK of a packet sent more
    /// than once measures by its timestamp (RFC 7323, section 4.1).
    pub(super) fn measure(&mut self, now: Time, ack: &Ack, brought: &Brought) -> Option<Span> {
        let acked = brought.acked.filter(|_| !brought.acked_resent);
        let echoed = (brought.advances && ack.echo < now).then_some((ack.echo, ack.echo));
        let (first, _) = acked.or(brought.reported).or(echoed)?;
        let (_, last) = brought.reported.or(acked).or(echoed)?;
        let newest = now - last;
        if newest <= Span::ZERO {
            return None;
        }
        self.rtt.on_newest(newest);
        let una = self.stream.una;
        let next = self.stream.next;
        self.rtt.on_sample(now - first, una, next);
        self.control.on_rtt(&mut self.cwnd.window, &RttSample { at: now, rtt: newest, una, next });
        Some(newest)
    }

    /// The sample for the algorithm. Stream and scoreboard already include this ACK.
    pub(super) fn sample(&mut self, now: Time, rtt: Option<Span>) -> Observation {
        let cwnd_pkts = self.cwnd.window.cwnd;
        let mut sample = self.arrivals.on_ack(now, rtt, cwnd_pkts, &self.stream, Some(&self.board));
        if !sample.is_arrival() {
            return sample;
        }
        let waited = self.newest_arrival_at.replace(now).map(|before| now - before);
        if sample.spanned == 1
            && self.board.sacked() == 0
            && waited.is_some_and(|waited| waited >= HELD_BACK)
        {
            sample.delay = None;
            self.arrivals.forget_delay();
        }
        sample
    }
}
