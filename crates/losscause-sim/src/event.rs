//! Who acts next: a tournament over a fixed set of event sources.
//!
//! The simulator knows all its sources beforehand (one per link, two timers per flow), and each has at most one next
//! event. So nothing is ever inserted or removed: a source's key is overwritten in place, and the matches on the way
//! from its leaf to the root are played again, until one ends as before. There are no stale events and nothing is
//! allocated.
//!
//! A key is one integer: time, then insertion number, then source. Events at the same time come in the order in which
//! they were set.

use losscause::Time;

/// Bits of a key that hold the source.
const SOURCE_BITS: u32 = 24;
/// Bits of a key that hold the insertion number.
const NUMBER_BITS: u32 = 64 - SOURCE_BITS;
/// The key of a source without an event.
const NEVER: u128 = u128::MAX;

/// The next event of every source.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// A complete binary tree: the root is node 1, the children of node i are 2i and 2i + 1, the sources are the leaves.
    /// Every node holds the smallest key below it.
    nodes: Box<[u128]>,
    set: u64,
}

impl Schedule {
    /// The most sources there can be.
    pub(crate) const MAX_SOURCES: usize = 1 << SOURCE_BITS;

    /// So many sources, none with an event.
    pub(crate) fn new(sources: usize) -> Self {
        let leaves = sources.next_power_of_two().max(2);
        Self { nodes: vec![NEVER; 2 * leaves].into_boxed_slice(), set: 0 }
    }

    /// `source` acts next at `at`, or never. If that was known already, it keeps its place among simultaneous events.
    #[inline]
    pub(crate) fn set(&mut self, source: usize, at: Option<Time>) {
        let leaf = self.nodes.len() / 2 + source;
        let key = match at {
            Some(at) => {
                let time = at.as_nanos().max(0) as u64;
                if (self.nodes[leaf] >> 64) as u64 == time {
                    return;
                }
                self.set += 1;
                let number = self.set & ((1 << NUMBER_BITS) - 1);
                u128::from(time) << 64 | u128::from(number << SOURCE_BITS | source as u64)
            }
            None => NEVER,
        };
        self.nodes[leaf] = key;
        let mut node = leaf;
        while node > 1 {
            let winner = self.nodes[node].min(self.nodes[node ^ 1]);
            node /= 2;
            if self.nodes[node] == winner {
                break;
            }
            self.nodes[node] = winner;
        }
    }

    /// The next event up to and including `until`: when, and which source. It stays until the source is set anew.
    #[inline]
    pub(crate) fn first_until(&self, until: Time) -> Option<(Time, usize)> {
        let key = self.nodes[1];
        let time = (key >> 64) as u64;
        if time > until.as_nanos() as u64 || key == NEVER {
            return None;
        }
        Some((Time::from_nanos(time as i64), (key as u64 & ((1 << SOURCE_BITS) - 1)) as usize))
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

    proptest! {
        #[test]
        fn the_tournament_agrees_with_a_sorted_list(
            sources in 1_usize..40,
            steps in prop::collection::vec((0_usize..40, prop::option::weighted(0.8, 0_i64..50)), 0..200),
        ) {
            let mut schedule = Schedule::new(sources);
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
