//! What passed between two hosts, over all their connections: a policer's bucket serves them
//! together.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use losscause::{Span, Time};

/// One direction between two hosts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    /// Tells paths apart.
    pub(crate) id: u64,
    /// When its first flow began.
    pub(crate) begun: Time,
    /// Bytes that passed, headers included.
    bytes: Arc<AtomicU64>,
}

/// The paths of a capture, by their hosts.
#[derive(Debug, Default)]
pub(super) struct Paths {
    known: HashMap<[u128; 2], Path>,
    made: u64,
}

/// Where a lost packet was in what passed between its hosts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    /// When it passed; at a receiver, when it was missed.
    pub(crate) at: Time,
    /// Bytes of all flows of the path before it; none if they are not counted.
    pub(crate) path_bytes: Option<u64>,
    /// Packets in flight then, itself included, at a sender.
    pub(crate) flight_pkts: Option<u32>,
    pub(crate) rtt: Option<Span>,
}

/// When a flow's packets passed, and a number of each, such as what had passed between its hosts
/// before, bytes: of the newest ones. Every packet of a capture is written here, so each takes 8
/// bytes.
#[derive(Clone, Debug, Default)]
pub struct Course {
    older: VecDeque<Stretch>,
    newest: Stretch,
    /// Of all stretches.
    packets: usize,
}

/// Packets in a row.
#[derive(Clone, Debug, Default)]
struct Stretch {
    /// The time and the number of the first and the last packet.
    first: (Time, u64),
    last: (Time, u64),
    /// How far each is from the one before: nanoseconds, and the difference of the numbers.
    packets: Vec<(i32, i32)>,
}

/// So many packets are kept: a policer shows in a few dozen rounds of losses.
const MAX_COURSE: usize = 16_384;
/// A longer stretch is more than one, so that the oldest packets can go.
const MAX_STRETCH: usize = 1_024;
/// More paths are not known together: further connections have one each.
const MAX_PATHS: usize = 65_536;

impl Paths {
    /// The path between these hosts, which a flow begins at `now`.
    pub(super) fn of(&mut self, hosts: [u128; 2], now: Time) -> Path {
        if let Some(path) = self.known.get(&hosts) {
            return path.clone();
        }
        self.made += 1;
        let path = Path { id: self.made, begun: now, bytes: Arc::default() };
        if self.known.len() < MAX_PATHS {
            self.known.insert(hosts, path.clone());
        }
        path
    }
}

impl Path {
    /// Bytes pass. Returns how many had passed before. One thread reads a capture, so that a load
    /// and a store will do.
    #[inline]
    pub(super) fn pass(&self, bytes: u64) -> u64 {
        let before = self.bytes.load(Ordering::Relaxed);
        self.bytes.store(before + bytes, Ordering::Relaxed);
        before
    }
}

impl Course {
    /// A packet passed.
    #[inline]
    pub fn on_packet(&mut self, now: Time, number: u64) {
        self.packets += 1;
        if self.newest.take(now, number).is_none() {
            self.begin_stretch(now, number);
        }
    }

    /// Whether the next packet may drop an older one.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.packets >= MAX_COURSE
    }

    #[cold]
    fn begin_stretch(&mut self, now: Time, number: u64) {
        let first = (now, number);
        let mut packets = Vec::with_capacity(self.newest.packets.len());
        packets.push((0, 0));
        let begun = Stretch { first, last: first, packets };
        self.older.push_back(std::mem::replace(&mut self.newest, begun));
        while let Some(oldest) = self.older.front()
            && self.packets - oldest.packets.len() >= MAX_COURSE
        {
            self.packets -= oldest.packets.len();
            self.older.pop_front();
        }
    }

    /// The packets, in the order in which they passed.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Time, u64)> + '_ {
        let older = self.packets.saturating_sub(MAX_COURSE);
        let stretches = self.older.iter().chain([&self.newest]);
        stretches.flat_map(Stretch::iter).skip(older)
    }
}

impl Stretch {
    /// A packet passed; none if it is too far from the last one.
    #[inline]
    fn take(&mut self, now: Time, number: u64) -> Option<()> {
        let (before, number_before) = self.last;
        let after = i32::try_from((now - before).as_nanos()).ok()?;
        let more = i32::try_from(number.wrapping_sub(number_before).cast_signed()).ok()?;
        if self.packets.is_empty() || self.packets.len() == MAX_STRETCH {
            return None;
        }
        self.packets.push((after, more));
        self.last = (now, number);
        Some(())
    }

    fn iter(&self) -> impl Iterator<Item = (Time, u64)> + '_ {
        let next = |(at, number): &mut (Time, u64), &(after, more): &(i32, i32)| {
            *at += Span::from_nanos(after.into());
            *number = number.wrapping_add_signed(more.into());
            Some((*at, *number))
        };
        self.packets.iter().scan(self.first, next)
    }
}

impl Passage {
    /// Of a packet of which only this time is known.
    pub(crate) fn at(at: Time) -> Self {
        Self { at, path_bytes: None, flight_pkts: None, rtt: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_has_its_newest_packets_whatever_lies_between_them() {
        let mut course = Course::default();
        let mut all: Vec<(Time, u64)> = Vec::new();
        let mut now = Time::ZERO;
        let mut bytes = 0;
        for number in 0..40_000_u64 {
            // A pause now and then, a time that goes back, much of other flows between.
            now += match number % 1_000 {
                500 => Span::from_secs(5),
                700 => Span::from_secs(-4),
                _ => Span::from_nanos(1_200_007),
            };
            bytes += if number % 900 == 3 { 5_000_000_000 } else { 1_500 };
            course.on_packet(now, bytes);
            all.push((now, bytes));
            if [1, 16_384, 16_385, 17_000, 40_000].contains(&(number + 1)) {
                let newest = &all[all.len().saturating_sub(MAX_COURSE)..];
                assert!(course.iter().eq(newest.iter().copied()), "after {number}");
            }
        }
        assert!(course.packets < MAX_COURSE + MAX_STRETCH, "{}", course.packets);
    }
}
