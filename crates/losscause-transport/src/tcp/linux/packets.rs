//! The packets that were sent and are not acknowledged, each with what is known of it; and the
//! order of sending.
//!
//! ```text
//! in flight = outstanding - reported - lost + retransmitted          (RFC 6675, SetPipe, packet by packet)
//! ```
//!
//! A packet that is lost and was retransmitted counts as in flight once more; if that
//! retransmission is lost too, it no longer does. Linux keeps the same three counts
//! (include/net/tcp.h, `tcp_packets_in_flight`).

use std::collections::VecDeque;

use losscause::{Numbers, Time};

#[derive(Clone, Debug, Default)]
pub(super) struct Packets {
    /// Number of the first packet of the queue.
    una: u64,
    queue: VecDeque<Packet>,
    /// Every transmission, oldest first, from the oldest that still counts.
    order: VecDeque<Sending>,
    reported: u64,
    lost: u64,
    resent: u64,
    /// Every packet below is not waiting to be sent again.
    resend_from: u64,
    /// Packets delivered since the start.
    delivered: u64,
    /// Losses found since the start.
    losses: u64,
    /// Losses found since [`Packets::take_found`].
    found: Option<Found>,
}

/// Packets that were found lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The first and the last of them.
    pub(super) numbers: Numbers,
    /// How many they are.
    pub(super) pkts: u32,
    /// When the newest of them was sent.
    pub(super) sent_at: Time,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// Time of the last transmission.
    pub(super) sent_at: Time,
    /// Number of transmissions.
    pub(super) sends: u32,
    /// The receiver reported it (SACK).
    pub(super) reported: bool,
    /// The packet counts as lost.
    lost: bool,
    /// A retransmission is in flight.
    resent: bool,
}

/// A transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sending {
    pub(super) at: Time,
    pub(super) seq: u64,
    /// How often the packet had been sent then, this time included.
    sends: u32,
}

impl Packets {
    /// Packet `seq` is sent: one of the queue, or the one after it.
    pub(super) fn on_send(&mut self, now: Time, seq: u64) {
        let place = (seq - self.una) as usize;
        let sends = if let Some(packet) = self.queue.get_mut(place) {
            packet.sent_at = now;
            packet.sends = packet.sends.saturating_add(1);
            self.resent += u64::from(!packet.resent);
            packet.resent = true;
            packet.sends
        } else {
            self.queue.push_back(Packet {
                sent_at: now,
                sends: 1,
                reported: false,
                lost: false,
                resent: false,
            });
            1
        };
        self.order.push_back(Sending { at: now, seq, sends });
    }

    /// The first packet is acknowledged.
    pub(super) fn pop(&mut self) -> Option<Packet> {
        let packet = self.queue.pop_front()?;
        self.una += 1;
        self.reported -= u64::from(packet.reported);
        self.lost -= u64::from(packet.lost);
        self.resent -= u64::from(packet.resent);
        self.delivered += u64::from(!packet.reported);
        Some(packet)
    }

    /// The receiver reports packet `seq`. Returns it as it was; `None` if it is not outstanding or
    /// already reported.
    pub(super) fn report(&mut self, seq: u64) -> Option<Packet> {
        let packet = self
            .queue
            .get_mut(seq.checked_sub(self.una)? as usize)
            .filter(|packet| !packet.reported)?;
        let before = *packet;
        self.lost -= u64::from(packet.lost);
        self.resent -= u64::from(packet.resent);
        (packet.reported, packet.lost, packet.resent) = (true, false, false);
        self.reported += 1;
        self.delivered += 1;
        Some(before)
    }

    /// Packet `seq` counts as lost, or its retransmission does.
    pub(super) fn lose(&mut self, seq: u64) {
        let Some(packet) =
            self.queue.get_mut((seq - self.una) as usize).filter(|packet| !packet.reported)
        else {
            return;
        };
        if packet.lost && !packet.resent {
            return;
        }
        self.losses += 1;
        let now = Found { numbers: Numbers::one(seq), pkts: 1, sent_at: packet.sent_at };
        self.found = Some(self.found.map_or(now, |found| found.and(now)));
        self.lost += u64::from(!packet.lost);
        self.resent -= u64::from(packet.resent);
        (packet.lost, packet.resent) = (true, false);
        self.resend_from = self.resend_from.min(seq);
    }

    /// The packets that were found lost since the last call; their retransmissions count again.
    pub(super) fn take_found(&mut self) -> Option<Found> {
        self.found.take()
    }

    /// No packet counts as lost any more.
    pub(super) fn unlose(&mut self) {
        self.found = None;
        self.queue.iter_mut().for_each(|packet| packet.lost = false);
        self.lost = 0;
    }

    /// No packet counts as reported any more: the receiver dropped them (RFC 2018, section 8).
    pub(super) fn forget_reports(&mut self) {
        self.queue.iter_mut().for_each(|packet| packet.reported = false);
        self.reported = 0;
    }

    /// The receiver reports that a packet arrived twice: a retransmission was delivered.
    pub(super) fn count_duplicate(&mut self) {
        self.delivered += 1;
    }

