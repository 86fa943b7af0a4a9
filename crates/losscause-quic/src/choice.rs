//! Which algorithm a connection uses, within which caps, and what observes it: what all adapters'
//! factories share.

use std::fmt;

use losscause::ack::Growing;
use losscause::lda::{BuiltIn, SpikeConfig, SpikeThresholds};
use losscause::registry::Registry;
use losscause::{Algorithm, AnyAlgorithm, End, LdaConfig, Needs, SenderDifferentiator, Span};

use crate::observer::AnyObserver;
use crate::{Base, Caps, ControllerObserver, Error, Losses, Monitor};

/// A transport, as an adapter describes it.
#[derive(Clone, Copy, Debug)]
pub struct Transport {
    /// The transport's name, as in a sentence.
    pub name: &'static str,
    /// What the adapter gives to an algorithm.
    pub provided: Needs,
}

/// An algorithm and its caps, for the controllers of one factory.
#[derive(Clone)]
pub struct Choice {
    lda: AnyAlgorithm,
    caps: Caps,
    dry_run: bool,
    memory_pkts: usize,
    monitor: Monitor,
    observer: AnyObserver,
    transport: &'static str,
}

impl Choice {
    /// How many packets in flight a controller remembers, unless set otherwise: 79 MB of 1200 bytes
    /// each, in 1.5 MiB.
    pub const MEMORY_PKTS: usize = 65_536;

    /// A choice of the algorithm `lda`. One of your own is an [`AnyAlgorithm::boxed`].
    ///
    /// # Errors
    /// If the algorithm needs what the transport does not give.
    pub fn new(lda: AnyAlgorithm, transport: &Transport) -> Result<Self, Error> {
        if let Some(input) = lda.needs().first_missing_from(transport.provided) {
            return Err(Error::MissingInput {
                algorithm: lda.name(),
                input,
                transport: transport.name,
            });
        }
        Ok(Self {
            lda,
            caps: Caps::default(),
            dry_run: false,
            memory_pkts: Self::MEMORY_PKTS,
            monitor: Monitor::default(),
            observer: AnyObserver::default(),
            transport: transport.name,
        })
    }

    /// What to begin with ([`BuiltIn::RECOMMENDED`]), in every adapter.
    ///
    /// # Errors
    /// As [`Choice::new`].
    pub fn recommended(transport: &Transport) -> Result<Self, Error> {
        Self::with_parameters(&BuiltIn::RECOMMENDED.config(), transport)
    }

    /// Spike with fixed thresholds ([`SpikeConfig::tobe`]) above the smallest round-trip time.
    ///
    /// # Errors
    /// If `end` exceeds `start` or is negative, or as [`Choice::new`].
    pub fn spike_between(start: Span, end: Span, transport: &Transport) -> Result<Self, Error> {
        let thresholds = SpikeThresholds::Fixed { start, end };
        let parameters = LdaConfig::Spike(SpikeConfig { thresholds, ..SpikeConfig::tobe() });
        Self::with_parameters(&parameters, transport)
    }

    /// The algorithm that answers to `name` in `registry`, in any case, with its published
    /// parameters.
    ///
    /// # Errors
    /// If there is none, or as [`Choice::new`].
    pub fn named(name: &str, registry: &Registry, transport: &Transport) -> Result<Self, Error> {
        match registry.find(name) {
            Some(parameters) => Self::with_parameters(parameters, transport),
            None => {
                let known = registry.infos().map(|info| info.name).collect();
                Err(Error::UnknownAlgorithm { name: name.into(), known })
            }
        }
    }

    /// An algorithm with these parameters.
    ///
    /// # Errors
    /// If a parameter is out of range, or as [`Choice::new`].
    pub fn with_parameters(parameters: &LdaConfig, transport: &Transport) -> Result<Self, Error> {
        Self::new(parameters.build(End::Sender)?, transport)
    }

    /// With other caps.
    ///
    /// # Errors
    /// If a cap is out of range.
    pub fn with_caps(self, caps: Caps) -> Result<Self, Error> {
        caps.validate()?;
        Ok(Self { caps, ..self })
    }

    /// In a dry run losses are judged, counted and reported, and the window is the base controller's
    /// own.
    #[must_use]
    pub fn with_dry_run(self, dry_run: bool) -> Self {
        Self { dry_run, ..self }
    }

    /// Remembers up to `pkts` packets per connection, 24 bytes each; rounded up to a power of two
    /// and to 256. Memory grows with the packets in flight. If more are in flight, losses of the
    /// forgotten ones are congestion.
    #[must_use]
    pub fn with_memory_pkts(self, pkts: usize) -> Self {
        Self { memory_pkts: pkts, ..self }
    }

    /// Lets a clone of `observer` look at every controller, in the place of an earlier one.
    #[must_use]
    pub fn with_observer(
        self,
        observer: impl ControllerObserver + Clone + Send + Sync + 'static,
    ) -> Self {
        Self { observer: AnyObserver::new(observer), ..self }
    }

    /// The caps.
    pub fn caps(&self) -> Caps {
        self.caps
    }

    /// The algorithm's name.
    pub fn algorithm(&self) -> &'static str {
        self.lda.name()
    }

    /// Whether it is a dry run.
    pub fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// How many packets in flight a controller remembers.
    pub fn memory_pkts(&self) -> usize {
        self.memory_pkts
    }

    /// Counts and last verdicts of all controllers.
    pub fn monitor(&self) -> Monitor {
        self.monitor.clone()
    }

    /// The two parts of a new controller: what feeds the algorithm, and what decides about losses.
    pub fn build<B: Base>(&self) -> (SenderDifferentiator<AnyAlgorithm, Growing>, Losses<B>) {
        let safeguards = self.caps.safeguards.above(self.lda.needs());
        let caps = Caps { safeguards, ..self.caps };
        let sender =
            SenderDifferentiator::with_memory(self.lda.clone(), Growing::up_to(self.memory_pkts));
        let Self { dry_run, ref monitor, ref observer, transport, .. } = *self;
        (sender, Losses::new(caps, dry_run, monitor.clone(), observer.clone(), transport))
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Choice")
            .field("algorithm", &self.algorithm())
            .field("caps", &self.caps)
            .field("dry_run", &self.dry_run)
            .finish_non_exhaustive()
    }
}
