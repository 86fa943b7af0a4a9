//! Packets that the algorithms at a receiver get only when one of them is asked.
//!
//! They are asked at a gap. A capture that was made where the data are sent has none, and most flows
//! lose nothing: there the algorithms would observe every packet in vain. So the packets of a flow
//! wait until its first gap. So many may wait as a [`Course`] keeps, 8 bytes each; a longer flow's
//! are handed on then.

use losscause::{Packet, Time};

use crate::flow::Course;

/// The packets of a flow from its first one on, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    first: Option<Packet>,
    count: u64,
    /// When each arrived, and when it was sent, in nanoseconds, if the packets say so.
    packets: Course,
}

impl Waiting {
    /// Lets a packet wait. False of one that does not follow the last one, or that there is no
    /// place for.
    #[inline]
    pub(super) fn take(&mut self, packet: Packet) -> bool {
        let Packet { seq, at, sent } = packet;
        let first = self.first.get_or_insert(packet);
        let follows = seq.checked_sub(first.seq) == Some(self.count);
        if !follows || sent.is_some() != first.sent.is_some() || self.packets.is_full() {
            return false;
        }
        self.count += 1;
        self.packets.on_packet(at, sent.map_or(0, |sent| sent.as_nanos().cast_unsigned()));
        true
    }

    /// The packets that wait.
    pub(super) fn packets(&self) -> impl Iterator<Item = Packet> + '_ {
        let numbers = self.first.iter().flat_map(|first| first.seq..=u64::MAX);
        let is_sent = self.first.is_some_and(|first| first.sent.is_some());
        numbers.zip(self.packets.iter()).map(move |(seq, (at, sent))| {
            let sent = is_sent.then(|| Time::from_nanos(sent.cast_signed()));
            Packet { seq, at, sent }
        })
    }
}

#[cfg(test)]
mod tests {
    use losscause::Span;

    use super::*;

    /// Packets from number 7 on, 1.2 ms apart, some of which arrive or leave out of order.
    fn packet(number: u64, is_sent: bool) -> Packet {
        let at =
            Time::ZERO + Span::from_micros(1_200 * number as i64 + 5_000 * (number as i64 % 7));
        let sent = is_sent.then(|| at - Span::from_millis(40 + number as i64 % 11) - YEAR);
        Packet { seq: 7 + number, at, sent }
    }

    /// The clocks of both ends may differ by any time.
    const YEAR: Span = Span::from_secs(31_536_000);

    #[test]
    fn what_waited_comes_back_as_it_was() {
        for is_sent in [true, false] {
            let mut waiting = Waiting::default();
            let packets: Vec<Packet> = (0..5_000).map(|number| packet(number, is_sent)).collect();
            assert!(packets.iter().all(|packet| waiting.take(*packet)));
            assert!(!waiting.take(packet(5_001, is_sent)), "one is missing");
            assert!(!waiting.take(packet(4_999, is_sent)), "a copy");
            assert!(!waiting.take(packet(5_000, !is_sent)), "half of it would be lost");
            assert!(waiting.packets().eq(packets));
        }
    }

    #[test]
    fn a_long_flow_does_not_wait() {
        let mut waiting = Waiting::default();
        let waited = (0..).take_while(|&number| waiting.take(packet(number, true))).count();
        assert_eq!(waited, waiting.packets().count(), "none was dropped");
        assert!(waited < 100_000, "{waited}");
    }
}
