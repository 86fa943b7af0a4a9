//! The receiver: cumulative acknowledgements (RFC 5681, section 4.2) and loss labels (Biaz and
//! Vaidya 1999).
//!
//! A receiver with a [`Differentiate`] judges each missing packet at the first arrival beyond the
//! gap, and keeps the verdict until the packet arrives. Every ACK that asks for a missing packet
//! carries that packet's label in one bit ([`Ack::wireless`]). This includes the duplicates that
//! trigger the repair and the ACKs that reveal a further gap. The header has reserved bits, so the
//! label adds no bytes.
//!
//! Biaz and Vaidya (section 4) do not specify how the label travels, nor how the receiver treats
//! retransmissions. Here:
//!
//! - A segment below the highest one received, usually a retransmission, is neither an arrival nor
//!   a loss to the algorithm: a receiver sees sequence numbers, and cannot distinguish a
//!   retransmission from a reordered segment. Its transmission time is part of the interval around
//!   it.
//! - A loss is judged once, when its gap appears. A lost retransmission creates no new gap; the
//!   label stays, although a sender that repairs the loss by a timeout does not read it.
//! - A segment without payload, the SYN, does not count in inter-arrival times.
//!
//! A receiver with Linux's rules (`linux/receiver.rs`) acknowledges by those, and reports
//! duplicates (RFC 2883).
//!
//! Deviation: the ACK of a duplicate of the newest in-order packet may be delayed, like that of the
//! packet itself, as in ns-2's `DelAck`; RFC 9293, section 3.10.7.4 requires it at once.

use losscause::arrivals::Differentiate;
use losscause::{Observer, Packet, Span, Time, on_judged};

use super::bits::{BITS, Bits};
use super::config::{Config, ConfigError};
use super::ecn::Echo;
use super::linux::{Change, LinuxReceiver};
use super::recovery::RecoveryScheme;
use super::sack_blocks::Reports;
use super::segment::{Ack, Segment};

/// The receiver of a connection. `D` judges why packets are missing; `()` does not.
#[derive(Clone, Debug)]
pub struct Receiver<D = ()> {
    ack_bytes: u32,
    /// The fixed bytes of a SACK report and the reporter, if the receiver sends reports.
    sack: Option<(u32, Reports)>,
    delay: Option<Span>,
    /// How long packets are taken in before one ACK answers them, and until when it is so now.
    hold: Span,
    held_until: Option<Time>,
    /// Linux's rules of acknowledging, if the receiver has them.
    linux: Option<Box<LinuxReceiver>>,
    /// Packets that carry no payload (the SYN).
    empty: u64,
    /// Receive window, packets from `next` on.
    window: u64,
    /// Everything below was received in sequence.
    next: u64,
    /// One above the highest packet received.
    end: u64,
    /// Which of the packets from `next` on were received.
    ahead: Bits,
    /// Packets received beyond `next`.
    ahead_pkts: u64,
    /// The pending acknowledgement.
    acking: Acking,
    echo: Echo,
    ack: Ack,
    differentiator: D,
    /// Which missing packets from `next` on were judged wireless; `None` without a differentiator.
    wireless: Option<Bits>,
}

#[derive(Clone, Copy, Debug)]
enum Acking {
    /// Nothing to acknowledge.
    Idle,
    /// An acknowledgement waits for a second packet or the timer.
    Delayed { until: Time },
    /// An acknowledgement is to be sent now.
    Due,
    /// Linux: an earlier acknowledgement is to be sent first ([`LinuxReceiver::take_early`]).
    Early,
}

impl Acking {
    fn until(due: Time, now: Time) -> Self {
        if due > now { Self::Delayed { until: due } } else { Self::Due }
    }
}

impl Receiver {
    /// A receiver that has received nothing and judges no losses.
    ///
    /// # Errors
    ///
    /// A setting is out of its range.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        Self::with_lda(config, ())
    }
}

