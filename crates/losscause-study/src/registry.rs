//! What a scenario can name: algorithms and TCPs, those of other crates among them.

use std::ops::Deref;

use losscause::registry::{self as algorithms, Parameters, WithSettings};
use losscause_transport::tcp;

/// The algorithms and the TCPs that a scenario can name. It is [`algorithms::Registry`] as well,
/// for whoever needs only algorithms.
#[derive(Clone, Debug)]
pub struct Registry {
    algorithms: algorithms::Registry,
    tcps: tcp::Registry,
}

impl Registry {
    /// A registry of `algorithms` and the published TCPs.
    pub fn of(algorithms: algorithms::Registry) -> Self {
        Self { algorithms, tcps: tcp::Registry::published() }
    }

    /// The same with one algorithm more, whose published parameters these are.
    ///
    /// # Errors
    /// As [`algorithms::Registry::with`].
    pub fn with(
        self,
        parameters: impl Parameters + Clone + Send + Sync + 'static,
    ) -> Result<Self, RegistryError> {
        Ok(Self { algorithms: self.algorithms.with(parameters)?, ..self })
    }

    /// The same with one algorithm more, with its settings by serde.
    ///
    /// # Errors
    /// As [`algorithms::Registry::with_own`].
    pub fn with_own(self, algorithm: impl WithSettings) -> Result<Self, RegistryError> {
        Ok(Self { algorithms: self.algorithms.with_own(algorithm)?, ..self })
    }

    /// The same with one congestion control more, which scenarios name as `tcp.variant` and
    /// `tcp.response`.
    ///
    /// # Errors
    /// As [`tcp::Registry::with`].
    pub fn with_tcp(self, own: tcp::OwnControl) -> Result<Self, RegistryError> {
        Ok(Self { tcps: self.tcps.with(own)?, ..self })
    }

    /// The TCPs.
    pub fn tcps(&self) -> &tcp::Registry {
        &self.tcps
    }
}

impl Deref for Registry {
    type Target = algorithms::Registry;

    fn deref(&self) -> &algorithms::Registry {
        &self.algorithms
    }
}

/// Why an algorithm or a TCP cannot be added to a registry. `Display` is one sentence.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// An algorithm.
    #[error(transparent)]
    Algorithm(#[from] algorithms::RegistryError),
    /// A TCP.
    #[error(transparent)]
    Tcp(#[from] tcp::NameTaken),
}
