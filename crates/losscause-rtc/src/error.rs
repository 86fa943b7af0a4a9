//! Why an estimator cannot be made. Each error is one sentence.

use std::fmt;

use losscause::ConfigError;

/// Why an algorithm or its caps cannot be chosen.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// No algorithm of the registry has that name.
    UnknownAlgorithm {
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// A setting of the algorithm, or a cap, is out of range.
    Setting(ConfigError),
    /// The algorithm needs something that feedback does not give.
    MissingInput {
        /// The algorithm.
        algorithm: &'static str,
        /// What it needs, as a noun phrase.
        input: &'static str,
    },
}

impl std::error::Error for Error {}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Error::Setting(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownAlgorithm { name, known } => {
                write!(f, "there is no algorithm \"{name}\"; there are {}", known.join(", "))
            }
            Error::Setting(error) => error.fmt(f),
            Error::MissingInput { algorithm, input } => {
                write!(f, "{algorithm} needs {input}, which transport-wide feedback does not give")
            }
        }
    }
}
