//! Looks at controllers while they run.

use losscause::Observer;

use crate::{LossVerdict, Spurious, Undone};

/// Looks at a controller: at its algorithm ([`Observer`]), and at what the controller does about a
/// loss.
///
/// Every controller of a factory has its own clone. The transport calls it from the task that
/// drives the connection, so it must not block. An observer may answer in the algorithm's place
/// ([`Observer::overrule`]); the caps then apply to its answer.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use losscause::registry::Registry;
/// use losscause::{Needs, Observer};
/// use losscause_quic::{Choice, ControllerObserver, Error, LossVerdict, Transport, Undone};
///
/// /// Counts the bytes that losses took from windows, and how often they were given back.
/// #[derive(Clone, Default)]
/// struct Cuts(Arc<[AtomicU64; 2]>);
///
/// impl Observer for Cuts {}
///
/// impl ControllerObserver for Cuts {
///     fn on_verdict(&mut self, verdict: &LossVerdict) {
///         let cut = verdict.window_before.saturating_sub(verdict.window_after);
///         self.0[0].fetch_add(cut, Ordering::Relaxed);
///     }
///     fn on_undone(&mut self, _: &Undone) {
///         self.0[1].fetch_add(1, Ordering::Relaxed);
///     }
/// }
///
/// let cuts = Cuts::default();
/// let transport = Transport { name: "an example", provided: Needs::NONE.with_cwnd() };
/// let choice =
///     Choice::named("roll-back", &Registry::built_in(), &transport)?.with_observer(cuts.clone());
/// assert_eq!(choice.algorithm(), "roll-back");
/// # Ok::<(), Error>(())
/// ```
pub trait ControllerObserver: Observer {
    /// A batch of losses, or a mark, was answered.
    fn on_verdict(&mut self, verdict: &LossVerdict) {
        let _ = verdict;
    }

    /// A reduction was undone.
    fn on_undone(&mut self, undone: &Undone) {
        let _ = undone;
    }

    /// The packets of the last recovery's losses have arrived after all.
    fn on_spurious(&mut self, spurious: &Spurious) {
        let _ = spurious;
    }

    /// A recovery ended without a reduction that lasts, on the controller with this number
    /// ([`LossVerdict::connection`]): every loss counts as wireless.
    fn on_avoided(&mut self, connection: u64) {
        let _ = connection;
    }
}

impl ControllerObserver for () {}

impl<A: ControllerObserver, B: ControllerObserver> ControllerObserver for (A, B) {
    fn on_verdict(&mut self, verdict: &LossVerdict) {
        self.0.on_verdict(verdict);
        self.1.on_verdict(verdict);
    }

    fn on_undone(&mut self, undone: &Undone) {
        self.0.on_undone(undone);
        self.1.on_undone(undone);
    }

    fn on_spurious(&mut self, spurious: &Spurious) {
        self.0.on_spurious(spurious);
        self.1.on_spurious(spurious);
    }

    fn on_avoided(&mut self, connection: u64) {
        self.0.on_avoided(connection);
        self.1.on_avoided(connection);
    }
}

/// An observer that calls a function with every verdict; made by [`on_verdict`].
#[derive(Clone, Copy, Debug)]
pub struct OnVerdict<F>(F);

impl<F> Observer for OnVerdict<F> {}

impl<F: FnMut(&LossVerdict)> ControllerObserver for OnVerdict<F> {
    fn on_verdict(&mut self, verdict: &LossVerdict) {
        (self.0)(verdict);
    }
}

/// An observer that calls `f` with every verdict.
pub fn on_verdict<F: FnMut(&LossVerdict)>(f: F) -> OnVerdict<F> {
    OnVerdict(f)
}

/// Any observer, cloned with its controller.
pub(crate) struct AnyObserver(Box<dyn Object>);

pub(crate) trait Object: ControllerObserver + Send + Sync {
    fn boxed_clone(&self) -> Box<dyn Object>;
}

impl<T: ControllerObserver + Clone + Send + Sync + 'static> Object for T {
    fn boxed_clone(&self) -> Box<dyn Object> {
        Box::new(self.clone())
    }
}

impl AnyObserver {
    pub(crate) fn new(observer: impl ControllerObserver + Clone + Send + Sync + 'static) -> Self {
        Self(Box::new(observer))
    }

    /// The observer itself.
    #[inline]
    pub(crate) fn get(&mut self) -> &mut dyn Object {
        &mut *self.0
    }
}

impl Default for AnyObserver {
    fn default() -> Self {
        Self::new(())
    }
}

impl Clone for AnyObserver {
    fn clone(&self) -> Self {
        Self((*self.0).boxed_clone())
    }
}
