//! Delivery rates (draft-cheng-iccrg-delivery-rate-estimation-00; net/ipv4/tcp_rate.c).
//!
//! ```text
//! P          of the packets that an ACK delivers, the one sent last
//! delivered  packets delivered between the transmission of P and this ACK
//! send time  from the transmission of the packet that was the last delivered when P was sent, to that of P
//! ACK time   from the last delivery before P was sent, to now
//! interval   the longer of the two;  rate = delivered/interval
//! ```
//!
//! So ACKs that come in a bunch do not make the rate larger than that of sending. An interval shorter
//! than the smallest round-trip time gives no rate: the packet was sent again, and the ACK is of the
//! original. A rate is limited if the sender had run out of data when P was sent, or since, up to the
//! delivery of what was in flight then.
//!
//! Deviations: receivers here never drop what they reported, so no rate is left out after that.

use std::collections::VecDeque;

use losscause::{Span, Time};

use crate::tcp::control::RateSample;

use super::packets::Packet;

/// Measures the rates of a sender's packets.
#[derive(Clone, Debug, Default)]
pub(super) struct RateSampler {
    /// Number of the first packet of the queue.
    una: u64,
    /// What was known when each outstanding packet was last sent.
    queue: VecDeque<Snapshot>,
    /// When the packet was sent that was delivered last.
    newest_sent_at: Time,
    delivered_at: Time,
    /// Packets delivered so far when rates are no longer limited; `None` if they are not.
    limited_until: Option<u64>,
    /// Of this ACK's packets, the one sent last.
    newest: Option<Newest>,
}

#[derive(Clone, Copy, Debug)]
struct Snapshot {
    newest_sent_at: Time,
    delivered_at: Time,
    delivered: u64,
    is_limited: bool,
}

#[derive(Clone, Copy, Debug)]
struct Newest {
    sent_at: Time,
    seq: u64,
    snapshot: Snapshot,
}

impl RateSampler {
    /// Packet `seq` is about to be sent, with `outstanding` others; `delivered` have been since the
    /// start.
    pub(super) fn on_send(&mut self, now: Time, seq: u64, outstanding: u64, delivered: u64) {
        if outstanding == 0 {
            (self.newest_sent_at, self.delivered_at) = (now, now);
        }
        let snapshot = Snapshot {
            newest_sent_at: self.newest_sent_at,
            delivered_at: self.delivered_at,
            delivered,
            is_limited: self.is_limited(),
        };
        match self.queue.get_mut((seq - self.una) as usize) {
            Some(before) => *before = snapshot,
            None => self.queue.push_back(snapshot),
        }
    }

    /// Packet `seq` is delivered; it was not before.
    pub(super) fn on_delivered(&mut self, seq: u64, packet: &Packet) {
        let Some(&snapshot) = self.queue.get((seq - self.una) as usize) else { return };
        let Packet { sent_at, .. } = *packet;
        if self.newest.is_none_or(|newest| (sent_at, seq) > (newest.sent_at, newest.seq)) {
            self.newest = Some(Newest { sent_at, seq, snapshot });
        }
    }

    /// The first packet is acknowledged.
    pub(super) fn pop(&mut self) {
        self.queue.pop_front();
        self.una += 1;
    }

    /// The rate that an ACK shows, after all that it delivers was said. `news` says whether it
    /// delivers a packet, `delivered` how many have been since the start.
    pub(super) fn sample(
        &mut self,
        now: Time,
        news: bool,
        delivered: u64,
        min_rtt: Option<Span>,
    ) -> Option<RateSample> {
        self.limited_until.take_if(|until| delivered > *until);
        if news {
            self.delivered_at = now;
        }
        let Newest { sent_at, snapshot, .. } = self.newest.take()?;
        self.newest_sent_at = sent_at;
        let sending = sent_at - snapshot.newest_sent_at;
        let acknowledging = now - snapshot.delivered_at;
        let interval = sending.max(acknowledging);
        let is_valid = interval > Span::ZERO && min_rtt.is_none_or(|min| interval >= min);
        is_valid.then_some(RateSample {
            delivered_pkts: delivered - snapshot.delivered,
            interval,
            prior_delivered_pkts: snapshot.delivered,
            is_limited: snapshot.is_limited,
        })
    }

    /// Rates of what is sent from now on are limited, until `delivered` packets have been.
    pub(super) fn limit(&mut self, delivered: u64) {
        self.limited_until = Some(delivered);
    }

    pub(super) fn is_limited(&self) -> bool {
        self.limited_until.is_some()
    }

