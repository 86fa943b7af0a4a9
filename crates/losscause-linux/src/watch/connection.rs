//! One connection: what its acknowledgements and retransmissions show becomes losses, and these a
//! diagnosis.
//!
//! A retransmission says that the sender believes the copy before it lost. The kernel does not say
//! when that copy was sent, nor what was in flight then: the samples do ([`SentLog`]). The queue at
//! the loss is the one when a packet arrived that was sent later ([`Shown`]), as RACK sees it (RFC
//! 8985); losses that no later packet showed are a timer's. A receiver that reports a packet twice (RFC 2883) excuses a loss, so that
//! losses wait for two round trips before they count.

use std::collections::{BTreeMap, VecDeque};

use losscause::diagnosis::{
    Cause, Certainty, DelayRank, Diagnosis, Finding, LostPacket, PathRate, QueueMeter, QueueMissed,
    QueueSeen, Readings, RecentDelay, Rounds,
};
use losscause::{Span, Time};
use losscause_capture::judge;

use super::path::Path;
use super::record::{Sample, State};
use super::sent::{Sent, SentLog};
use super::standing::Standing;
use crate::kernel::record::Ends;

/// What is known of a connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) ends: Ends,
    pub(super) control: String,
    pub(super) cgroup: u64,
    pub(super) begun: Time,
    pub(super) closed: Option<Time>,
    pub(super) state: State,
    pub(super) counts: Counts,
    /// The newest round trip.
    pub(super) rtt: Option<Span>,
    pub(super) least_rtt: Option<Span>,
    pub(super) queue: Option<QueueSeen>,
    pub(super) flight_pkts: u32,
    meter: QueueMeter,
    trip_at: Option<Time>,
    heard: Option<Time>,
    /// Behind the newest byte sent, and the first byte that is not acknowledged; both unwrapped.
    next: Option<u64>,
    una: u64,
    dsacks: u32,
    sent_before: Option<u32>,
    sent: SentLog,
    shown: VecDeque<Shown>,
    /// The newest packet that has arrived: when it was sent, and the byte behind it.
    newest: Option<(Time, u64)>,
    /// The byte behind the last packet, by its number, that has arrived.
    highest: u64,
    delivered: u32,
    /// What is missing before this byte is known to be lost.
    discovered: u64,
    /// Data that were sent again and are not acknowledged, by their first byte.
    again: BTreeMap<u64, SentAgain>,
    waiting: VecDeque<Lost>,
    /// From the first loss on.
    losses: Option<Box<Losses>>,
    tries: Option<Tries>,
    repaired_until: Option<Time>,
    standing: Standing,
    pub(super) diagnosis: Option<Box<Diagnosis>>,
    is_changed: bool,
    pub(super) first_loss: Option<Time>,
    pub(super) last_loss: Time,
}

/// Sums since the connection was seen first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Bytes of data that were acknowledged.
    pub(super) acked_bytes: u64,
    /// Packets with data that were sent, again included.
    pub(super) sent_pkts: u64,
    pub(super) lost: u64,
    /// Losses that only a timer showed.
    pub(super) by_timer: u64,
    /// Packets that were sent again without need.
    pub(super) spurious: u64,
    /// Losses while no answer came.
    unanswered: u64,
    /// The longest such time.
    longest: Span,
    /// Lost data waited for so long to be sent again.
    pub(super) repair: Span,
    /// Of that, for a timer.
    pub(super) by_timer_repair: Span,
}

/// What the losses tell together.
#[derive(Debug, Default)]
struct Losses {
    rounds: Rounds,
    /// [`QueueSeen::recent`] of the first loss of rounds, and of packets that did not leave between
    /// a loss and its discovery.
    delays: judge::Sample<RecentDelay, 512>,
    others: judge::Sample<RecentDelay>,
}

/// The last copy of data that were sent again.
#[derive(Clone, Copy, Debug)]
struct SentAgain {
    at: Time,
    path_bytes: u64,
    flight_pkts: u32,
}

/// A packet arrived while others before it are missing.
#[derive(Clone, Copy, Debug)]
struct Shown {
    sent_at: Time,
    end: u64,
    /// Packets that have arrived in all, before it and with it.
    delivered: [u32; 2],
    missed: Option<QueueMissed>,
}

/// A packet that was sent again.
#[derive(Clone, Copy, Debug)]
struct Lost {
    packet: LostPacket,
    again_at: Time,
    path_bytes: u64,
}

