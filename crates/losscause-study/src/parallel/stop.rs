//! A request to stop, seen by everyone who holds a copy of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, ThreadId};

/// Tells work on other threads to stop. Copies share one request, which cannot be taken back.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    is_requested: AtomicBool,
    /// The thread that was the first to request it.
    by: OnceLock<ThreadId>,
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
        self.0.by.get_or_init(|| thread::current().id());
        self.0.is_requested.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was requested.
    pub fn is_requested(&self) -> bool {
        self.0.is_requested.load(Ordering::Relaxed)
            || self.0.above.as_ref().is_some_and(Self::is_requested)
    }

    /// Whether the first request was made on the calling thread: by the work that this thread does.
    pub fn is_requested_here(&self) -> bool {
        self.0.by.get() == Some(&thread::current().id())
    }

    /// A request for a part of the work: it does not stop what this one stops, but this one stops
    /// that part too.
    #[must_use]
    pub fn for_a_part(&self) -> Self {
        Self(Arc::new(Flag { above: Some(self.clone()), ..Flag::default() }))
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
    fn the_thread_that_was_the_first_to_request_is_known() {
        let stop = Stop::new();
        assert!(!stop.is_requested_here());
        let there = thread::scope(|scope| {
            let other = scope.spawn(|| {
                stop.request();
                stop.is_requested_here()
            });
            other.join().unwrap()
        });
        stop.request();
        assert!(there && !stop.is_requested_here() && stop.is_requested());
    }

    #[test]
    fn a_part_stops_with_the_whole_but_not_the_whole_with_a_part() {
        let whole = Stop::new();
        let part = whole.for_a_part();
        let other = whole.for_a_part();
        part.request();
        assert!(part.is_requested() && part.clone().is_requested());
        assert!(!whole.is_requested() && !other.is_requested());
        whole.request();
        assert!(other.is_requested());
    }
}
