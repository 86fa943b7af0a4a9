//! An algorithm's parameters, reachable by key, and what they build.

use core::fmt;

use super::choice::Field;
use super::{ConfigError, Info};
use crate::Span;
use crate::lda::{AnyAlgorithm, LdaConfig};

/// At which end of a flow an algorithm runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// The algorithm sees packets that arrive.
    Receiver,
    /// The algorithm sees acknowledgements.
    Sender,
}

impl End {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Receiver, Self::Sender];

    /// In texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Receiver => "receiver",
            Self::Sender => "sender",
        }
    }

    /// Checks that the end is a sender, for an algorithm that runs there only.
    ///
    /// # Errors
    /// If it is a receiver.
    pub fn must_be_sender(self, algorithm: &Info) -> Result<(), ConfigError> {
        match self {
            Self::Sender => Ok(()),
            Self::Receiver => Err(ConfigError::ForSenders { algorithm: algorithm.name }),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The parameters of one algorithm: what a scenario can set, and what builds the algorithm.
pub trait Parameters {
    /// The algorithm that these parameters belong to.
    fn info(&self) -> &'static Info;

    /// The place of the parameter `key`, for each of [`Info::settings`]; none if there is no such
    /// setting.
    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        let _ = key;
        None
    }

    /// Builds the algorithm.
    ///
    /// # Errors
    /// If a parameter lies outside its range, or the algorithm does not run at this end.
    fn build(&self, end: End) -> Result<AnyAlgorithm, ConfigError>;
}

/// A setting's value, as a scenario file writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A number, whole or not.
    Number(f64),
    /// A word.
    Text(&'a str),
    /// True or false.
    Flag(bool),
}

impl LdaConfig {
    /// The algorithm that these parameters belong to.
    pub fn info(&self) -> &'static Info {
        self.parameters().info()
    }

    /// Builds the algorithm.
    ///
    /// # Errors
    /// If a parameter lies outside its range, or the algorithm does not run at this end.
    pub fn build(&self, end: End) -> Result<AnyAlgorithm, ConfigError> {
        self.parameters().build(end)
    }

    /// Sets one parameter. [`LdaConfig::build`] checks its range, when all parameters that depend
    /// on each other are set. Settings of a hybrid's base schemes have the base's prefix:
    /// `spike.alpha`, see [`Info::bases`].
    ///
    /// # Errors
    /// If there is no such setting, or the value is of the wrong kind.
    pub fn set(&mut self, key: &str, value: Value<'_>) -> Result<(), ConfigError> {
        let algorithm = self.info();
        let unknown = ConfigError::UnknownSetting { algorithm };
        let setting = algorithm.setting(key).ok_or(unknown)?;
        let field = self.parameters_mut().field(key).ok_or(unknown)?;
        let key = setting.key;
        match (field, value) {
            (Field::Number(n), Value::Number(v)) => *n = v,
            (Field::Millis(span), Value::Number(v)) => *span = Span::from_secs_f64_rounded(v / 1e3),
            (Field::Count(n), Value::Number(v)) => {
                // A float that is no whole number of this range does not survive the way there and
                // back.
                let whole = v as u32;
                if f64::from(whole) != v {
                    return Err(ConfigError::OutOfRange {
                        key,
                        value: v,
                        expected: "a whole number from 0 to 2^32 - 1",
                    });
                }
                *n = whole;
            }
            (Field::Flag(flag), Value::Flag(v)) => *flag = v,
            (Field::Choice(choice), Value::Text(name)) => {
                if !choice.select(name) {
                    return Err(ConfigError::UnknownChoice { key, choices: choice.names() });
                }
            }
            (Field::Number(_) | Field::Millis(_) | Field::Count(_), _) => {
                return Err(ConfigError::WrongKind { key, expected: "a number" });
            }
            (Field::Flag(_), _) => {
                return Err(ConfigError::WrongKind { key, expected: "true or false" });
            }
            (Field::Choice(choice), _) => {
                return Err(ConfigError::UnknownChoice { key, choices: choice.names() });
            }
        }
        Ok(())
    }

    /// Reads one parameter; none if there is no such setting.
    pub fn get(&self, key: &str) -> Option<Value<'static>> {
        self.info().setting(key)?;
        let mut copy = self.clone();
        Some(match copy.parameters_mut().field(key)? {
            Field::Number(n) => Value::Number(*n),
            Field::Millis(span) => Value::Number(span.as_millis_f64()),
            Field::Count(n) => Value::Number(f64::from(*n)),
            Field::Flag(flag) => Value::Flag(*flag),
            Field::Choice(choice) => Value::Text(choice.selected()),
        })
    }
}