/// What a timer sends again and again.
#[derive(Clone, Copy, Debug)]
struct Tries {
    start: u64,
    asked: Time,
    last: Time,
    count: u32,
    lost: u64,
}

/// Entries that are kept of each kind, at most; more become fewer.
const MOST_SHOWN: usize = 256;
const MOST_AGAIN: usize = 4_096;
const MOST_WAITING: usize = 4_096;
/// Packets of one retransmission that count as lost, at most.
const MOST_AT_ONCE: u64 = 64;
/// A receiver holds an acknowledgement back for 40 ms, by a timer that may be early by a tick of 10
/// ms (`bpf/episode.h`).
const HELD_BACK: Span = Span::from_millis(30);
/// A loss is declared when so many later packets arrived (RFC 6675, DupThresh), as in a capture.
const DUP_THRESH: u32 = 3;
/// So many tries of a timer without an answer are an outage, as in a capture.
const TRIES: u32 = 3;
/// What a timer sends at once is one try (RFC 8985, section 7.2).
const ONE_TRY: Span = Span::from_millis(10);
/// A report of a packet that came twice takes a round trip.
const EXCUSED_WITHIN: i64 = 2;
const LEAST_WAIT: Span = Span::from_millis(20);
impl Connection {
    pub(super) fn new(ends: Ends, control: String, cgroup: u64, begun: Time) -> Self {
        Self {
            ends,
            control,
            cgroup,
            begun,
            closed: None,
            state: State::default(),
            counts: Counts::default(),
            rtt: None,
            least_rtt: None,
            queue: None,
            flight_pkts: 0,
            meter: QueueMeter::default(),
            trip_at: None,
            heard: None,
            next: None,
            una: 0,
            dsacks: 0,
            sent_before: None,
            sent: SentLog::default(),
            shown: VecDeque::new(),
            newest: None,
            highest: 0,
            delivered: 0,
            discovered: 0,
            again: BTreeMap::new(),
            waiting: VecDeque::new(),
            losses: None,
            tries: None,
            repaired_until: None,
            standing: Standing::default(),
            diagnosis: None,
            is_changed: false,
            first_loss: None,
            last_loss: Time::ZERO,
        }
    }

    /// Acknowledgements came.
    pub(super) fn on_samples(&mut self, state: State, samples: &[Sample], path: &mut Path) {
        let before = *self.sent_before.get_or_insert(state.sent);
        // A connection that is reset begins to count anew.
        let sent = state.sent.wrapping_sub(before) as i32;
        self.counts.sent_pkts += u64::try_from(sent).unwrap_or(0);
        self.sent_before = Some(state.sent);
        self.state = state;
        samples.iter().for_each(|sample| self.on_sample(sample, path));
    }

    fn on_sample(&mut self, sample: &Sample, path: &mut Path) {
        let now = sample.at;
        let Some(next) = self.next else { return self.begin(sample) };
        let una = unwrapped(self.una, sample.una).max(self.una);
        let end = unwrapped(next, sample.next).max(next);
        // Behind acknowledgements that are no samples, and behind this one.
        let middle = if sample.since < now { unwrapped(next, sample.next_before) } else { next };
        let middle = middle.clamp(next, end);
        for (at, data) in [(sample.since, [next, middle]), (now, [middle, end])] {
            let behind = ((end - data[1]) / self.mss()) as u32;
            let flight_pkts = sample.flight.saturating_sub(behind);
            self.on_sent(at, data, flight_pkts, path);
        }
        self.counts.acked_bytes += una - self.una;
        (self.next, self.una) = (Some(end), una);
        self.flight_pkts = sample.flight;
        self.on_answer(now);
        let arrived = (sample.sent_at, unwrapped(una, sample.sent_end));
        // As from a capture: what fills a hole has a round trip of its own, not the path's newest.
        let is_new = arrived.1 > self.highest && !self.was_sent_again(arrived.1);
        let before = std::mem::replace(&mut self.delivered, sample.delivered);
        let delivered = sample.delivered.wrapping_sub(before);
        if is_new {
            let spanned = arrived.1 - self.highest;
            if sample.sacked > 0 && spanned > u64::from(delivered) * self.mss() {
                self.meter.on_gap();
            }
            self.sent.on_arrival(arrived.0, arrived.1, self.mss());
        }
        self.highest = self.highest.max(arrived.1);
        let counts = is_new && !self.may_be_held_back(now, sample);
        if let Some(rtt) = sample.rtt.filter(|_| counts) {
            self.meter.on_trip(now, rtt);
            self.rtt = Some(rtt);
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
            if let Some(losses) = &mut self.losses
                && self.meter.is_of_others()
            {
                losses.others.push_with(|| self.meter.recent().unwrap_or_default());
            }
        }
        self.trip_at = Some(now);
        self.queue = self.meter.seen(now);
        self.standing.on_ack(now, sample.delivered, self.queue, self.packet_bytes());
        if self.newest.is_none_or(|newest| arrived > newest) {
            self.newest = Some(arrived);
            if sample.sacked > 0 && self.shown.len() < MOST_SHOWN {
                let (sent_at, end) = arrived;
                let delivered = [before, sample.delivered];
                let missed = self.meter.missed(now);
                self.shown.push_back(Shown { sent_at, end, delivered, missed });
            }
        }
        self.forget_below(una, path);
        let dsacks = sample.dsacks.wrapping_sub(self.dsacks);
        self.dsacks = sample.dsacks;
        (0..dsacks.min(MOST_AT_ONCE as u32)).for_each(|_| self.excuse(now));
        self.commit(now, path);
    }

