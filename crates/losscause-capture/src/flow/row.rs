//! Values by ascending key, of which most come behind all others and go from the front.
//!
//! Both take the same time however many there are. Elsewhere a value is found by halving, and only
//! a part of the row moves for one that comes between others.

use std::collections::VecDeque;

/// Values by ascending key.
#[derive(Clone, Debug)]
pub(super) struct Row<T> {
    /// Not empty, but for the only one.
    parts: VecDeque<VecDeque<(u64, T)>>,
    len: usize,
}

/// A part holds so many values at most.
const PART: usize = 64;

impl<T> Default for Row<T> {
    fn default() -> Self {
        Self { parts: VecDeque::new(), len: 0 }
    }
}

impl<T> Row<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds a value whose key the row does not have. Always inlined, so that the value is written
    /// where it stays: a copy of what was just written in smaller pieces keeps a processor waiting.
    #[inline(always)]
    pub(super) fn insert(&mut self, key: u64, value: T) {
        self.len += 1;
        match self.parts.back_mut() {
            Some(last) if last.len() < PART && last.back().is_none_or(|newest| newest.0 < key) => {
                last.push_back((key, value));
            }
            _ => self.insert_elsewhere(key, value),
        }
    }

    #[cold]
    fn insert_elsewhere(&mut self, key: u64, value: T) {
        let newest = self.parts.back().and_then(VecDeque::back);
        if newest.is_some_and(|newest| newest.0 > key) {
            self.insert_between(key, value);
        } else {
            self.parts.push_back(VecDeque::from([(key, value)]));
        }
    }

    fn insert_between(&mut self, key: u64, value: T) {
        let (mut at, mut place) = self.find(key);
        if self.parts[at].len() == PART {
            let behind = self.parts[at].split_off(PART / 2);
            self.parts.insert(at + 1, behind);
            if place > PART / 2 {
                (at, place) = (at + 1, place - PART / 2);
            }
        }
        self.parts[at].insert(place, (key, value));
    }

    /// The value with the least key.
    #[inline]
    pub(super) fn first(&self) -> Option<&(u64, T)> {
        self.parts.front()?.front()
    }

    #[inline]
    pub(super) fn pop_first(&mut self) -> Option<(u64, T)> {
        let part = self.parts.front_mut()?;
        let first = part.pop_front()?;
        self.len -= 1;
        if part.is_empty() && self.parts.len() > 1 {
            self.parts.pop_front();
        }
        Some(first)
    }

    /// The value with the greatest key below `key`.
    #[inline]
    pub(super) fn last_below(&mut self, key: u64) -> Option<&mut T> {
        let (at, place) = self.find(key);
        let found = match place.checked_sub(1) {
            Some(before) => self.parts.get_mut(at)?.get_mut(before),
            None => self.parts.get_mut(at.checked_sub(1)?)?.back_mut(),
        };
        found.map(|(_, value)| value)
    }

    /// The value with the least key that is `key` or more.
    #[inline]
    pub(super) fn first_from(&self, key: u64) -> Option<&(u64, T)> {
        let (at, place) = self.find(key);
        self.parts.get(at)?.get(place)
    }

    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<&T> {
        self.first_from(key).filter(|(own, _)| *own == key).map(|(_, value)| value)
    }

    /// As [`Self::first_from`].
    #[inline]
    pub(super) fn first_from_mut(&mut self, key: u64) -> Option<&mut (u64, T)> {
        let (at, place) = self.find(key);
        self.parts.get_mut(at)?.get_mut(place)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        self.first_from_mut(key).filter(|(own, _)| *own == key).map(|(_, value)| value)
    }

    /// The values with keys from `from` to before `to`.
    pub(super) fn between(&mut self, from: u64, to: u64) -> impl Iterator<Item = &mut (u64, T)> {
        let (at, place) = self.find(from);
        let parts = self.parts.range_mut(at.min(self.parts.len())..);
        parts.flatten().skip(place).take_while(move |(key, _)| *key < to)
    }

    pub(super) fn clear(&mut self) {
        self.parts.clear();
        self.len = 0;
    }

    /// The part of the first key that is `key` or more, and the place in it. Both are 0 in an empty
    /// row; there is no such part if all keys are below.
    #[inline]
    fn find(&self, key: u64) -> (usize, usize) {
        if self.first().is_none_or(|first| first.0 >= key) {
            return (0, 0);
        }
        let ends_below = |part: &VecDeque<(u64, T)>| part.back().is_some_and(|last| last.0 < key);
        let at = self.parts.partition_point(ends_below);
        let place = self.parts.get(at).map_or(0, |part| part.partition_point(|one| one.0 < key));
        (at, place)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_row_is_a_map_in_order(keys in prop::collection::vec((0_u64..2_000, 0_u8..8), 0..1_500)) {
            let mut row = Row::default();
            let mut map = BTreeMap::new();
            for (value, (key, pops)) in keys.into_iter().enumerate() {
                if map.insert(key, value).is_none() {
                    row.insert(key, value);
                } else if let Some(own) = row.get_mut(key) {
                    *own = value;
                }
                if pops == 0 {
                    prop_assert_eq!(row.pop_first(), map.pop_first());
                }
                prop_assert_eq!(row.len(), map.len());
                prop_assert_eq!(row.first().copied(), map.first_key_value().map(|(&key, &value)| (key, value)));
                let first_from = map.range(key..).next().map(|(&key, &value)| (key, value));
                prop_assert_eq!(row.first_from(key).copied(), first_from);
                let last_below = map.range(..key).next_back().map(|(_, &value)| value);
                prop_assert_eq!(row.last_below(key).copied(), last_below);
                let between: Vec<(u64, usize)> = row.between(key, key + 300).map(|one| *one).collect();
                let expected = map.range(key..key + 300).map(|(&key, &value)| (key, value));
                prop_assert_eq!(between, expected.collect::<Vec<_>>());
            }
        }
    }
}
