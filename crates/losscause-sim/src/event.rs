//! Who acts next: a tournament over a fixed set of event sources.
//!
//! The simulator knows all its sources beforehand (one per link, two timers per flow), and each has at most one next
//! event. So nothing is ever inserted or removed: a source's key is overwritten in place, and the matches on the way
//! from its leaf to the root are played again. There are no stale events and nothing is allocated.
//!
//! Events at the same time come in the order in which they were set. A key is one 64-bit integer that holds the time since
//! [`Schedule::base`], an insertion number and the source, because comparing such integers needs no branch that could be
//! mispredicted. Events too far ahead for that are held back at the horizon; when only such are left, or insertion numbers
//! run out, all keys are made anew, once in many thousands of events.

use losscause::{Span, Time};

/// The key of a source without an event, larger than all others.
const NO_KEY: u64 = u64::MAX;
/// The time of a source without an event.
const NEVER: Time = Time::MAX;

/// The next event of every source.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// A complete binary tree: the root is node 1, the children of node i are 2i and 2i + 1, the sources are the leaves.
    /// Every node holds the smallest key below it.
    nodes: Box<[u64]>,
    /// When each source acts next.
    at: Box<[Time]>,
    /// Keys count time from here.
    base: Time,
    /// The next insertion number, in its place within a key.
    number: u64,
    /// The lowest bits of a key hold the source, so many of them. The insertion number is next.
    source_bits: u32,
    /// The highest bits of a key hold the time, from this one on.
    time_bit: u32,
    /// Times from here on, nanoseconds after the base, are all the same in keys.
    horizon: u64,
}

impl Schedule {
    /// The most sources there can be.
    pub(crate) const MAX_SOURCES: usize = 1 << 20;

    /// So many sources, none with an event.
    pub(crate) fn new(sources: usize) -> Self {
        let leaves = sources.next_power_of_two().max(2);
        let source_bits = leaves.ilog2();
        // Twice as many insertion numbers as there are sources, so that a fresh start lasts for a while.
        let time_bit = source_bits + (source_bits + 1).max(16);
        Self {
            nodes: vec![NO_KEY; 2 * leaves].into_boxed_slice(),
            at: vec![NEVER; sources].into_boxed_slice(),
            base: Time::ZERO,
            number: 0,
            source_bits,
            time_bit,
            horizon: (NO_KEY >> time_bit) - 1,
        }
    }

    /// `source` acts next at `at`, or never. If that was known already, it keeps its place among simultaneous events.
    #[inline]
    pub(crate) fn set(&mut self, source: usize, at: Option<Time>) {
        let at = at.unwrap_or(NEVER);
        if self.at[source] == at {
            return;
        }
        self.at[source] = at;
        // A time before the base becomes a very large number.
        let since_base = (at - self.base).as_nanos() as u64;
        if since_base >= self.horizon {
            self.set_far(source, at);
            return;
        }
        self.replace(source, since_base << self.time_bit | self.number | source as u64);
        self.count();
    }

    /// The next event up to and including `until`: when, and which source. It stays until the source is set anew.
    #[inline]
    pub(crate) fn first_until(&mut self, until: Time) -> Option<(Time, usize)> {
        let mut key = self.nodes[1];
        if key >> self.time_bit >= self.horizon {
            if key == NO_KEY {
                return None;
            }
            self.renumber();
            key = self.nodes[1];
        }
        let at = self.base + Span::from_nanos((key >> self.time_bit) as i64);
        let source = key & ((1 << self.source_bits) - 1);
        (at <= until).then_some((at, source as usize))
    }

    /// Never, beyond the horizon, or before the base.
    fn set_far(&mut self, source: usize, at: Time) {
        if at == NEVER {
            self.replace(source, NO_KEY);
        } else if at < self.base {
            self.nodes[self.at_leaf(source)] = self.number;
            self.renumber();
        } else {
            self.replace(source, self.horizon << self.time_bit | self.number | source as u64);
            self.count();
        }
    }

    #[inline]
    fn replace(&mut self, source: usize, key: u64) {
        let leaf = self.at_leaf(source);
        let old = self.nodes[leaf];
        self.nodes[leaf] = key;
        if key < old {
            self.sooner(leaf, key);
        } else if self.nodes[1] == old {
            self.last_winner_later(leaf, key);
        } else {
            self.later(leaf, key, old);
        }
    }

    /// A leaf's key became smaller: it wins as long as the winner so far is larger.
    #[inline]
    fn sooner(&mut self, leaf: usize, key: u64) {
        let mut node = leaf / 2;
        while node > 0 && key < self.nodes[node] {
            self.nodes[node] = key;
            node /= 2;
        }
    }

