//! What the controllers of one factory did, readable from any thread while they run.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use losscause::Observer;

use crate::{ControllerObserver, Counts, LossVerdict, Spurious, Undone};

/// An observer of all controllers that one factory has built: counts and last verdicts. Cloning it
/// is cheap.
///
/// Acknowledgements do not touch it. A loss takes a lock for a moment.
///
/// ```
/// use losscause::ack::Growing;
/// use losscause::registry::Registry;
/// use losscause::{AnyAlgorithm, Needs, SenderDifferentiator, Signal, Time};
/// use losscause_quic::{
///     Base, Choice, Counts, Error, Event, Losses, Monitor, Overruled, Response, Transport,
/// };
///
/// #[derive(Clone)]
/// struct Window(u64);
///
/// impl Base for Window {
///     fn window(&self) -> u64 {
///         self.0
///     }
/// }
///
/// /// What an adapter keeps of a connection.
/// struct Controller {
///     sender: SenderDifferentiator<AnyAlgorithm, Growing>,
///     losses: Losses<Window>,
///     base: Window,
/// }
///
/// let transport = Transport { name: "an example", provided: Needs::NONE.with_delay() };
/// let choice = Choice::named("Spike", &Registry::built_in(), &transport)?;
/// let monitor: Monitor = choice.monitor();
/// let (sender, losses) = choice.build();
/// let Controller { mut sender, mut losses, mut base } =
///     Controller { sender, losses, base: Window(24_000) };
/// // A queue marks a packet: no algorithm is asked.
/// let mark =
///     Event { at: Time::ZERO, signal: Signal::EcnMark, lost_bytes: 0, packet_bytes: 1_200 };
/// let response = losses.declare(&mut sender, &mut base, mark, |base| base.0 /= 2);
/// assert_eq!(response, Response::Reduced);
/// assert_eq!(monitor.last_verdict().and_then(|verdict| verdict.overruled), Some(Overruled::Mark));
/// assert!(matches!(monitor.totals(), Counts { marks: 1, reductions: 1, wireless: 0, .. }));
/// # Ok::<(), Error>(())
/// ```
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

    fn on_spurious(&mut self, spurious: &Spurious) {
        self.state().totals.take_back(spurious);
    }

    fn on_avoided(&mut self, _: u64) {
        self.state().totals.avoided += 1;
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor")
            .field("controllers", &self.controllers())
            .field("totals", &self.totals())
            .finish()
    }
}

/// Adds a verdict to the last `limit`.
pub(crate) fn push(last: &mut VecDeque<LossVerdict>, verdict: &LossVerdict, limit: usize) {
    if last.len() >= limit {
        last.pop_front();
    }
    last.push_back(verdict.clone());
}