    fn on_sent(&mut self, at: Time, data: [u64; 2], flight_pkts: u32, path: &mut Path) {
        if data[1] == data[0] {
            return;
        }
        let bytes = self.on_wire(data[1] - data[0]);
        let path_bytes = path.on_sent(bytes);
        let bytes = bytes as u32;
        self.sent.push(Sent { data, from: at, at, path_bytes, bytes, flight_pkts });
    }

    fn begin(&mut self, sample: &Sample) {
        // Room for numbers below the first.
        let first = (1_u64 << 32) + u64::from(sample.una);
        (self.una, self.highest) = (first, first);
        self.delivered = sample.delivered;
        self.next = Some(unwrapped(first, sample.next));
        self.dsacks = sample.dsacks;
        self.heard = Some(sample.at);
    }

    /// Whether the receiver may have held this acknowledgement back: it is for one packet, in
    /// order, and none came for that long.
    fn may_be_held_back(&self, now: Time, sample: &Sample) -> bool {
        sample.newly == 1
            && sample.sacked == 0
            && self.trip_at.is_some_and(|at| now - at >= HELD_BACK)
    }

    /// Whether the packet before this byte was sent again.
    fn was_sent_again(&self, end: u64) -> bool {
        let newest = self.again.range(..end).next_back();
        newest.is_some_and(|(start, _)| start + self.mss() >= end)
    }

    fn mss(&self) -> u64 {
        u64::from(self.state.mss.max(1))
    }

    fn forget_below(&mut self, una: u64, path: &mut Path) {
        let packet_bytes = self.packet_bytes();
        self.sent.take_below(una).for_each(|sent| path.on_left(&sent, packet_bytes));
        while self.shown.front().is_some_and(|shown| shown.end <= una) {
            self.shown.pop_front();
        }
        while self.again.first_key_value().is_some_and(|(start, _)| *start < una) {
            self.again.pop_first();
        }
    }

    /// Data are sent again.
    pub(super) fn on_again(
        &mut self,
        now: Time,
        [seq, end_seq]: [u32; 2],
        flight_pkts: u32,
        path: &mut Path,
    ) {
        let Some(next) = self.next else { return };
        let start = unwrapped(self.una, seq);
        let mss = self.mss();
        let bytes = u64::from(end_seq.wrapping_sub(seq));
        let packets = bytes.div_ceil(mss).clamp(1, MOST_AT_ONCE);
        if start >= next && self.sent.is_empty() {
            // Nothing is known of what was sent before the first sample.
            return;
        }
        for packet in 0..packets {
            let place = start + packet * mss;
            let flight_pkts = flight_pkts + packet as u32 + 1;
            path.on_missing(now, self.packet_bytes());
            let copy = SentAgain { at: now, path_bytes: path.sent_bytes(), flight_pkts };
            self.on_packet_again(place, copy, path);
            let bytes = self.on_wire(bytes / packets);
            self.sent.push(Sent {
                data: [next; 2],
                from: now,
                at: now,
                path_bytes: path.on_sent(bytes),
                bytes: bytes as u32,
                flight_pkts,
            });
        }
        self.first_loss.get_or_insert(now);
        self.last_loss = now;
    }

