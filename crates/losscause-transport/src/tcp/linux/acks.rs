//! When the receiver acknowledges (RFC 5681, section 4.2): quick, delayed and compressed ACKs.
//!
//! ```text
//! at once:  the second packet since the last ACK; any packet while quick ACKs are left; a packet that closes the last
//!           gap; a duplicate; each of the first 3 packets beyond a gap
//! delayed:  one packet in sequence waits for the ATO, 40 ms or more
//! compressed: further packets beyond a gap wait for RTT/20, at most 1 ms, at most 44 of them for one ACK, and for no
//!           packet that adds a third block to the report
//! quick:    16 ACKs at the start, after a duplicate, and after a pause longer than the timeout; an odd number, so at
//!           least 1, if the receive window grows
//! ATO       ATO/2 + max(pause, 20 ms) for a pause since the last packet below ATO
//! ```
//!
//! Linux (net/ipv4/tcp_input.c, `__tcp_ack_snd_check`) differs from RFC 5681 in compressing: not
//! every packet beyond a gap gets a duplicate ACK at once. A report holds three blocks. So that it
//! loses none, the ACK that waits is sent before a packet is taken in that belongs to neither of
//! the two newest blocks (`tcp_sack_new_ofo_skb`; the receiver does that).
//!
//! Deviations: packets with PSH, of which applications send one per write, are not acknowledged
//! earlier.

use losscause::{Span, Time};

use super::clock::Clock;

/// Decides about ACKs.
#[derive(Clone, Debug)]
pub(super) struct Acks {
    clock: Clock,
    least_ato: Span,
    ato: Span,
    min_rto: Span,
    /// ACKs that are not delayed.
    quick: u32,
    /// When the last packet in sequence arrived.
    last: Option<Time>,
    /// Everything below was acknowledged.
    acked: u64,
    /// ACKs sent at once for packets beyond the gap at `next`.
    duplicates: (u64, u32),
    /// Packets beyond the gap that wait for the next ACK.
    compressed: u32,
}

/// A packet arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    pub(super) place: Place,
    /// The next packet expected now.
    pub(super) next: u64,
    /// Whether packets beyond a gap are held now.
    pub(super) gap: bool,
    /// Whether it let the receive window grow.
    pub(super) grows: bool,
    /// The round-trip time, if it is known.
    pub(super) rtt: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    InSequence,
    /// In sequence, and it closed the last gap.
    ClosesGap,
    BeyondGap,
    /// Acknowledged before.
    Old,
}

const QUICK_ACKS: u32 = 16;
const DUPLICATES_AT_ONCE: u32 = 3;
const MOST_COMPRESSED: u32 = 44;
const LONGEST_COMPRESSION: Span = Span::from_millis(1);

impl Acks {
    pub(super) fn new(clock: Clock, least_ato: Span, min_rto: Span) -> Self {
        Self {
            clock,
            least_ato,
            ato: least_ato,
            min_rto,
            quick: 0,
            last: None,
            acked: 0,
            duplicates: (0, 0),
            compressed: 0,
        }
    }

    /// Decides about a packet. Returns when to acknowledge at the latest; `pending` is that of
    /// earlier packets.
    pub(super) fn on_packet(
        &mut self,
        now: Time,
        arrived: &Arrived,
        pending: Option<Time>,
    ) -> Time {
        match arrived.place {
            Place::Old => {
                (self.quick, self.ato) = (QUICK_ACKS, self.least_ato);
                return now;
            }
            Place::InSequence | Place::ClosesGap => self.adapt(now, arrived.rtt),
            Place::BeyondGap => {}
        }
        if arrived.grows {
            // net/ipv4/tcp_input.c, tcp_grow_window: one more if their number is even.
            self.quick |= 1;
        }
        if arrived.place == Place::ClosesGap || arrived.next > self.acked + 1 || self.quick > 0 {
            return now;
        }
        if arrived.gap {
            return self.compress(now, arrived, pending);
        }
        let due = self.clock.fires(now, self.ato);
        pending.map_or(due, |pending| pending.min(due))
    }

    /// Whether packets beyond a gap wait for an ACK.
    pub(super) fn compresses(&self) -> bool {
        self.compressed > 0
    }

    fn compress(&mut self, now: Time, arrived: &Arrived, pending: Option<Time>) -> Time {
        if self.duplicates.0 != arrived.next {
            self.duplicates = (arrived.next, 0);
        }
        if self.duplicates.1 < DUPLICATES_AT_ONCE {
            self.duplicates.1 += 1;
            return now;
        }
        if self.compressed >= MOST_COMPRESSED {
            return now;
        }
        let delay = arrived.rtt.map_or(Span::ZERO, |rtt| rtt / 20).min(LONGEST_COMPRESSION);
        let first = self.compressed == 0;
        self.compressed += 1;
        match pending {
            Some(pending) if !first => pending,
            Some(pending) => pending.min(now + delay),
            None => now + delay,
        }
    }

