//! One direction's data as their receiver sees them: what arrives, and the holes between.
//!
//! A segment that begins behind the newest byte reveals a hole: the packets in it are lost, or
//! late. What fills the hole tells which. If its timestamp is older than that of the segment that
//! revealed the hole, it was sent before it: it was reordered. If it is newer, it is a
//! retransmission. Without timestamps, or if they are equal, time decides: a retransmission takes
//! at least a round trip; half of one is the limit, as round trips vary. IPv4 identifications that
//! count up tell before time does.
//!
//! A hole whose data the receiver acknowledges although they never arrived was made by the capture.
//!
//! What cannot be seen from here: a lost retransmission, and a loss that the sender repaired before
//! anything sent later arrived.

use std::collections::BTreeMap;

use losscause::{Span, Time};

use super::connection::packets_of;
use super::is_incomplete;
use super::loss::{Evidence, Found, Losses, Repeat, RepeatKind, State};
use super::path::Passage;
use super::shown::{Data, OUT_OF_ORDER};
use crate::judge::{AtReceiver, Trips};

/// The receiver's view of one direction.
#[derive(Debug, Default)]
pub(super) struct ReceiverView {
    /// Behind the newest byte.
    highest: u64,
    next_number: u64,
    /// By their first byte.
    holes: BTreeMap<u64, Hole>,
    /// Holes below are not kept any more.
    given_up: u64,
    /// An acknowledgement of a hole, and when it came: what it covers may still come.
    acked: Option<(Time, u64)>,
    /// The newest acknowledgement of a hole.
    newest_ack: u64,
    /// When data beyond all others last came.
    advanced: Time,
    /// When the receiver last acknowledged anything, and the most that it acknowledged.
    answered: Option<(Time, u64)>,
    judge: AtReceiver,
    pub(super) losses: Losses,
    pub(super) counts: ReceiverCounts,
    ids: Identifications,
}

/// Missing bytes.
#[derive(Clone, Copy, Debug)]
struct Hole {
    end: u64,
    revealed: Time,
    /// The timestamp of the segment that revealed it.
    tsval: Option<u32>,
    ip_id: u16,
}

/// Whether the sender's IPv4 identifications count its packets.
#[derive(Clone, Copy, Debug, Default)]
struct Identifications {
    last: u16,
    /// How often one was a little higher than the one before, and how often not.
    steps: (u32, u32),
}

impl Identifications {
    /// Packets of other flows of the host come between.
    const LITTLE: u16 = 64;
    const FEWEST: u32 = 16;

    fn take(&mut self, ip_id: u16) {
        let is_step = (1..=Self::LITTLE).contains(&ip_id.wrapping_sub(self.last));
        let count = if is_step { &mut self.steps.0 } else { &mut self.steps.1 };
        *count = count.saturating_add(1);
        self.last = ip_id;
    }

    /// Whether a packet was sent before another one; none if the identifications do not tell.
    fn is_before(&self, own: u16, other: u16) -> Option<bool> {
        let (steps, others) = self.steps;
        let counts = steps >= Self::FEWEST && steps / 16 >= others;
        let apart = other.wrapping_sub(own) as i16;
        // Farther apart the counter may have gone round.
        (counts && own != 0 && other != 0 && (1..=i16::MAX / 2).contains(&apart.saturating_abs()))
            .then_some(apart > 0)
    }
}

/// What was seen beside losses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceiverCounts {
    /// Packets that arrived behind later ones.
    pub(super) reordered: u64,
    /// Packets whose data had arrived before.
    pub(super) duplicates: u64,
    /// Packets that the receiver acknowledged and the capture never saw.
    pub(super) uncaptured: u64,
    /// Jumps too far to be a loss: the stream began anew.
    pub(super) jumps: u64,
}

/// A hole of more packets is no loss but a jump of the stream or of the capture.
const MAX_HOLE_PKTS: u64 = 4_096;
/// Holes that are kept; the oldest is given up.
const MAX_HOLES: usize = 4_096;
/// A hole that is filled later than this is none that TCP left: the first timeouts double from at
/// most a second on (RFC 6298).
const REPAIRED_WITHIN: Span = Span::from_secs(3);
/// Without a round-trip time, what fills a hole faster is late, not sent again.
const LATE: Span = Span::from_millis(1);

impl ReceiverView {
    pub(super) fn new(first: u64, judge: AtReceiver) -> Self {
        Self { highest: first, judge, ..Self::default() }
    }

    /// Holes that are kept.
    pub(super) fn size(&self) -> usize {
        self.holes.len()
    }

