//! What an estimator did, readable from any thread while it runs.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Counts, LossVerdict};

/// Counts and last verdicts of one estimator. Cloning it is cheap. Feedback without losses does not
/// touch it.
///
/// ```
/// use losscause_rtc::{LossTolerant, Monitor};
/// use rtc_interceptor::ConstantBitrate;
///
/// let monitor: Monitor = LossTolerant::recommended(ConstantBitrate::new(1e6)).monitor();
/// assert!(monitor.last_verdicts().is_empty());
/// ```
#[derive(Clone, Default)]
pub struct Monitor {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    totals: Counts,
    last: VecDeque<LossVerdict>,
}

impl Monitor {
    /// How many verdicts [`Monitor::last_verdicts`] keeps.
    pub const LAST_VERDICTS: usize = 64;

    /// The counts so far.
    pub fn totals(&self) -> Counts {
        self.state().totals
    }

    /// The last verdicts, the oldest first.
    pub fn last_verdicts(&self) -> Vec<LossVerdict> {
        self.state().last.iter().cloned().collect()
    }

    pub(crate) fn add(&self, verdict: LossVerdict) {
        let mut state = self.state();
        state.totals.add(&verdict);
        if state.last.len() >= Self::LAST_VERDICTS {
            state.last.pop_front();
        }
        state.last.push_back(verdict);
    }

    /// A panic elsewhere leaves counts as they were, so a poisoned lock is as good as another.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").field("totals", &self.totals()).finish()
    }
}
