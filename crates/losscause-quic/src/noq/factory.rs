//! The factory: which base, which algorithm, which caps.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use losscause::registry::Registry;
use losscause::{AnyAlgorithm, LdaConfig, Needs};
use noq_proto::congestion::{Controller, ControllerFactory};

use super::{Base, LossTolerantController};
use crate::{Caps, Choice, ControllerObserver, Error, Monitor, Transport};

/// Builds congestion controllers that do not reduce the window for losses which a loss
/// differentiation algorithm takes for wireless.
///
/// ```
/// use std::sync::Arc;
///
/// use losscause::registry::Registry;
/// use losscause_quic::noq::{Base, LossTolerant};
///
/// let factory = LossTolerant::named(Base::cubic(), "Spike", &Registry::built_in())?;
/// let monitor = factory.monitor();
/// let mut transport = noq_proto::TransportConfig::default();
/// transport.congestion_controller_factory(Arc::new(factory));
/// // While connections run:
/// println!("{} lost packets were ignored", monitor.totals().wireless);
/// # Ok::<(), losscause_quic::Error>(())
/// ```
#[derive(Clone)]
pub struct LossTolerant {
    base: Base,
    choice: Choice,
    clock_zero: Option<Instant>,
}

/// What noq gives to a congestion controller, with the numbers that this crate passes on.
pub const PROVIDED: Needs = Needs::NONE.with_delay().with_spacing().with_gap_size().with_cwnd();

const NOQ: Transport = Transport { name: "noq", provided: PROVIDED };

impl LossTolerant {
    /// How many packets in flight a controller remembers, unless set otherwise: 79 MB of 1200 bytes
    /// each, in 1.5 MiB.
    pub const MEMORY_PKTS: usize = Choice::MEMORY_PKTS;

    /// Puts `lda` in front of `base`. An algorithm of your own is an [`AnyAlgorithm::boxed`].
    ///
    /// # Errors
    /// If the algorithm needs what noq does not give: a receiver's label, or the true cause.
    pub fn new(base: Base, lda: AnyAlgorithm) -> Result<Self, Error> {
        Ok(Self::with_choice(base, Choice::new(lda, &NOQ)?))
    }

    fn with_choice(base: Base, choice: Choice) -> Self {
        Self { base, choice, clock_zero: None }
    }

    /// What to begin with: Sift ([`Choice::recommended`]). `docs/quic.md` has what was measured.
    pub fn recommended(base: Base) -> Self {
        let choice = Choice::recommended(&NOQ);
        Self::with_choice(base, choice.expect("Sift needs what every transport gives"))
    }

    /// The algorithm that answers to `name` in `registry`, in any case, with its published
    /// parameters.
    ///
    /// # Errors
    /// If there is none, or as [`LossTolerant::new`].
    pub fn named(base: Base, name: &str, registry: &Registry) -> Result<Self, Error> {
        Ok(Self::with_choice(base, Choice::named(name, registry, &NOQ)?))
    }

    /// An algorithm with these parameters.
    ///
    /// # Errors
    /// If a parameter is out of range, or as [`LossTolerant::new`].
    pub fn with_parameters(base: Base, parameters: &LdaConfig) -> Result<Self, Error> {
        Ok(Self::with_choice(base, Choice::with_parameters(parameters, &NOQ)?))
    }

    /// With other caps.
    ///
    /// # Errors
    /// If a cap is out of range.
    pub fn with_caps(self, caps: Caps) -> Result<Self, Error> {
        Ok(Self { choice: self.choice.with_caps(caps)?, ..self })
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
    pub fn base(&self) -> &Base {
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

    /// A controller of its own type. noq takes the factory itself.
    pub fn controller(&self, now: Instant, mtu: u16) -> LossTolerantController {
        let base = self.base.build(now, mtu);
        LossTolerantController::new(base, &self.choice, self.clock_zero.unwrap_or(now), mtu)
    }
}

impl ControllerFactory for LossTolerant {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(self.controller(now, current_mtu))
    }
}

impl fmt::Debug for LossTolerant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LossTolerant")
            .field("base", &self.base.name())
            .field("algorithm", &self.algorithm())
            .field("caps", &self.caps())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_algorithm_lists_those_that_there_are() {
        let error = LossTolerant::named(Base::cubic(), "spyke", &Registry::built_in())
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("there is no algorithm \"spyke\"; there are Biaz, mBiaz, Spike, "),
            "{error}"
        );
    }

    #[test]
    fn an_algorithm_that_needs_a_label_or_the_truth_is_refused() {
        let error = LossTolerant::new(Base::cubic(), AnyAlgorithm::AsTold(losscause::lda::AsTold))
            .unwrap_err();
        let expected = "as told needs the receiver's label, which noq does not give to a congestion controller";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn the_recommendation_builds_on_both_bases() {
        for base in [Base::new_reno(), Base::cubic()] {
            assert_eq!(LossTolerant::recommended(base).algorithm(), "Sift");
        }
    }

    #[test]
    fn a_cap_out_of_range_is_refused() {
        let factory = LossTolerant::named(Base::cubic(), "Spike", &Registry::built_in()).unwrap();
        let error = factory.with_caps(Caps { max_loss_rate: -1.0, ..Caps::default() }).unwrap_err();
        assert_eq!(error.to_string(), "max_loss_rate is -1 but must be a number from 0 to 1");
    }
}
