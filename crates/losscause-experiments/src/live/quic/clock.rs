//! Virtual time for a library that reads [`Instant`]s.
//!
//! quinn-proto takes the present as an argument of type [`Instant`], which only the system's clock
//! can make. One such instant is taken when a network is made and stands for virtual time zero; all
//! others are offsets from it. quinn-proto uses differences only, so the choice of the first
//! instant changes nothing.

use std::time::{Duration, Instant};

use losscause::{Span, Time};

/// Converts between virtual time and instants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    zero: Instant,
}

impl Clock {
    /// A clock whose virtual time is zero now.
    pub(super) fn new() -> Self {
        Self { zero: Instant::now() }
    }

    /// The instant that stands for `time`, which is not negative.
    pub(super) fn instant(self, time: Time) -> Instant {
        self.zero + Duration::from_nanos(time.as_nanos().max(0) as u64)
    }

    /// The virtual time of an instant of this clock.
    pub(super) fn time(self, instant: Instant) -> Time {
        Time::ZERO + Span::from(instant.saturating_duration_since(self.zero))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_survives_the_way_to_an_instant_and_back() {
        let clock = Clock::new();
        for nanos in [0, 1, 999_999_999, 3_600_000_000_001] {
            assert_eq!(clock.time(clock.instant(Time::from_nanos(nanos))), Time::from_nanos(nanos));
        }
    }
}
