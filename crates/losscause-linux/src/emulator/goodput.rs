//! Distinct bytes of payload that a direction delivered: bytes that a retransmission delivers again
//! count once.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddrV4;

use super::packet::Header;

/// The payload of one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Goodput {
    bytes: u64,
    connections: HashMap<(SocketAddrV4, SocketAddrV4), Received>,
}

/// The bytes of a TCP connection that have arrived.
#[derive(Clone, Debug)]
struct Received {
    /// Everything before this number has arrived. Numbers do not wrap: they are those of TCP plus a
    /// multiple of 2^32.
    next: u64,
    /// What has arrived beyond it: begin and end, apart from each other.
    ahead: BTreeMap<u64, u64>,
}

/// The numbers of a new connection are continued from here, so that earlier ones are not negative.
const FIRST_ROUND: u64 = 1 << 32;

impl Goodput {
    /// A packet was delivered.
    pub(super) fn add(&mut self, header: &Header) {
        let Some(seq) = header.seq else {
            self.bytes += u64::from(header.payload_bytes);
            return;
        };
        let ends = (header.source, header.destination);
        if header.syn {
            // A connection between the same ports again, or its SYN again.
            self.connections.insert(ends, Received::from(FIRST_ROUND + u64::from(seq) + 1));
            return;
        }
        if header.payload_bytes > 0 {
            let first = || Received::from(FIRST_ROUND + u64::from(seq));
            self.bytes +=
                self.connections.entry(ends).or_insert_with(first).add(seq, header.payload_bytes);
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Received {
    fn from(next: u64) -> Self {
        Self { next, ahead: BTreeMap::new() }
    }

    /// Returns how many of the bytes are new.
    fn add(&mut self, seq: u32, bytes: u32) -> u64 {
        // The number nearest to the next one expected.
        let distance = i64::from(seq.wrapping_sub(self.next as u32) as i32);
        let first = self.next.saturating_add_signed(distance);
        let mut begin = first.max(self.next);
        let end = first + u64::from(bytes);
        if end <= begin {
            return 0;
        }
        // Joins every range that touches it.
        let mut new = end - begin;
        let mut joined_end = end;
        while let Some((&other, &other_end)) = self
            .ahead
            .range(..=joined_end)
            .next_back()
            .filter(|(_, other_end)| **other_end >= begin)
        {
            self.ahead.remove(&other);
            new -= other_end.min(end).saturating_sub(other.max(first.max(self.next)));
            begin = begin.min(other);
            joined_end = joined_end.max(other_end);
        }
        if begin <= self.next {
            self.next = joined_end;
        } else {
            self.ahead.insert(begin, joined_end);
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulator::packet::{TCP, UDP};

    fn tcp(seq: u32, payload_bytes: u32) -> Header {
        Header {
            protocol: TCP,
            source: "10.77.0.1:5001".parse().unwrap(),
            destination: "10.77.0.2:80".parse().unwrap(),
            ip_id: 0,
            payload_bytes,
            seq: Some(seq),
            syn: false,
        }
    }

    fn after(packets: &[(u32, u32)]) -> u64 {
        let mut goodput = Goodput::default();
        packets.iter().for_each(|&(seq, bytes)| goodput.add(&tcp(seq, bytes)));
        goodput.bytes()
    }

    #[test]
    fn bytes_that_arrive_again_count_once() {
        assert_eq!(after(&[(0, 100), (0, 100), (50, 100), (150, 10)]), 160);
        // Ahead of a hole, again, over both ends of it, and then all at once.
        assert_eq!(after(&[(0, 10), (100, 10), (100, 10), (105, 10), (95, 30)]), 10 + 30);
        assert_eq!(after(&[(0, 10), (20, 10), (40, 10), (5, 60), (0, 65)]), 65);
        assert_eq!(after(&[(0, 10), (20, 10), (30, 10), (10, 10), (0, 40)]), 40);
    }

    #[test]
    fn sequence_numbers_wrap() {
        assert_eq!(after(&[(u32::MAX - 9, 20), (10, 10), (u32::MAX - 4, 5), (0, 20)]), 30);
    }

    #[test]
    fn a_new_connection_on_old_ports_counts_anew_datagrams_in_full() {
        let mut goodput = Goodput::default();
        goodput.add(&tcp(0, 100));
        goodput.add(&Header { syn: true, ..tcp(u32::MAX, 0) });
        goodput.add(&tcp(0, 100));
        assert_eq!(goodput.bytes(), 200);
        let datagram = Header { protocol: UDP, seq: None, ..tcp(0, 30) };
        goodput.add(&datagram);
        goodput.add(&datagram);
        assert_eq!(goodput.bytes(), 260);
    }
}
