//! What an ACK brings: packets that it acknowledges and reports, a round-trip time, the algorithm's
//! sample.

use losscause::{Algorithm, Observation, Span, Time};

use super::Linux;
use super::alert::State;
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
    /// A packet sent once arrived after one that was sent later.
    pub(super) reordered: bool,
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
        if let Some(seq) = brought.duplicate {
            self.take_duplicate(seq, &mut brought);
        }
        let una = self.stream.una;
        let next = ack.next.max(una);
        let blocks = if ack.next < una { ack.sack.moved(ack.next, una) } else { ack.sack };
        for (start, end) in blocks.ranges(next) {
            self.take_reports(now, start, end.min(self.stream.sent), &mut brought);
        }
        brought.advances = next > una;
        for seq in una..next {
            let Some(packet) = self.packets.pop() else { break };
            self.take_acked(now, seq, &packet, &mut brought);
        }
        self.board.update(next, self.stream.sent, &blocks);
        self.stream.una = next;
        self.packets.tidy();
        if brought.advances {
            self.timeouts = 0;
            self.stats.new_acks += 1;
            self.stats.window_limited_acks += u64::from(self.is_window_limited());
        }
        if brought.reordered {
            self.rack.on_reordering();
        }
        brought
    }

    /// The receiver reports packet `seq` as a duplicate. One that was not sent again so often was
    /// duplicated by the network (net/ipv4/tcp_input.c, `tcp_dsack_seen`).
    fn take_duplicate(&mut self, seq: u64, brought: &mut Brought) {
        self.duplicates += 1;
        if self.duplicates > self.stats.retransmissions {
            brought.duplicate = None;
            return;
        }
        if !self.probe.is_of(seq) {
            self.rack.on_duplicate();
        }
        self.packets.count_duplicate();
        self.undo.on_duplicate(seq);
    }

    /// The highest packet that was reported, if any is reported.
    fn highest_reported(&self) -> u64 {
        self.board.end().saturating_sub(1).max(self.stream.una)
    }

    /// Records the packets of `start..end` that were not reported before.
    fn take_reports(&mut self, now: Time, start: u64, end: u64, brought: &mut Brought) {
        let highest = self.highest_reported();
        let notices = self.state != State::Loss || self.undo.is_possible();
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
                self.take_delivered(now, seq, &packet);
                if packet.sends == 1 {
                    brought.reordered |= notices && seq < highest;
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
            brought.reordered |= seq < self.highest_reported();
            widen(&mut brought.acked, packet.sent_at);
        }
        if !packet.reported {
            self.take_delivered(now, seq, packet);
        }
        if let Some(rates) = &mut self.rates {
            rates.pop();
        }
    }

    fn take_delivered(&mut self, now: Time, seq: u64, packet: &Packet) {
        self.rack.on_delivered(now, seq, packet, &self.rtt);
        if let Some(rates) = &mut self.rates {
            rates.on_delivered(seq, packet);
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
