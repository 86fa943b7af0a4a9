//! The factory of the stacks whose own controllers are the base: which base, which algorithm, which
//! caps. Each stack names it with its base.

use std::fmt;
use std::time::Instant;

use losscause::registry::Registry;
use losscause::{AnyAlgorithm, LdaConfig};

use crate::{Caps, Choice, ControllerObserver, Error, Monitor, Transport};

/// A base that an algorithm is put in front of, of one stack.
///
/// ```
/// use losscause_quic::{FrontOf, LossTolerant};
///
/// /// The same for every stack of an application.
/// fn tolerant<B: FrontOf>(base: B) -> LossTolerant<B> {
///     LossTolerant::recommended(base)
/// }
/// ```
pub trait FrontOf {
    /// The stack.
    const TRANSPORT: Transport;
    /// The controller: the base with an algorithm in front.
    type Controller;

    /// The base's name.
    fn name(&self) -> &'static str;

    /// A controller for a path with packets of up to `mtu` bytes, whose times count from `zero`.
    fn controller(
        &self,
        choice: &Choice,
        zero: Instant,
        now: Instant,
        mtu: u16,
    ) -> Self::Controller;
}

/// Builds congestion controllers that do not reduce the window for losses which a loss
/// differentiation algorithm takes for wireless.
#[derive(Clone)]
pub struct LossTolerant<B> {
    base: B,
    choice: Choice,
    clock_zero: Option<Instant>,
}

impl<B: FrontOf> LossTolerant<B> {
    /// How many packets in flight a controller remembers, unless set otherwise: 79 MB of 1200 bytes
    /// each, in 1.5 MiB.
    pub const MEMORY_PKTS: usize = Choice::MEMORY_PKTS;

    /// Puts `lda` in front of `base`. An algorithm of your own is an [`AnyAlgorithm::boxed`].
    ///
    /// # Errors
    /// If the algorithm needs what the transport does not give: a receiver's label, or the true cause.
    pub fn new(base: B, lda: AnyAlgorithm) -> Result<Self, Error> {
        Ok(Self::with_choice(base, Choice::new(lda, &B::TRANSPORT)?))
    }

    fn with_choice(base: B, choice: Choice) -> Self {
        Self { base, choice, clock_zero: None }
    }

    /// What to begin with: Sift ([`Choice::recommended`]). `docs/quic.md` has what was measured.
    pub fn recommended(base: B) -> Self {
        let choice = Choice::recommended(&B::TRANSPORT);
        Self::with_choice(base, choice.expect("Sift needs what every transport gives"))
    }

    /// The algorithm that answers to `name` in `registry`, in any case, with its published
    /// parameters.
    ///
    /// # Errors
    /// If there is none, or as [`LossTolerant::new`].
    pub fn named(base: B, name: &str, registry: &Registry) -> Result<Self, Error> {
        Ok(Self::with_choice(base, Choice::named(name, registry, &B::TRANSPORT)?))
    }

    /// An algorithm with these parameters.
    ///
    /// # Errors
    /// If a parameter is out of range, or as [`LossTolerant::new`].
    pub fn with_parameters(base: B, parameters: &LdaConfig) -> Result<Self, Error> {
        Ok(Self::with_choice(base, Choice::with_parameters(parameters, &B::TRANSPORT)?))
    }

    /// With other caps.
    ///
    /// # Errors
    /// If a cap is out of range.
    pub fn with_caps(self, caps: Caps) -> Result<Self, Error> {
        Ok(Self { choice: self.choice.with_caps(caps)?, ..self })
    }

    /// In a dry run losses are judged, counted and reported, and the window is the stack's own.
    #[must_use]
    pub fn with_dry_run(self, dry_run: bool) -> Self {
        Self { choice: self.choice.with_dry_run(dry_run), ..self }
    }

    /// Remembers up to `pkts` packets per connection, 24 bytes each; rounded up to a power of two
    /// and to 256. Memory grows with the packets in flight. If more are in flight, losses of the
    /// forgotten ones are congestion.
    #[must_use]
    pub fn with_memory_pkts(self, pkts: usize) -> Self {
        Self { choice: self.choice.with_memory_pkts(pkts), ..self }
    }

    /// Counts the times of verdicts, and of what the algorithm observes, from `zero`; without it,
    /// each controller counts from when it was built.
    #[must_use]
    pub fn with_clock_zero(self, zero: Instant) -> Self {
        Self { clock_zero: Some(zero), ..self }
    }

    /// Lets a clone of `observer` look at every controller, in the place of an earlier one.
    #[must_use]
    pub fn with_observer(
        self,
        observer: impl ControllerObserver + Clone + Send + Sync + 'static,
    ) -> Self {
        Self { choice: self.choice.with_observer(observer), ..self }
    }

    /// The caps.
    pub fn caps(&self) -> Caps {
        self.choice.caps()
    }

    /// The base controller.
    pub fn base(&self) -> &B {
        &self.base
    }

    /// The algorithm's name.
    pub fn algorithm(&self) -> &'static str {
        self.choice.algorithm()
    }

    /// Counts and last verdicts of all controllers that this factory builds.
    pub fn monitor(&self) -> Monitor {
        self.choice.monitor()
    }

    /// A controller of its own type. The stack takes the factory itself.
    pub fn controller(&self, now: Instant, mtu: u16) -> B::Controller {
        self.base.controller(&self.choice, self.clock_zero.unwrap_or(now), now, mtu)
    }
}

impl<B: FrontOf> fmt::Debug for LossTolerant<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LossTolerant")
            .field("base", &self.base.name())
            .field("algorithm", &self.algorithm())
            .field("caps", &self.caps())
            .finish_non_exhaustive()
    }
}
