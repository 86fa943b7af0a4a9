//! Tracks arrivals at senders whose peer acknowledges packets individually: SACK, QUIC, a kernel, a
//! capture.
//!
//! The tracker remembers the last `N` packets sent. When an ACK raises the newest known arrival,
//! every packet up to it has either arrived or is missing, so a gap has its true size:
//!
//! ```text
//! spanned = packets sent up to the newest acknowledged one that were not covered before
//! missing = those of them that are not acknowledged
//! ```
//!
//! A packet acknowledged after it counted as missing was reordered. It changes no gap, as at a
//! receiver.
//!
//! Some stacks report acknowledgements without packet numbers; quinn gives the time at which each
//! packet was sent. [`AckTracker::on_acked_sent_at`] then finds the packet. If several were sent at
//! the same instant, the tracker cannot tell which of them arrived, but it knows how many, and that
//! the largest one did. So the size of every gap is still right.

use core::ops::Range;

use super::memory::{Fixed, Memory, Sent, State};
use crate::Time;
use crate::loss::{Loss, Signal};
use crate::observe::{Acked, Newest, Numbers, Observation};

/// Makes observations and losses from what was sent, acknowledged and lost. Remembers as many
/// packets as its [`Memory`] holds; an older one that is still in flight is forgotten.
#[derive(Clone, Copy, Debug)]
pub struct AckTracker<M = Fixed<1024>> {
    memory: M,
    /// Packets sent so far.
    sent: u64,
    /// The smallest number that the next packet may have.
    next_number: u64,
    /// Every packet below is acknowledged or missing; in sending order.
    covered: u64,
    in_flight: u64,
    /// What the current ACK has acknowledged: how many packets, and one past the newest of them (0:
    /// none).
    newly_acked: u64,
    acked_end: u64,
    /// What was lost since the last declaration: how many packets, and the first and last of them
    /// in sending order.
    lost: u32,
    lost_range: Option<(u64, u64)>,
    /// The last packet that was declared lost and is acknowledged after all.
    spurious: Option<u64>,
    newest: Newest,
}

impl<M: Memory + Default> Default for AckTracker<M> {
    fn default() -> Self {
        Self::with_memory(M::default())
    }
}

impl<M: Memory> AckTracker<M> {
    /// A tracker that keeps its packets in `memory`.
    pub fn with_memory(memory: M) -> Self {
        Self {
            memory,
            sent: 0,
            next_number: 0,
            covered: 0,
            in_flight: 0,
            newly_acked: 0,
            acked_end: 0,
            lost: 0,
            lost_range: None,
            spurious: None,
            newest: Newest::default(),
        }
    }

    /// Packet `number` was sent at `at`. Numbers must increase but may skip values; a number that
    /// does not increase has no effect. The largest number is 2^64 - 2.
    pub fn on_sent(&mut self, number: u64, at: Time) {
        self.on_batch_sent(number..number.saturating_add(1), at);
    }

    /// As [`Self::on_sent`], for packets with successive numbers that were sent together.
    pub fn on_batch_sent(&mut self, numbers: Range<u64>, at: Time) {
        for number in numbers.start.max(self.next_number)..numbers.end {
            self.memory.make_room(self.sent, self.in_flight);
            // The oldest packet makes room. If it was still in flight, it is forgotten.
            let packet = Sent { number, at, state: State::InFlight, resent: false };
            let forgotten = core::mem::replace(self.packet_mut(self.sent), packet);
            self.in_flight += u64::from(forgotten.state != State::InFlight);
            self.sent += 1;
        }
        self.next_number = self.next_number.max(numbers.end);
        self.covered = self.covered.max(self.oldest());
    }

    /// Packet `number` was retransmitted under its old number, as in TCP. Its ACK measures no
    /// round-trip time (Karn's rule, RFC 6298, section 3).
    pub fn on_resent(&mut self, number: u64) {
        let Some(order) = self.find(number) else { return };
        let packet = self.packet_mut(order);
        packet.resent = true;
        if packet.state == State::Lost {
            packet.state = State::InFlight;
            self.in_flight += 1;
        }
    }

