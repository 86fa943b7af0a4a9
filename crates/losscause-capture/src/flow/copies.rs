//! Packets that a capture holds more than once.
//!
//! A capture of several interfaces, of a bridge and its ports, or merged from both ends of a path
//! has the same packet twice or more. Its content tells, and the time between: a copy has the
//! sequence numbers, the timestamp and the identification of the first one. A host that counts its
//! packets (IPv4) gives a retransmission a number of its own. Of others (IPv6, and IPv4 with the
//! number 0) it looks the same, but follows a round trip later at the soonest.

use losscause::{Span, Time};

use super::loss::{MAX_LISTED, Repeat, RepeatKind};
use crate::packet::Tcp;

/// What tells one packet of a direction from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    seq: u32,
    bytes: u32,
    ack: u32,
    pub(super) tsval: Option<u32>,
    pub(super) ip_id: u16,
}

impl Mark {
    pub(super) fn new(tcp: &Tcp, ip_id: u16) -> Self {
        let tsval = tcp.options.timestamps.map(|(tsval, _)| tsval);
        Self { seq: tcp.seq, bytes: tcp.payload_bytes, ack: tcp.ack, tsval, ip_id }
    }
}

/// The last packets of one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies {
    /// A ring: the next one takes the place of the oldest.
    recent: Vec<(Time, u64, Mark)>,
    next: usize,
    last_id: u16,
    /// The host numbers its packets: two in a row had different numbers.
    counts_ids: bool,
    /// Packets that were captured again, and the first of them.
    pub(super) counted: u64,
    pub(super) listed: Vec<Repeat>,
}

/// Copies of one packet lie closer together, unless both ends were captured.
const SAME_PACKET: Span = Span::from_millis(10);
/// Captures of both ends, merged: no way takes longer.
pub(super) const MERGED: Span = Span::from_secs(1);
/// Without a round-trip time, the same packet sooner than this is a copy.
const AT_ONCE: Span = Span::from_millis(1);
/// Packets that are kept: a host hands up no more at a time (NAPI's budget).
const MOST_KEPT: usize = 64;

impl Copies {
    /// Packets that are kept.
    pub(super) fn size(&self) -> usize {
        self.recent.len()
    }

    /// Whether an identification tells packets of this direction apart.
    pub(super) fn tells_apart(&self, ip_id: u16) -> bool {
        ip_id != 0 && self.counts_ids
    }

    /// The frame that had this packet before. `round_trip` is the smallest one that is known.
    pub(super) fn earlier(&self, now: Time, mark: &Mark, round_trip: Option<Span>) -> Option<u64> {
        let within = match round_trip {
            _ if self.tells_apart(mark.ip_id) => SAME_PACKET,
            Some(round_trip) => SAME_PACKET.min(round_trip / 2),
            None => AT_ONCE,
        };
        let (newer, older) = self.recent.split_at(self.next.min(self.recent.len()));
        let newest_first = newer.iter().rev().chain(older.iter().rev());
        let mut young = newest_first.take_while(|(time, ..)| now - *time < within);
        young.find(|(.., seen)| seen == mark).map(|&(_, frame, _)| frame)
    }

    /// The packet in this frame is a copy.
    pub(super) fn count(&mut self, frame: u64, earlier: Option<u64>) {
        self.counted += 1;
        if self.listed.len() < MAX_LISTED {
            self.listed.push(Repeat { frame, earlier, kind: RepeatKind::Copy });
        }
    }

    /// Keeps a packet that is no copy.
    #[inline]
    pub(super) fn keep(&mut self, now: Time, frame: u64, mark: Mark) {
        let last_id = std::mem::replace(&mut self.last_id, mark.ip_id);
        self.counts_ids |= last_id != mark.ip_id && last_id != 0 && mark.ip_id != 0;
        if self.recent.len() < MOST_KEPT {
            self.recent.push((now, frame, mark));
        } else {
            // What is so old is not looked at again. A short row stays in the processor's caches.
            let newest = self.next.checked_sub(1).unwrap_or(MOST_KEPT - 1);
            if now - self.recent[newest].0 >= SAME_PACKET {
                self.next = 0;
            }
            self.recent[self.next] = (now, frame, mark);
        }
        self.next = (self.next + 1) % MOST_KEPT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: i64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    fn mark(seq: u32, ip_id: u16) -> Mark {
        Mark { seq, bytes: 1_448, ack: 1, tsval: None, ip_id }
    }

    #[test]
    fn a_number_of_its_own_tells_a_retransmission_at_once() {
        let mut copies = Copies::default();
        copies.keep(at(0), 1, mark(0, 7));
        copies.keep(at(5), 2, mark(1_448, 8));
        assert_eq!(copies.earlier(at(9_000), &mark(0, 7), Some(Span::from_micros(40))), Some(1));
        assert_eq!(copies.earlier(at(10), &mark(0, 9), None), None);
        assert_eq!(copies.earlier(at(11_000), &mark(0, 7), None), None, "too long ago");
    }

    #[test]
    fn without_numbers_half_a_round_trip_tells() {
        let mut copies = Copies::default();
        copies.keep(at(0), 1, mark(0, 0));
        copies.keep(at(5), 2, mark(1_448, 0));
        let earlier = |us, rtt| copies.earlier(at(us), &mark(0, 0), rtt);
        assert_eq!(earlier(300, None), Some(1));
        assert_eq!(earlier(1_500, None), None);
        assert_eq!(earlier(9_000, Some(Span::from_millis(40))), Some(1));
        assert_eq!(earlier(300, Some(Span::from_micros(500))), None);
    }

    #[test]
    fn a_number_that_is_always_the_same_tells_nothing() {
        let mut copies = Copies::default();
        copies.keep(at(0), 1, mark(0, 7));
        copies.keep(at(5), 2, mark(1_448, 7));
        assert_eq!(copies.earlier(at(5_000), &mark(0, 7), None), None);
    }
}