    /// Adapts the ATO to the pause before a packet in sequence.
    fn adapt(&mut self, now: Time, rtt: Option<Span>) {
        let Some(last) = self.last.replace(now) else {
            (self.quick, self.ato) = (QUICK_ACKS, self.least_ato);
            return;
        };
        let pause = now - last;
        let rto = self.min_rto + rtt.unwrap_or(Span::ZERO);
        if pause <= self.least_ato / 2 {
            self.ato = self.ato / 2 + self.least_ato / 2;
        } else if pause < self.ato {
            self.ato = (self.ato / 2 + pause).min(rto);
        } else if pause > rto {
            self.quick = QUICK_ACKS;
        }
    }

    /// An ACK of everything below `next` is sent.
    pub(super) fn on_ack(&mut self, next: u64) {
        self.acked = next;
        self.compressed = 0;
        self.quick = self.quick.saturating_sub(1);
        if self.quick == 0 {
            self.ato = self.ato.max(self.least_ato);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    fn acks() -> Acks {
        let clock = Clock::new(Span::from_millis(4), Span::ZERO);
        Acks::new(clock, Span::from_millis(40), Span::from_millis(200))
    }

    const IN_SEQUENCE: Arrived = Arrived {
        place: Place::InSequence,
        next: 1,
        gap: false,
        grows: false,
        rtt: Some(Span::from_millis(40)),
    };

    /// Packets of a stream at these times (ms): those acknowledged at once.
    fn at_once(acks: &mut Acks, times: impl IntoIterator<Item = i64>) -> Vec<i64> {
        let mut next = acks.acked;
        let mut now = vec![];
        for ms in times {
            next += 1;
            if acks.on_packet(at(ms), &Arrived { next, ..IN_SEQUENCE }, None) == at(ms) {
                acks.on_ack(next);
                now.push(ms);
            }
        }
        now
    }

    #[test]
    fn the_first_16_packets_are_acknowledged_then_every_second() {
        let every: Vec<i64> = (0..16).chain([17, 19, 21]).collect();
        assert_eq!(at_once(&mut acks(), 0..22), every);
    }

    #[test]
    fn a_packet_that_lets_the_window_grow_is_acknowledged_at_once() {
        let mut acks = acks();
        at_once(&mut acks, 0..16);
        let grows = Arrived { next: 17, grows: true, ..IN_SEQUENCE };
        assert_eq!(acks.on_packet(at(16), &grows, None), at(16));
        acks.on_ack(17);
        assert!(
            acks.on_packet(at(17), &Arrived { next: 18, grows: false, ..grows }, None) > at(17),
            "none is left"
        );
    }

    #[test]
    fn a_single_packet_waits_for_the_ato_in_ticks() {
        let mut acks = acks();
        at_once(&mut acks, 0..16);
        let lone = Arrived { next: 17, ..IN_SEQUENCE };
        // Ten ticks from tick 4, and the one that the timer wheel adds.
        assert_eq!(acks.on_packet(at(16), &lone, None), at(60));
    }

    #[test]
    fn a_pause_longer_than_the_timeout_makes_acks_quick_again() {
        let mut acks = acks();
        at_once(&mut acks, 0..16);
        // 240 ms are the timeout.
        assert_eq!(at_once(&mut acks, [16, 256, 497, 498, 499]), [256, 497, 498, 499]);
    }

    #[test]
    fn the_third_packet_beyond_a_gap_is_the_last_acked_at_once() {
        let mut acks = acks();
        at_once(&mut acks, 0..16);
        let beyond = Arrived { place: Place::BeyondGap, next: 16, gap: true, ..IN_SEQUENCE };
        let mut due = |ms, pending| acks.on_packet(at(ms), &beyond, pending);
        assert_eq!([16, 17, 18].map(|ms| due(ms, None)), [16, 17, 18].map(at));
        // RTT/20 is 2 ms; 1 ms is the most.
        assert_eq!(due(19, None), at(20));
        let pending = Some(at(20));
        assert_eq!(due(19, pending), at(20));
        for _ in 2..44 {
            due(19, pending);
        }
        assert_eq!(due(19, pending), at(19), "44 wait already");
    }

    #[test]
    fn a_packet_that_closes_a_gap_and_a_duplicate_are_acked_at_once() {
        for place in [Place::ClosesGap, Place::Old] {
            let mut acks = acks();
            at_once(&mut acks, 0..16);
            assert_eq!(
                acks.on_packet(at(20), &Arrived { place, next: 17, ..IN_SEQUENCE }, None),
                at(20)
            );
        }
    }

    #[test]
    fn packets_further_apart_lengthen_the_ato() {
        let mut acks = acks();
        at_once(&mut acks, 0..16);
        // 40/2 + 30 = 50 ms: 13 ticks from tick 11, and one.
        assert_eq!(acks.on_packet(at(45), &Arrived { next: 17, ..IN_SEQUENCE }, None), at(100));
    }
}
