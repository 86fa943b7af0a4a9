//! What s2n-quic does not say, from what it says: which packets an ACK acknowledges, and when, on
//! the core's clock.
//!
//! A controller numbers its packets. s2n-quic hands the number back with the newest packet of an
//! ACK and with every lost packet. Of an ACK's other packets it tells only the bytes, the newest
//! packet's included:
//!
//! ```text
//! acknowledged = the newest packet, and going down from it every open packet that the remaining bytes hold
//! ```
//!
//! A packet is open until it is acknowledged, lost or discarded.
//!
//! - *Exact*: an ACK of one range of packets, and the count of packets of one size.
//! - *Approximation*: of an ACK with gaps between its new packets, the packets below the newest gap
//!   are taken for higher ones, so a missing packet's number is too low. If s2n-quic then declares
//!   a packet lost that was taken for acknowledged, the nearest open packet stands for it.

use std::collections::VecDeque;

use losscause::{Span, Time};
use s2n_quic_core::time::Timestamp;

/// Converts s2n-quic's timestamps: zero is the first one that it is given.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    zero: Option<Timestamp>,
}

impl Clock {
    #[inline]
    pub(crate) fn time(&mut self, timestamp: Timestamp) -> Time {
        let zero = *self.zero.get_or_insert(timestamp);
        if timestamp >= zero {
            Time::ZERO + Span::from(timestamp - zero)
        } else {
            Time::ZERO - Span::from(zero - timestamp)
        }
    }
}

/// The open packets.
#[derive(Clone, Debug)]
pub(crate) struct OpenPackets {
    /// The bytes of each packet from number `first` on; 0 if it is not open. The first one is open.
    bytes: VecDeque<u32>,
    first: u64,
    at_most: usize,
}

impl OpenPackets {
    /// Remembers packets up to `at_most` numbers back.
    pub(crate) fn up_to(at_most: usize) -> Self {
        Self { bytes: VecDeque::new(), first: 0, at_most: at_most.max(1) }
    }

    /// A packet of `bytes` is sent. Returns its number; numbers count from 0.
    #[inline]
    pub(crate) fn on_sent(&mut self, bytes: usize) -> u64 {
        if self.bytes.len() >= self.at_most {
            self.bytes.pop_front();
            self.first += 1;
            self.close_front();
        }
        let number = self.first + self.bytes.len() as u64;
        self.bytes.push_back(u32::try_from(bytes).unwrap_or(u32::MAX).max(1));
        number
    }

    /// An ACK of `bytes`, the newest of whose packets is `newest`. Calls `found` with every packet.
    pub(crate) fn acknowledge(&mut self, newest: u64, bytes: usize, mut found: impl FnMut(u64)) {
        let Some(newest_index) = self.index(newest) else { return };
        let mut left = bytes as u64;
        for index in (0..=newest_index).rev() {
            let size = u64::from(self.bytes[index]);
            if size == 0 || (size > left && index != newest_index) {
                continue;
            }
            self.bytes[index] = 0;
            found(self.first + index as u64);
            left = left.saturating_sub(size);
            if left == 0 {
                break;
            }
        }
        self.close_front();
    }

    /// Packet `number` is lost. Returns the packet that counts as lost: the same one, or the
    /// nearest older open packet, if it was taken for acknowledged. None if it is forgotten.
    pub(crate) fn lose(&mut self, number: u64) -> Option<u64> {
        let newest = self.index(number)?;
        let index = (0..=newest).rev().find(|index| self.bytes[*index] > 0)?;
        self.bytes[index] = 0;
        let number = self.first + index as u64;
        self.close_front();
        Some(number)
    }

    /// A packet of `bytes` is discarded: the oldest open one of that size.
    pub(crate) fn discard(&mut self, bytes: usize) {
        if let Some(open) = self.bytes.iter_mut().find(|open| **open as usize == bytes) {
            *open = 0;
        }
        self.close_front();
    }

    fn index(&self, number: u64) -> Option<usize> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        (index < self.bytes.len()).then_some(index)
    }

    fn close_front(&mut self) {
        while self.bytes.front() == Some(&0) {
            self.bytes.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use s2n_quic_core::time::{Clock as _, NoopClock};
    use std::time::Duration;

    /// Packets 0 to 9 of 1200 bytes.
    fn ten() -> OpenPackets {
        let mut packets = OpenPackets::up_to(64);
        (0..10).for_each(|number| assert_eq!(packets.on_sent(1200), number));
        packets
    }

    fn acked(packets: &mut OpenPackets, newest: u64, pkts: usize) -> Vec<u64> {
        let mut found = Vec::new();
        packets.acknowledge(newest, pkts * 1200, |number| found.push(number));
        found.reverse();
        found
    }

    #[test]
    fn an_ack_of_one_range_is_that_range() {
        let mut packets = ten();
        assert_eq!(acked(&mut packets, 2, 3), [0, 1, 2]);
        assert_eq!(acked(&mut packets, 5, 2), [4, 5], "3 is missing");
        assert_eq!(acked(&mut packets, 9, 4), [6, 7, 8, 9]);
        assert_eq!(packets.lose(3), Some(3));
        assert_eq!(packets.bytes.len(), 0, "nothing is open");
    }

    #[test]
    fn a_late_packet_is_found_below_the_newest() {
        let mut packets = ten();
        assert_eq!(acked(&mut packets, 4, 4), [1, 2, 3, 4]);
        assert_eq!(acked(&mut packets, 6, 3), [0, 5, 6]);
    }

    #[test]
    fn a_gap_within_an_ack_is_found_lower_with_its_loss() {
        let mut packets = ten();
        assert_eq!(acked(&mut packets, 0, 1), [0]);
        // 1, 2 and 4 arrived: 3 is missing.
        assert_eq!(acked(&mut packets, 4, 3), [2, 3, 4]);
        assert_eq!(packets.lose(3), Some(1));
        assert_eq!(acked(&mut packets, 5, 1), [5]);
    }

    #[test]
    fn packets_of_several_sizes_are_found_by_their_bytes() {
        let mut packets = OpenPackets::up_to(64);
        for bytes in [1200, 300, 1200, 1200] {
            packets.on_sent(bytes);
        }
        let mut found = Vec::new();
        packets.acknowledge(3, 1500, |number| found.push(number));
        assert_eq!(found, [3, 1]);
    }

    #[test]
    fn a_discarded_packet_and_one_that_does_not_fit_are_forgotten() {
        let mut packets = OpenPackets::up_to(2);
        packets.on_sent(1400);
        packets.on_sent(1200);
        packets.discard(1400);
        assert_eq!(packets.lose(0), None, "it was the oldest");
        packets.on_sent(1200);
        packets.on_sent(1200);
        assert_eq!(packets.lose(1), None, "2 and 3 took its place");
        assert_eq!(packets.lose(3), Some(3));
    }

    #[test]
    fn times_count_from_the_first_timestamp() {
        let mut clock = Clock::default();
        let first = NoopClock.get_time() + Duration::from_secs(5);
        assert_eq!(clock.time(first), Time::ZERO);
        assert_eq!(clock.time(first + Duration::from_micros(7)), Time::ZERO + Span::from_micros(7));
        assert_eq!(
            clock.time(NoopClock.get_time()),
            Time::ZERO - Span::from_secs(5),
            "earlier ones are negative"
        );
    }
}
