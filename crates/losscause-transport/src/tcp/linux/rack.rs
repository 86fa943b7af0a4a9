//! RACK (RFC 8985, section 6): a packet is lost if one sent sufficiently later was delivered.
//!
//! ```text
//! newest    the delivered packet that was sent last, and its round-trip time                    (step 2)
//! lost      sent before newest, and now >= sent + newest.rtt + window                           (step 5)
//! reordered a packet sent once was delivered after one that was sent later                      (step 3)
//! window    0 in recovery, or with DupThresh packets reported, if nothing was ever reordered; else
//!           steps * min_rtt/4, at most SRTT                                                     (step 4)
//! steps     1; once reordered, one more for every round trip with a D-SACK, kept for 16 recoveries (step 4)
//! ```
//!
//! A packet that is younger than that waits for a timer. A retransmission is judged by the same
//! rule, so it can be lost too. The ACK of a retransmission that came faster than any round trip
//! was for the original, and does not count.
//!
//! The receiver's D-SACK of a tail loss probe adds no step (net/ipv4/tcp_input.c, `tcp_dsack_seen`).
//!
//! Deviations: none.

use losscause::{Span, Time};

use super::packets::{Packet, Packets};
use super::rtt::Rtt;

#[derive(Clone, Debug, Default)]
pub(super) struct Rack {
    dup_thresh: u64,
    /// The delivered packet that was sent last.
    newest: Option<Newest>,
    /// Whether packets were delivered since losses were last looked for.
    advanced: bool,
    /// Whether packets were ever reordered.
    reordered: bool,
    /// Quarters of the smallest round-trip time in the reordering window.
    steps: u32,
    /// Recoveries that keep `steps`.
    persist: u32,
    /// No further step before this is acknowledged.
    step_end: u64,
    /// Whether a D-SACK came since the last step.
    duplicate_seen: bool,
}

#[derive(Clone, Copy, Debug)]
struct Newest {
    sent_at: Time,
    seq: u64,
    rtt: Span,
}

/// Recoveries after which the reordering window is one step again.
const PERSIST: u32 = 16;

/// Most steps of the window.
const MOST_STEPS: u32 = 255;

impl Rack {
    pub(super) fn new(dup_thresh: u32) -> Self {
        Self { dup_thresh: dup_thresh.into(), steps: 1, ..Self::default() }
    }

    /// Packet `seq` was delivered.
    pub(super) fn on_delivered(&mut self, now: Time, seq: u64, packet: &Packet, rtt: &Rtt) {
        let this = now - packet.sent_at;
        if packet.sends > 1 && rtt.min().is_some_and(|min| this < min) {
            return;
        }
        self.advanced = true;
        let later =
            self.newest.is_none_or(|newest| (packet.sent_at, seq) > (newest.sent_at, newest.seq));
        match &mut self.newest {
            Some(newest) if !later => newest.rtt = this,
            newest => *newest = Some(Newest { sent_at: packet.sent_at, seq, rtt: this }),
        }
    }

    /// The cut was undone: what was lost is looked for anew.
    pub(super) fn on_undo(&mut self) {
        self.advanced = true;
    }

    /// Packets arrived in another order than they were sent in.
    pub(super) fn on_reordering(&mut self) {
        self.reordered = true;
    }

    /// The receiver reported a retransmission as a duplicate.
    pub(super) fn on_duplicate(&mut self) {
        self.duplicate_seen |= self.reordered;
    }

    /// A recovery turned out needless by duplicates alone.
    pub(super) fn on_needless(&mut self) {
        self.persist = (self.persist + 1).min(PERSIST);
    }

