//! The sessions' time on Tokio's clock.

use losscause::{Span, Time};
use tokio::time::{Duration, Instant};

/// Counts from its creation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock(Instant);

impl Clock {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(super) fn now(self) -> Time {
        let nanos = i64::try_from(self.0.elapsed().as_nanos()).unwrap_or(i64::MAX);
        Time::from_nanos(nanos)
    }

    /// Sleeps until `at`; for ever if there is no time.
    pub(super) async fn sleep_until(self, at: Option<Time>) {
        match at {
            None => std::future::pending().await,
            Some(at) => {
                let since_start = (at - Time::ZERO).max(Span::ZERO).as_nanos();
                let deadline = self.0.checked_add(Duration::from_nanos(since_start.unsigned_abs()));
                match deadline {
                    Some(deadline) => tokio::time::sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            }
        }
    }
}
