//! Why an estimator cannot be made. Each error is one sentence.

use losscause::ConfigError;

/// Why an algorithm or its caps cannot be chosen.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No algorithm of the registry has that name.
    #[error("there is no algorithm \"{name}\"; there are {}", .known.join(", "))]
    UnknownAlgorithm {
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// A setting of the algorithm, or a cap, is out of range.
    #[error(transparent)]
    Setting(#[from] ConfigError),
    /// The algorithm needs something that feedback does not give.
    #[error("{algorithm} needs {input}, which transport-wide feedback does not give")]
    MissingInput {
        /// The algorithm.
        algorithm: &'static str,
        /// What it needs, as a noun phrase.
        input: &'static str,
    },
}