    /// A recovery ended.
    pub(super) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// Adapts the window, once per ACK: everything below `una` is acknowledged and below `next`
    /// sent.
    pub(super) fn adapt(&mut self, una: u64, next: u64) {
        if una < self.step_end {
            self.duplicate_seen = false;
        }
        if self.duplicate_seen {
            self.steps = (self.steps + 1).min(MOST_STEPS);
            (self.duplicate_seen, self.step_end, self.persist) = (false, next, PERSIST);
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// Marks lost packets if any was delivered since the last call. `recovering` in recovery and
    /// after a timeout. Returns how long to wait until others count as lost.
    pub(super) fn detect(
        &mut self,
        now: Time,
        packets: &mut Packets,
        rtt: &Rtt,
        recovering: bool,
    ) -> Option<Span> {
        let newest = self.newest.filter(|_| std::mem::take(&mut self.advanced))?;
        let allowed = newest.rtt + self.window(packets, rtt, recovering);
        let mut wait = None;
        let mut lost = vec![];
        for sending in packets.in_order() {
            if (sending.at, sending.seq) >= (newest.sent_at, newest.seq) {
                break;
            }
            let left = sending.at + allowed - now;
            if left <= Span::ZERO {
                lost.push(sending.seq);
            } else {
                wait = wait.max(Some(left));
            }
        }
        lost.into_iter().for_each(|seq| packets.lose(seq));
        packets.tidy();
        wait
    }

    /// The timer of [`Rack::detect`] expired.
    pub(super) fn on_timer(&mut self) {
        self.advanced = true;
    }

    /// At a timeout: whether a packet sent at `sent_at` counts as lost.
    pub(super) fn is_late(&self, now: Time, sent_at: Time) -> bool {
        now - sent_at >= self.newest.map_or(Span::ZERO, |newest| newest.rtt)
    }

    fn window(&self, packets: &Packets, rtt: &Rtt, recovering: bool) -> Span {
        if !self.reordered && (recovering || packets.reported() >= self.dup_thresh) {
            return Span::ZERO;
        }
        let settling = rtt.min().map_or(Span::ZERO, |min| min / 4 * i64::from(self.steps));
        settling.min(rtt.srtt().unwrap_or(Span::ZERO))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    fn rtt() -> Rtt {
        let mut rtt = Rtt::new(Span::from_millis(200), Span::from_secs(120), Span::from_secs(1));
        rtt.on_sample(Span::from_millis(40), 0, 0);
        rtt.on_newest(Span::from_millis(40));
        rtt
    }

    /// Packets 0 to 9, sent at 0, 1, … 9 ms; `reported` arrive, each 40 ms after it was sent.
    fn after(reported: &[u64]) -> (Rack, Packets) {
        let mut rack = Rack::new(3);
        let mut packets = Packets::default();
        (0..10).for_each(|seq| packets.on_send(at(seq as i64), seq));
        for &seq in reported {
            let packet = packets.report(seq).unwrap();
            rack.on_delivered(at(40 + seq as i64), seq, &packet, &rtt());
        }
        (rack, packets)
    }

    #[test]
    fn one_report_leaves_an_older_packet_time_to_arrive() {
        let (mut rack, mut packets) = after(&[1]);
        // 0 was sent at 0 and has 40 ms and min_rtt/4 = 10 ms, until 50; it is 41.
        assert_eq!(rack.detect(at(41), &mut packets, &rtt(), false), Some(Span::from_millis(9)));
        assert_eq!(packets.lost(), 0);
        rack.on_timer();
        assert_eq!(rack.detect(at(50), &mut packets, &rtt(), false), None);
        assert_eq!(packets.next_lost(), Some(0));
    }

    #[test]
    fn three_reports_make_every_packet_sent_before_them_lost() {
        let (mut rack, mut packets) = after(&[2, 4, 5]);
        assert_eq!(rack.detect(at(45), &mut packets, &rtt(), false), None);
        assert_eq!(packets.lost(), 3, "0, 1 and 3");
    }

    #[test]
    fn losses_are_not_sought_again_before_something_is_delivered() {
        let (mut rack, mut packets) = after(&[1]);
        rack.detect(at(41), &mut packets, &rtt(), false);
        assert_eq!(rack.detect(at(60), &mut packets, &rtt(), false), None);
        assert_eq!(packets.lost(), 0);
    }

    #[test]
    fn a_retransmission_is_lost_when_a_packet_sent_after_it_arrives() {
        let (mut rack, mut packets) = after(&[1, 2, 3]);
        rack.detect(at(43), &mut packets, &rtt(), false);
        packets.on_send(at(43), 0);
        packets.on_send(at(44), 10);
        let packet = packets.report(10).unwrap();
        rack.on_delivered(at(84), 10, &packet, &rtt());
        rack.detect(at(84), &mut packets, &rtt(), true);
        assert!(packets.next_lost() == Some(0), "sent at 43, and 41 ms have passed");
    }

    #[test]
    fn an_ack_faster_than_any_round_trip_was_for_the_original() {
        let (mut rack, mut packets) = after(&[]);
        packets.lose(9);
        packets.on_send(at(48), 9);
        let packet = packets.report(9).unwrap();
        rack.on_delivered(at(50), 9, &packet, &rtt());
        assert_eq!(rack.detect(at(60), &mut packets, &rtt(), true), None);
        assert_eq!(packets.lost(), 0);
    }

    #[test]
    fn after_reordering_three_reports_and_recovery_leave_time_to_arrive() {
        for recovering in [false, true] {
            let (mut rack, mut packets) = after(&[2, 4, 5]);
            rack.on_reordering();
            // 3, sent at 3, has 40 ms and 10 ms, until 53; it is 45.
            let wait = rack.detect(at(45), &mut packets, &rtt(), recovering);
            assert_eq!((wait, packets.lost()), (Some(Span::from_millis(8)), 0));
        }
    }

    #[test]
    fn a_duplicate_without_reordering_does_not_widen_the_window() {
        let (mut rack, mut packets) = after(&[1]);
        rack.on_duplicate();
        rack.adapt(0, 10);
        assert_eq!(rack.detect(at(41), &mut packets, &rtt(), false), Some(Span::from_millis(9)));
    }

    #[test]
    fn duplicates_widen_the_window_for_sixteen_recoveries() {
        let (mut rack, mut packets) = after(&[1]);
        rack.on_reordering();
        rack.on_duplicate();
        rack.adapt(0, 10);
        rack.on_duplicate();
        rack.adapt(5, 10);
        let mut rtt = Rtt::new(Span::from_millis(200), Span::from_secs(120), Span::from_secs(1));
        rtt.on_sample(Span::from_millis(400), 0, 0);
        rtt.on_newest(Span::from_millis(40));
        // Two steps of 10 ms: until 60 ms. The second duplicate came within the same round trip.
        assert_eq!(rack.detect(at(41), &mut packets, &rtt, false), Some(Span::from_millis(19)));
        (0..16).for_each(|_| rack.on_recovered());
        rack.adapt(20, 30);
        rack.on_timer();
        assert_eq!(rack.detect(at(41), &mut packets, &rtt, false), Some(Span::from_millis(9)));
    }
}
