//! The clock of a link.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use losscause::{Span, Time};

/// Time since the link began, monotonic.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    begun: Instant,
    epoch: Time,
}

impl Clock {
    /// Time zero is now.
    pub fn start() -> Self {
        // A clock that was set to before 1970 counts as 1970.
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let nanos = i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX);
        Self { begun: Instant::now(), epoch: Time::from_nanos(nanos) }
    }

    /// The time now.
    pub fn now(&self) -> Time {
        Time::ZERO + Span::from_nanos(self.begun.elapsed().as_nanos() as i64)
    }

    /// The same instant, counted from the start of 1970, for captures.
    pub fn since_1970(&self, at: Time) -> Time {
        self.epoch + (at - Time::ZERO)
    }
}
