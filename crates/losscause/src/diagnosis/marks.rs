//! The newest of many entries, in constant memory.

/// So many entries are kept: minutes of a flow that loses something in every second or third round
/// trip.
pub(super) const MOST: usize = 256;

/// The newest entries.
#[derive(Clone, Debug)]
pub(super) struct Marks<T> {
    entries: [T; MOST],
    /// How many there ever were.
    count: usize,
}

impl<T: Copy + Default> Default for Marks<T> {
    fn default() -> Self {
        Self { entries: [T::default(); MOST], count: 0 }
    }
}

impl<T> Marks<T> {
    pub(super) fn push(&mut self, entry: T) {
        self.entries[self.count % MOST] = entry;
        self.count += 1;
    }

    /// Entries that there ever were.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Entries that are kept.
    pub(super) fn len(&self) -> usize {
        self.count.min(MOST)
    }

    pub(super) fn last_mut(&mut self) -> Option<&mut T> {
        let place = self.count.checked_sub(1)? % MOST;
        Some(&mut self.entries[place])
    }

    /// The oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> + Clone {
        (self.count - self.len()..self.count).map(|place| &self.entries[place % MOST])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_entries_are_kept_in_their_order() {
        let mut marks = Marks::default();
        (0..300).for_each(|k| marks.push(k));
        assert!(marks.iter().copied().eq(300 - MOST..300));
    }
}
