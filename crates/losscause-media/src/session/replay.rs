//! A window over sequence numbers that lets each through once (RFC 3711, section 3.3.2).
//!
//! Deviations: 1,024 numbers instead of at least 64, because a packet may be late by as many. What
//! is older counts as seen.

/// Numbers that are remembered.
const WINDOW: u64 = 1024;
const WORDS: usize = (WINDOW / 64) as usize;

/// Which numbers were seen. Check before the tag is checked, insert after it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReplayWindow {
    highest: Option<u64>,
    /// Bit `n % WINDOW` is number n.
    seen: [u64; WORDS],
}

impl ReplayWindow {
    /// The highest number seen.
    pub(crate) fn highest(&self) -> Option<u64> {
        self.highest
    }

    /// Whether the number was not seen before.
    pub(crate) fn is_new(&self, number: u64) -> bool {
        match self.highest {
            None => true,
            Some(highest) if number > highest => true,
            Some(highest) => {
                highest - number < WINDOW && self.seen[word(number)] & bit(number) == 0
            }
        }
    }

    /// Remembers a new number.
    pub(crate) fn insert(&mut self, number: u64) {
        let first_new = self.highest.map_or(number, |highest| highest.saturating_add(1));
        // The numbers that a jump skips take the places of others that are too old now.
        for skipped in first_new.max(number.saturating_sub(WINDOW - 1))..number {
            self.seen[word(skipped)] &= !bit(skipped);
        }
        self.seen[word(number)] |= bit(number);
        self.highest = self.highest.max(Some(number));
    }
}

fn word(number: u64) -> usize {
    (number % WINDOW / 64) as usize
}

fn bit(number: u64) -> u64 {
    1 << (number % 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn each_number_passes_once_late_ones_too_but_not_the_oldest() {
        let mut window = ReplayWindow::default();
        for number in [5, 7, 6] {
            assert!(window.is_new(number));
            window.insert(number);
            assert!(!window.is_new(number));
        }
        window.insert(7 + WINDOW);
        assert!(!window.is_new(7), "as old as the window is long");
        assert!(window.is_new(8));
        assert_eq!(window.highest(), Some(7 + WINDOW));
    }

    proptest! {
        #[test]
        fn no_number_passes_twice(
            start in prop_oneof![Just(0), Just(u64::MAX - 5000)],
            steps in prop::collection::vec(0..3000u64, 1..300),
        ) {
            let mut window = ReplayWindow::default();
            let mut passed = HashSet::new();
            for step in steps {
                let number = start + step;
                let expected = !passed.contains(&number)
                    && window.highest().is_none_or(|highest| number > highest || highest - number < WINDOW);
                prop_assert_eq!(window.is_new(number), expected);
                if expected {
                    window.insert(number);
                    passed.insert(number);
                }
            }
        }
    }
}