    /// Packet `number` is acknowledged. Call it for every packet of an ACK, then
    /// [`Self::end_of_ack`]. A number that was never sent, or is no longer remembered, has no
    /// effect.
    pub fn on_acked(&mut self, number: u64) {
        if let Some(order) = self.find(number) {
            self.acknowledge(order);
        }
    }

    /// A packet sent at `at` is acknowledged, for stacks without packet numbers.
    pub fn on_acked_sent_at(&mut self, at: Time) {
        // Packets are acknowledged in the order in which they were sent, unless some are missing.
        let next = self.acked_end.max(self.covered);
        if next < self.sent
            && self.packet(next).at == at
            && self.packet(next).state == State::InFlight
        {
            self.acknowledge(next);
            return;
        }
        let first = self.first_sent_from(at);
        let waits = |state| {
            let mut instant = (first..self.sent).take_while(|&order| self.packet(order).at == at);
            instant.find(|&order| self.packet(order).state == state)
        };
        if let Some(order) = waits(State::InFlight).or_else(|| waits(State::Lost)) {
            self.acknowledge(order);
        }
    }

    fn acknowledge(&mut self, order: u64) {
        let state = core::mem::replace(&mut self.packet_mut(order).state, State::Acked);
        if state == State::Acked {
            return;
        }
        self.in_flight -= u64::from(state == State::InFlight);
        if state == State::Lost {
            self.spurious = Some(self.packet(order).number);
        }
        self.newly_acked += 1;
        self.acked_end = self.acked_end.max(order + 1);
    }

    /// Ends the ACK that arrived at `at`. `largest` is the largest number that it acknowledges; a
    /// stack that calls [`Self::on_acked`] for every packet may omit it.
    ///
    /// Returns `None` if the ACK acknowledges nothing new. The caller adds the window, if the
    /// algorithm needs it.
    pub fn end_of_ack(&mut self, at: Time, largest: Option<u64>) -> Option<Observation> {
        let mut acked = Acked::new(core::mem::take(&mut self.newly_acked));
        let mut newest = core::mem::take(&mut self.acked_end).checked_sub(1)?;
        let other = largest.filter(|&number| number != self.packet(newest).number);
        if let Some(largest) = other.and_then(|number| self.find(number)) {
            newest = self.settle_largest(newest, largest);
        }
        acked.in_flight_pkts = self.in_flight;
        let mut spans = [0, 0];
        let mut rtt = None;
        if newest >= self.covered {
            // RFC 9002, section 5.1: only a newest packet measures.
            let packet = self.packet(newest);
            rtt = (!packet.resent).then(|| at - packet.at);
            // At most what the memory holds, or 2^32 - 1 if it holds more.
            spans[0] = u32::try_from(newest + 1 - self.covered).unwrap_or(u32::MAX);
            for order in self.covered..newest {
                if self.packet(order).state != State::Acked {
                    let number = self.packet(order).number;
                    spans[1] += 1;
                    let first = acked.missing.map_or(number, |missing| missing.first);
                    acked.missing = Some(Numbers { first, last: number });
                }
            }
            self.covered = newest + 1;
        }
        Some(self.newest.advance(at, rtt, spans).with_acked(acked))
    }

    /// The packet that was declared lost and acknowledged since the last call; the newest if there
    /// are several.
    pub fn take_spurious(&mut self) -> Option<u64> {
        self.spurious.take()
    }

    /// The transport says that the packets with these numbers that were declared lost have arrived.
    /// They count as acknowledged, but not to the current ACK. Returns how many there are.
    pub fn on_spurious(&mut self, numbers: Numbers) -> u32 {
        let first = self.first_where(|packet| packet.number >= numbers.first);
        let mut pkts = 0;
        for order in first..self.sent {
            let packet = self.packet_mut(order);
            if packet.number > numbers.last {
                break;
            }
            if packet.state == State::Lost {
                packet.state = State::Acked;
                pkts += 1;
            }
        }
        pkts
    }