    pub(super) fn judge(&self) -> &AtReceiver {
        &self.judge
    }

    /// The losses, and the trip times.
    pub(super) fn finish(self) -> (Losses, Trips) {
        (self.losses, self.judge.into_trips())
    }

    /// TCP repairs every loss, and no window lasts for long behind one: a hole that stayed although
    /// new data went on for seconds was made by the capture. Younger holes are what most of the
    /// older ones were. Old data that is sent again says nothing of a hole in front of it, and a
    /// receiver that still asks for the data did not get it.
    fn excuse_old_holes(&mut self) {
        let holes = &self.holes;
        let given_up = self.given_up;
        let last = self.advanced;
        let is_asked_for = |found: &Found| {
            self.answered
                .is_some_and(|(at, ack)| ack <= found.start && at - found.time >= REPAIRED_WITHIN)
        };
        let is_open = |found: &Found| {
            let hole = holes.range(..=found.start).next_back();
            found.start < given_up || hole.is_some_and(|(_, hole)| found.start < hole.end)
        };
        let is_old = |found: &Found| last - found.time >= REPAIRED_WITHIN && !is_asked_for(found);
        let stayed = self
            .losses
            .count_of(|found| found.state == State::Lost && is_old(found) && is_open(found));
        let filled = self.losses.count_of(|found| found.state.is_loss() && is_old(found)) - stayed;
        for found in self.losses.found.iter_mut().filter(|found| found.state == State::Lost) {
            if (is_old(found) || stayed > filled) && is_open(found) {
                found.state = State::Uncaptured;
                self.counts.uncaptured += 1;
            }
        }
    }

    /// A segment arrived. `packet_bytes` is the size of a full packet, `rtt` the smallest
    /// round-trip time known.
    #[inline]
    pub(super) fn on_data(&mut self, now: Time, data: Data, packet_bytes: u64, rtt: Option<Span>) {
        if data.start < self.highest {
            self.on_old_data(now, data, rtt);
        }
        if data.end <= self.highest {
            return;
        }
        self.ids.take(data.ip_id);
        let packet_bytes = packet_bytes.max(1);
        let missing = packets_of(data.start.saturating_sub(self.highest), packet_bytes);
        if missing > MAX_HOLE_PKTS {
            self.counts.jumps += 1;
            // Far enough for the algorithms to begin anew.
            self.next_number += losscause::arrivals::MAX_JUMP_PKTS + 1;
        } else {
            self.next_number += missing;
        }
        let first_new = data.start.max(self.highest);
        // A segment that was merged from several packets is as many arrivals at one time.
        let packets = packets_of(data.end - first_new, packet_bytes);
        for index in 0..packets {
            let opinions = self.judge.on_packet(self.next_number, now, data.tsval.into());
            self.next_number += 1;
            if let (0, 1..=MAX_HOLE_PKTS) = (index, missing) {
                let opinions = opinions.unwrap_or_else(|| self.judge.no_opinions());
                let passage =
                    Passage { at: now, path_bytes: Some(data.path_bytes), flight_pkts: None, rtt };
                let mut start = self.highest;
                while start < data.start {
                    let end = data.start.min(start + packet_bytes);
                    let found = Found::lost(now, [start, end], Evidence::Gap, opinions.clone());
                    self.losses.push(Found { frame: Some(data.frame), passage, ..found });
                    start = end;
                }
            }
        }
        if (1..=MAX_HOLE_PKTS).contains(&missing) {
            self.holes.insert(
                self.highest,
                Hole { end: data.start, revealed: now, tsval: data.tsval, ip_id: data.ip_id },
            );
            if self.holes.len() > MAX_HOLES
                && let Some((_, hole)) = self.holes.pop_first()
            {
                self.given_up = hole.end;
            }
        }
        self.highest = data.end;
        self.advanced = now;
    }

    /// Data below the newest byte: they fill a hole, or arrived before.
    #[cold]
    fn on_old_data(&mut self, now: Time, data: Data, rtt: Option<Span>) {
        let from = data.start;
        let to = data.end.min(self.highest);
        let mut filled = false;
        let mut at = from;
        while let Some((start, hole)) = self.hole_at(at, to) {
            filled = true;
            let left = start.max(from);
            let right = hole.end.min(to);
            self.holes.remove(&start);
            if start < left {
                self.holes.insert(start, Hole { end: left, ..hole });
            }
            if right < hole.end {
                self.holes.insert(right, hole);
            }
            if is_late(now, &data, &hole, rtt, &self.ids) {
                self.counts.reordered += 1;
                self.settle(left, right, State::Reordered, Some(data.frame));
            } else {
                self.repair(left, right, data.frame);
            }
            at = right;
        }
        if !filled {
            self.counts.duplicates += 1;
            self.losses.push_repeat(Repeat {
                frame: data.frame,
                earlier: None,
                kind: RepeatKind::Unknown,
            });
        }
    }