impl<D: Differentiate> Receiver<D> {
    /// A receiver that has received nothing and passes every packet to `differentiator`.
    ///
    /// # Errors
    ///
    /// A setting is out of its range.
    pub fn with_lda(config: &Config, differentiator: D) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            ack_bytes: config.ack_bytes,
            sack: config.sack_bytes().map(|fixed_bytes| (fixed_bytes, Reports::default())),
            delay: config.delayed_ack,
            hold: config.ack_hold,
            held_until: None,
            linux: (config.recovery == RecoveryScheme::RackTlp)
                .then(|| Box::new(LinuxReceiver::new(config))),
            empty: u64::from(config.quirks.syn_bytes.is_some()),
            // Rounded up to whole words, a power of two of them.
            window: u64::from(config.max_window_pkts.div_ceil(u64::BITS).next_power_of_two())
                * BITS,
            next: 0,
            end: 0,
            ahead: Bits::new(),
            ahead_pkts: 0,
            acking: Acking::Idle,
            echo: Echo::new(config.ecn),
            ack: Ack {
                wire_bytes: config.ack_bytes,
                window_pkts: config.max_window_pkts,
                ..Ack::new(0, Time::ZERO)
            },
            wireless: differentiator.judges().then(Bits::new),
            differentiator,
        })
    }

    /// A segment arrived. A segment beyond the receive window is dropped.
    pub fn on_segment(&mut self, now: Time, segment: &Segment, observer: &mut impl Observer) {
        let seq = segment.seq;
        if self.wireless.is_some() {
            self.differentiate(now, segment, observer);
        }
        if self.linux.is_some() {
            self.acknowledge_as_linux(now, segment);
            return;
        }
        self.take_in(seq);
        // `u64::MAX` lies beyond every window and has no successor.
        let in_order = seq.checked_add(1) == Some(self.next);
        self.ack.echo = segment.sent_at;
        self.ack.echo_of_retransmission = segment.retransmission;
        self.write_ack(segment, None);
        // RFC 5681, section 4.2: at once for an out-of-order packet, one that fills a gap, and
        // every second packet. ns-2.35, DelAckSink::recv: at once for packet 0, too.
        let hurry = !in_order
            || seq < self.end.saturating_sub(1)
            || seq == 0
            || matches!(self.acking, Acking::Delayed { .. });
        let due = match self.delay {
            Some(delay) if !hurry => now + delay,
            _ => now,
        };
        self.acking = Acking::until(due.max(self.held_until(now)), now);
    }

    /// Until when what arrives now is held, with what came before it.
    fn held_until(&mut self, now: Time) -> Time {
        if self.hold == Span::ZERO {
            return now;
        }
        let until = self.held_until.filter(|&until| now <= until).unwrap_or(now + self.hold);
        self.held_until = Some(until);
        until
    }

    /// [`Receiver::on_segment`] with Linux's rules.
    #[inline(never)]
    fn acknowledge_as_linux(&mut self, now: Time, segment: &Segment) {
        let seq = segment.seq;
        let next = self.next;
        let held = self.ahead_pkts;
        let received =
            seq < next || held > 0 && (next..self.end).contains(&seq) && self.ahead.has(seq);
        let early = self.ack_before_it_is_pushed_out(now, seq);
        self.take_in(seq);
        let change =
            Change { next: (next, self.next), held: (held, self.ahead_pkts), end: self.end };
        let pending = self.poll_timeout().filter(|_| early.is_none());
        let held_until = self.held_until(now);
        let Some(linux) = &mut self.linux else { return };
        let due = linux.on_segment(now, segment, &change, pending).max(held_until);
        if linux.echoes(segment) {
            self.ack.echo = segment.sent_at;
            self.ack.echo_of_retransmission = segment.retransmission;
        }
        self.acking = match early {
            Some(early) => {
                linux.keep_early(early, due);
                Acking::Early
            }
            None => Acking::until(due, now),
        };
        self.write_ack(segment, received.then_some(seq));
    }

    /// The compressed ACK that waits, if packet `seq` adds a block to the report that may push out
    /// one that no ACK has carried yet: it is sent before `seq` is taken in (net/ipv4/tcp_input.c,
    /// `tcp_sack_new_ofo_skb`).
    fn ack_before_it_is_pushed_out(&mut self, now: Time, seq: u64) -> Option<Ack> {
        let linux = self.linux.as_mut().filter(|linux| linux.compresses())?;
        let (_, reports) = self.sack.as_ref()?;
        if seq <= self.next || seq - self.next >= self.window || !reports.may_push_out(seq) {
            return None;
        }
        let (window_pkts, sent_us) = linux.on_ack(now, self.next, self.ahead_pkts);
        Some(Ack { window_pkts, sent_us, ..self.ack })
    }

    /// Brings the pending ACK up to date after a segment; `duplicate` is its number if it had
    /// arrived before and the ACK reports that.
    #[inline]
    fn write_ack(&mut self, segment: &Segment, duplicate: Option<u64>) {
        self.ack.next = self.next;
        self.ack.ece = self.echo.on_segment(segment);
        if let Some(wireless) = &self.wireless {
            self.ack.wireless = self.ahead_pkts > 0 && wireless.has(self.next);
        }
        if self.sack.is_some() {
            self.report(segment.seq, duplicate);
        }
    }

    /// Handles a deadline of [`Receiver::poll_timeout`]; has no effect before it.
    pub fn on_timeout(&mut self, now: Time) {
        if let Acking::Delayed { until } = self.acking
            && now >= until
        {
            self.acking = Acking::Due;
        }
    }

    /// When to call [`Receiver::on_timeout`]; `None` means never.
    pub fn poll_timeout(&self) -> Option<Time> {
        match self.acking {
            Acking::Delayed { until } => Some(until),
            Acking::Idle | Acking::Due | Acking::Early => None,
        }
    }

    /// The ACK to send at this instant. Call it until it returns `None` after each of the other
    /// calls; otherwise a later ACK replaces an earlier one.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Ack> {
        match self.acking {
            Acking::Due => {}
            Acking::Early => {
                let (ack, due) = self.linux.as_mut()?.take_early()?;
                self.acking = Acking::until(due, now);
                return Some(ack);
            }
            Acking::Idle | Acking::Delayed { .. } => return None,
        }
        self.acking = Acking::Idle;
        if let Some(linux) = &mut self.linux {
            (self.ack.window_pkts, self.ack.sent_us) =
                linux.on_ack(now, self.next, self.ahead_pkts);
        }
        Some(self.ack)
    }

    /// Data packets delivered in order, each once.
    pub fn delivered_packets(&self) -> u64 {
        self.next.saturating_sub(self.empty)
    }

    /// Data packets received, each once, in sequence or not.
    pub fn received_packets(&self) -> u64 {
        (self.next + self.ahead_pkts).saturating_sub(self.empty)
    }

    /// Passes a segment to the differentiator and stores its verdicts about missing packets.
    fn differentiate(&mut self, now: Time, segment: &Segment, observer: &mut impl Observer) {
        let seq = segment.seq;
        let next = self.next;
        let Some(wireless) = &mut self.wireless else { return };
        if segment.payload_bytes == 0 || seq.saturating_sub(next) >= self.window {
            return;
        }
        wireless.reserve(next, seq + 1);
        let packet = Packet { seq, at: now, sent: Some(segment.sent_at) };
        let mut label = on_judged(|loss, judgement| {
            if let Some(lost) = loss.seq().filter(|&lost| lost >= next) {
                wireless.put(lost, judgement.verdict.is_wireless());
            }
        });
        self.differentiator.on_packet(packet, &mut (observer, &mut label));
        // Another packet will reuse its bit in the ring.
        if seq >= next {
            wireless.put(seq, false);
        }
    }

    fn take_in(&mut self, seq: u64) {
        if seq < self.next || seq - self.next >= self.window {
            return;
        }
        self.end = self.end.max(seq + 1);
        if seq > self.next {
            self.ahead.reserve(self.next, seq + 1);
            self.ahead_pkts += u64::from(!self.ahead.has(seq));
            self.ahead.put(seq, true);
            return;
        }
        self.next += 1;
        while self.ahead_pkts > 0 && self.ahead.has(self.next) {
            self.ahead.put(self.next, false);
            self.ahead_pkts -= 1;
            self.next += 1;
        }
    }

    /// Updates the SACK report after packet `seq` arrived; `duplicate` is a packet to report as a
    /// duplicate.
    fn report(&mut self, seq: u64, duplicate: Option<u64>) {
        let block = if self.ahead_pkts > 0 { self.block_of(seq) } else { None };
        if let Some((fixed_bytes, reports)) = &mut self.sack {
            self.ack.sack = reports.report(self.next, block);
            if let Some(duplicate) = duplicate {
                self.ack.sack = self.ack.sack.with_duplicate(self.next, duplicate);
            }
            let blocks = self.ack.sack.count();
            self.ack.wire_bytes =
                self.ack_bytes + if blocks > 0 { *fixed_bytes + 8 * blocks } else { 0 };
        }
    }

    /// The half-open block around `seq`, if it lies beyond a gap.
    fn block_of(&self, seq: u64) -> Option<(u64, u64)> {
        let received = (self.next..self.end).contains(&seq) && self.ahead.has(seq);
        received.then(|| self.ahead.run(seq, self.next, self.end))
    }
}

