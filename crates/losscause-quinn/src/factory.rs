//! The factory: which base, which algorithm, which caps.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use losscause::ack::SenderInputs;
use losscause::lda::{SpikeConfig, SpikeThresholds};
use losscause::registry::Registry;
use losscause::{AnySenderLda, LdaConfig, SenderLda, Span};
use quinn_proto::congestion::{Controller, ControllerFactory};

use crate::{Base, Caps, Error, LossTolerantController, LossVerdict, Monitor};

/// Builds congestion controllers that do not reduce the window for losses which a loss differentiation algorithm takes
/// for wireless.
///
/// ```
/// use std::sync::Arc;
///
/// use losscause::registry::Registry;
/// use losscause_quinn::{Base, LossTolerant};
///
/// let factory = LossTolerant::named(Base::cubic(), "Spike", &Registry::built_in())?;
/// let monitor = factory.monitor();
/// let mut transport = quinn_proto::TransportConfig::default();
/// transport.congestion_controller_factory(Arc::new(factory));
/// // While connections run:
/// println!("{} lost packets were ignored", monitor.totals().wireless);
/// # Ok::<(), losscause_quinn::Error>(())
/// ```
#[derive(Clone)]
pub struct LossTolerant {
    base: Base,
    lda: AnySenderLda,
    caps: Caps,
    memory_pkts: usize,
    clock_zero: Option<Instant>,
    monitor: Monitor,
    sink: Option<Arc<dyn VerdictSink>>,
}

/// Takes in every verdict of a factory's controllers, as it is made. quinn calls it from the task that drives the
/// connection, so it must not block.
pub trait VerdictSink: Send + Sync {
    /// Takes in a verdict.
    fn on_verdict(&self, verdict: &LossVerdict);
}

/// What quinn gives to a congestion controller, with the numbers that this crate reconstructs.
pub const PROVIDED: SenderInputs =
    SenderInputs::NONE.with_rtt_per_packet().with_ack_spacing().with_gap_size().with_cwnd();

impl LossTolerant {
    /// How many packets in flight a controller remembers, unless set otherwise: 79 MB of 1200 bytes each, in 1.5 MiB.
    pub const MEMORY_PKTS: usize = 65_536;

    /// Puts `lda` in front of `base`. An algorithm of your own is an [`AnySenderLda::boxed`].
    ///
    /// # Errors
    /// If the algorithm needs what quinn does not give: a receiver's label, or the true cause.
    pub fn new(base: Base, lda: AnySenderLda) -> Result<Self, Error> {
        if let Some(input) = lda.needs().first_missing_from(PROVIDED) {
            return Err(Error::MissingInput { algorithm: lda.name(), input });
        }
        Ok(Self {
            base,
            lda,
            caps: Caps::default(),
            memory_pkts: Self::MEMORY_PKTS,
            clock_zero: None,
            monitor: Monitor::default(),
            sink: None,
        })
    }

    /// What to begin with: Spike with fixed thresholds ([`SpikeConfig::tobe`]) of 5 ms and 2.5 ms above the smallest
    /// round-trip time. 5 ms are the queueing delay from which CoDel drops packets (RFC 8289), so losses behind it count
    /// as congestion. `docs/quic.md` has what was measured.
    pub fn recommended(base: Base) -> Self {
        let thresholds = SpikeThresholds::Fixed { start: Span::from_millis(5), end: Span::from_micros(2_500) };
        let parameters = LdaConfig::Spike(SpikeConfig { thresholds, ..SpikeConfig::tobe() });
        Self::with_parameters(base, &parameters).expect("the thresholds are in range, and Spike needs what quinn gives")
    }

    /// The algorithm that answers to `name` in `registry`, in any case, with its published parameters.
    ///
    /// # Errors
    /// If there is none, or as [`LossTolerant::new`].
    pub fn named(base: Base, name: &str, registry: &Registry) -> Result<Self, Error> {
        match registry.find(name) {
            Some(parameters) => Self::with_parameters(base, parameters),
            None => {
                let known = registry.infos().map(|info| info.name).collect();
                Err(Error::UnknownAlgorithm { name: name.into(), known })
            }
        }
    }

    /// An algorithm with these parameters.
    ///
    /// # Errors
    /// If a parameter is out of range, or as [`LossTolerant::new`].
    pub fn with_parameters(base: Base, parameters: &LdaConfig) -> Result<Self, Error> {
        Self::new(base, parameters.build_at_sender()?)
    }

    /// With other caps.
    ///
    /// # Errors
    /// If a cap is out of range.
    pub fn with_caps(self, caps: Caps) -> Result<Self, Error> {
        caps.validate()?;
        Ok(Self { caps, ..self })
    }

    /// Remembers up to `pkts` packets per connection, 24 bytes each; rounded up to a power of two and to 256. Memory
    /// grows with the packets in flight. If more are in flight, losses of the forgotten ones are congestion.
    #[must_use]
    pub fn with_memory_pkts(self, pkts: usize) -> Self {
        Self { memory_pkts: pkts, ..self }
    }

    /// Counts the times of verdicts, and of what the algorithm observes, from `zero`; without it, each controller counts
    /// from when it was built.
    #[must_use]
    pub fn with_clock_zero(self, zero: Instant) -> Self {
        Self { clock_zero: Some(zero), ..self }
    }

    /// Hands every verdict to `sink`.
    #[must_use]
    pub fn with_sink(self, sink: Arc<dyn VerdictSink>) -> Self {
        Self { sink: Some(sink), ..self }
    }

    /// The caps.
    pub fn caps(&self) -> Caps {
        self.caps
    }

    /// The base controller.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// The algorithm's name.
    pub fn algorithm(&self) -> &'static str {
        self.lda.name()
    }

    /// Counts and last verdicts of all controllers that this factory builds.
    pub fn monitor(&self) -> Monitor {
        self.monitor.clone()
    }

    /// A controller of its own type. quinn takes the factory itself.
    pub fn controller(&self, now: Instant, mtu: u16) -> LossTolerantController {
        let base = self.base.build(now, mtu);
        let clock_zero = self.clock_zero.unwrap_or(now);
        LossTolerantController::new(
            base,
            self.lda.clone(),
            self.caps,
            self.memory_pkts,
            clock_zero,
            mtu,
            (self.monitor.clone(), self.sink.clone()),
        )
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
            .field("caps", &self.caps)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_algorithm_lists_those_that_there_are() {
        let error = LossTolerant::named(Base::cubic(), "spyke", &Registry::built_in()).unwrap_err().to_string();
        assert!(error.starts_with("there is no algorithm \"spyke\"; there are Biaz, mBiaz, Spike, "), "{error}");
    }

    #[test]
    fn an_algorithm_that_needs_a_label_or_the_truth_is_refused() {
        let error = LossTolerant::new(Base::cubic(), AnySenderLda::AsTold(losscause::lda::AsTold)).unwrap_err();
        let expected = "as told needs the receiver's label, which quinn does not give to a congestion controller";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn the_recommendation_builds_on_both_bases() {
        for base in [Base::new_reno(), Base::cubic()] {
            assert_eq!(LossTolerant::recommended(base).algorithm(), "Spike-Tobe");
        }
    }

    #[test]
    fn a_cap_out_of_range_is_refused() {
        let factory = LossTolerant::named(Base::cubic(), "Spike", &Registry::built_in()).unwrap();
        let error = factory.with_caps(Caps { max_loss_rate: -1.0, ..Caps::default() }).unwrap_err();
        assert_eq!(error.to_string(), "max_loss_rate is -1 but must be a number from 0 to 1");
    }
}
