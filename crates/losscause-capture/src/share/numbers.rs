//! Other names for addresses and ports.

use std::collections::HashMap;
use std::hash::Hash;

/// Gives out numbers, to each name its own. They depend on the order in which names come and on a
/// key, never on the name.
pub(super) struct Numbers<N> {
    given: HashMap<N, u32>,
    bits: u32,
    step: u32,
    next: u32,
}

/// More names are not kept, about 50 MB.
const MAX_NAMES: usize = 1_000_000;

impl<N: Eq + Hash> Numbers<N> {
    /// Numbers from 1 to below 2^`bits`.
    pub(super) fn new(bits: u32, key: u64) -> Self {
        // An odd step meets every number before it meets one again.
        Self { given: HashMap::new(), bits, step: (key >> 32) as u32 | 1, next: key as u32 }
    }

    /// The number of a name; none if too many have one.
    pub(super) fn of(&mut self, name: N) -> Option<u32> {
        if let Some(number) = self.given.get(&name) {
            return Some(*number);
        }
        let most = ((1_usize << self.bits) - 1).min(MAX_NAMES);
        if self.given.len() == most {
            return None;
        }
        let mask = (1 << self.bits) - 1;
        if self.next & mask == 0 {
            self.next = self.next.wrapping_add(self.step);
        }
        let number = self.next & mask;
        self.next = self.next.wrapping_add(self.step);
        self.given.insert(name, number);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_number_of_its_own() {
        let mut numbers = Numbers::new(16, 0x1234_5678_9abc_def0);
        let given: std::collections::HashSet<u32> =
            (1..=u16::MAX).filter_map(|port| numbers.of(port)).collect();
        assert_eq!((given.len(), given.contains(&0)), (65_535, false));
        assert_eq!(numbers.of(7), numbers.of(7));
    }
}