    /// Without numbers, an ACK may have been credited to the wrong one of several packets sent at
    /// the same instant. The largest number is known to be acknowledged: it takes the credit from
    /// the newest packet that has it.
    fn settle_largest(&mut self, newest: u64, largest: u64) -> u64 {
        let credited = *self.packet(newest);
        let right = *self.packet(largest);
        if credited.at == right.at && right.state == State::InFlight {
            self.packet_mut(newest).state = State::InFlight;
            self.packet_mut(largest).state = State::Acked;
            return largest;
        }
        newest
    }

    /// Packet `number` is lost. Call it for every packet that the transport declares lost at this
    /// instant, then [`Self::declare`].
    pub fn on_lost(&mut self, number: u64) {
        if let Some(order) = self.find(number) {
            self.lose(order);
        }
    }

    /// For stacks without packet numbers: packets of `bytes` in all are lost, the newest of them
    /// sent at `newest_sent_at`. Everything sent earlier and not acknowledged is lost. Of the
    /// packets sent at that very instant, as many are lost as the remaining bytes hold,
    /// `packet_bytes` each.
    pub fn on_lost_bytes(&mut self, newest_sent_at: Time, bytes: u64, packet_bytes: u64) {
        let pkts = bytes.div_ceil(packet_bytes.max(1));
        let group = self.first_sent_from(newest_sent_at);
        let before = (self.oldest()..group)
            .filter(|&order| self.packet(order).state == State::InFlight)
            .count() as u64;
        (self.oldest()..group).for_each(|order| self.lose(order));
        let mut left = pkts.saturating_sub(before).max(1);
        for order in group..self.sent {
            let packet = self.packet(order);
            if left == 0 || packet.at != newest_sent_at {
                break;
            }
            if packet.state == State::InFlight {
                self.lose(order);
                left -= 1;
            }
        }
    }

    fn lose(&mut self, order: u64) {
        if self.packet(order).state != State::InFlight {
            return;
        }
        self.packet_mut(order).state = State::Lost;
        self.in_flight -= 1;
        self.lost = self.lost.saturating_add(1);
        let (first, last) = self.lost_range.unwrap_or((order, order));
        self.lost_range = Some((first.min(order), last.max(order)));
    }

    /// Declares everything lost since the last declaration as one event. The caller adds the window
    /// and the label, if any. A mark, or a timeout without a known loss, is an event of no packets.
    pub fn declare(&mut self, at: Time, signal: Signal) -> Loss {
        let lost_pkts = core::mem::take(&mut self.lost);
        let range = self.lost_range.take();
        let in_flight_pkts = self.in_flight + u64::from(lost_pkts);
        let number = |order| self.packet(order).number;
        let numbers =
            range.map(|(first, last)| Numbers { first: number(first), last: number(last) });
        let sent_at = range.map(|(_, last)| self.packet(last).at);
        Loss { numbers, lost_pkts, sent_at, in_flight_pkts, ..Loss::new(at, signal) }
    }

    /// When the newest packet known to have arrived was sent.
    pub(super) fn newest_arrival_sent_at(&self) -> Option<Time> {
        (self.covered > self.oldest()).then(|| self.packet(self.covered - 1).at)
    }

    /// Packets neither acknowledged nor lost.
    pub fn in_flight_pkts(&self) -> u64 {
        self.in_flight
    }

    /// The oldest remembered packet, in sending order.
    fn oldest(&self) -> u64 {
        self.sent.saturating_sub(self.memory.capacity() as u64)
    }

    /// The packet with that number, in sending order.
    fn find(&self, number: u64) -> Option<u64> {
        let order = self.first_where(|packet| packet.number >= number);
        (order < self.sent && self.packet(order).number == number).then_some(order)
    }

    /// The first packet sent at `at` or later.
    fn first_sent_from(&self, at: Time) -> u64 {
        self.first_where(|packet| packet.at >= at)
    }

