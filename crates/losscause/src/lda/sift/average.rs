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

    /// A value up to two days, in nanoseconds.
    #[inline]
    pub(super) fn observe(&mut self, value: i64) {
        let is_first = self.scaled < 0;
        self.scaled =
            if is_first { value << SHIFT } else { self.scaled + value - (self.scaled >> SHIFT) };
    }

    pub(super) fn get(&self) -> i64 {
        self.scaled.max(0) >> SHIFT
    }
}

/// The mean of values of which there are few: of all until there are `MOST`, then an exponential
/// mean with gain 1/`MOST`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mean<const MOST: u8> {
    mean: i32,
    seen: u8,
}

impl<const MOST: u8> Mean<MOST> {
    pub(super) const NEW: Self = Self { mean: 0, seen: 0 };

    /// A value of less than 2^30.
    pub(super) fn observe(&mut self, value: i32) {
        self.seen = (self.seen + 1).min(MOST);
        self.mean = closer(self.mean, value, self.seen);
    }

    /// 0 before the first value.
    pub(super) fn get(&self) -> i32 {
        self.mean
    }

    pub(super) fn is_empty(&self) -> bool {
        self.seen == 0
    }
}

/// The mean of numbers of packets, and their mean deviation from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread<const MOST: u8> {
    /// In 1/16.
    pub(super) mean: i32,
    deviation: i32,
    pub(super) seen: u8,
}

impl<const MOST: u8> Spread<MOST> {
    pub(super) const NEW: Self = Self { mean: 0, deviation: 0, seen: 0 };

    /// A number up to 2^25; a larger one counts as 2^25.
    pub(super) fn observe(&mut self, packets: u32) {
        let packets = packets.min(1 << 25) as i32 * 16;
        let deviation = if self.seen == 0 { 0 } else { (packets - self.mean).abs() };
        self.seen = (self.seen + 1).min(MOST);
        self.deviation = closer(self.deviation, deviation, self.seen);
        self.mean = closer(self.mean, packets, self.seen);
    }

    /// The mean deviation in 1/256 of the mean; `unknown` before the second number.
    pub(super) fn evenness(&self, unknown: u16) -> u16 {
        if self.seen < 2 {
            unknown
        } else {
            super::clues::ratio(self.deviation.into(), self.mean.into(), 256)
        }
    }
}

/// The mean of `seen` values of which the last is `value`. Where `seen` stops growing, an
/// exponential mean of gain 1/`seen`.
fn closer(mean: i32, value: i32, seen: u8) -> i32 {
    mean + (value - mean) / i32::from(seen)
}

/// A day, nanoseconds.
pub(super) const DAY_NS: i64 = 86_400_000_000_000;
