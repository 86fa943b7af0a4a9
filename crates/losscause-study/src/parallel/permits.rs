//! A limited number of permits to work, shared by several groups of threads.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The permits that nobody holds.
#[derive(Debug)]
pub(super) struct Permits {
    free: Mutex<usize>,
    changed: Condvar,
}

/// A permit, returned when it is dropped.
pub(super) struct Permit<'a>(&'a Permits);

impl Permits {
    pub(super) fn new(count: usize) -> Self {
        Self { free: Mutex::new(count), changed: Condvar::new() }
    }

    /// Waits for a permit as long as `wants_one` holds, which is asked again whenever a permit is
    /// returned.
    pub(super) fn take_while(&self, wants_one: impl Fn() -> bool) -> Option<Permit<'_>> {
        let is_waiting = |free: &mut usize| *free == 0 && wants_one();
        let mut free = self
            .changed
            .wait_while(self.free(), is_waiting)
            .unwrap_or_else(PoisonError::into_inner);
        if *free == 0 || !wants_one() {
            return None;
        }
        *free -= 1;
        Some(Permit(self))
    }

    fn free(&self) -> MutexGuard<'_, usize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.free() += 1;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_permits_are_out_than_there_are() {
        let permits = Permits::new(2);
        let first = permits.take_while(|| true);
        let second = permits.take_while(|| true);
        assert!(first.is_some() && second.is_some());
        assert!(permits.take_while(|| false).is_none(), "one who wants none does not wait");
        drop(first);
        assert!(permits.take_while(|| true).is_some());
    }
}
