//! Times of the clock on the wall, as text.

use std::fmt;

use losscause::{Span, Time};
use serde::{Serialize, Serializer};

/// A time by the capture's clock, with its date in UTC. `Display` and JSON:
/// `2026-11-27T16:52:53.123456789Z` (RFC 3339).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Utc(Time);

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

impl Utc {
    /// A time in nanoseconds since 1970. None for 1970 itself: then the capture has no times, or
    /// has lost them.
    pub(crate) fn of(time: Time) -> Option<Self> {
        (time >= Time::ZERO + Span::from_secs(365 * SECONDS_PER_DAY)).then_some(Self(time))
    }
}

/// Year, month and day so many days after 1970-01-01. Years begin in March here, so that a leap day
/// is the last of its year; 400 of them have 146,097 days.
fn date(days: i64) -> (i64, i64, i64) {
    /// From 0000-03-01 to 1970-01-01.
    const TO_1970: i64 = 719_468;
    let days = days + TO_1970;
    let era = days / 146_097;
    let day = days % 146_097;
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Five months from March on, and from August on, have 153 days.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let next_year = i64::from(month >= 10);
    (era * 400 + year + next_year, month + 3 - 12 * next_year, day)
}

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let seconds = nanos / NANOS_PER_SECOND;
        let nanos = nanos % NANOS_PER_SECOND;
        let days = seconds / SECONDS_PER_DAY;
        let second = seconds % SECONDS_PER_DAY;
        let (year, month, day) = date(days);
        let hour = second / 3_600;
        let minute = second / 60 % 60;
        let second = second % 60;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
    }
}

impl Serialize for Utc {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(seconds: i64) -> String {
        Utc::of(Time::from_nanos(seconds * NANOS_PER_SECOND + 5))
            .map_or_else(String::new, |time| time.to_string())
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        // By `date -u -d @SECONDS`.
        assert_eq!(text(951_782_400), "2000-02-29T00:00:00.000000005Z");
        assert_eq!(text(1_709_251_199), "2024-02-29T23:59:59.000000005Z");
        assert_eq!(text(1_709_251_200), "2024-03-01T00:00:00.000000005Z");
        assert_eq!(text(4_107_542_400), "2100-03-01T00:00:00.000000005Z");
        assert_eq!(text(1_735_689_599), "2024-12-31T23:59:59.000000005Z");
        assert_eq!(text(5), "", "a capture without times");
    }
}