#[cfg(test)]
mod tests {
    use losscause::{
        Algorithm, BuiltIn, Differentiator, End, Judgement, Loss, Needs, Observation, Verdict,
    };

    use super::*;
    use crate::at;
    use crate::tcp::{Quirks, RecoveryScheme};

    fn without_syn(config: Config) -> Config {
        Config { quirks: Quirks { syn_bytes: None, ..config.quirks }, ..config }
    }

    fn receiver(config: Config) -> Receiver {
        Receiver::new(&without_syn(config)).unwrap()
    }

    fn delayed() -> Receiver {
        receiver(Config { delayed_ack: Some(Span::from_millis(100)), ..Config::rfc() })
    }

    /// Delivers packet `seq` and returns the immediate ACK number, if any.
    fn deliver(receiver: &mut Receiver, ms: i64, seq: u64) -> Option<u64> {
        let segment = Segment::new(seq, at(ms - 20), 1000);
        receiver.on_segment(at(ms), &segment, &mut ());
        let next = receiver.poll_transmit(at(ms)).map(|ack| ack.next);
        assert_eq!(receiver.poll_transmit(at(ms)), None, "one acknowledgement per segment at most");
        next
    }

    #[test]
    fn the_last_number_lies_beyond_the_window_and_is_not_kept() {
        let mut receiver = receiver(Config::ns2());
        assert_eq!(deliver(&mut receiver, 0, u64::MAX), Some(0));
        assert_eq!(deliver(&mut receiver, 0, 0), Some(1));
        assert_eq!((receiver.delivered_packets(), receiver.received_packets()), (1, 1));
    }

