//! The data packets that a flow lost, and which of them a loss in its capture is.

use std::collections::BTreeMap;

use losscause_capture::{Loss, Protocol};
use losscause_sim::truth::Cause;

/// A data packet that a link lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LostPacket {
    /// The number in its header: of TCP the sequence number of its first byte.
    pub seq: u32,
    /// When it was sent, seconds after the capture's first packet.
    pub sent_s: f64,
    /// When it was lost, seconds after the capture's first packet.
    pub lost_s: f64,
    /// The true cause.
    pub cause: Cause,
}

/// The data packets that a flow lost, in order of time. Each is one loss of its capture at most.
#[derive(Clone, Debug, PartialEq)]
pub struct LostPackets {
    source: String,
    packets: Vec<LostPacket>,
    /// The places of those that were not taken yet, in order of time, by number.
    left: BTreeMap<u32, Vec<usize>>,
}

/// RTP's numbers come round; a gap shows within a second or so.
const RTP_SHOWS_WITHIN_S: f64 = 30.0;

impl LostPackets {
    /// Of the flow from this address and port.
    pub fn new(source: String, packets: Vec<LostPacket>) -> Self {
        let mut left: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (place, packet) in packets.iter().enumerate() {
            left.entry(packet.seq).or_default().push(place);
        }
        Self { source, packets, left }
    }

    /// The address and port of the flow's sender: "10.0.0.1:40000".
    pub fn source(&self) -> &str {
        &self.source
    }

    /// All of them.
    pub fn packets(&self) -> &[LostPacket] {
        &self.packets
    }

    /// Takes the packets that a loss of the flow's capture is: a range of bytes of TCP may hold
    /// several, and of a packet that was lost several times the first that was not taken yet.
    /// Returns their places in [`LostPackets::packets`], in order.
    pub fn take(&mut self, loss: &Loss, protocol: Protocol) -> Vec<usize> {
        // Numbers of TCP and RTP have no more bits.
        let first = loss.seq as u32;
        match protocol {
            Protocol::Rtp => {
                let shows = |lost_s: f64| (lost_s - loss.time_s).abs() < RTP_SHOWS_WITHIN_S;
                self.take_numbers(first, 1, shows)
            }
            _ => self.take_numbers(first, loss.bytes.max(1), |lost_s| lost_s <= loss.time_s),
        }
    }

    /// Takes of each of so many numbers, from `first` on, the first packet left whose time `fits`.
    fn take_numbers(&mut self, first: u32, count: u64, fits: impl Fn(f64) -> bool) -> Vec<usize> {
        let packets = &self.packets;
        let last = u64::from(first) + count - 1;
        // Numbers wrap.
        let wrapped = (last > u64::from(u32::MAX)).then_some(0..=(last as u32));
        let ranges = [Some(first..=u32::try_from(last).unwrap_or(u32::MAX)), wrapped];
        let mut taken = Vec::new();
        for range in ranges.into_iter().flatten() {
            for (_, left) in self.left.range_mut(range) {
                if let Some(found) = left.iter().position(|&place| fits(packets[place].lost_s)) {
                    taken.push(left.remove(found));
                }
            }
        }
        taken.sort_unstable();
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 100 bytes that were lost at these times.
    fn lost(packets: &[(u32, f64)]) -> LostPackets {
        let packet = |&(seq, lost_s): &(u32, f64)| LostPacket {
            seq,
            sent_s: 0.0,
            lost_s,
            cause: Cause::Wireless,
        };
        LostPackets::new("10.0.0.1:9".to_owned(), packets.iter().map(packet).collect())
    }

    #[test]
    fn a_range_of_bytes_is_all_packets_that_begin_in_it() {
        let mut lost = lost(&[(100, 1.0), (200, 1.0), (300, 1.0), (150, 2.0)]);
        let until = |now: f64| move |lost_s: f64| lost_s <= now;
        assert_eq!(lost.take_numbers(100, 200, until(1.5)), [0, 1], "the last is not lost yet");
        assert_eq!(lost.take_numbers(100, 201, until(2.5)), [2, 3], "each is taken once");
        assert!(lost.take_numbers(0, 1000, until(9.0)).is_empty());
    }

    #[test]
    fn a_packet_that_was_lost_twice_is_two_losses() {
        let mut lost = lost(&[(100, 1.0), (100, 2.0)]);
        assert_eq!(lost.take_numbers(100, 100, |_| true), [0]);
        assert_eq!(lost.take_numbers(100, 100, |_| true), [1]);
    }

    #[test]
    fn a_range_goes_on_at_zero_behind_the_largest_number() {
        let mut lost = lost(&[(50, 1.0), (u32::MAX - 49, 1.0), (u32::MAX, 1.0)]);
        assert_eq!(lost.take_numbers(u32::MAX - 49, 100, |_| true), [1, 2]);
        assert_eq!(lost.take_numbers(u32::MAX - 49, 101, |_| true), [0]);
    }
}