    /// The first packet for which `holds` is true; it must be true for all later ones too.
    fn first_where(&self, holds: impl Fn(&Sent) -> bool) -> u64 {
        let mut low = self.oldest();
        let mut high = self.sent;
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(self.packet(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    fn packet(&self, order: u64) -> &Sent {
        self.memory.slot(order)
    }

    fn packet_mut(&mut self, order: u64) -> &mut Sent {
        self.memory.slot_mut(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;
    use crate::at;

    /// Packets 0 to 19, one every millisecond.
    fn twenty_sent() -> AckTracker<Fixed<32>> {
        let mut tracker = AckTracker::default();
        (0..20).for_each(|number| tracker.on_sent(number, at(number as i64)));
        tracker
    }

    fn acked(
        tracker: &mut AckTracker<Fixed<32>>,
        ms: i64,
        numbers: &[u64],
    ) -> Option<(u32, u32, Option<i64>)> {
        numbers.iter().for_each(|&number| tracker.on_acked(number));
        let sample = tracker.end_of_ack(at(ms), numbers.iter().max().copied())?;
        let rtt_ms = sample.delay.map(|rtt| rtt.as_nanos() / 1_000_000);
        Some((sample.spanned, sample.missing, rtt_ms))
    }

    #[test]
    fn a_burst_is_a_gap_of_its_true_size() {
        let mut tracker = twenty_sent();
        assert_eq!(acked(&mut tracker, 50, &[0, 1]), Some((2, 0, Some(49))));
        assert_eq!(acked(&mut tracker, 55, &[5]), Some((4, 3, Some(50))), "2, 3 and 4 are missing");
        assert_eq!(acked(&mut tracker, 58, &[8]), Some((3, 2, Some(50))), "6 and 7 as well");
    }

    #[test]
    fn a_reordered_packet_fills_its_gap_and_spans_nothing() {
        let mut tracker = twenty_sent();
        acked(&mut tracker, 50, &[0, 2]);
        assert_eq!(acked(&mut tracker, 52, &[1]), Some((0, 0, None)), "and measures nothing");
        assert_eq!(acked(&mut tracker, 53, &[1]), None, "nothing new");
        assert_eq!(acked(&mut tracker, 53, &[3]), Some((1, 0, Some(50))));
    }

    #[test]
    fn the_numbers_of_the_missing_packets_are_reported() {
        let mut tracker = twenty_sent();
        [0, 4, 8].iter().for_each(|&number| tracker.on_acked(number));
        let sample = tracker.end_of_ack(at(60), None).expect("something new");
        let acked = sample.acked.expect("at a sender");
        assert_eq!(acked.missing, Some(Numbers { first: 1, last: 7 }));
        assert_eq!((sample.missing, acked.newly_acked_pkts, acked.in_flight_pkts), (6, 3, 17));
    }

    #[test]
    fn numbers_that_were_never_sent_are_not_missing() {
        let mut tracker = AckTracker::<Fixed<8>>::default();
        [0, 1, 4, 5].iter().for_each(|&number| tracker.on_sent(number, at(number as i64)));
        tracker.on_acked(0);
        tracker.on_acked(5);
        let sample = tracker.end_of_ack(at(60), Some(5)).expect("something new");
        assert_eq!((sample.spanned, sample.missing), (4, 2), "1 and 4; 2 and 3 were left out");
    }

    #[test]
    fn a_spurious_loss_is_named_by_its_number() {
        let mut tracker = AckTracker::<Fixed<8>>::default();
        [0, 1, 4, 5].iter().for_each(|&number| tracker.on_sent(number, at(number as i64)));
        tracker.on_lost(4);
        tracker.on_acked(4);
        assert_eq!(tracker.take_spurious(), Some(4), "the third that was sent");
    }

    #[test]
    fn a_packet_sent_again_measures_no_round_trip_time() {
        let mut tracker = twenty_sent();
        tracker.on_resent(3);
        assert_eq!(acked(&mut tracker, 50, &[3]), Some((4, 3, None)));
    }

    #[test]
    fn a_lost_packet_is_declared_with_its_number_and_send_time() {
        let mut tracker = twenty_sent();
        acked(&mut tracker, 50, &[0, 6]);
        [2, 1, 3].iter().for_each(|&number| tracker.on_lost(number));
        let loss = tracker.declare(at(56), Signal::Gap);
        assert_eq!(loss.numbers, Some(Numbers { first: 1, last: 3 }));
        assert_eq!((loss.lost_pkts, loss.sent_at, loss.in_flight_pkts), (3, Some(at(3)), 18));
        assert_eq!(tracker.in_flight_pkts(), 15);
        assert_eq!(tracker.declare(at(57), Signal::EcnMark).lost_pkts, 0);
    }

    #[test]
    fn spurious_losses_are_arrivals_and_reveal_no_gap() {
        let mut tracker = twenty_sent();
        acked(&mut tracker, 50, &[0, 2, 6]);
        [1, 3, 4].iter().for_each(|&number| tracker.on_lost(number));
        tracker.declare(at(56), Signal::Gap);
        assert_eq!(
            tracker.on_spurious(Numbers { first: 2, last: 5 }),
            2,
            "3 and 4; 5 is in flight"
        );
        assert_eq!(tracker.on_spurious(Numbers { first: 0, last: u64::MAX }), 1, "1");
        assert_eq!(tracker.on_spurious(Numbers { first: 0, last: u64::MAX }), 0);
        assert_eq!(tracker.take_spurious(), None, "the caller knows them");
        assert_eq!(acked(&mut tracker, 58, &[1, 3, 4]), None, "nothing new");
        assert_eq!(tracker.in_flight_pkts(), 14);
    }

    /// Packets 0 to 11 in bursts of four, one burst every 10 ms.
    fn bursts() -> AckTracker<Fixed<16>> {
        let mut tracker = AckTracker::default();
        (0..12).for_each(|number| tracker.on_sent(number, at(number as i64 / 4 * 10)));
        tracker
    }

    #[test]
    fn send_times_alone_give_gaps_of_the_same_size() {
        // 0, 2, 3 and 7 arrived: 1 is missing of the first burst, 4 to 6 of the second.
        let mut tracker = bursts();
        (0..3).for_each(|_| tracker.on_acked_sent_at(at(0)));
        let first = tracker.end_of_ack(at(50), Some(3)).expect("new");
        assert_eq!((first.spanned, first.missing), (4, 1));
        tracker.on_acked_sent_at(at(10));
        let second = tracker.end_of_ack(at(60), Some(7)).expect("new");
        assert_eq!((second.spanned, second.missing), (4, 3));
        assert_eq!(second.delay, Some(Span::from_millis(50)));
    }

    #[test]
    fn lost_bytes_tell_how_many_packets_of_one_instant_are_lost() {
        let mut tracker = bursts();
        // One of the first burst is left, and two of the four of the second are lost: three packets
        // of 1200 bytes.
        (0..3).for_each(|_| tracker.on_acked_sent_at(at(0)));
        tracker.end_of_ack(at(50), Some(3));
        tracker.on_lost_bytes(at(10), 3_600, 1_200);
        let loss = tracker.declare(at(60), Signal::Gap);
        assert_eq!((loss.lost_pkts, loss.sent_at), (3, Some(at(10))));
        assert_eq!(tracker.in_flight_pkts(), 6);
    }

    #[test]
    fn what_does_not_fit_is_forgotten() {
        let mut tracker = AckTracker::<Fixed<4>>::default();
        (0..10).for_each(|number| tracker.on_sent(number, at(number as i64)));
        assert_eq!(tracker.in_flight_pkts(), 4);
        tracker.on_acked(2);
        assert_eq!(tracker.end_of_ack(at(50), None), None);
        tracker.on_acked(9);
        let sample = tracker.end_of_ack(at(50), None).expect("new");
        assert_eq!(
            (sample.spanned, sample.missing, sample.acked.map_or(0, |acked| acked.in_flight_pkts)),
            (4, 3, 3)
        );
    }
}
