//! Instants of a transport on the core's clock.

use std::time::Instant;

use losscause::{Span, Time};

/// Converts instants. Packets of a batch have the same, so it remembers the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    zero: Instant,
    last: (Instant, Time),
}

impl Clock {
    pub(crate) fn from(zero: Instant) -> Self {
        Self { zero, last: (zero, Time::ZERO) }
    }

    #[inline]
    pub(crate) fn time(&mut self, instant: Instant) -> Time {
        if instant != self.last.0 {
            self.last = (instant, self.convert(instant));
        }
        self.last.1
    }

    #[inline]
    fn convert(self, instant: Instant) -> Time {
        match instant.checked_duration_since(self.zero) {
            Some(after) => Time::ZERO + Span::from(after),
            None => Time::ZERO - Span::from(self.zero.saturating_duration_since(instant)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn instants_before_zero_are_negative_times() {
        let zero = Instant::now() + Duration::from_secs(1);
        let mut clock = Clock::from(zero);
        assert_eq!(clock.time(zero + Duration::from_millis(5)), Time::ZERO + Span::from_millis(5));
        assert_eq!(clock.time(zero - Duration::from_millis(5)), Time::ZERO - Span::from_millis(5));
    }
}
