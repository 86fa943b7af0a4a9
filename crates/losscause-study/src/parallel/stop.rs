//! A request to stop, seen by everyone who holds a copy of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells work on other threads to stop. Copies share one request, which cannot be taken back.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    is_requested: AtomicBool,
    /// A request there is one here too.
    above: Option<Stop>,
}

impl Stop {
    /// Nobody has requested to stop yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests to stop.
    pub fn request(&self) {
        self.0.is_requested.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was requested.
    pub fn is_requested(&self) -> bool {
        self.0.is_requested.load(Ordering::Relaxed) || self.0.above.as_ref().is_some_and(Self::is_requested)
    }

    /// A request for a part of the work: it does not stop what this one stops, but this one stops that part too.
    #[must_use]
    pub fn for_a_part(&self) -> Self {
        Self(Arc::new(Flag { is_requested: AtomicBool::new(false), above: Some(self.clone()) }))
    }
}

/// The work was stopped before its last item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped before the end")]
pub struct Stopped;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_stops_with_the_whole_and_the_whole_does_not_stop_with_a_part() {
        let whole = Stop::new();
        let (part, other) = (whole.for_a_part(), whole.for_a_part());
        part.request();
        assert!(part.is_requested() && part.clone().is_requested());
        assert!(!whole.is_requested() && !other.is_requested());
        whole.request();
        assert!(other.is_requested());
    }
}
