//! A summary of the last part of a flow instead of all of it.
//!
//! The window of length W is cut into [`PARTS`] equal parts. A summary (an extreme) is kept of each part that is over and
//! of the present one; when a part is over, the oldest is forgotten. So what is in force covers at least the last 3/4 W
//! and at most the last W, exactly, in constant memory and without looking at any value again. Parts of time are counted
//! from the first value on and may be empty. A window of packets that is no multiple of 4 is rounded down to one.

use crate::registry::{ConfigError, Field, Setting, check};
use crate::{Span, Time};

/// Parts of a window, the present one included.
pub const PARTS: u32 = 4;

/// Parts that are over.
const OVER: usize = PARTS as usize - 1;

/// How far back extremes look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lookback {
    /// The last so much time; zero for no limit.
    pub time: Span,
    /// The last so many values, at least [`PARTS`]; 0 for no limit. Not beside a limit of time.
    pub pkts: u32,
}

impl Lookback {
    /// All values so far: the published algorithms.
    pub const ALL: Self = Self { time: Span::ZERO, pkts: 0 };

    /// The setting of [`Lookback::time`].
    pub const WINDOW_MS: Setting = Setting::new(
        "window_ms",
        "the extremes are those of the last so many milliseconds (of 3/4 of them at least); 0: of all",
    );
    /// The setting of [`Lookback::pkts`].
    pub const WINDOW_PKTS: Setting = Setting::new(
        "window_pkts",
        "the extremes are those of the last so many values (about 3/4 at least), 4 or more; 0: of all",
    );

    /// The place of the setting `key`, if it is one of the two.
    pub fn field(&mut self, key: &str) -> Option<Field<'_>> {
        Some(match key {
            "window_ms" => Field::Millis(&mut self.time),
            "window_pkts" => Field::Count(&mut self.pkts),
            _ => return None,
        })
    }

    /// Whether it can be one.
    ///
    /// # Errors
    /// A negative time, fewer values than parts, or both limits at once.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check("window_ms", self.time.as_millis_f64(), |ms| ms >= 0.0, "a number that is not negative")?;
        if self.pkts == 0 || (self.pkts >= PARTS && self.time == Span::ZERO) {
            return Ok(());
        }
        let expected = "0 (no limit), or at least 4 and without window_ms";
        Err(ConfigError::OutOfRange { key: "window_pkts", value: self.pkts.into(), expected })
    }
}

/// A summary of several values that can be put together with another.
pub(super) trait Summary: Copy {
    /// The summary of both.
    fn with(self, other: Self) -> Self;
}

/// The parts of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<S> {
    length: Length,
    /// Summaries of the parts that are over, the oldest overwritten first; none for a part without values.
    over: [Option<S>; OVER],
    oldest: usize,
    /// Summary of the present part.
    present: Option<S>,
}

/// The length of a part, and where the present one stands.
#[derive(Clone, Copy, Debug)]
enum Length {
    Time { length: Span, since: Option<Time> },
    Pkts { length: u32, left: u32 },
}

impl<S: Summary> Parts<S> {
    /// None for a window of all values. The window is valid.
    pub(super) fn of(window: Lookback) -> Option<Self> {
        let length = match window {
            Lookback::ALL => return None,
            Lookback { time, pkts: 0 } => {
                Length::Time { length: (time / i64::from(PARTS)).max(Span::from_nanos(1)), since: None }
            }
            Lookback { pkts, .. } => {
                let length = pkts / PARTS;
                Length::Pkts { length, left: length }
            }
        };
        Some(Self { length, over: [None; OVER], oldest: 0, present: None })
    }

    /// A value is about to come at `now`. If a part ended before it, the summary of what is left of the window (none if
    /// that is empty).
    #[inline]
    pub(super) fn turned(&mut self, now: Time) -> Option<Option<S>> {
        let ended = self.ended(now);
        for _ in 0..ended {
            self.over[self.oldest] = self.present.take();
            self.oldest = (self.oldest + 1) % OVER;
        }
        (ended > 0).then(|| self.over.iter().flatten().copied().reduce(S::with))
    }

    /// Takes in a value.
    #[inline]
    pub(super) fn observe(&mut self, value: S) {
        self.present = Some(self.present.map_or(value, |present| present.with(value)));
        if let Length::Pkts { left, .. } = &mut self.length {
            *left = left.saturating_sub(1);
        }
    }

    /// How many parts have ended, as far as it matters.
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
                        // All is forgotten; the next part begins here.
                        *since = now;
                        break;
                    }
                    *since += *length;
                    ended += 1;
                }
                // The clock was set back: the present part starts again.
                if now - *since < Span::ZERO {
                    *since = now;
                }
                ended
            }
        }
    }
}