    #[test]
    fn without_delay_every_packet_is_acknowledged() {
        let mut receiver = receiver(Config::ns2());
        let acks: Vec<_> =
            [0, 1, 3, 4, 4, 2, 1, 5].map(|seq| deliver(&mut receiver, 0, seq)).into();
        assert_eq!(acks, [1, 2, 2, 2, 2, 5, 5, 6].map(Some));
        assert_eq!((receiver.delivered_packets(), receiver.received_packets()), (6, 6));
    }

    #[test]
    fn an_acknowledgement_echoes_the_segment_that_caused_it() {
        let mut receiver = receiver(Config::ns2());
        let segment =
            Segment { transmission: 3, retransmission: true, ..Segment::new(0, at(7), 1000) };
        receiver.on_segment(at(30), &segment, &mut ());
        let ack = Ack { echo_of_retransmission: true, window_pkts: 20, ..Ack::new(1, at(7)) };
        assert_eq!(receiver.poll_transmit(at(30)), Some(ack));
    }

    #[test]
    fn a_report_names_the_block_of_the_packet_that_caused_it_first() {
        let mut receiver = receiver(Config { recovery: RecoveryScheme::Sack, ..Config::rfc() });
        let mut reported = |seq| {
            let retransmission = false;
            let sent_at = at(0);
            let segment = Segment { retransmission, ..Segment::new(seq, sent_at, 1000) };
            receiver.on_segment(at(0), &segment, &mut ());
            let ack = receiver.poll_transmit(at(0)).unwrap();
            (ack.sack.ranges(ack.next).collect::<Vec<_>>(), ack.wire_bytes)
        };
        assert_eq!(reported(0), (vec![], 40));
        assert_eq!(reported(2), (vec![(2, 3)], 52));
        assert_eq!(reported(5), (vec![(5, 6), (2, 3)], 60));
        assert_eq!(reported(3), (vec![(2, 4), (5, 6)], 60));
        assert_eq!(reported(1), (vec![(5, 6)], 52));
        assert_eq!(reported(3), (vec![(5, 6)], 52), "a duplicate of what was acknowledged");
        assert_eq!(reported(4), (vec![], 40));
    }

