//! The factory: which algorithm, which caps, which settings of CUBIC.

use std::fmt;

use losscause::registry::Registry;
use losscause::{AnyAlgorithm, LdaConfig, Needs};
use s2n_quic_core::recovery::congestion_controller::{Endpoint, PathInfo};
/// s2n-quic's CUBIC with its settings, as
/// `s2n_quic::provider::congestion_controller::cubic::Builder` builds it.
pub use s2n_quic_core::recovery::cubic::Endpoint as Cubic;

use super::LossTolerantController;
use crate::{Caps, Choice, ControllerObserver, Error, Monitor, Transport};

/// Gives each path a controller that does not reduce the window for losses which a loss
/// differentiation algorithm takes for wireless.
///
/// ```
/// use losscause::registry::Registry;
/// use losscause_quic::s2n_quic::{Cubic, LossTolerant};
///
/// // Or with settings: `s2n_quic::provider::congestion_controller::cubic::Builder`.
/// let cubic = Cubic::default();
/// let controllers = LossTolerant::named("Spike", &Registry::built_in())?.with_cubic(cubic);
/// // `s2n_quic::Server::builder().with_congestion_controller(controllers)?`
/// # Ok::<(), losscause_quic::Error>(())
/// ```
pub struct LossTolerant {
    cubic: Cubic,
    choice: Choice,
}

/// What s2n-quic gives to a congestion controller, with the packets that this crate finds.
pub const PROVIDED: Needs = Needs::NONE.with_delay().with_spacing().with_gap_size().with_cwnd();

const S2N_QUIC: Transport = Transport { name: "s2n-quic", provided: PROVIDED };

impl LossTolerant {
    /// How many packets in flight a controller remembers, unless set otherwise: 79 MB of 1200 bytes
    /// each, in 1.8 MiB.
    pub const MEMORY_PKTS: usize = Choice::MEMORY_PKTS;

    /// Puts `lda` in front of s2n-quic's CUBIC. An algorithm of your own is an
    /// [`AnyAlgorithm::boxed`].
    ///
    /// # Errors
    /// If the algorithm needs what s2n-quic does not give: a receiver's label, or the true cause.
    pub fn new(lda: AnyAlgorithm) -> Result<Self, Error> {
        Ok(Self::with_choice(Choice::new(lda, &S2N_QUIC)?))
    }

    fn with_choice(choice: Choice) -> Self {
        Self { cubic: Cubic::default(), choice }
    }

    /// What to begin with: Sift ([`Choice::recommended`]). `docs/quic.md` has what was measured.
    pub fn recommended() -> Self {
        let choice = Choice::recommended(&S2N_QUIC);
        Self::with_choice(choice.expect("Sift needs what every transport gives"))
    }

    /// The algorithm that answers to `name` in `registry`, in any case, with its published
    /// parameters.
    ///
    /// # Errors
    /// If there is none, or as [`LossTolerant::new`].
    pub fn named(name: &str, registry: &Registry) -> Result<Self, Error> {
        Ok(Self::with_choice(Choice::named(name, registry, &S2N_QUIC)?))
    }

    /// An algorithm with these parameters.
    ///
    /// # Errors
    /// If a parameter is out of range, or as [`LossTolerant::new`].
    pub fn with_parameters(parameters: &LdaConfig) -> Result<Self, Error> {
        Ok(Self::with_choice(Choice::with_parameters(parameters, &S2N_QUIC)?))
    }

    /// With other settings of CUBIC.
    #[must_use]
    pub fn with_cubic(self, cubic: Cubic) -> Self {
        Self { cubic, ..self }
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

    /// Remembers up to `pkts` packets per connection, 28 bytes each; rounded up to a power of two
    /// and to 256. Memory grows with the packets in flight. If more are in flight, losses of the
    /// forgotten ones are congestion.
    #[must_use]
    pub fn with_memory_pkts(self, pkts: usize) -> Self {
        Self { choice: self.choice.with_memory_pkts(pkts), ..self }
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

    /// The algorithm's name.
    pub fn algorithm(&self) -> &'static str {
        self.choice.algorithm()
    }

    /// Counts and last verdicts of all controllers of this endpoint.
    pub fn monitor(&self) -> Monitor {
        self.choice.monitor()
    }
}

impl Endpoint for LossTolerant {
    type CongestionController = LossTolerantController;

    fn new_congestion_controller(&mut self, path: PathInfo<'_>) -> LossTolerantController {
        let mtu = path.max_datagram_size;
        LossTolerantController::new(self.cubic.new_congestion_controller(path), &self.choice, mtu)
    }
}

impl fmt::Debug for LossTolerant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LossTolerant")
            .field("algorithm", &self.algorithm())
            .field("caps", &self.caps())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_algorithm_that_needs_a_label_is_refused_by_the_transport() {
        let error = LossTolerant::new(AnyAlgorithm::AsTold(losscause::lda::AsTold)).unwrap_err();
        let expected = "as told needs the receiver's label, which s2n-quic does not give to a congestion controller";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn the_recommendation_builds() {
        assert_eq!(LossTolerant::recommended().algorithm(), "Sift");
    }
}
