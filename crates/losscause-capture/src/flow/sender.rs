//! One direction's data as their sender sees them: what is in flight, what was acknowledged, what
//! was retransmitted.
//!
//! A retransmission says that the sender believes the copy before it lost. That belief is a loss
//! unless something shows that an earlier copy had arrived:
//!
//! - a duplicate selective acknowledgement (RFC 2883) reports that the receiver got the data twice;
//! - the acknowledgement comes sooner after the retransmission than any round trip took (as RACK
//!   does, RFC 8985);
//! - the acknowledgement echoes the timestamp of an earlier copy (Eifel, RFC 3522);
//! - without SACK: one acknowledgement covers the packet that filled the hole and, behind it,
//!   packets that had arrived before. A receiver that holds packets behind a hole acknowledges
//!   every arrival at once (RFC 5681, section 4.2), so copies sent after the one that filled the
//!   hole were not waited for: their originals had arrived. After a timeout most of what is sent
//!   again is of that kind. Whether the receiver holds packets is known from duplicate
//!   acknowledgements;
//! - without SACK: as many duplicate acknowledgements came as packets were sent behind the hole
//!   ([`Held`]).
//!
//! A packet that is lost twice is two losses.

use std::collections::VecDeque;

use losscause::{DuplicateAcks, Signal, Span, Time};

use super::connection::packets_of;
use super::held::Held;
use super::loss::{Evidence, Found, Losses, Proof, Repeat, RepeatKind, State};
use super::outage::Outages;
use super::pace::{Pace, Waits};
use super::path::Passage;
use super::ranges::Ranges;
use super::scoreboard::{Scoreboard, Segment};
use super::shown::{Ack, Ahead, Data, Told};
use super::standing::{Delivered, Standing};
use super::vantage::Delays;
use crate::judge::{AckEvent, AtSender, Opinions, Sample, Trips};

/// The sender's view of one direction.
#[derive(Debug, Default)]
pub(super) struct SenderView {
    board: Scoreboard,
    sacked: Ranges,
    /// Everything below is acknowledged.
    una: u64,
    /// Behind the newest byte.
    highest: u64,
    next_number: u64,
    /// Every segment below is acknowledged or known to be missing.
    covered: u64,
    /// Missing segments that are not declared lost yet, with the count of deliveries before each
    /// showed.
    pending: VecDeque<(u64, u64)>,
    delivered: u64,
    /// The newest transmission that is known to have arrived, and its first byte.
    newest_delivered: Option<(Time, u64)>,
    /// Acknowledgements name ranges.
    selective: bool,
    dup_acks: u32,
    /// The last window that was advertised.
    window: Option<u16>,
    /// Without SACK: packets that the receiver holds behind a hole, and arrivals that will each
    /// look like one more.
    held_behind: u64,
    expected_dups: u64,
    held: Held,
    duplicates: DuplicateAcks,
    /// A fast recovery ends here.
    recover: u64,
    /// Without SACK: the opinions about its first loss, which hold for all of it.
    recovery_opinions: Option<Opinions>,
    /// What was sent before the last timeout ends here.
    after_timeout: u64,
    /// The receiver's window is closed since then.
    closed: Option<Time>,
    /// How far the receiver's window reaches behind the last acknowledgement, bytes; none if its
    /// scale is not known.
    window_bytes: Option<u64>,
    /// What was acknowledged before it was captured.
    ahead: Ahead,
    judge: AtSender,
    scratch: Vec<(u64, u64)>,
    pub(super) losses: Losses,
    pub(super) counts: SenderCounts,
    pub(super) outages: Outages,
    pub(super) pace: Pace,
    pub(super) standing: Standing,
}

/// What was seen beside losses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SenderCounts {
    /// Packets that arrived behind later ones.
    pub(super) reordered: u64,
    /// Retransmissions of data that were acknowledged already.
    pub(super) unneeded: u64,
    /// Packets that the receiver got twice without a retransmission.
    pub(super) duplicates: u64,
    /// Packets that the other end acknowledged and the capture never saw.
    pub(super) uncaptured: u64,
    /// Keep-alives and probes of a closed window.
    pub(super) probes: u64,
    /// How long the receiver's window was closed.
    pub(super) closed: Span,
}

