//! Exponential means.

/// An exponential mean, with gain 1/2^`SHIFT`, of values that are not negative. It begins with its
/// first value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Average<const SHIFT: u32> {
    /// The mean times 2^`SHIFT`; negative before the first value.
    scaled: i64,
}

impl<const SHIFT: u32> Average<SHIFT> {
    pub(super) const NEW: Self = Self { scaled: -1 };

    /// No value, up to a day in nanoseconds, overflows.
    #[inline]
    pub(super) fn observe(&mut self, value: i64) {
        let value = value.min(DAY_NS);
        let is_first = self.scaled < 0;
        self.scaled =
            if is_first { value << SHIFT } else { self.scaled + value - (self.scaled >> SHIFT) };
    }

    pub(super) fn get(&self) -> i64 {
        self.scaled.max(0) >> SHIFT
    }
}

/// A day, nanoseconds.
pub(super) const DAY_NS: i64 = 86_400_000_000_000;
