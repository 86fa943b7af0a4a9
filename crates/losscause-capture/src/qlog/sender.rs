//! What this end sent: which packets arrived, and which were lost.
//!
//! A loss is what the stack declared lost. A log without any such event has the losses that RFC
//! 9002, section 6.1, finds from the acknowledgements: three later numbers were acknowledged, or a
//! later one was and 9/8 of a round trip went by. Both are followed until the first declaration
//! shows which one counts. A packet that is acknowledged behind its declaration was not lost: it is
//! spurious.
//!
//! Acknowledgements give the algorithms what they get at a TCP sender with SACK, in packets: the
//! round-trip time of the newest packet without the peer's delay, what is newly missing, and what
//! is in flight. Some stacks (quinn) log neither packets nor acknowledgements, but metrics and
//! losses: there every change of the latest round-trip time stands for an acknowledgement, and what
//! is declared lost before it for the gap that it shows.

use std::collections::{BTreeMap, VecDeque};

use losscause::Time;

use super::course::Course;
use super::event::{Ack, Metrics, Packet, Trigger};
use super::rtt::Rtt;
use crate::flow::{FlowCounts, FlowResult, LoggedPackets, Protocol, Rules, State, Vantage};
use crate::judge::AckEvent;
use crate::over_time::Transfer;

/// The sender's view of the packets of one connection.
#[derive(Debug, Default)]
pub(super) struct Sender {
    /// The number of the flow.
    number: u64,
    /// Packets that are not acknowledged, by number.
    waiting: BTreeMap<u64, Waiting>,
    /// Every number below is acknowledged or known to be missing.
    covered: u64,
    /// Missing packets that no threshold has declared lost yet, in order.
    missing: VecDeque<u64>,
    early: Vec<Early>,
    declared: Course,
    /// None as soon as the stack has declared a loss.
    derived: Option<Course>,
    rtt: Rtt,
    metrics: Metrics,
    any_ack: bool,
    largest_bytes: u64,
    counts: FlowCounts,
    packets: u64,
    bytes: u64,
    any_data: bool,
    over_time: Option<Transfer>,
    /// When each packet was sent, if that is kept.
    kept: Option<Vec<(Time, u64)>>,
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    sent: Time,
    bytes: u64,
    is_eliciting: bool,
    /// A later packet was acknowledged before it.
    is_missing: bool,
    is_declared: bool,
    is_derived: bool,
}

/// A loss that the stack declared before its acknowledgement was logged.
#[derive(Clone, Copy, Debug)]
struct Early {
    at: Time,
    number: u64,
    bytes: u64,
}

/// kPacketThreshold (RFC 9002, section 6.1.1).
const PACKET_THRESHOLD: u64 = 3;
/// The size of packets before one was logged (RFC 9000, section 14: every path carries it).
const USUAL_BYTES: u64 = 1_200;
/// Packets that are remembered; the oldest is forgotten.
const MAX_WAITING: usize = 65_536;
/// Declarations that wait for an acknowledgement.
const MAX_EARLY: usize = 1_024;

impl Sender {
    pub(super) fn new(rules: &Rules) -> Self {
        let number = rules.watch.number();
        let mut declared = Course::new(rules);
        // Both courses get the same acknowledgements.
        declared.judge.observe_with(rules.watch.log(number, Vantage::Sender));
        Self {
            number,
            declared,
            derived: Some(Course::new(rules)),
            over_time: rules.budget.as_ref().map(Transfer::new),
            kept: rules.keeps_packets.then(Vec::new),
            ..Self::default()
        }
    }

    /// Packets that are remembered.
    pub(super) fn size(&self) -> usize {
        self.waiting.len()
    }

    /// A packet was sent.
    pub(super) fn on_sent(&mut self, now: Time, packet: Packet) {
        let Packet { number, bytes, is_eliciting, .. } = packet;
        self.packets += 1;
        self.bytes += bytes;
        self.kept.iter_mut().for_each(|kept| kept.push((now, number)));
        if let Some(over_time) = &mut self.over_time {
            over_time.take(now, number, bytes);
        }
        self.largest_bytes = self.largest_bytes.max(bytes);
        self.any_data |= is_eliciting;
        if number < self.covered || self.waiting.contains_key(&number) {
            // Packet numbers are never used again: the log has the packet twice, or out of order.
            self.counts.duplicates += 1;
            return;
        }
        let is_missing = false;
        let is_declared = false;
        let is_derived = false;
        let waiting =
            Waiting { sent: now, bytes, is_eliciting, is_missing, is_declared, is_derived };
        self.waiting.insert(number, waiting);
        if self.waiting.len() > MAX_WAITING
            && let Some((_, forgotten)) = self.waiting.pop_first()
        {
            self.leave(forgotten);
        }
    }