/// A loss is declared when so many later packets arrived (RFC 6675, DupThresh).
const DUP_THRESH: u64 = 3;
/// Segments in flight that are kept, and as long as no acknowledgement was seen.
const MAX_IN_FLIGHT: usize = 65_536;
const MAX_UNANSWERED: usize = 1_024;

impl SenderView {
    pub(super) fn new(first: u64, judge: AtSender, selective: bool) -> Self {
        Self { una: first, highest: first, covered: first, selective, judge, ..Self::default() }
    }

    /// Segments that are kept.
    pub(super) fn size(&self) -> usize {
        self.board.len() + self.sacked.len() + self.pending.len()
    }

    /// Why an algorithm cannot judge this flow's losses.
    pub(super) fn unmet_need(&self, index: usize) -> Option<String> {
        self.judge.unmet_need(index, self.selective)
    }

    /// Whether acknowledgements name ranges.
    pub(super) fn is_selective(&self) -> bool {
        self.selective
    }

    /// The round-trip times of the acknowledgements.
    pub(super) fn delays(&self) -> &Sample {
        self.judge.delays()
    }

    /// The losses, and the round-trip times.
    pub(super) fn finish(self) -> (Losses, Trips) {
        (self.losses, self.judge.into_trips())
    }

    /// The last transmission of these data, if they were sent as one packet and are not
    /// acknowledged cumulatively.
    pub(super) fn last_sent(&self, [start, end]: [u64; 2]) -> Option<&Segment> {
        if start < self.una {
            return None;
        }
        self.board.get(start).filter(|segment| segment.end == end)
    }

    /// Packets that passed again, needed or not; not those that the capture holds twice.
    pub(super) fn sent_again(&self) -> u64 {
        self.losses.found.len() as u64 + self.losses.unlisted + self.counts.unneeded
    }

    /// Packets that were sent once or more.
    pub(super) fn sent_first(&self) -> u64 {
        self.next_number
    }

    /// How far the receiver's window reached last, bytes; none if its scale is not known.
    pub(super) fn window_bytes(&self) -> Option<u64> {
        self.window_bytes
    }

    /// How long the receiver's window was closed up to `now`.
    pub(super) fn closed_until(&self, now: Time) -> Span {
        self.counts.closed + self.closed.map_or(Span::ZERO, |since| now - since)
    }

    /// A segment passed on its way to the receiver. `packet_bytes` is the size of a packet on the
    /// wire: a larger segment will be cut into such.
    pub(super) fn on_data(&mut self, now: Time, data: Data, packet_bytes: u64) {
        self.pace.on_packet(now, self.waits(packet_bytes));
        let bytes = data.end - data.start;
        let probes_window = self.closed.is_some() && bytes <= 1;
        if probes_window || (bytes <= 1 && data.end == self.una && self.outages.has_heard()) {
            self.counts.probes += 1;
            self.losses.push_repeat(Repeat {
                frame: data.frame,
                earlier: None,
                kind: RepeatKind::Probe,
            });
            self.outages.on_try(now, data.start, Some(now));
            return;
        }
        if data.end <= self.una && self.ahead.has_late(now, [data.start, data.end]) {
            let packets = bytes.div_ceil(packet_bytes.max(1));
            self.counts.uncaptured = self.counts.uncaptured.saturating_sub(packets);
            return;
        }
        if data.end <= self.una {
            self.counts.unneeded += 1;
            self.losses.push_repeat(Repeat {
                frame: data.frame,
                earlier: None,
                kind: RepeatKind::Needless,
            });
            return;
        }
        let start = data.start.max(self.una);
        if start < self.highest {
            let until = data.end.min(self.highest);
            self.on_old_data(now, Data { start, end: until, ..data }, packet_bytes);
        }
        let mut at = start.max(self.highest);
        if at < data.end {
            // A sender leaves nothing out.
            self.counts.uncaptured += packets_of(at - self.highest, packet_bytes);
            self.outages.on_progress(now);
            self.pace.on_new_data(now, data.end - at);
        }
        while at < data.end {
            let end = data.end.min(at + packet_bytes.max(1));
            let number = self.next_number;
            self.next_number += 1;
            let mut segment = Segment::first(end, number, now, &data);
            segment.path_bytes += at - data.start;
            self.board.insert(at, segment);
            at = end;
        }
        self.highest = self.highest.max(data.end);
        self.forget_old();
    }