    /// The first hole that has a byte from `at` to before `to`.
    fn hole_at(&self, at: u64, to: u64) -> Option<(u64, Hole)> {
        let before = self.holes.range(..=at).next_back().filter(|(_, hole)| hole.end > at);
        let found = before.or_else(|| self.holes.range(at..to.max(at)).next())?;
        (*found.0 < to).then_some((*found.0, *found.1))
    }

    /// A retransmission arrived. It shows where the lost packet began and ended; until now full
    /// packets were assumed.
    fn repair(&mut self, from: u64, to: u64, frame: u64) {
        let overlaps =
            |found: &&mut Found| found.start < to && from < found.end && found.state == State::Lost;
        let mut oldest: Option<&mut Found> = None;
        for found in self.losses.recent().filter(overlaps) {
            (found.state, found.frame_again) = (State::Repaired, Some(frame));
            oldest = Some(found);
        }
        if let Some(found) = oldest {
            (found.start, found.end) = (from, to);
        }
    }

    /// The losses from `from` to `to` were none: their data came in `frame`, or were not captured.
    fn settle(&mut self, from: u64, to: u64, state: State, frame: Option<u64>) {
        let inside = |found: &&mut Found| {
            found.start >= from && found.start < to && found.state == State::Lost
        };
        self.losses
            .recent()
            .filter(inside)
            .for_each(|found| (found.state, found.frame_again) = (state, frame));
    }

    /// The receiver acknowledged everything below `ack`.
    #[inline]
    pub(super) fn on_ack(&mut self, now: Time, ack: u64, packet_bytes: u64) {
        self.answered = Some((now, self.answered.map_or(ack, |(_, before)| before.max(ack))));
        if self.holes.first_key_value().is_some_and(|(&start, _)| start < ack) {
            self.on_ack_of_hole(now, ack, packet_bytes);
        }
    }

    /// What it got and the capture does not have was not captured, unless it comes a little later.
    #[cold]
    fn on_ack_of_hole(&mut self, now: Time, ack: u64, packet_bytes: u64) {
        match self.acked {
            Some((time, _)) if now - time < OUT_OF_ORDER => {}
            before => {
                self.acked = Some((now, ack));
                self.give_up_below(before.map_or(0, |(_, ack)| ack), packet_bytes);
            }
        }
        self.newest_ack = self.newest_ack.max(ack);
    }

    fn give_up_below(&mut self, ack: u64, packet_bytes: u64) {
        while let Some(first) = self.holes.first_entry()
            && first.get().end <= ack
        {
            let (start, hole) = first.remove_entry();
            self.counts.uncaptured += (hole.end - start).div_ceil(packet_bytes.max(1));
            self.settle(start, hole.end, State::Uncaptured, None);
        }
    }

    /// The last of `packets` of the flow came. What was acknowledged and never came was not
    /// captured; and if the capture misses many others, a hole that stayed shows no loss.
    pub(super) fn end(&mut self, packets: u64, packet_bytes: u64) {
        self.give_up_below(self.newest_ack, packet_bytes);
        self.excuse_old_holes();
        if is_incomplete(packets, self.counts.uncaptured) {
            for found in self.losses.found.iter_mut().filter(|found| found.state == State::Lost) {
                found.state = State::Uncaptured;
                self.counts.uncaptured += 1;
            }
        }
    }

    /// The sender began anew.
    pub(super) fn restart(&mut self, first: u64) {
        self.holes.clear();
        (self.given_up, self.acked, self.newest_ack, self.answered) = (0, None, 0, None);
        self.highest = first;
        self.next_number += losscause::arrivals::MAX_JUMP_PKTS + 1;
    }
}

/// Whether what fills a hole was sent before what revealed it.
fn is_late(now: Time, data: &Data, hole: &Hole, rtt: Option<Span>, ids: &Identifications) -> bool {
    let newer = match (data.tsval, hole.tsval) {
        (Some(own), Some(revealer)) => own.wrapping_sub(revealer) as i32,
        _ => 0,
    };
    let by_time = || now - hole.revealed < rtt.map_or(LATE, |rtt| rtt / 2);
    match newer {
        ..0 => true,
        1.. => false,
        0 => ids.is_before(data.ip_id, hole.ip_id).unwrap_or_else(by_time),
    }
}
