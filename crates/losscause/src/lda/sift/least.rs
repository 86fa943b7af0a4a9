//! The least delay of a short time.

use super::window::NONE;
use crate::{Span, Time};

/// The least delay of the last one to two spans of a length that the caller chooses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    /// In the span under way, and in the one before; [`NONE`] where nothing was seen.
    now: i64,
    before: i64,
    began: Time,
}

impl Least {
    pub(super) const NEW: Self = Self { now: NONE, before: NONE, began: Time::ZERO };

    #[inline]
    pub(super) fn observe(&mut self, now: Time, length: Span, delay: i64) {
        let passed = (now - self.began).as_nanos();
        let is_first = self.now == NONE;
        if is_first || !(0..length.as_nanos()).contains(&passed) {
            self.begin(now, passed, length);
        }
        self.now = self.now.min(delay);
    }

    /// Begins another span; after a pause, or if the clock was set back, nothing is kept.
    #[cold]
    fn begin(&mut self, now: Time, passed: i64, length: Span) {
        let follows = (0..length.as_nanos().saturating_mul(2)).contains(&passed);
        self.before = if follows { self.now } else { NONE };
        self.now = NONE;
        self.began = now;
    }

    /// [`NONE`] before the first delay.
    pub(super) fn get(&self) -> i64 {
        self.now.min(self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_kept_for_one_to_two_spans() {
        let mut least = Least::NEW;
        // The zero of the clock is arbitrary.
        let mut observe = |ms: i64, delay| {
            let ms = ms + 30;
            least.observe(Time::ZERO + Span::from_millis(ms), Span::from_millis(50), delay);
            least.get()
        };
        assert_eq!(observe(0, 7), 7);
        assert_eq!(observe(49, 9), 7);
        assert_eq!(observe(50, 9), 7, "of the span before");
        assert_eq!(observe(100, 8), 8, "the 7 is two spans old");
        assert_eq!(observe(210, 30), 30, "after a pause");
        assert_eq!(observe(5, 40), 40, "after a clock was set back");
    }
}