    #[test]
    fn packets_ahead_of_a_gap_are_received_but_not_delivered() {
        let mut receiver = receiver(Config::rfc());
        for seq in [0, 2, 3, 2] {
            deliver(&mut receiver, 0, seq);
        }
        assert_eq!((receiver.delivered_packets(), receiver.received_packets()), (1, 3));
    }

    #[test]
    fn with_delay_every_second_packet_is_acknowledged() {
        let mut receiver = delayed();
        let acks: Vec<_> = (0..6).map(|seq| deliver(&mut receiver, 0, seq)).collect();
        // Packet 0 opens the connection and is not delayed.
        assert_eq!(acks, [Some(1), None, Some(3), None, Some(5), None]);
    }

    #[test]
    fn a_lone_packet_is_acknowledged_when_the_timer_fires() {
        let mut receiver = delayed();
        deliver(&mut receiver, 0, 0);
        assert_eq!(deliver(&mut receiver, 10, 1), None);
        assert_eq!(receiver.poll_timeout(), Some(at(110)));
        receiver.on_timeout(at(109));
        assert_eq!(receiver.poll_transmit(at(109)), None, "too early");
        receiver.on_timeout(at(110));
        assert_eq!(receiver.poll_transmit(at(110)).map(|ack| ack.next), Some(2));
        assert_eq!(receiver.poll_timeout(), None);
        assert_eq!(deliver(&mut receiver, 120, 2), None, "the next packet is delayed again");
    }

    #[test]
    fn what_comes_while_the_receiver_holds_is_answered_at_its_end_by_one_ack() {
        let hold = Span::from_millis(5);
        let rfc = Config { ack_hold: hold, ..Config::rfc() };
        let linux = Config { ack_hold: hold, ..Config::linux() };
        for mut receiver in [rfc, linux].map(receiver) {
            // 2 is missing: the ACKs that would tell it at once wait, too.
            for (ms, seq) in [(0, 0), (1, 1), (2, 3), (4, 4)] {
                assert_eq!(deliver(&mut receiver, ms, seq), None, "at {ms} ms");
            }
            assert_eq!(receiver.poll_timeout(), Some(at(5)));
            receiver.on_timeout(at(5));
            assert_eq!(receiver.poll_transmit(at(5)).map(|ack| ack.next), Some(2));
            assert_eq!(deliver(&mut receiver, 6, 2), None, "held anew");
            receiver.on_timeout(at(11));
            assert_eq!(receiver.poll_transmit(at(11)).map(|ack| ack.next), Some(5));
        }
    }