    /// A probe without data passed; everything below `end` was sent before.
    pub(super) fn on_bare_probe(&mut self, now: Time, end: u64) {
        if self.una == end && self.outages.has_heard() {
            self.counts.probes += 1;
            self.outages.on_try(now, end, Some(now));
        }
    }

    /// What the sender waits for.
    fn waits(&self, packet_bytes: u64) -> Waits {
        let in_flight = self.highest - self.una;
        match self.window_bytes {
            _ if self.closed.is_some() => Waits::ForReceiver,
            _ if in_flight == 0 => Waits::ForData,
            Some(window) if in_flight + packet_bytes > window => Waits::ForReceiver,
            _ => Waits::ForPath,
        }
    }

    /// Keeps the scoreboard small where acknowledgements are missing.
    fn forget_old(&mut self) {
        let most = if self.outages.has_heard() { MAX_IN_FLIGHT } else { MAX_UNANSWERED };
        while self.board.len() > most {
            let Some((start, segment)) = self.board.pop_below(u64::MAX) else { break };
            self.una = segment.end.max(start);
            self.covered = self.covered.max(self.una);
            self.sacked.remove_below(self.una);
        }
    }

    /// Data below the newest byte: a retransmission, or a part that the capture missed before.
    fn on_old_data(&mut self, now: Time, data: Data, packet_bytes: u64) {
        self.board.split(data.start);
        self.board.split(data.end);
        let fits_a_packet = data.end - data.start <= packet_bytes;
        let mut at = data.start;
        while at < data.end {
            let next = self.board.next_from(at).filter(|(start, _)| *start < data.end);
            match next.map(|(start, segment)| (start, segment.end, segment.is_part)) {
                Some((start, end, is_part)) if start == at => {
                    let lost_before = self.losses.found.len();
                    self.on_retransmission(now, start, &data);
                    // Parts of two captured segments were one packet on the wire.
                    if fits_a_packet && is_part && at > data.start {
                        self.losses.join_last(lost_before);
                    }
                    at = end;
                }
                next => {
                    // A hole in the capture: it is filled now.
                    let end = next.map_or(data.end, |(start, ..)| start);
                    let packets = (end - at).div_ceil(packet_bytes.max(1));
                    self.counts.uncaptured = self.counts.uncaptured.saturating_sub(packets);
                    let number = self
                        .board
                        .next_from(at)
                        .map_or(self.next_number, |(_, segment)| segment.number);
                    let mut segment = Segment::first(end, number, now, &data);
                    segment.missing = at < self.covered;
                    self.board.insert(at, segment);
                    at = end;
                }
            }
        }
    }

    fn on_retransmission(&mut self, now: Time, start: u64, data: &Data) {
        let Some(segment) = self.board.get(start) else { return };
        if segment.acked {
            self.counts.unneeded += 1;
            self.losses.push_repeat(Repeat {
                frame: data.frame,
                earlier: Some(segment.frame),
                kind: RepeatKind::Needless,
            });
            return;
        }
        let segment = segment.clone();
        let evidence = self.evidence(start, &segment);
        let flight = self.board.in_flight();
        let sent = Some(segment.sent);
        let declared = segment.opinions.or_else(|| {
            // Without SACK the holes of a recovery show one after the other, long after they were
            // made.
            self.recovery_opinions.clone().filter(|_| start < self.recover)
        });
        let opinions = match (evidence, declared) {
            (Evidence::FastRetransmit, Some(opinions)) => opinions,
            // A lost retransmission has no gap of its own, nor has a packet that only the arrival
            // of a retransmission shows to be lost: the newest gap is judged.
            (Evidence::FastRetransmit, None) => {
                let number = (segment.copies == 1 && segment.missing).then_some(segment.number);
                self.judge.declare(now, number, sent, flight, Signal::Gap)
            }
            _ => {
                let asked = (segment.copies == 1).then_some(segment.sent);
                self.outages.on_try(now, start, asked);
                self.duplicates.on_timeout(self.next_number);
                self.judge.declare(now, Some(segment.number), sent, flight, Signal::Timeout)
            }
        };
        if evidence == Evidence::FastRetransmit && start >= self.recover {
            self.recover = self.highest;
            self.recovery_opinions = (!self.selective).then(|| opinions.clone());
        }
        if evidence == Evidence::Timeout {
            (self.recover, self.after_timeout) = (0, self.highest);
            self.recovery_opinions = None;
        }
        let unneeded = !self.selective && start > self.una && self.held.on_copy(segment.end);
        let state = if unneeded { State::Spurious(Proof::Count) } else { State::Lost };
        let passage = Passage {
            at: segment.sent,
            path_bytes: Some(segment.path_bytes),
            flight_pkts: Some(segment.flight_pkts),
            rtt: self.judge.least_rtt(),
        };
        self.losses.push(Found {
            time: now,
            start,
            end: segment.end,
            frame: Some(segment.frame),
            frame_again: Some(data.frame),
            evidence,
            passage,
            opinions,
            state,
        });
        let Data { frame, tsval, ip_id, path_bytes, .. } = *data;
        self.board.change(start, |segment| {
            segment.copies = segment.copies.saturating_add(1);
            (segment.sent, segment.frame, segment.tsval, segment.ip_id) =
                (now, frame, tsval, ip_id);
            (segment.lost, segment.opinions, segment.path_bytes) = (false, None, path_bytes);
        });
    }