    /// The first lost packet that no retransmission is in flight for.
    pub(super) fn next_lost(&mut self) -> Option<u64> {
        if self.resent >= self.lost {
            return None;
        }
        let from = self.resend_from.max(self.una);
        let found = self
            .queue
            .range((from - self.una).min(self.queue.len() as u64) as usize..)
            .position(waits);
        self.resend_from =
            found.map_or(self.una + self.queue.len() as u64, |place| from + place as u64);
        found.map(|_| self.resend_from)
    }

    /// The transmissions that still count, oldest first: of packets neither reported nor lost
    /// since.
    pub(super) fn in_order(&self) -> impl Iterator<Item = Sending> {
        self.order.iter().copied().filter(|sending| self.counts(sending))
    }

    /// Forgets the oldest transmissions that no longer count.
    pub(super) fn tidy(&mut self) {
        while self.order.front().is_some_and(|sending| !self.counts(sending)) {
            self.order.pop_front();
        }
    }

    fn counts(&self, sending: &Sending) -> bool {
        let place = sending.seq.checked_sub(self.una);
        place.and_then(|place| self.queue.get(place as usize)).is_some_and(|packet| {
            packet.sends == sending.sends && !packet.reported && (!packet.lost || packet.resent)
        })
    }

    /// The first packet.
    pub(super) fn first(&self) -> Option<&Packet> {
        self.queue.front()
    }

    /// The numbers and states of all packets.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Packet)> {
        (self.una..).zip(&self.queue)
    }

    /// Number of packets in the network.
    pub(super) fn in_flight(&self) -> u64 {
        self.queue.len() as u64 - self.reported - self.lost + self.resent
    }

    /// Number of packets not acknowledged.
    pub(super) fn outstanding(&self) -> u64 {
        self.queue.len() as u64
    }

    /// Number of packets reported beyond the cumulative ACK.
    pub(super) fn reported(&self) -> u64 {
        self.reported
    }

    /// Number of packets that count as lost.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Number of packets with a retransmission in flight.
    pub(super) fn resent(&self) -> u64 {
        self.resent
    }

    /// Packets delivered since the start.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Losses found since the start.
    pub(super) fn losses(&self) -> u64 {
        self.losses
    }
}

impl Found {
    fn and(self, other: Self) -> Self {
        let first = self.numbers.first.min(other.numbers.first);
        let last = self.numbers.last.max(other.numbers.last);
        Self {
            numbers: Numbers { first, last },
            pkts: self.pkts.saturating_add(other.pkts),
            sent_at: self.sent_at.max(other.sent_at),
        }
    }
}

/// Whether a packet waits to be sent again.
fn waits(packet: &Packet) -> bool {
    packet.lost && !packet.resent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    /// Packets 0 to 9, one per millisecond.
    fn ten() -> Packets {
        let mut packets = Packets::default();
        (0..10).for_each(|seq| packets.on_send(at(seq as i64), seq));
        packets
    }

    #[test]
    fn a_lost_packet_leaves_the_network_and_its_resend_is_in_it() {
        let mut packets = ten();
        assert_eq!(packets.in_flight(), 10);
        for seq in [1, 2, 4] {
            packets.report(seq).unwrap();
        }
        assert_eq!(packets.in_flight(), 7);
        packets.lose(0);
        packets.lose(3);
        assert_eq!((packets.in_flight(), packets.next_lost()), (5, Some(0)));
        let found = Found { numbers: Numbers { first: 0, last: 3 }, pkts: 2, sent_at: at(3) };
        assert_eq!((packets.take_found(), packets.take_found()), (Some(found), None));
        packets.on_send(at(20), 0);
        assert_eq!((packets.in_flight(), packets.next_lost()), (6, Some(3)));
        packets.on_send(at(21), 3);
        assert_eq!((packets.in_flight(), packets.next_lost()), (7, None));
        packets.lose(0);
        assert_eq!((packets.in_flight(), packets.next_lost(), packets.losses()), (6, Some(0), 3));
        let again = Found { numbers: Numbers::one(0), pkts: 1, sent_at: at(20) };
        assert_eq!(packets.take_found(), Some(again), "sent again at 20 ms");
    }

    #[test]
    fn what_is_acknowledged_is_delivered_once() {
        let mut packets = ten();
        packets.report(1).unwrap();
        assert!(packets.report(1).is_none(), "reported again");
        assert_eq!(packets.delivered(), 1);
        packets.pop();
        packets.pop();
        assert_eq!((packets.delivered(), packets.outstanding(), packets.in_flight()), (2, 8, 8));
        assert!(packets.report(1).is_none(), "acknowledged already");
        assert!(packets.report(10).is_none(), "never sent");
    }

    #[test]
    fn the_order_is_that_of_the_last_transmissions() {
        let mut packets = ten();
        packets.pop();
        packets.report(2).unwrap();
        packets.lose(1);
        packets.lose(3);
        packets.on_send(at(20), 1);
        packets.tidy();
        let order: Vec<u64> = packets.in_order().map(|sending| sending.seq).collect();
        assert_eq!(order, [4, 5, 6, 7, 8, 9, 1]);
    }

    #[test]
    fn after_an_undone_loss_nothing_waits() {
        let mut packets = ten();
        packets.lose(0);
        packets.unlose();
        assert_eq!((packets.lost(), packets.next_lost(), packets.in_flight()), (0, None, 10));
    }
}