    /// When the last packet was delivered; at first, when the first was sent.
    pub(super) fn delivered_at(&self) -> Time {
        self.delivered_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;
    use crate::tcp::linux::packets::Packets;

    struct Flow {
        packets: Packets,
        rates: RateSampler,
    }

    impl Flow {
        fn new() -> Self {
            Self { packets: Packets::default(), rates: RateSampler::default() }
        }

        fn send(&mut self, ms: i64, seq: u64) {
            let outstanding = self.packets.outstanding();
            self.rates.on_send(at(ms), seq, outstanding, self.packets.delivered());
            self.packets.on_send(at(ms), seq);
        }

        /// Everything below `next` is acknowledged: delivered packets, interval in ms, packets
        /// before, whether it is limited.
        fn ack(&mut self, ms: i64, next: u64) -> Option<(u64, f64, u64, bool)> {
            let before = self.packets.delivered();
            while self.rates.una < next {
                let seq = self.rates.una;
                let packet = self.packets.pop().unwrap();
                if !packet.reported {
                    self.rates.on_delivered(seq, &packet);
                }
                self.rates.pop();
            }
            self.sample(ms, before)
        }

        fn report(&mut self, ms: i64, seq: u64) -> Option<(u64, f64, u64, bool)> {
            let before = self.packets.delivered();
            let packet = self.packets.report(seq).unwrap();
            self.rates.on_delivered(seq, &packet);
            self.sample(ms, before)
        }

        fn sample(&mut self, ms: i64, before: u64) -> Option<(u64, f64, u64, bool)> {
            let delivered = self.packets.delivered();
            let min_rtt = Some(Span::from_millis(10));
            let rate = self.rates.sample(at(ms), delivered > before, delivered, min_rtt)?;
            let RateSample { delivered_pkts, interval, prior_delivered_pkts, is_limited } = rate;
            Some((delivered_pkts, interval.as_millis_f64(), prior_delivered_pkts, is_limited))
        }
    }

    #[test]
    fn the_rate_is_what_was_delivered_since_the_packet_was_sent() {
        let mut flow = Flow::new();
        for seq in 0..4 {
            flow.send(0, seq);
        }
        assert_eq!(flow.ack(10, 2), Some((2, 10.0, 0, false)), "2 packets in 10 ms");
        flow.send(10, 4);
        assert_eq!(flow.ack(12, 4), Some((4, 12.0, 0, false)));
        // Packet 4 was sent after 2 deliveries, the last at 10 ms; 3 came since.
        assert_eq!(flow.ack(22, 5), Some((3, 12.0, 2, false)));
    }

    #[test]
    fn acks_in_a_bunch_are_no_faster_than_the_packets_were_sent() {
        let mut flow = Flow::new();
        flow.send(0, 0);
        for seq in 1..6 {
            flow.send(seq as i64 * 8, seq);
        }
        assert_eq!(flow.ack(41, 1), Some((1, 41.0, 0, false)));
        flow.send(41, 6);
        flow.send(100, 7);
        // All ACKs come at 101 ms: 60 ms after the ACK of packet 0, but the last was sent 100 ms
        // after packet 0.
        assert_eq!(flow.ack(101, 8), Some((7, 100.0, 1, false)));
    }

    #[test]
    fn of_the_packets_of_an_ack_the_one_sent_last_counts() {
        let mut flow = Flow::new();
        for seq in 0..3 {
            flow.send(seq as i64, seq);
        }
        flow.report(12, 1);
        flow.report(13, 2);
        flow.send(14, 0);
        assert_eq!(flow.ack(26, 3), Some((1, 13.0, 2, false)), "0, sent again after 2 deliveries");
    }

    #[test]
    fn a_packet_that_came_back_before_its_resend_could_gives_no_rate() {
        let mut flow = Flow::new();
        flow.send(0, 0);
        flow.send(0, 1);
        flow.report(12, 1);
        flow.send(13, 0);
        // 3 ms since the report and 13 since the first transmission; the longer is below no RTT.
        assert_eq!(flow.ack(15, 1), Some((1, 13.0, 1, false)));
        flow.send(15, 2);
        flow.send(15, 3);
        flow.send(16, 2);
        assert_eq!(flow.ack(18, 3), None, "3 ms, less than 10");
    }

    #[test]
    fn a_rate_is_limited_until_what_was_in_flight_is_delivered() {
        let mut flow = Flow::new();
        flow.rates.limit(1);
        flow.send(0, 0);
        flow.send(0, 1);
        assert_eq!(flow.ack(20, 1), Some((1, 20.0, 0, true)));
        flow.send(20, 2);
        assert_eq!(flow.ack(21, 2), Some((2, 21.0, 0, true)));
        flow.send(21, 3);
        assert_eq!(flow.ack(40, 3), Some((2, 20.0, 1, true)), "sent after one delivery");
        assert_eq!(flow.ack(42, 4), Some((2, 21.0, 2, false)));
    }
}
