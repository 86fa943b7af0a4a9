//! A summary of the last part of a flow instead of all of it.
//!
//! The window of length W has [`PARTS`] equal parts. One summary (an extreme) is stored for each
//! completed part and for the present one; when a part ends, the oldest is dropped. So the result
//! always covers at least the last 3/4 W and at most the last W, exactly, in constant memory and
//! without revisiting any value. Time parts start with the first value and may be empty. A packet
//! window that is not a multiple of 4 is rounded down to one.

use crate::registry::{ConfigError, Field, Setting, check};
use crate::{Span, Time};

/// Parts of a window, including the present one.
pub const PARTS: u32 = 4;

/// Completed parts.
const OVER: usize = PARTS as usize - 1;

/// How far back extremes look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lookback {
    /// Length in time; zero for no limit.
    pub time: Span,
    /// Length in values, at least [`PARTS`]; 0 for no limit. Cannot be combined with a time limit.
    pub pkts: u32,
}

impl Lookback {
    /// All values so far: the published algorithms.
    pub const ALL: Self = Self { time: Span::ZERO, pkts: 0 };

    /// The setting of [`Lookback::time`].
    pub const WINDOW_MS: Setting = Setting::new(
        "window_ms",
        "the extremes are those of the last window_ms milliseconds (at least 3/4 of them); 0: of the whole flow",
    );
    /// The setting of [`Lookback::pkts`].
    pub const WINDOW_PKTS: Setting = Setting::new(
        "window_pkts",
        "the extremes are those of the last window_pkts values (at least about 3/4 of them), 4 or more; 0: of the whole flow",
    );

    /// The field that the setting `key` changes, if it is one of the two.
    pub fn field(&mut self, key: &str) -> Option<Field<'_>> {
        Some(match key {
            "window_ms" => Field::Millis(&mut self.time),
            "window_pkts" => Field::Count(&mut self.pkts),
            _ => return None,
        })
    }

    /// Checks the window.
    ///
    /// # Errors
    /// A negative time, fewer values than parts, or both limits at once.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check(
            "window_ms",
            self.time.as_millis_f64(),
            |ms| ms >= 0.0,
            "a number that is not negative",
        )?;
        if self.pkts == 0 || (self.pkts >= PARTS && self.time == Span::ZERO) {
            return Ok(());
        }
        let expected = "0 (no limit), or at least 4 and without window_ms";
        Err(ConfigError::OutOfRange { key: "window_pkts", value: self.pkts.into(), expected })
    }
}

/// A summary of several values that can be merged with another.
pub(super) trait Summary: Copy {
    /// The merged summary.
    fn with(self, other: Self) -> Self;
}

/// The parts of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<S> {
    length: Length,
    /// Summaries of the completed parts, the oldest overwritten first; `None` for a part without
    /// values.
    over: [Option<S>; OVER],
    oldest: usize,
    /// Summary of the present part.
    present: Option<S>,
}

/// The length of a part, and the position in the present one.
#[derive(Clone, Copy, Debug)]
enum Length {
    Time { length: Span, since: Option<Time> },
    Pkts { length: u32, left: u32 },
}

impl<S: Summary> Parts<S> {
    /// `None` for a window of all values. The window must be valid.
    pub(super) fn of(window: Lookback) -> Option<Self> {
        let length = match window {
            Lookback::ALL => return None,
            Lookback { time, pkts: 0 } => Length::Time {
                length: (time / i64::from(PARTS)).max(Span::from_nanos(1)),
                since: None,
            },
            Lookback { pkts, .. } => {
                let length = pkts / PARTS;
                Length::Pkts { length, left: length }
            }
        };
        Some(Self { length, over: [None; OVER], oldest: 0, present: None })
    }

    /// Called before a value at `now`. If a part has ended since the last value, returns the
    /// summary of the rest of the window (`None` if that is empty).
    #[inline]
    pub(super) fn turned(&mut self, now: Time) -> Option<Option<S>> {
        let ended = self.ended(now);
        for _ in 0..ended {
            self.over[self.oldest] = self.present.take();
            self.oldest = (self.oldest + 1) % OVER;
        }
        (ended > 0).then(|| self.over.iter().flatten().copied().reduce(S::with))
    }

    /// Observes a value.
    #[inline]
    pub(super) fn observe(&mut self, value: S) {
        self.present = Some(self.present.map_or(value, |present| present.with(value)));
        if let Length::Pkts { left, .. } = &mut self.length {
            *left = left.saturating_sub(1);
        }
    }

    /// How many parts have ended, at most all of them.
    #[inline]
    fn ended(&mut self, now: Time) -> u32 {
        match &mut self.length {
            Length::Pkts { left: 1.., .. } => 0,
            Length::Pkts { length, left } => {
                *left = *length;
                1
            }
            Length::Time { length, since } => {
                let Some(since) = since else {
                    *since = Some(now);
                    return 0;
                };
                let mut ended = 0;
                while now - *since >= *length {
                    if ended == PARTS {
                        // Everything is dropped; the next part begins here.
                        *since = now;
                        break;
                    }
                    *since += *length;
                    ended += 1;
                }
                // The clock was set back: the present part restarts.
                if now - *since < Span::ZERO {
                    *since = now;
                }
                ended
            }
        }
    }
}
