//! Data-limited intervals: when the application, not the rate, was the limit (RFC 5348, section
//! 8.2.1).
//!
//! Two of the instants at which the sender had sent all it was allowed to send are kept: the first
//! after the packet that the last report answers, and the first after that report arrived. A report
//! covers the packets sent in the round-trip time up to the one it answers. If neither instant lies
//! in that time, the application was the limit throughout.
//!
//! Readings and deviations:
//! - No credit is saved up, so the sender has sent all it may after every packet. Only packets that
//!   waited for their time, or that left others waiting, count (the definition of section 4.3).
//! - An unlimited backlog is never data-limited. The two instants can miss that where reports were
//!   lost, as the section says.

use losscause::{Span, Time};

/// The section's NotLimited1, NotLimited2, t_new and t_next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotLimited {
    first: Time,
    second: Time,
    /// When the packet was sent that the last report answers.
    answered: Time,
    /// When that report came.
    reported: Time,
}

/// Before anything that happens.
const NEVER: Time = Time::from_nanos(i64::MIN);

impl Default for NotLimited {
    fn default() -> Self {
        Self { first: NEVER, second: NEVER, answered: NEVER, reported: NEVER }
    }
}

impl NotLimited {
    /// At `now` the sender has sent all that it may.
    pub(crate) fn on_all_sent(&mut self, now: Time) {
        if self.first <= self.answered {
            self.first = now;
        } else if self.second <= self.reported {
            self.second = now;
        }
    }

    /// A report answers the packet sent at `echo`. Returns whether the application was the limit
    /// during all that the report covers.
    pub(crate) fn on_report(&mut self, now: Time, echo: Time, rtt: Span) -> bool {
        let echo = echo.min(now);
        let covered = |at: Time| at > echo - rtt && at <= echo;
        let limited = !covered(self.first) && !covered(self.second);
        self.answered = echo;
        self.reported = now;
        if self.first <= self.answered && self.second > self.answered {
            self.first = self.second;
        }
        limited
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    const RTT: Span = Span::from_millis(100);

    #[test]
    fn a_report_is_limited_if_the_allowance_was_never_used_up() {
        let mut times = NotLimited::default();
        times.on_all_sent(at(0));
        assert!(!times.on_report(at(100), at(0), RTT), "the first packet");
        // Nothing more until 250 ms.
        assert!(times.on_report(at(200), at(100), RTT), "covers 0 < t <= 100");
        times.on_all_sent(at(250));
        assert!(times.on_report(at(300), at(200), RTT), "covers 100 to 200");
        assert!(!times.on_report(at(400), at(300), RTT), "covers 200 to 300");
        assert!(times.on_report(at(500), at(400), RTT));
    }

    #[test]
    fn the_second_instant_is_kept_for_the_report_after_the_next() {
        let mut times = NotLimited::default();
        times.on_all_sent(at(0));
        times.on_report(at(100), at(0), RTT);
        times.on_all_sent(at(50));
        times.on_all_sent(at(60));
        times.on_all_sent(at(150));
        assert!(!times.on_report(at(200), at(100), RTT), "50 ms");
        assert!(!times.on_report(at(300), at(200), RTT), "150 ms");
        assert!(times.on_report(at(400), at(300), RTT));
    }

    #[test]
    fn an_echo_from_the_future_counts_as_now() {
        let mut times = NotLimited::default();
        assert!(times.on_report(at(100), Time::MAX, RTT));
        times.on_all_sent(at(150));
        assert!(!times.on_report(at(200), at(150), RTT));
    }
}
