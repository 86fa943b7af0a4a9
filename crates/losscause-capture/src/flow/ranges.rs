//! A set of bytes, kept as ranges.

use std::collections::BTreeMap;

/// Ranges of sequence numbers that neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    /// Each range's end by its beginning.
    ranges: BTreeMap<u64, u64>,
}

impl Ranges {
    /// Adds `from` to `to`, and calls `new` with each part that was not in the set. The work is
    /// that of the new parts and of the ranges that they join, whatever the size of the set.
    pub(crate) fn insert(&mut self, from: u64, to: u64, mut new: impl FnMut(u64, u64)) {
        if from >= to {
            return;
        }
        let (first, at) = match self.ranges.range(..=from).next_back() {
            Some((_, &end)) if end >= to => return,
            Some((&start, &end)) if end >= from => (start, end),
            _ => (from, from),
        };
        let mut last = to;
        self.fill(at, to, &mut last, &mut new);
        // One that grows stays where it is.
        self.ranges.insert(first, last);
    }

    /// Reports the parts of `at` to `to` that are free and swallows the ranges that touch it.
    fn fill(&mut self, mut at: u64, to: u64, last: &mut u64, new: &mut impl FnMut(u64, u64)) {
        while let Some((&start, &end)) = self.ranges.range(at..=to).next() {
            if start > at {
                new(at, start);
            }
            self.ranges.remove(&start);
            at = end;
            *last = (*last).max(end);
            if at >= to {
                return;
            }
        }
        new(at, to);
    }

    /// Forgets everything below `to`.
    pub(crate) fn remove_below(&mut self, to: u64) {
        while let Some(entry) = self.ranges.first_entry() {
            if *entry.key() >= to {
                break;
            }
            let end = entry.remove();
            if end > to {
                self.ranges.insert(to, end);
            }
        }
    }

    /// The number of ranges.
    pub(crate) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn insert(set: &mut Ranges, from: u64, to: u64) -> Vec<(u64, u64)> {
        let mut new = Vec::new();
        set.insert(from, to, |from, to| new.push((from, to)));
        new
    }

    #[test]
    fn only_new_parts_are_reported_and_ranges_join() {
        let mut set = Ranges::default();
        assert_eq!(insert(&mut set, 10, 20), [(10, 20)]);
        assert_eq!(insert(&mut set, 30, 40), [(30, 40)]);
        assert_eq!(insert(&mut set, 12, 18), []);
        assert_eq!(insert(&mut set, 5, 50), [(5, 10), (20, 30), (40, 50)]);
        assert_eq!(set.len(), 1);
        assert_eq!(insert(&mut set, 50, 60), [(50, 60)]);
        assert_eq!(set.len(), 1, "touching ranges are one");
    }

    proptest! {
        #[test]
        fn the_ranges_are_the_set_of_their_numbers(inserts in prop::collection::vec((0_u64..60, 0_u64..12), 0..40)) {
            let mut set = Ranges::default();
            let mut plain = BTreeSet::new();
            for (from, length) in inserts {
                let mut expected: BTreeSet<u64> = (from..from + length).collect();
                expected.retain(|number| plain.insert(*number));
                let new: BTreeSet<u64> = insert(&mut set, from, from + length).iter().flat_map(|&(a, b)| a..b).collect();
                prop_assert_eq!(new, expected);
            }
            set.remove_below(30);
            let left: BTreeSet<u64> = set.ranges.iter().flat_map(|(&a, &b)| a..b).collect();
            prop_assert_eq!(left, plain.split_off(&30));
        }
    }
}
