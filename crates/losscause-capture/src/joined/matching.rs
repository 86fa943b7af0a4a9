//! Which transmissions of a flow arrived.
//!
//! Sequence numbers are cut wherever a packet of either capture begins or ends, so that it does not
//! matter which of the two saw segments before they were cut or after they were merged. Each piece
//! has its transmissions, in the order of the sender's capture. An arrival of a piece is one of
//! them that has not arrived yet:
//!
//! 1. with the same timestamp, as no path changes it;
//! 2. of those, the one with the same IPv4 identification, if it tells;
//! 3. of those, one sent behind the newest that has arrived, as paths seldom reorder;
//! 4. of those, the one whose trip is nearest to that of the newest. The captures' clocks may
//!    differ by any amount: it is the same for both trips.
//!
//! What is left over between the first and the last packet that both captures have was lost. One
//! exception: if the receiver acknowledged a piece that its capture does not have at all, the
//! capture missed the last transmission.

use std::collections::{BTreeMap, HashMap};

use losscause::{Span, Time};

use super::log::{Log, Logged, SAME_PACKET};

/// A lost packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lost {
    /// The first byte, unwrapped as the sender's capture has it; of streams, the packet's number.
    pub(super) start: u64,
    /// Behind the last byte.
    pub(super) end: u64,
    /// When it passed the sender's capture.
    pub(super) sent: Sight,
    /// When its next transmission did.
    pub(super) resent: Option<Sight>,
    /// When the receiver's capture first saw something that was sent later.
    pub(super) revealed: Option<Sight>,
}

/// A packet in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sight {
    pub(super) at: Time,
    /// The number of its frame; 0 is none.
    frame: u32,
}

impl Sight {
    fn of(packet: &Logged) -> Self {
        Self { at: packet.time, frame: packet.frame }
    }

    /// The number of its frame.
    pub(super) fn frame(self) -> Option<u64> {
        (self.frame > 0).then(|| self.frame.into())
    }
}

/// A packet that both captures have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trip {
    pub(super) number: u64,
    pub(super) sent: Time,
    pub(super) arrived: Time,
}

/// What two logs of a flow tell together.
#[derive(Debug, Default)]
pub(super) struct Matched {
    /// In the order in which they were sent.
    pub(super) lost: Vec<Lost>,
    /// Of packets without a timestamp: those that both captures have, in the order of their
    /// arrival.
    pub(super) trips: Vec<Trip>,
    /// The first sequence number of the sender's capture, unwrapped.
    pub(super) first: u64,
    /// Packets that the sender's capture has.
    pub(super) packets: u64,
    /// Packets that one capture missed although the other shows that they passed.
    pub(super) uncaptured: u64,
    /// Bytes of which the sender's capture has more copies, and of which the receiver's has more,
    /// of those that both have.
    pub(super) more_copies: (u64, u64),
}

impl Matched {
    /// Whether the order of the captures is right, by what both have. The sender's capture has
    /// every copy of the data, the receiver's those that were not lost; what a capture misses is
    /// not in both. None if all copies arrived.
    pub(super) fn is_in_order(&self) -> Option<bool> {
        let (sent, arrived) = self.more_copies;
        (sent != arrived).then_some(sent > arrived)
    }

    /// Adds a later connection of the same ends.
    pub(super) fn extend(&mut self, later: Matched) {
        self.lost.extend(later.lost);
        self.trips.extend(later.trips);
        self.packets += later.packets;
        self.uncaptured += later.uncaptured;
        self.more_copies.0 += later.more_copies.0;
        self.more_copies.1 += later.more_copies.1;
    }
}

/// Pieces per packet, on average, that an honest capture does not reach.
const MAX_PIECES: usize = 64;
/// An arrival is none of the transmissions so many before the newest of the same bytes that
/// arrived.
const MAX_COPIES: usize = 64;

