//! An algorithm with its parameters, and the way to set them by name.

use core::fmt;

use super::choice::Field;
use super::{Algorithm, settings};
use crate::lda::{
    AnyLda, AnySenderLda, AtSender, Biaz, BiazConfig, Constant, FlipFlopConfig, FlipFlopHistory, Spike, SpikeConfig,
    VegasBuffer, VegasBufferConfig, Zbs, ZbsConfig, ZigZag, ZigZagConfig,
};
use crate::{Span, Verdict};

/// Parameters and open readings of one algorithm. [`Algorithm::config`] gives the published ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Config {
    /// Biaz or mBiaz.
    Biaz(BiazConfig),
    /// Spike, proportional or with Tobe's fixed thresholds.
    Spike(SpikeConfig),
    /// ZigZag.
    ZigZag(ZigZagConfig),
    /// ZBS.
    Zbs(ZbsConfig),
    /// Flip Flop with history.
    FlipFlop(FlipFlopConfig),
    /// The Vegas buffer rule.
    VegasBuffer(VegasBufferConfig),
    /// The same verdict always.
    Constant(Verdict),
}

/// A setting of an algorithm, as a scenario file names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its key.
    pub key: &'static str,
    /// What it means, with its unit and range.
    pub meaning: &'static str,
}

/// A setting's value, as a scenario file writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A number, whole or not.
    Number(f64),
    /// A word.
    Text(&'a str),
    /// True or false.
    Flag(bool),
}

impl Config {
    /// The algorithm that these parameters belong to.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Config::Biaz(c) if c.is_modified() => Algorithm::MBiaz,
            Config::Biaz(_) => Algorithm::Biaz,
            Config::Spike(c) if c.is_fixed() => Algorithm::SpikeTobe,
            Config::Spike(_) => Algorithm::Spike,
            Config::ZigZag(_) => Algorithm::ZigZag,
            Config::Zbs(_) => Algorithm::Zbs,
            Config::FlipFlop(_) => Algorithm::FlipFlop,
            Config::VegasBuffer(_) => Algorithm::VegasBuffer,
            Config::Constant(Verdict::Wireless) => Algorithm::AlwaysWireless,
            Config::Constant(_) => Algorithm::AlwaysCongestion,
        }
    }

    /// Builds the algorithm for a receiver.
    ///
    /// # Errors
    /// If a parameter lies outside its range, or only senders can run it.
    pub fn build(&self) -> Result<AnyLda, ConfigError> {
        Ok(match self {
            Config::Biaz(c) => AnyLda::Biaz(Biaz::new(c)?),
            Config::Spike(c) => AnyLda::Spike(Spike::new(c)?),
            Config::ZigZag(c) => AnyLda::ZigZag(ZigZag::new(c)?),
            Config::Zbs(c) => AnyLda::Zbs(Zbs::new(c)?),
            Config::Constant(verdict) => AnyLda::Constant(Constant::new(*verdict)),
            Config::FlipFlop(_) | Config::VegasBuffer(_) => {
                return Err(ConfigError::ForSenders { algorithm: self.algorithm() });
            }
        })
    }

    /// Builds the algorithm for a sender.
    ///
    /// # Errors
    /// If a parameter lies outside its range.
    pub fn build_at_sender(&self) -> Result<AnySenderLda, ConfigError> {
        Ok(match self {
            Config::FlipFlop(c) => AnySenderLda::FlipFlop(FlipFlopHistory::new(c)?),
            Config::VegasBuffer(c) => AnySenderLda::VegasBuffer(VegasBuffer::new(c)?),
            _ => AnySenderLda::AtSender(AtSender::new(self.build()?)),
        })
    }

    /// Sets one parameter. Its range is looked at by [`Config::build`], when all parameters that depend on each other
    /// are set. Settings of a hybrid's base schemes are reached as `spike.alpha`, see [`Algorithm::bases`].
    ///
    /// # Errors
    /// If there is no such setting, or the value is of the wrong kind.
    pub fn set(&mut self, key: &str, value: Value<'_>) -> Result<(), ConfigError> {
        let algorithm = self.algorithm();
        let Some(setting) = find(algorithm, key) else {
            return Err(ConfigError::UnknownSetting { algorithm });
        };
        let field = settings::field(self, key).ok_or(ConfigError::UnknownSetting { algorithm })?;
        let key = setting.key;
        match (field, value) {
            (Field::Number(n), Value::Number(v)) => *n = v,
            (Field::Millis(span), Value::Number(v)) => *span = Span::from_secs_f64_rounded(v / 1e3),
            (Field::Count(n), Value::Number(v)) => {
                // A float that is no whole number of this range does not survive the way there and back.
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
            (Field::Flag(_), _) => return Err(ConfigError::WrongKind { key, expected: "true or false" }),
            (Field::Choice(choice), _) => return Err(ConfigError::UnknownChoice { key, choices: choice.names() }),
        }
        Ok(())
    }

    /// Reads one parameter; none if there is no such setting.
    pub fn get(&self, key: &str) -> Option<Value<'static>> {
        find(self.algorithm(), key)?;
        let mut copy = *self;
        Some(match settings::field(&mut copy, key)? {
            Field::Number(n) => Value::Number(*n),
            Field::Millis(span) => Value::Number(span.as_millis_f64()),
            Field::Count(n) => Value::Number(f64::from(*n)),
            Field::Flag(flag) => Value::Flag(*flag),
            Field::Choice(choice) => Value::Text(choice.selected()),
        })
    }
}

