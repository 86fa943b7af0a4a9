//! Extremes of the last 20 s.

use crate::{Span, Time};

/// Extremes of the last 20 s, of which at least 10 s: two parts, the older dropped when one begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The newest first.
    parts: [Part; PARTS],
    /// When the newest began.
    since: Option<Time>,
    /// The least spacing of all parts; every pair of packets asks for it.
    pub(super) least_spacing: Divisor,
}

const PARTS: usize = 2;
/// The least of nothing. Differences with it overflow nothing.
pub(super) const NONE: i64 = 1 << 61;

/// In nanoseconds; delays since the first one. [`NONE`] and its negative where nothing was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) least: i64,
    pub(super) most: i64,
    pub(super) spacing: i64,
}

impl Part {
    const EMPTY: Self = Self { least: NONE, most: -NONE, spacing: NONE };

    fn with(self, other: Self) -> Self {
        let least = self.least.min(other.least);
        let most = self.most.max(other.most);
        Self { least, most, spacing: self.spacing.min(other.spacing) }
    }
}

impl Window {
    const LENGTH: Span = Span::from_secs(10);
    pub(super) const NEW: Self =
        Self { parts: [Part::EMPTY; PARTS], since: None, least_spacing: Divisor::NONE };

    #[inline]
    pub(super) fn turn(&mut self, now: Time) {
        match self.since {
            Some(since) if now - since < Self::LENGTH => {}
            _ => self.begin(now),
        }
    }

    /// Begins another part; after a pause of the whole window, all parts are new.
    #[cold]
    fn begin(&mut self, now: Time) {
        let ended =
            self.since.map_or(0, |since| (now - since).as_nanos() / Self::LENGTH.as_nanos());
        self.since = match self.since {
            Some(since) if ended <= PARTS as i64 => Some(since + Self::LENGTH * ended),
            _ => Some(now),
        };
        for _ in 0..ended.min(PARTS as i64) {
            self.parts.rotate_right(1);
            self.parts[0] = Part::EMPTY;
        }
        self.least_spacing = Divisor::new(self.all().spacing);
    }

    pub(super) fn all(&self) -> Part {
        self.parts.into_iter().fold(Part::EMPTY, Part::with)
    }

    /// The least delay of all parts.
    #[inline]
    pub(super) fn least_delay(&self) -> i64 {
        self.parts.into_iter().fold(NONE, |least, part| least.min(part.least))
    }

    /// A span of zero is a clock that was too coarse.
    #[inline]
    pub(super) fn observe_spacing(&mut self, spacing: i64) {
        if spacing > 0 {
            let part = &mut self.parts[0];
            part.spacing = part.spacing.min(spacing);
            if spacing < self.least_spacing.value {
                self.least_spacing = Divisor::new(spacing);
            }
        }
    }

    #[inline]
    pub(super) fn observe_delay(&mut self, delay: i64) {
        let part = &mut self.parts[0];
        part.least = part.least.min(delay);
        part.most = part.most.max(delay);
    }
}

/// A span that many others are divided by, with its reciprocal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divisor {
    value: i64,
    /// 2^32 / value.
    reciprocal: u64,
}

impl Divisor {
    const NONE: Self = Self { value: NONE, reciprocal: 0 };

    fn new(value: i64) -> Self {
        Self { value, reciprocal: (1 << 32) / value.max(1) as u64 }
    }

    /// Twice `span` over the value, at most `most` (below 2^16). It may be one too small where it
    /// is a whole number.
    #[inline]
    pub(super) fn halves_in(self, span: i64, most: i64) -> u64 {
        if span <= 0 {
            0
        } else if span / 32 >= self.value {
            most as u64
        } else {
            ((2 * span as u64).wrapping_mul(self.reciprocal) >> 32).min(most as u64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_are_forgotten_after_20_s_and_kept_for_10_s() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut window = Window::NEW;
        let mut observe = |ms, delay| {
            window.turn(at(ms));
            window.observe_delay(delay);
            let Part { least, most, .. } = window.all();
            (least, most)
        };
        assert_eq!(observe(0, 5), (5, 5));
        assert_eq!(observe(9_000, 50), (5, 50));
        assert_eq!(observe(19_000, 40), (5, 50), "the first part is the older one");
        assert_eq!(observe(21_000, 45), (40, 45), "the first part is forgotten");
        assert_eq!(observe(1_000_000, 7), (7, 7), "after a pause");
    }
}