    /// The congestion controller's state has changed.
    pub(super) fn on_metrics(&mut self, now: Time, metrics: Metrics) {
        self.metrics.window_bytes = metrics.window_bytes.or(self.metrics.window_bytes);
        self.metrics.in_flight_bytes = metrics.in_flight_bytes.or(self.metrics.in_flight_bytes);
        if !self.has_metrics_only() || metrics.latest_rtt.is_none() {
            return;
        }
        let in_flight = self.in_packets(self.metrics.in_flight_bytes).unwrap_or(0);
        let flight = self.in_packets(self.metrics.window_bytes).unwrap_or(in_flight);
        // What was declared lost since the sample before is the gap that this one shows.
        let numbers = || self.early.iter().map(|early| early.number);
        let missing = numbers().min().zip(numbers().max());
        let newly_missing = self.early.len() as u32;
        let rtt = metrics.latest_rtt;
        let newly_acked = 1;
        let spanned = newly_missing + 1;
        let event =
            AckEvent { rtt, newly_acked, spanned, newly_missing, missing, in_flight, flight };
        self.courses().into_iter().flatten().for_each(|course| course.judge.on_ack(now, &event));
        self.declare_early();
    }

    /// The log has neither packets nor acknowledgements.
    fn has_metrics_only(&self) -> bool {
        self.packets == 0 && !self.any_ack
    }

    /// An acknowledgement arrived.
    pub(super) fn on_ack(&mut self, now: Time, ack: &Ack) {
        self.any_ack = true;
        self.counts.marked = self.counts.marked.max(ack.marked);
        let flights = self.flights();
        let mut newest: Option<(u64, Waiting)> = None;
        let mut newly_acked = 0;
        let mut newly_covered = 0;
        for &(first, last) in &ack.ranges {
            while let Some((&number, _)) = self.waiting.range(first..=last).next() {
                let Some(packet) = self.waiting.remove(&number) else { break };
                newly_acked += 1;
                newly_covered += u32::from(number >= self.covered);
                self.on_delivered(number, packet);
                if newest.is_none_or(|(largest, _)| number > largest) {
                    newest = Some((number, packet));
                }
            }
        }
        let Some((largest, packet)) = newest else { return };
        let mut event = AckEvent { newly_acked, ..AckEvent::default() };
        if largest >= self.covered {
            // RFC 9002, section 5.1: only the largest number measures.
            event.rtt = Some(self.rtt.on_sample(now - packet.sent, ack.delay));
            for (&number, packet) in self.waiting.range_mut(self.covered..largest) {
                packet.is_missing = true;
                event.newly_missing += 1;
                event.missing = Some((event.missing.map_or(number, |missing| missing.0), number));
                self.missing.push_back(number);
            }
            event.spanned = newly_covered + event.newly_missing;
            self.covered = largest + 1;
        }
        let after = self.in_flight();
        for (index, course) in self.courses().into_iter().enumerate() {
            let Some(course) = course else { continue };
            (event.flight, event.in_flight) = (flights[index], after[index]);
            course.judge.on_ack(now, &event);
        }
        self.declare_early();
        self.derive(now);
    }

    /// A packet is acknowledged.
    fn on_delivered(&mut self, number: u64, packet: Waiting) {
        self.leave(packet);
        if packet.is_declared {
            self.declared.excuse(number);
        }
        if let (true, Some(derived)) = (packet.is_derived, &mut self.derived) {
            derived.excuse(number);
        }
        self.counts.reordered +=
            u64::from(packet.is_missing && !packet.is_declared && !packet.is_derived);
    }

    /// A packet waits no longer.
    fn leave(&mut self, packet: Waiting) {
        self.declared.lost -= u64::from(packet.is_declared);
        if let Some(derived) = &mut self.derived {
            derived.lost -= u64::from(packet.is_derived);
        }
    }

