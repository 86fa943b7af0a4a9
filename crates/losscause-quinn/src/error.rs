//! Why a controller cannot be made. Each error is one sentence.

use std::fmt;

use losscause::ConfigError;
use losscause_controller::ChoiceError;

/// Why [`LossTolerant`](crate::LossTolerant) cannot be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// No base controller has that name.
    UnknownBase {
        /// The name.
        name: String,
    },
    /// No algorithm of the registry has that name.
    UnknownAlgorithm {
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// A setting of the algorithm, or a cap, is out of range.
    Setting(ConfigError),
    /// The algorithm needs something that quinn does not give.
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

impl From<ChoiceError> for Error {
    fn from(error: ChoiceError) -> Self {
        match error {
            ChoiceError::UnknownAlgorithm { name, known } => Error::UnknownAlgorithm { name, known },
            ChoiceError::Setting(error) => Error::Setting(error),
            ChoiceError::MissingInput { algorithm, input, .. } => Error::MissingInput { algorithm, input },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.clone() {
            Error::UnknownBase { name } => {
                write!(f, "there is no base controller \"{name}\"; there are {}", crate::Base::NAMES.join(", "))
            }
            Error::UnknownAlgorithm { name, known } => ChoiceError::UnknownAlgorithm { name, known }.fmt(f),
            Error::Setting(error) => error.fmt(f),
            Error::MissingInput { algorithm, input } => {
                ChoiceError::MissingInput { algorithm, input, transport: crate::factory::QUINN.name }.fmt(f)
            }
        }
    }
}