    fn on_packet_again(&mut self, start: u64, copy: SentAgain, path: &mut Path) {
        let now = copy.at;
        let mss = self.mss();
        let earlier = self.again.get(&start).copied();
        let (at, latest, flight_pkts, path_bytes) = match (earlier, self.sent.of(start)) {
            (Some(copy), _) => (copy.at, copy.at, copy.flight_pkts, copy.path_bytes),
            (None, Some((sent, next))) => {
                let latest = next.map(|next| next.at).or(self.heard);
                let latest = latest.map_or(now, |latest| latest.max(sent.at));
                let before = sent.until(start, mss);
                let path_bytes = before.path_bytes + u64::from(before.bytes);
                let at = sent.until(start + mss, mss).at;
                (at, latest, before.flight_pkts + 1, path_bytes)
            }
            // Sent after the last sample.
            (None, None) => (self.heard.unwrap_or(now), now, self.flight_pkts, path.sent_bytes()),
        };
        let is_later =
            |sent_at: Time, end: u64| sent_at > latest || earlier.is_none() && end > start + mss;
        let is_by_timer = !self.newest.is_some_and(|(sent_at, _)| is_later(sent_at, self.highest));
        let mut shown = self.shown.iter().skip_while(|shown| !is_later(shown.sent_at, shown.end));
        let first = shown.clone().next().map(|shown| shown.delivered[0]);
        let is_sure = |shown: &&Shown| {
            first.is_some_and(|first| shown.delivered[1].wrapping_sub(first) >= DUP_THRESH)
        };
        let missed = shown.find(is_sure).map_or_else(|| self.meter.missed(now), |one| one.missed);
        let queue = missed.map(|missed| missed.of_packet(Some(at)));
        if earlier.is_some() || start >= self.discovered {
            self.discovered = self.highest;
            self.meter.on_loss(now, None);
        }
        self.losses.get_or_insert_default();
        if is_by_timer {
            self.on_try(now, start, at);
        }
        if self.again.len() < MOST_AGAIN {
            self.again.insert(start, copy);
        }
        if self.waiting.len() >= MOST_WAITING
            && let Some(oldest) = self.waiting.pop_front()
        {
            self.count(&oldest, path);
        }
        let packet = LostPacket {
            at,
            is_by_timer,
            flight_pkts: Some(flight_pkts),
            rtt: self.least_rtt,
            queue,
        };
        self.waiting.push_back(Lost { packet, again_at: now, path_bytes });
    }

    fn on_try(&mut self, now: Time, start: u64, asked: Time) {
        match &mut self.tries {
            Some(tries) if now - tries.last < ONE_TRY => tries.lost += 1,
            Some(tries) if tries.start == start => {
                tries.count += 1;
                tries.lost += 1;
                tries.last = now;
            }
            _ => self.tries = Some(Tries { start, asked, last: now, count: 1, lost: 1 }),
        }
    }

    fn on_answer(&mut self, now: Time) {
        if let Some(tries) = self.tries.take()
            && tries.count >= TRIES
        {
            self.counts.unanswered += tries.lost;
            let from = self.heard.map_or(tries.asked, |heard| heard.max(tries.asked));
            self.counts.longest = self.counts.longest.max(now - from);
        }
        self.heard = Some(now);
    }

    /// The receiver got a packet twice: the oldest copy for which that can be told was not needed.
    fn excuse(&mut self, now: Time) {
        let least = self.least_rtt.unwrap_or(Span::ZERO);
        let can_be = |lost: &&Lost| now - lost.again_at >= least;
        let by_timer =
            self.waiting.iter().position(|lost| lost.packet.is_by_timer && can_be(&lost));
        let place = by_timer.or_else(|| self.waiting.iter().position(|lost| can_be(&lost)));
        if let Some(place) = place {
            self.waiting.remove(place);
            self.counts.spurious += 1;
        }
    }

    /// Losses count once nothing can excuse them.
    pub(super) fn commit(&mut self, now: Time, path: &mut Path) {
        let rtt = self.rtt.unwrap_or(Span::ZERO).max(self.least_rtt.unwrap_or(Span::ZERO));
        let wait = (rtt * EXCUSED_WITHIN).max(LEAST_WAIT);
        let due = self.waiting.partition_point(|lost| now - lost.again_at >= wait);
        self.commit_first(due, path);
    }