/// Matches the transmissions of `sent` with the arrivals of `arrived`; none if no packet is in
/// both. `wrap` is how many sequence numbers there are, if they begin again, `packet_bytes` the
/// size of a full packet on the wire.
pub(super) fn matched(
    sent: &Log,
    arrived: &Log,
    wrap: Option<u64>,
    packet_bytes: u64,
) -> Option<Matched> {
    let shift = shift(&sent.packets, &arrived.packets, wrap)?;
    let shifted = |packet: &Logged| Logged {
        start: packet.start.wrapping_add_signed(shift),
        end: packet.end.wrapping_add_signed(shift),
        ..*packet
    };
    let arrivals: Vec<Logged> = arrived.packets.iter().map(shifted).collect();
    let acked = sent.acked.max(arrived.acked.checked_add_signed(shift).unwrap_or(0));
    let mut pieces = Pieces::new(&sent.packets, &arrivals, packet_bytes)?;
    arrivals.iter().for_each(|arrival| pieces.on_arrival(arrival));
    let first = sent.packets.first().map_or(0, |packet| packet.start);
    let more_copies = pieces.more_copies(&arrivals);
    Some(Matched { first, more_copies, ..pieces.finish(acked)? })
}

/// What to add to sequence numbers of `arrived` so that they mean the same bytes as in `sent`: the
/// captures may have begun with different wraps. None if no packet is in both.
fn shift(sent: &[Logged], arrived: &[Logged], wrap: Option<u64>) -> Option<i64> {
    let identity =
        |packet: &Logged| (wrap.map_or(packet.start, |wrap| packet.start % wrap), packet.stamp);
    let mut places = HashMap::new();
    for packet in sent {
        places.entry(identity(packet)).or_insert(packet.start);
    }
    let mut votes: BTreeMap<i64, usize> = BTreeMap::new();
    for packet in arrived {
        if let Some(start) = places.get(&identity(packet)) {
            *votes.entry(start.wrapping_sub(packet.start) as i64).or_default() += 1;
        }
    }
    votes
        .into_iter()
        .max_by_key(|&(shift, votes)| (votes, std::cmp::Reverse(shift.abs())))
        .map(|(shift, _)| shift)
}

/// The sequence numbers of a flow in pieces.
struct Pieces<'a> {
    sent: &'a [Logged],
    packet_bytes: u64,
    /// Where pieces begin or end, in order.
    cuts: Vec<u64>,
    /// By piece: where its copies begin in `copies`; one more at the end.
    first_copy: Vec<usize>,
    copies: Vec<Transmission>,
    /// By piece: the first copy that may still arrive.
    open: Vec<usize>,
    /// By piece: whether the receiver's capture has it.
    seen: Vec<bool>,
    /// Of the newest transmission that has arrived: its index, and its trip by the two clocks.
    newest: Option<(usize, Span)>,
    /// The first and the last transmission that arrived.
    common: Option<(usize, usize)>,
    /// When a transmission arrived.
    arrival_of: Vec<Option<Sight>>,
    uncaptured: u64,
    pending_uncaptured: u64,
}

/// A transmission of a piece.
#[derive(Clone, Copy)]
struct Transmission {
    /// Which of the sent packets it is part of.
    index: usize,
    arrived: bool,
}

