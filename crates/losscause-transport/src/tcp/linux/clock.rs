//! The kernel's clock of ticks (jiffies), and when a timer on it fires.
//!
//! A timer waits for whole ticks, rounded up, and fires at the next tick that its level of the
//! timer wheel has (kernel/time/timer.c): every tick up to 62 ticks ahead, every 8th up to 503,
//! every 64th up to 4031, and so on. A timeout of 200 ms therefore fires up to one tick late, and
//! one of 300 ms up to 8 ticks.
//!
//! The tick is [`Quirks::tick`](crate::tcp::Quirks::tick), 4 ms (HZ = 250) if nothing else is set.
//!
//! Deviations: none.

use losscause::{Span, Time};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    tick: Span,
    offset: Span,
}

/// Ticks ahead from which a timer is kept one level higher, divided by the level's granularity.
const LEVEL_TICKS: i64 = 63;

/// What the kernel adds to a timer that must not fire with the ACK it waits for
/// (`TCP_TIMEOUT_MIN_US`, since 2023).
pub(super) const LEAST_TIMEOUT: Span = Span::from_millis(2);

impl Clock {
    pub(crate) fn new(tick: Span, offset: Span) -> Self {
        Self { tick, offset }
    }

    pub(super) fn tick(self) -> Span {
        self.tick
    }

    /// Ticks since a fixed instant.
    pub(super) fn ticks(self, now: Time) -> i64 {
        (now + self.offset).as_nanos().div_euclid(self.tick.as_nanos())
    }

    /// Ticks of a time, rounded up.
    pub(super) fn waits(self, time: Span) -> i64 {
        (time.as_nanos().max(1) - 1) / self.tick.as_nanos() + 1
    }

    /// When a timer fires that waits for `wait` from `now` on.
    pub(crate) fn fires(self, now: Time, wait: Span) -> Time {
        let tick = self.tick.as_nanos();
        let wait_ticks = self.waits(wait);
        let due = self.ticks(now) + wait_ticks;
        let mut shift = 0;
        while wait_ticks >= LEVEL_TICKS << shift {
            shift += 3;
        }
        let fires = ((due >> shift) + 1) << shift;
        Time::from_nanos(fires.saturating_mul(tick) - self.offset.as_nanos())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    #[test]
    fn a_timer_fires_at_its_levels_first_tick_that_is_late_enough() {
        let clock = Clock::new(Span::from_millis(4), Span::ZERO);
        let fires = |now, wait| clock.fires(at(now), Span::from_millis(wait));
        // Tick 2 began at 8 ms; 10 ticks later is 12, and the wheel adds one.
        assert_eq!(fires(10, 40), at(52));
        assert_eq!(fires(10, 38), at(52), "38 ms are 10 ticks, rounded up");
        assert_eq!(fires(8, 200), at(212));
        // 75 ticks from tick 2: 77 lies between 72 and 80.
        assert_eq!(fires(10, 300), at(320));
        // 504 ticks from tick 2: 506 lies between 448 and 512.
        assert_eq!(fires(10, 2016), at(2048));
    }

    #[test]
    fn the_offset_moves_every_tick() {
        let clock = Clock::new(Span::from_millis(4), Span::from_millis(1));
        // Ticks lie at 3, 7, 11 … ms.
        assert_eq!((clock.ticks(at(2)), clock.ticks(at(3))), (0, 1));
        assert_eq!(clock.fires(at(3), Span::from_millis(4)), at(11));
    }
}