fn find(algorithm: Algorithm, key: &str) -> Option<&'static Setting> {
    if let Some((prefix, rest)) = key.split_once('.') {
        let (_, base) = algorithm.bases().iter().find(|(name, _)| *name == prefix)?;
        return find(*base, rest);
    }
    algorithm.settings().iter().find(|s| s.key == key)
}

/// A parameter that cannot be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConfigError {
    /// The algorithm has no setting of that name.
    UnknownSetting {
        /// The algorithm.
        algorithm: Algorithm,
    },
    /// A receiver cannot run the algorithm.
    ForSenders {
        /// The algorithm.
        algorithm: Algorithm,
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
        /// Its value.
        smaller_value: f64,
        /// The setting that must not be smaller.
        larger: &'static str,
        /// Its value.
        larger_value: f64,
    },
}

impl core::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ConfigError::UnknownSetting { algorithm } => {
                let (settings, bases) = (algorithm.settings(), algorithm.bases());
                write!(f, "{algorithm} has no such setting")?;
                let own = settings.iter().map(|s| (s.key, ""));
                let based = bases.iter().map(|(prefix, _)| (*prefix, ".…"));
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
            ConfigError::OutOfRange { key, value, expected } => write!(f, "{key} is {value} but must be {expected}"),
            ConfigError::WrongOrder { smaller, smaller_value, larger, larger_value } => {
                write!(f, "{smaller} is {smaller_value} but must not be larger than {larger}, which is {larger_value}")
            }
        }
    }
}

/// Whether `value` is a number that `fits`.
pub(crate) fn check(
    key: &'static str,
    value: f64,
    fits: impl Fn(f64) -> bool,
    expected: &'static str,
) -> Result<(), ConfigError> {
    if value.is_finite() && fits(value) { Ok(()) } else { Err(ConfigError::OutOfRange { key, value, expected }) }
}

/// Whether two settings are in order.
pub(crate) fn check_order(smaller: (&'static str, f64), larger: (&'static str, f64)) -> Result<(), ConfigError> {
    if smaller.1 <= larger.1 {
        return Ok(());
    }
    let ((smaller, smaller_value), (larger, larger_value)) = (smaller, larger);
    Err(ConfigError::WrongOrder { smaller, smaller_value, larger, larger_value })
}