    /// Why the sender retransmits.
    fn evidence(&self, start: u64, segment: &Segment) -> Evidence {
        // RACK: something sent later has arrived.
        if self.newest_delivered > Some((segment.sent, start)) {
            return Evidence::FastRetransmit;
        }
        let in_recovery = self.dup_acks > 0 || self.una < self.recover;
        if !self.selective && segment.copies == 1 && start == self.una && in_recovery {
            return Evidence::FastRetransmit;
        }
        if segment.end == self.highest && segment.copies == 1 {
            Evidence::TailProbe
        } else {
            Evidence::Timeout
        }
    }

    /// An acknowledgement passed on its way to the sender.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        ack: &Ack<'_>,
        packet_bytes: u64,
        delays: &mut Delays,
    ) {
        self.outages.on_answer(now);
        self.pace.on_packet(now, self.waits(packet_bytes));
        self.window_bytes = ack.scale.map(|scale| u64::from(ack.window) << scale);
        match (self.closed, ack.window) {
            (None, 0) => self.closed = Some(now),
            (Some(since), 1..) => {
                self.counts.closed += now - since;
                self.closed = None;
            }
            _ => {}
        }
        // One that changes the window is no duplicate (RFC 5681, section 2).
        let same_window = self.window.replace(ack.window) == Some(ack.window);
        let repeats = ack.ack == self.una && ack.pure && same_window && self.board.len() > 0;
        if ack.ack > self.highest {
            // The capture missed the data.
            self.counts.uncaptured += (ack.ack - self.highest).div_ceil(packet_bytes.max(1));
            self.ahead.on_ack(now, [self.highest, ack.ack]);
            self.highest = ack.ack;
        }
        let flight = self.board.in_flight();
        let blocks = self.without_dsack(ack);
        let mut told = Told::default();
        let advanced = ack.ack > self.una;
        if advanced {
            self.acknowledge_below(now, ack, &mut told);
            self.dup_acks = 0;
        } else if repeats {
            self.dup_acks += 1;
            self.held.on_duplicate(self.board.len() as u64 - 1, self.highest);
            match self.expected_dups.checked_sub(1) {
                Some(rest) => self.expected_dups = rest,
                None => self.held_behind += 1,
            }
        }
        for &(from, to) in blocks {
            self.acknowledge_block(now, from.max(self.una), to.min(self.highest), &mut told);
        }
        if let Some((_, end)) = told.newest {
            let Told { acked_bytes: bytes, newly_acked: packets, rtt, first_sent, .. } = told;
            self.standing.on_ack(now, &Delivered { end, bytes, packets, rtt, first_sent });
        }
        if let Some(rtt) = told.rtt {
            self.pace.on_rtt(rtt);
            delays.on_ack_delay(rtt);
        }
        delays.on_ack(now, ack.tsval, self.board.in_flight(), advanced);
        if self.selective {
            self.tell_selective(now, told, flight);
        } else if advanced || repeats {
            self.tell_cumulative(now, told, flight);
        }
    }

    /// The blocks without a duplicate's (RFC 2883, section 4): one below the acknowledgement or
    /// inside the next block.
    fn without_dsack<'a>(&mut self, ack: &Ack<'a>) -> &'a [(u64, u64)] {
        let [first, rest @ ..] = ack.blocks else { return &[] };
        self.selective = true;
        let inside = rest.first().is_some_and(|second| second.0 <= first.0 && first.1 <= second.1);
        if first.1 <= ack.ack || inside {
            self.on_dsack(first.0, first.1);
            return rest;
        }
        ack.blocks
    }

    /// The receiver got these data twice: one of the copies was not needed.
    fn on_dsack(&mut self, from: u64, to: u64) {
        let overlaps = |found: &Found| found.start < to && from < found.end;
        // A copy that timing excused already is the one that is meant.
        for suspect in [State::Spurious(Proof::Timing), State::Lost] {
            let mut proven: Option<u64> = None;
            for found in
                self.losses.recent().filter(|found| overlaps(found) && found.state == suspect)
            {
                if proven.is_none_or(|start| found.start < start) {
                    found.state = State::Spurious(Proof::Dsack);
                    proven = Some(found.start);
                }
            }
            if proven.is_some() {
                return;
            }
        }
        self.counts.duplicates += 1;
    }

    fn acknowledge_below(&mut self, now: Time, ack: &Ack<'_>, told: &mut Told) {
        let left_edge = self.una;
        let held_up = self.dup_acks > 0;
        let mut first: Option<Segment> = None;
        // Copies behind the one at the left edge, in order; and the last segment that was sent
        // once.
        let mut copies: Vec<(u64, u64, Time)> = Vec::new();
        let mut sent_once = 0;
        let mut covered = 0_u64;
        while let Some((start, segment)) = self.board.pop_below(ack.ack) {
            told.spanned += u32::from(start >= self.covered);
            covered += 1;
            if segment.copies == 1 {
                sent_once = start;
            } else if first.is_some() {
                copies.push((start, segment.end, segment.sent));
            }
            if !segment.acked {
                let tsecr = ack.tsecr.filter(|_| start == left_edge);
                self.on_delivered(now, start, &segment, tsecr, told);
            }
            first.get_or_insert(segment);
        }
        if let (false, Some(first)) = (self.selective, first) {
            if held_up || first.copies > 1 {
                // What was held behind a hole arrived long before. The copy that filled it was sent
                // long after the packets that are missing behind it, so its trip, which an echo may
                // name, says nothing of theirs.
                told.rtt = None;
            }
            // A receiver that holds packets behind a hole acknowledges every arrival; others may
            // wait for a second one.
            let at_once =
                self.held_behind > 0 || copies.iter().any(|&(start, ..)| sent_once > start);
            for &(start, end, sent) in copies.iter().skip(usize::from(!at_once)) {
                if sent >= first.sent {
                    self.excuse(start, end);
                    self.expected_dups += 1;
                }
            }
            self.held_behind = self.held_behind.saturating_sub(covered.saturating_sub(1));
            let behind = (self.board.len() as u64).saturating_sub(1);
            if self.held.on_advance(covered, ack.ack, behind) {
                copies.iter().for_each(|&(start, end, _)| self.excuse(start, end));
            }
            if self.board.len() == 0 || ack.ack >= self.recover.max(self.after_timeout) {
                (self.held_behind, self.expected_dups) = (0, 0);
                self.held.clear();
            }
        }
        self.una = ack.ack;
        self.sacked.remove_below(self.una);
    }

    fn acknowledge_block(&mut self, now: Time, from: u64, to: u64, told: &mut Told) {
        if from >= to {
            return;
        }
        let mut parts = std::mem::take(&mut self.scratch);
        self.sacked.insert(from, to, |from, to| parts.push((from, to)));
        for (from, to) in parts.drain(..) {
            self.board.split(from);
            self.board.split(to);
            let mut at = from;
            while let Some((start, segment)) = self.board.acknowledge_next(at, to) {
                at = segment.end;
                self.on_delivered(now, start, &segment, None, told);
            }
        }
        self.scratch = parts;
    }

    /// A segment is acknowledged for the first time.
    fn on_delivered(
        &mut self,
        now: Time,
        start: u64,
        segment: &Segment,
        tsecr: Option<u32>,
        told: &mut Told,
    ) {
        self.delivered += 1;
        told.newly_acked += 1;
        told.acked_bytes += segment.end - start;
        told.first_sent =
            Some(told.first_sent.map_or(segment.sent, |first| first.min(segment.sent)));
        let after = now - segment.sent;
        if segment.copies == 1 {
            self.counts.reordered += u64::from(segment.missing);
        } else {
            let too_soon = self.is_too_soon(after);
            let echoes_older = matches!((tsecr, segment.tsval), (Some(echo), Some(own)) if (echo.wrapping_sub(own) as i32) < 0);
            if too_soon || echoes_older {
                self.excuse(start, segment.end);
                return;
            }
        }
        self.newest_delivered = self.newest_delivered.max(Some((segment.sent, start)));
        if told.newest.is_none_or(|newest| start >= newest.0) {
            told.newest = Some((start, segment.end));
            told.rtt = (segment.copies == 1).then_some(after);
        }
    }

    /// Whether no round trip is so short.
    fn is_too_soon(&self, after: Span) -> bool {
        self.judge.lowest_rtt().is_some_and(|min_rtt| after * 10 < min_rtt * 9)
    }

    /// The last copy of these data was not needed.
    fn excuse(&mut self, start: u64, end: u64) {
        let same = |found: &&mut Found| found.start >= start && found.start < end;
        if let Some(found) = self.losses.recent().find(same)
            && found.state == State::Lost
        {
            found.state = State::Spurious(Proof::Timing);
        }
    }

    /// Tells the algorithms of an acknowledgement that names ranges, and declares what is lost by
    /// now.
    fn tell_selective(&mut self, now: Time, told: Told, flight: u64) {
        if told.newly_acked == 0 {
            return;
        }
        let mut event = AckEvent {
            newly_acked: told.newly_acked,
            spanned: told.spanned,
            in_flight: self.board.in_flight(),
            flight,
            ..AckEvent::default()
        };
        if let Some((newest, end)) = told.newest
            && newest >= self.covered
        {
            event.rtt = told.rtt;
            let shown = self.delivered - told.newly_acked;
            // What is acknowledged cumulatively is no longer there.
            if end > self.una {
                self.cover(end, shown, &mut event);
            }
            self.covered = end;
        }
        // What a hole's retransmission fills at the left edge spans nothing, even beside newer
        // packets.
        event.spanned = event.spanned.max(event.newly_missing + u32::from(event.newly_missing > 0));
        self.judge.on_ack(now, &event);
        self.declare_lost(now);
    }

    /// The packets up to `end` are acknowledged or missing; `shown` were delivered before.
    fn cover(&mut self, end: u64, shown: u64, event: &mut AckEvent) {
        for (start, segment) in self.board.between(self.covered, end) {
            event.spanned += 1;
            if !segment.acked {
                event.newly_missing += 1;
                let first = event.missing.map_or(segment.number, |missing| missing.0);
                event.missing = Some((first, segment.number));
                segment.missing = true;
                self.pending.push_back((start, shown));
            }
        }
    }

    fn declare_lost(&mut self, now: Time) {
        while let Some(&(start, shown)) = self.pending.front() {
            if self.delivered < shown + DUP_THRESH {
                break;
            }
            self.pending.pop_front();
            let flight = self.board.in_flight();
            let Some(segment) = self.board.get(start) else { continue };
            if segment.acked || segment.copies > 1 {
                continue;
            }
            let opinions = self.judge.declare(
                now,
                Some(segment.number),
                Some(segment.sent),
                flight,
                Signal::Gap,
            );
            self.board.change(start, |segment| {
                (segment.lost, segment.opinions) = (true, Some(opinions));
            });
        }
    }

    /// Tells the algorithms of an acknowledgement without ranges, in the core's own reading.
    fn tell_cumulative(&mut self, now: Time, told: Told, flight: u64) {
        let next = self.board.first().map_or(self.next_number, |segment| segment.number);
        let mut sample = self.duplicates.on_ack(now, told.rtt, next, self.next_number);
        if let Some(acked) = &mut sample.acked {
            acked.in_flight_pkts = self.board.in_flight();
            acked.cwnd_pkts = Some(flight as f64);
        }
        self.covered = self.covered.max(self.una);
        self.judge.on_cumulative_ack(sample);
    }

    /// The sender began anew: the direction's data are unrelated to those before.
    pub(super) fn restart(&mut self, first: u64) {
        self.board.clear();
        self.sacked.clear();
        self.pending.clear();
        (self.una, self.highest, self.covered, self.recover) = (first, first, first, 0);
        (self.dup_acks, self.held) = (0, Held::default());
    }
}
