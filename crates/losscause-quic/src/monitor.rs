//! What the controllers of one factory did, readable from any thread while they run.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use losscause::Observer;

use crate::{ControllerObserver, Counts, LossVerdict, Undone};

/// An observer of all controllers that one factory has built: counts and last verdicts. Cloning it is cheap.
///
/// Acknowledgements do not touch it. A loss takes a lock for a moment.
#[derive(Clone, Default)]
pub struct Monitor {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    connections: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    totals: Counts,
    last: VecDeque<LossVerdict>,
}

impl Monitor {
    /// How many verdicts [`Monitor::last_verdicts`] keeps.
    pub const LAST_VERDICTS: usize = 64;

    /// Sums over all controllers, those of closed connections included.
    pub fn totals(&self) -> Counts {
        self.state().totals
    }

    /// The last verdicts, the oldest first.
    pub fn last_verdicts(&self) -> Vec<LossVerdict> {
        self.state().last.iter().cloned().collect()
    }

    /// The last verdict.
    pub fn last_verdict(&self) -> Option<LossVerdict> {
        self.state().last.back().cloned()
    }

    /// How many controllers were built. QUIC stacks build one per path of a connection.
    pub fn controllers(&self) -> u64 {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// The number of a new controller.
    pub(crate) fn next_connection(&self) -> u64 {
        self.shared.connections.fetch_add(1, Ordering::Relaxed)
    }

    /// A panic elsewhere leaves counts as they were, so a poisoned lock is as good as another.
    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Monitor {}

impl ControllerObserver for Monitor {
    fn on_verdict(&mut self, verdict: &LossVerdict) {
        let mut state = self.state();
        state.totals.add(verdict);
        push(&mut state.last, verdict, Self::LAST_VERDICTS);
    }

    fn on_undone(&mut self, undone: &Undone) {
        self.state().totals.undo(undone);
    }

    fn on_avoided(&mut self, _: u64) {
        self.state().totals.avoided += 1;
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").field("controllers", &self.controllers()).field("totals", &self.totals()).finish()
    }
}

/// Adds a verdict to the last `limit`.
pub(crate) fn push(last: &mut VecDeque<LossVerdict>, verdict: &LossVerdict, limit: usize) {
    if last.len() >= limit {
        last.pop_front();
    }
    last.push_back(verdict.clone());
}