    /// All losses count: the connection ends, or the last answer is due.
    pub(super) fn commit_all(&mut self, path: &mut Path) {
        self.commit_first(self.waiting.len(), path);
    }

    fn commit_first(&mut self, due: usize, path: &mut Path) {
        if due == 0 {
            return;
        }
        let mut due: Vec<Lost> = self.waiting.drain(..due).collect();
        due.sort_by_key(|lost| lost.packet.at);
        due.iter().for_each(|lost| self.count(lost, path));
    }

    fn count(&mut self, lost: &Lost, path: &mut Path) {
        let Lost { packet, again_at, path_bytes } = lost;
        self.counts.lost += 1;
        self.counts.by_timer += u64::from(packet.is_by_timer);
        let from = self.repaired_until.map_or(packet.at, |until| until.max(packet.at));
        if *again_at > from {
            let waited = *again_at - from;
            self.counts.repair += waited;
            self.counts.by_timer_repair += if packet.is_by_timer { waited } else { Span::ZERO };
            self.repaired_until = Some(*again_at);
        }
        let Losses { rounds, delays, .. } = &mut **self.losses.get_or_insert_default();
        let before = rounds.count();
        rounds.on_loss(packet);
        if let Some(queue) = packet.queue.filter(|_| rounds.count() > before) {
            delays.push(queue.recent);
        }
        path.on_loss(packet, *path_bytes, [self.packet_bytes(), self.mss()]);
        self.is_changed = true;
    }

    /// Whether a loss counted since the last [`Self::judge`].
    pub(super) fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Judges what has counted, with what the path shows.
    pub(super) fn judge(&mut self, path: &mut Path, is_last: bool) {
        self.is_changed = false;
        let Some(losses) = &self.losses else { return };
        let Counts { lost, unanswered, longest, sent_pkts, .. } = self.counts;
        let open = self.tries.filter(|tries| tries.count >= TRIES);
        let unanswered = unanswered + open.map_or(0, |tries| tries.lost);
        if unanswered * 2 > lost {
            let longest = longest.max(open.map_or(Span::ZERO, |tries| tries.last - tries.asked));
            let finding = Finding::Unanswered(unanswered.min(lost), lost, longest);
            let findings = [Some(finding), None, None];
            let (cause, certainty) = (Cause::Outage, Certainty::Clear);
            self.diagnosis = Some(Box::new(Diagnosis { cause, certainty, findings }));
            return;
        }
        let Losses { rounds, delays, others } = &**losses;
        let delays = DelayRank::of(delays.kept(), others.kept());
        let readings = Readings { delays, ..rounds.readings() };
        let one_rate = path.one_rate(is_last);
        let told = readings.diagnose_with(one_rate.as_ref(), sent_pkts, || path.moments());
        self.diagnosis = Some(Box::new(told));
    }

    /// Whether the losses are kept one by one.
    pub(super) fn keeps_losses(&self) -> bool {
        self.losses.is_some()
    }

    /// Frees what takes memory; the last diagnosis stays until further losses.
    pub(super) fn forget_losses(&mut self) {
        self.losses = None;
        self.sent = SentLog::default();
        self.shown = VecDeque::new();
        self.waiting = VecDeque::new();
    }

    /// How fast the path was seen to empty a queue.
    pub(super) fn path_rate(&self) -> Option<PathRate> {
        let [least_bps, rate_bps] = self.standing.quantiles([0.1, 0.5])?;
        Some(PathRate { rate_bps, least_bps, round_trip: self.least_rtt? })
    }

    /// Bytes of a full packet, headers from IP on included.
    fn packet_bytes(&self) -> u64 {
        let ip = if self.ends.remote.is_ipv4() { 20 } else { 40 };
        u64::from(self.state.mss) + u64::from(self.state.header) + ip
    }

    /// The share of data in full packets.
    pub(super) fn payload_share(&self) -> f64 {
        f64::from(self.state.mss) / self.packet_bytes().max(1) as f64
    }

    /// Data with the headers of full packets.
    fn on_wire(&self, bytes: u64) -> u64 {
        bytes * self.packet_bytes() / u64::from(self.state.mss.max(1))
    }
}

/// The number with these low bits that is nearest to `reference`.
fn unwrapped(reference: u64, low: u32) -> u64 {
    let ahead = low.wrapping_sub(reference as u32) as i32;
    reference.wrapping_add_signed(i64::from(ahead))
}

#[cfg(test)]
mod tests;