    #[test]
    fn gaps_and_what_fills_them_are_acknowledged_at_once() {
        let mut receiver = delayed();
        deliver(&mut receiver, 0, 0);
        assert_eq!(deliver(&mut receiver, 1, 2), Some(1), "a gap");
        assert_eq!(deliver(&mut receiver, 2, 4), Some(1), "another");
        assert_eq!(deliver(&mut receiver, 3, 1), Some(3), "fills the first");
        assert_eq!(deliver(&mut receiver, 4, 3), Some(5), "fills the second");
        assert_eq!(deliver(&mut receiver, 5, 5), None, "in order again");
        assert_eq!(deliver(&mut receiver, 6, 7), Some(6), "a gap cancels the delay");
        assert_eq!(receiver.poll_timeout(), None);
        assert_eq!(deliver(&mut receiver, 7, 6), Some(8));
    }

    #[test]
    fn what_fills_a_part_of_a_gap_is_acknowledged_at_once() {
        let mut receiver = delayed();
        deliver(&mut receiver, 0, 0);
        assert_eq!(deliver(&mut receiver, 1, 3), Some(1), "1 and 2 are missing");
        assert_eq!(deliver(&mut receiver, 2, 1), Some(2), "2 still is");
    }

    #[test]
    fn the_syn_is_acknowledged_but_is_not_data() {
        let mut receiver = Receiver::new(&Config::ns2()).unwrap();
        assert_eq!(deliver(&mut receiver, 0, 0), Some(1));
        assert_eq!((receiver.delivered_packets(), receiver.received_packets()), (0, 0));
        assert_eq!(deliver(&mut receiver, 0, 1), Some(2));
        assert_eq!((receiver.delivered_packets(), receiver.received_packets()), (1, 1));
    }

    #[test]
    fn a_packet_beyond_the_window_is_not_kept() {
        let mut receiver = receiver(Config { max_window_pkts: 64, ..Config::rfc() });
        assert_eq!(deliver(&mut receiver, 0, 63), Some(0));
        assert_eq!(deliver(&mut receiver, 0, 64), Some(0));
        assert_eq!(receiver.received_packets(), 1);
        for seq in 0..62 {
            deliver(&mut receiver, 0, seq);
        }
        assert_eq!(deliver(&mut receiver, 0, 62), Some(64), "63 was kept, 64 was not");
    }

    #[test]
    fn gaps_are_tracked_across_the_ends_of_the_ring() {
        let mut receiver = receiver(Config { max_window_pkts: 100, ..Config::rfc() });
        // Every block of 100 arrives backwards.
        for block in 0..10 {
            for seq in (block * 100 + 1..block * 100 + 100).rev() {
                assert_eq!(deliver(&mut receiver, 0, seq), Some(block * 100));
            }
            assert_eq!(deliver(&mut receiver, 0, block * 100), Some(block * 100 + 100));
        }
        assert_eq!(receiver.received_packets(), 1000);
    }

    /// Calls a loss wireless if its gap spans at least this long.
    #[derive(Debug)]
    struct LongGapsAreWireless(Span);

