//! What can be wrong with a parameter.

use core::fmt;

use super::Info;

/// A parameter that cannot be. `Display` is one sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The algorithm has no setting of that name.
    UnknownSetting {
        /// The algorithm.
        algorithm: &'static Info,
    },
    /// A receiver cannot run the algorithm.
    ForSenders {
        /// The algorithm's name.
        algorithm: &'static str,
    },
    /// The value is of the wrong kind.
    WrongKind {
        /// The setting.
        key: &'static str,
        /// What it takes.
        expected: &'static str,
    },
    /// The setting is none of the words it may be.
    UnknownChoice {
        /// The setting.
        key: &'static str,
        /// The words it may be.
        choices: &'static [&'static str],
    },
    /// The number lies outside its range.
    OutOfRange {
        /// The setting.
        key: &'static str,
        /// The value given.
        value: f64,
        /// The range.
        expected: &'static str,
    },
    /// Two settings are in the wrong order.
    WrongOrder {
        /// The setting that must not be larger.
        smaller: &'static str,
        /// The value that must not be larger.
        smaller_value: f64,
        /// The setting that must not be smaller.
        larger: &'static str,
        /// The value that must not be smaller.
        larger_value: f64,
    },
}

impl core::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ConfigError::UnknownSetting { algorithm } => {
                write!(f, "{} has no such setting", algorithm.name)?;
                let own = algorithm.settings.iter().map(|s| (s.key, ""));
                let based = algorithm.bases.iter().map(|(prefix, _)| (*prefix, ".…"));
                for (i, (key, suffix)) in own.chain(based).enumerate() {
                    write!(f, "{}{key}{suffix}", if i == 0 { "; it has " } else { ", " })?;
                }
                Ok(())
            }
            ConfigError::ForSenders { algorithm } => {
                write!(f, "{algorithm} looks at acknowledgements, so it is for TCP senders only")
            }
            ConfigError::WrongKind { key, expected } => write!(f, "{key} must be {expected}"),
            ConfigError::UnknownChoice { key, choices } => {
                write!(f, "{key} must be one of ")?;
                for (i, choice) in choices.iter().enumerate() {
                    write!(f, "{}\"{choice}\"", if i == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            ConfigError::OutOfRange { key, value, expected } => {
                write!(f, "{key} is {value} but must be {expected}")
            }
            ConfigError::WrongOrder { smaller, smaller_value, larger, larger_value } => {
                write!(
                    f,
                    "{smaller} is {smaller_value} but must not be larger than {larger}, which is {larger_value}"
                )
            }
        }
    }
}

/// Refuses a value of the setting `key` that is no finite number or does not fit; `expected` names
/// the range.
///
/// # Errors
/// [`ConfigError::OutOfRange`].
pub fn check(
    key: &'static str,
    value: f64,
    fits: impl Fn(f64) -> bool,
    expected: &'static str,
) -> Result<(), ConfigError> {
    if value.is_finite() && fits(value) {
        Ok(())
    } else {
        Err(ConfigError::OutOfRange { key, value, expected })
    }
}

/// Refuses two settings of which the first is larger than the second.
///
/// # Errors
/// [`ConfigError::WrongOrder`].
pub fn check_order(
    smaller: (&'static str, f64),
    larger: (&'static str, f64),
) -> Result<(), ConfigError> {
    if smaller.1 <= larger.1 {
        return Ok(());
    }
    let (smaller, smaller_value) = smaller;
    let (larger, larger_value) = larger;
    Err(ConfigError::WrongOrder { smaller, smaller_value, larger, larger_value })
}