    /// A leaf's key became larger: the matches that it won are played again.
    #[inline]
    fn later(&mut self, leaf: usize, key: u64, old: u64) {
        let mut node = leaf;
        let mut winner = key;
        while self.nodes[node / 2] == old {
            winner = winner.min(self.nodes[node ^ 1]);
            node /= 2;
            self.nodes[node] = winner;
        }
    }

    /// The same if it had won all its matches, which is so for the source that just acted.
    #[inline]
    fn last_winner_later(&mut self, leaf: usize, key: u64) {
        let mut node = leaf;
        let mut winner = key;
        while node > 1 {
            winner = winner.min(self.nodes[node ^ 1]);
            node /= 2;
            self.nodes[node] = winner;
        }
    }

    /// An insertion number was used.
    #[inline]
    fn count(&mut self) {
        self.number += 1 << self.source_bits;
        if self.number >> self.time_bit != 0 {
            self.renumber();
        }
    }

    fn at_leaf(&self, source: usize) -> usize {
        self.nodes.len() / 2 + source
    }

    /// Makes all keys anew, in the same order, counted from the first event.
    #[cold]
    fn renumber(&mut self) {
        let leaves = self.at_leaf(0);
        let mut order: Vec<usize> = (0..self.at.len()).filter(|&source| self.at[source] != NEVER).collect();
        let number = |source| self.nodes[leaves + source] & ((1 << self.time_bit) - 1);
        order.sort_by_key(|&source| (self.at[source], number(source)));
        self.base = order.first().map_or(self.base, |&first| self.at[first]);
        self.number = 0;
        for source in order {
            let since_base = (self.at[source] - self.base).as_nanos() as u64;
            let time = since_base.min(self.horizon) << self.time_bit;
            self.nodes[leaves + source] = time | self.number | source as u64;
            self.number += 1 << self.source_bits;
        }
        for node in (1..leaves).rev() {
            self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(nanos: i64) -> Option<Time> {
        Some(Time::from_nanos(nanos))
    }

    fn drain(schedule: &mut Schedule) -> Vec<usize> {
        let mut order = Vec::new();
        while let Some((_, source)) = schedule.first_until(Time::MAX) {
            schedule.set(source, None);
            order.push(source);
        }
        order
    }

    #[test]
    fn simultaneous_events_come_in_the_order_they_were_set() {
        let mut schedule = Schedule::new(5);
        for source in [3, 0, 4, 1] {
            schedule.set(source, at(7));
        }
        // Setting the same time again does not lose the place; another time in between does.
        schedule.set(3, at(7));
        schedule.set(0, at(6));
        schedule.set(0, at(7));
        assert_eq!(drain(&mut schedule), [3, 4, 1, 0]);
    }

    #[test]
    fn an_event_after_the_limit_stays() {
        let mut schedule = Schedule::new(1);
        assert_eq!(schedule.first_until(Time::MAX), None);
        schedule.set(0, at(10));
        assert_eq!(schedule.first_until(Time::from_nanos(9)), None);
        assert_eq!(schedule.first_until(Time::from_nanos(10)), Some((Time::from_nanos(10), 0)));
    }

    #[test]
    fn events_beyond_the_horizon_come_in_order_too() {
        let hours = |hours: i64| Time::ZERO + Span::from_secs(hours * 3600);
        let mut schedule = Schedule::new(4);
        for (source, time) in [(0, hours(200_000)), (1, hours(100)), (2, hours(1)), (3, hours(100))] {
            schedule.set(source, Some(time));
        }
        assert_eq!(schedule.first_until(hours(99)), Some((hours(1), 2)));
        schedule.set(2, None);
        assert_eq!(schedule.first_until(hours(99)), None);
        assert_eq!(schedule.first_until(hours(100)), Some((hours(100), 1)));
        schedule.set(2, Some(hours(50)));
        assert_eq!(drain(&mut schedule), [2, 1, 3, 0]);
    }

    proptest! {
        #[test]
        fn the_tournament_agrees_with_a_sorted_list(
            sources in 1_usize..40,
            first_number in prop_oneof![Just(0), 65_400_u64..65_536],
            steps in prop::collection::vec((0_usize..40, prop::option::weighted(0.8, 0_i64..50)), 0..200),
        ) {
            let mut schedule = Schedule::new(sources);
            schedule.number = first_number << schedule.source_bits;
            let mut model: Vec<Option<(i64, usize)>> = vec![None; sources];
            for (number, &(source, time)) in steps.iter().enumerate() {
                let source = source % sources;
                schedule.set(source, time.map(Time::from_nanos));
                if model[source].map(|(at, _)| at) != time {
                    model[source] = time.map(|at| (at, number));
                }
                let first = (0..sources).filter(|&s| model[s].is_some()).min_by_key(|&s| model[s]);
                prop_assert_eq!(schedule.first_until(Time::MAX).map(|(_, source)| source), first);
            }
        }
    }
}