    fn courses(&mut self) -> [Option<&mut Course>; 2] {
        [Some(&mut self.declared), self.derived.as_mut()]
    }

    /// Bytes in packets of the largest size.
    fn in_packets(&self, bytes: Option<f64>) -> Option<u64> {
        let size = if self.largest_bytes > 0 { self.largest_bytes } else { USUAL_BYTES };
        bytes.map(|bytes| (bytes / size as f64) as u64).filter(|packets| *packets > 0)
    }

    /// The window in packets for each course: the stack's if it is known, else the packets in
    /// flight.
    fn flights(&self) -> [u64; 2] {
        let window = self.in_packets(self.metrics.window_bytes);
        self.in_flight().map(|in_flight| window.unwrap_or(in_flight))
    }

    fn in_flight(&self) -> [u64; 2] {
        let waiting = self.waiting.len() as u64;
        [
            waiting - self.declared.lost,
            waiting - self.derived.as_ref().map_or(0, |course| course.lost),
        ]
    }

    /// The stack declared a packet lost.
    pub(super) fn on_lost(&mut self, now: Time, number: u64, bytes: u64, trigger: Trigger) {
        self.derived = None;
        self.any_data = true;
        self.largest_bytes = self.largest_bytes.max(bytes);
        // A threshold needs a later packet's acknowledgement; some stacks log the loss first.
        let is_early = trigger == Trigger::Threshold && number >= self.covered;
        let early = Early { at: now, number, bytes };
        if is_early && self.early.len() < MAX_EARLY {
            self.early.push(early);
        } else {
            self.declare(early, trigger);
        }
    }

    fn declare_early(&mut self) {
        std::mem::take(&mut self.early)
            .into_iter()
            .for_each(|early| self.declare(early, Trigger::Threshold));
    }

    fn declare(&mut self, lost: Early, trigger: Trigger) {
        let Early { at: now, number, bytes } = lost;
        let flight = self.flights()[0];
        let packet = self.waiting.get_mut(&number);
        if packet.as_ref().is_some_and(|packet| packet.is_declared) {
            return;
        }
        let (sent, bytes) =
            packet.as_ref().map_or((None, bytes), |packet| (Some(packet.sent), packet.bytes));
        if let Some(packet) = packet {
            packet.is_declared = true;
            self.declared.lost += 1;
        }
        self.declared.lose(now, (number, sent, bytes), flight, trigger);
    }

    /// Declares what RFC 9002, section 6.1, calls lost by now.
    fn derive(&mut self, now: Time) {
        let flight = self.flights()[1];
        let Some(derived) = &mut self.derived else { return self.missing.clear() };
        let threshold = self.rtt.time_threshold();
        while let Some(&number) = self.missing.front() {
            if let Some(packet) = self.waiting.get_mut(&number) {
                let is_old = now - packet.sent >= threshold;
                if self.covered - 1 - number < PACKET_THRESHOLD && !is_old {
                    break;
                }
                // Packets with acknowledgements only are not in flight (RFC 9002, section 2).
                if packet.is_eliciting {
                    packet.is_derived = true;
                    derived.lost += 1;
                    let lost = (number, Some(packet.sent), packet.bytes);
                    derived.lose(now, lost, flight, Trigger::Threshold);
                }
            }
            self.missing.pop_front();
        }
    }

    /// What was found, if any packet carried more than acknowledgements.
    pub(super) fn finish(
        mut self,
        [src, dst]: [String; 2],
        connection: Option<String>,
        rules: &Rules,
    ) -> Option<FlowResult> {
        self.declare_early();
        if !self.any_data {
            return None;
        }
        let Course { judge, losses, .. } = self.derived.unwrap_or(self.declared);
        let mut result = FlowResult::new(self.number, src, dst, Protocol::Quic, Vantage::Sender);
        (result.packets, result.bytes) = (self.packets, self.bytes);
        result.unmet = (0..rules.chosen.iter().count())
            .map(|index| judge.unmet_need(index, self.any_ack))
            .collect();
        let spurious = losses.count(|state| matches!(state, State::Spurious(_)));
        result.counts = FlowCounts { spurious, ..self.counts };
        result.losses = losses;
        result.delays = judge.delays().into();
        (result.at_sender, result.over_time) = (Some(judge.into_trips()), self.over_time);
        result.logged = self.kept.map(|packets| LoggedPackets { connection, packets });
        Some(result)
    }
}