    impl Algorithm for LongGapsAreWireless {
        fn name(&self) -> &'static str {
            "long gaps are wireless"
        }
        fn needs(&self) -> Needs {
            Needs::NONE.with_spacing()
        }
        fn observe(&mut self, _: &Observation) {}
        fn judge(&self, loss: &Loss) -> Judgement {
            let long = loss
                .revealed_by
                .and_then(|revealed_by| revealed_by.since_last)
                .is_some_and(|interval| interval.span >= self.0);
            let verdict = if long { Verdict::Wireless } else { Verdict::Congestion };
            Judgement::stated(verdict, "test", "as asked")
        }
    }

    /// For each packet, given by arrival time (ms) and number: the number that its ACK asks for,
    /// and the label.
    fn labels(config: &Config, packets: &[(i64, u64)]) -> Vec<(u64, bool)> {
        let lda = Differentiator::new(LongGapsAreWireless(Span::from_millis(20)));
        let mut receiver = Receiver::with_lda(&without_syn(*config), lda).unwrap();
        let labelled = packets.iter().map(|&(ms, seq)| {
            let segment = Segment::new(seq, at(ms - 20), 1000);
            receiver.on_segment(at(ms), &segment, &mut ());
            receiver.poll_transmit(at(ms)).map(|ack| (ack.next, ack.wireless)).unwrap()
        });
        labelled.collect()
    }

    #[test]
    fn every_ack_that_asks_for_a_missing_packet_carries_its_label() {
        // 2 is lost on the wireless link, 5 and 6 in a queue.
        let packets = [(0, 0), (10, 1), (30, 3), (40, 4), (50, 7), (60, 8)];
        let expected = [(1, false), (2, false), (2, true), (2, true), (2, true), (2, true)];
        assert_eq!(labels(&Config::ns2(), &packets), expected);
    }

    #[test]
    fn what_comes_after_a_repair_has_the_label_of_its_own_gap() {
        let packets = [
            (0, 0),
            (30, 2),
            (40, 4),
            (70, 7),
            (80, 1),
            (90, 3),
            (100, 5),
            (110, 6),
            (120, 8),
            (130, 10),
        ];
        let labels = labels(&Config::ns2(), &packets);
        assert_eq!(labels[1..4], [(1, true); 3], "1 to the air");
        assert_eq!(labels[4], (3, false), "3 to a queue");
        assert_eq!(labels[5..7], [(5, true), (6, true)], "5 and 6 to the air");
        assert_eq!(
            labels[7..],
            [(8, false), (9, false), (9, false)],
            "nothing missing, then 9 to a queue"
        );
    }

    #[test]
    fn a_retransmission_is_no_arrival_to_the_algorithm() {
        // Packet 5 is missing when 6 arrives, 20 ms after 4. The retransmission of 1 arrived in
        // between.
        let packets = [(0, 0), (10, 2), (20, 3), (30, 4), (40, 1), (50, 6)];
        assert_eq!(labels(&Config::ns2(), &packets)[5], (5, true));
    }

    #[test]
    fn a_label_does_not_outlive_its_packet_when_numbers_come_round() {
        // In a window of 64, packet 65 reuses the bit of packet 1.
        let config = Config { max_window_pkts: 64, ..Config::ns2() };
        let mut packets = vec![(0, 0), (30, 2), (40, 1)];
        packets.extend((3..65).map(|seq| (40 + seq as i64, seq)));
        packets.extend([(106, 66)]);
        let labels = labels(&config, &packets);
        assert_eq!(labels[1], (1, true));
        assert_eq!(labels.last(), Some(&(65, false)));
    }

    #[test]
    fn the_syn_is_none_of_the_packets_whose_spacing_is_measured() {
        let lda =
            Differentiator::new(BuiltIn::Biaz.build(End::Receiver).expect("published parameters"));
        let mut receiver = Receiver::with_lda(&Config::ns2(), lda).unwrap();
        let mut arrive = |ms, seq, payload_bytes| {
            let segment = Segment::new(seq, at(0), payload_bytes);
            receiver.on_segment(at(ms), &segment, &mut ());
            receiver.poll_transmit(at(ms)).unwrap().wireless
        };
        // T_min is 10 ms, not the 1 ms between the SYN and packet 1.
        arrive(0, 0, 0);
        arrive(1, 1, 1000);
        arrive(11, 2, 1000);
        assert!(arrive(31, 4, 1000));
    }
}