impl<'a> Pieces<'a> {
    /// None if there are more pieces than the packets of honest captures have.
    fn new(sent: &'a [Logged], arrivals: &[Logged], packet_bytes: u64) -> Option<Self> {
        let mut cuts: Vec<u64> =
            sent.iter().chain(arrivals).flat_map(|packet| [packet.start, packet.end]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let most = MAX_PIECES * (sent.len() + arrivals.len());
        let covered = |packet: &Logged| pieces_of(&cuts, packet).len();
        let mut total = 0_usize;
        for packet in sent.iter().chain(arrivals) {
            total += covered(packet);
            if total > most {
                return None;
            }
        }
        // Copies are counted per piece first and put into their places then.
        let mut first_copy = vec![0; cuts.len()];
        for piece in sent.iter().flat_map(|packet| pieces_of(&cuts, packet)) {
            first_copy[piece + 1] += 1;
        }
        for piece in 1..first_copy.len() {
            first_copy[piece] += first_copy[piece - 1];
        }
        let mut next = first_copy.clone();
        let open = first_copy.clone();
        let seen = vec![false; first_copy.len()];
        let mut copies = vec![
            Transmission { index: 0, arrived: false };
            first_copy.last().copied().unwrap_or(0)
        ];
        for (index, packet) in sent.iter().enumerate() {
            for piece in pieces_of(&cuts, packet) {
                copies[next[piece]].index = index;
                next[piece] += 1;
            }
        }
        Some(Self {
            sent,
            packet_bytes: packet_bytes.max(1),
            cuts,
            first_copy,
            copies,
            open,
            seen,
            newest: None,
            common: None,
            arrival_of: vec![None; sent.len()],
            uncaptured: 0,
            pending_uncaptured: 0,
        })
    }

    fn copies_of(&self, piece: usize) -> std::ops::Range<usize> {
        self.first_copy[piece]..self.first_copy[piece + 1]
    }

    fn on_arrival(&mut self, arrival: &Logged) {
        let before = self.newest;
        let mut unknown = 0;
        for piece in pieces_of(&self.cuts, arrival) {
            self.seen[piece] = true;
            let Some(copy) = self.choose(piece, arrival, before) else {
                unknown += u64::from(self.copies_of(piece).is_empty())
                    * (self.cuts[piece + 1] - self.cuts[piece]);
                continue;
            };
            self.settle(piece, copy);
            let index = self.copies[copy].index;
            self.arrival_of[index].get_or_insert(Sight::of(arrival));
            self.common = Some(
                self.common
                    .map_or((index, index), |(first, last)| (first.min(index), last.max(index))),
            );
            if self.newest.is_none_or(|(newest, _)| newest < index) {
                self.newest = Some((index, arrival.time - self.sent[index].time));
            }
            // What nobody saw being sent counts if it lies between packets that both saw.
            self.uncaptured += std::mem::take(&mut self.pending_uncaptured);
        }
        if self.common.is_some() {
            self.pending_uncaptured += unknown.div_ceil(self.packet_bytes);
        }
    }

    fn settle(&mut self, piece: usize, copy: usize) {
        self.copies[copy].arrived = true;
        let open = self.open[piece].max(copy.saturating_sub(MAX_COPIES));
        let end = self.copies_of(piece).end;
        self.open[piece] = (open..end).find(|&copy| !self.copies[copy].arrived).unwrap_or(end);
    }

    /// The transmission of `piece` that arrived.
    fn choose(
        &self,
        piece: usize,
        arrival: &Logged,
        newest: Option<(usize, Span)>,
    ) -> Option<usize> {
        let open = (self.open[piece]..self.copies_of(piece).end).take(2 * MAX_COPIES);
        let mut left: Vec<usize> = open.filter(|&copy| !self.copies[copy].arrived).collect();
        let packet = |copy: usize| &self.sent[self.copies[copy].index];
        // A card may merge segments whose timestamps differ, and keeps one.
        let is_merged = arrival.end - arrival.start > self.packet_bytes;
        let of = |packet: &Logged| (packet.stamp, packet.is_again);
        let same_stamp = |copy: &usize| of(packet(*copy)) == of(arrival);
        if !is_merged || left.iter().any(same_stamp) {
            left.retain(same_stamp);
        }
        prefer(&mut left, |copy| arrival.ip_id != 0 && packet(copy).ip_id == arrival.ip_id);
        prefer(&mut left, |copy| newest.is_some_and(|(index, _)| self.copies[copy].index > index));
        let detour = |copy: &usize| {
            let trip = arrival.time - packet(*copy).time;
            newest.map_or(Span::ZERO, |(_, usual)| (trip - usual).abs())
        };
        left.into_iter().min_by_key(detour)
    }

    fn finish(mut self, acked: u64) -> Option<Matched> {
        let (first, last) = self.common?;
        for piece in 0..self.cuts.len() - 1 {
            if !self.seen[piece]
                && self.cuts[piece + 1] <= acked
                && let Some(copy) = self.copies_of(piece).last()
            {
                self.copies[copy].arrived = true;
                let inside = (first..=last).contains(&self.copies[copy].index);
                // A packet counts once, with its first piece.
                let begins = self.sent[self.copies[copy].index].start == self.cuts[piece];
                self.uncaptured += u64::from(inside && begins);
            }
        }
        let revealed = self.first_arrival_behind();
        let mut lost = Vec::new();
        for (index, &revealed) in revealed.iter().enumerate().take(last + 1).skip(first) {
            let sent = Sight::of(&self.sent[index]);
            let parts = self.lost_parts(index).into_iter();
            lost.extend(parts.map(|(start, end, resent)| Lost {
                start,
                end,
                sent,
                resent,
                revealed,
            }));
        }
        let packets = self.sent.len() as u64;
        let uncaptured = self.uncaptured;
        let trips = self.trips();
        Some(Matched { lost, trips, packets, uncaptured, ..Matched::default() })
    }

    /// Of the bytes that both captures have: those of which the first has more copies, and those of
    /// which the second has.
    fn more_copies(&self, arrivals: &[Logged]) -> (u64, u64) {
        let sent = self.count(self.sent);
        let arrived = self.count(arrivals);
        let mut more_sent = 0;
        let mut more_arrived = 0;
        for (piece, bounds) in self.cuts.windows(2).enumerate() {
            let bytes = bounds[1] - bounds[0];
            let sent = sent[piece];
            let arrived = arrived[piece];
            if sent > 0 && arrived > 0 {
                more_sent += if sent > arrived { bytes } else { 0 };
                more_arrived += if arrived > sent { bytes } else { 0 };
            }
        }
        (more_sent, more_arrived)
    }

    /// By piece: how often a capture has it, not counting what the network or the capture doubled
    /// at once.
    fn count(&self, packets: &[Logged]) -> Vec<u32> {
        let mut copies = vec![0; self.cuts.len()];
        let mut last: Vec<Option<Time>> = vec![None; self.cuts.len()];
        for packet in packets {
            for piece in pieces_of(&self.cuts, packet) {
                let is_new = last[piece]
                    .replace(packet.time)
                    .is_none_or(|last| packet.time - last >= SAME_PACKET);
                copies[piece] += u32::from(is_new);
            }
        }
        copies
    }

    /// The packets without a timestamp that both captures have; none of TCP, whose bytes may be cut
    /// otherwise.
    fn trips(&self) -> Vec<Trip> {
        if self.sent.iter().any(|packet| packet.stamp.is_some() || packet.end - packet.start > 1) {
            return Vec::new();
        }
        let of = |(sent, arrival): (&Logged, &Option<Sight>)| {
            Some(Trip { number: sent.start, sent: sent.time, arrived: (*arrival)?.at })
        };
        let mut trips: Vec<Trip> = self.sent.iter().zip(&self.arrival_of).filter_map(of).collect();
        trips.sort_by_key(|trip| trip.arrived);
        trips
    }

    /// By transmission: when the first arrived that was sent later.
    fn first_arrival_behind(&self) -> Vec<Option<Sight>> {
        let mut behind = vec![None; self.sent.len()];
        let mut first: Option<Sight> = None;
        for index in (0..self.sent.len()).rev() {
            behind[index] = first;
            if let Some(sight) = self.arrival_of[index] {
                first = Some(first.filter(|first| first.at <= sight.at).unwrap_or(sight));
            }
        }
        behind
    }

    /// The packets of a transmission that did not arrive, and when each was sent again. A segment
    /// that was cut later has several packets, from its beginning on.
    fn lost_parts(&self, index: usize) -> Vec<(u64, u64, Option<Sight>)> {
        let packet = &self.sent[index];
        let packet_of = |byte: u64| (byte - packet.start) / self.packet_bytes;
        let mut parts: Vec<(u64, u64, Option<Sight>)> = Vec::new();
        for piece in pieces_of(&self.cuts, packet) {
            let copies = &self.copies[self.copies_of(piece)];
            let place = copies.partition_point(|copy| copy.index < index);
            if copies[place].arrived {
                continue;
            }
            let mut start = self.cuts[piece];
            let end = self.cuts[piece + 1];
            let resent = copies.get(place + 1).map(|copy| Sight::of(&self.sent[copy.index]));
            while start < end {
                let until = end.min(packet.start + (packet_of(start) + 1) * self.packet_bytes);
                match parts.last_mut() {
                    Some(part) if part.1 == start && packet_of(part.0) == packet_of(start) => {
                        part.1 = until;
                    }
                    _ => parts.push((start, until, resent)),
                }
                start = until;
            }
        }
        parts
    }
}

/// The pieces that a packet covers.
fn pieces_of(cuts: &[u64], packet: &Logged) -> std::ops::Range<usize> {
    let place = |byte: u64| cuts.partition_point(|&cut| cut < byte);
    place(packet.start)..place(packet.end)
}

/// Keeps what `is` prefers, if there is any.
fn prefer(left: &mut Vec<usize>, is: impl Fn(usize) -> bool) {
    if left.iter().any(|&copy| is(copy)) {
        left.retain(|&copy| is(copy));
    }
}
