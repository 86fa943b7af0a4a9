//! An algorithm's parameters, reachable by key, and what they build.

use super::choice::Field;
use super::{ConfigError, Info};
use crate::Span;
#[cfg(feature = "alloc")]
use crate::lda::BoxedParameters;
use crate::lda::{
    AnyLda, AnySenderLda, AtSender, BiazConfig, CdgToleranceConfig, Constant, DropRateConfig, FlipFlopConfig,
    FqRttConfig, NthLossConfig, RollBackConfig, SiftConfig, SpikeConfig, VegasBufferConfig, VenoConfig, ZbsConfig,
    ZigZagConfig,
};

/// The parameters of one algorithm: what a scenario can set, and what builds the algorithm.
///
/// An algorithm for receivers implements [`Parameters::build`] and runs at senders as well, through [`AtSender`]. One
/// for senders only implements [`Parameters::build_at_sender`].
pub trait Parameters {
    /// The algorithm that these parameters belong to.
    fn info(&self) -> &'static Info;

    /// The place of the parameter `key`, for each of [`Info::settings`]; none if there is no such setting.
    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        let _ = key;
        None
    }

    /// Builds the algorithm for a receiver.
    ///
    /// # Errors
    /// If a parameter lies outside its range, or only senders can run the algorithm.
    fn build(&self) -> Result<AnyLda, ConfigError> {
        Err(ConfigError::ForSenders { algorithm: self.info().name })
    }

    /// Builds the algorithm for a sender.
    ///
    /// # Errors
    /// If a parameter lies outside its range.
    fn build_at_sender(&self) -> Result<AnySenderLda, ConfigError> {
        Ok(AnySenderLda::AtSender(AtSender::new(self.build()?)))
    }
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

/// Parameters and open readings of any algorithm. [`Algorithm::config`](super::Algorithm::config) and an entry of a
/// registry hold the published ones.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LdaConfig {
    /// Biaz or mBiaz.
    Biaz(BiazConfig),
    /// Spike, proportional or with Tobe's fixed thresholds.
    Spike(SpikeConfig),
    /// ZigZag.
    ZigZag(ZigZagConfig),
    /// ZBS.
    Zbs(ZbsConfig),
    /// Sift, safe or balanced.
    Sift(SiftConfig),
    /// Flip Flop with history.
    FlipFlop(FlipFlopConfig),
    /// The Vegas buffer rule.
    VegasBuffer(VegasBufferConfig),
    /// Veno's rule.
    Veno(VenoConfig),
    /// CDG's tolerance.
    CdgTolerance(CdgToleranceConfig),
    /// The fqRTT rule.
    FqRtt(FqRttConfig),
    /// The n-th loss of an episode.
    NthLoss(NthLossConfig),
    /// The drop-rate rule.
    DropRate(DropRateConfig),
    /// The roll-back rule.
    RollBack(RollBackConfig),
    /// The same verdict always.
    Constant(Constant),
    /// An algorithm from outside of this crate.
    #[cfg(feature = "alloc")]
    Boxed(BoxedParameters),
}

/// The parameters inside, whichever they are.
macro_rules! inside {
    ($config:expr) => {
        match $config {
            LdaConfig::Biaz(c) => c,
            LdaConfig::Spike(c) => c,
            LdaConfig::ZigZag(c) => c,
            LdaConfig::Zbs(c) => c,
            LdaConfig::Sift(c) => c,
            LdaConfig::FlipFlop(c) => c,
            LdaConfig::VegasBuffer(c) => c,
            LdaConfig::Veno(c) => c,
            LdaConfig::CdgTolerance(c) => c,
            LdaConfig::FqRtt(c) => c,
            LdaConfig::NthLoss(c) => c,
            LdaConfig::DropRate(c) => c,
            LdaConfig::RollBack(c) => c,
            LdaConfig::Constant(c) => c,
            #[cfg(feature = "alloc")]
            LdaConfig::Boxed(c) => c,
        }
    };
}

impl LdaConfig {
    fn parameters(&self) -> &dyn Parameters {
        inside!(self)
    }

    fn parameters_mut(&mut self) -> &mut dyn Parameters {
        inside!(self)
    }

    /// The algorithm that these parameters belong to.
    pub fn info(&self) -> &'static Info {
        self.parameters().info()
    }

    /// Builds the algorithm for a receiver.
    ///
    /// # Errors
    /// If a parameter lies outside its range, or only senders can run it.
    pub fn build(&self) -> Result<AnyLda, ConfigError> {
        self.parameters().build()
    }

    /// Builds the algorithm for a sender.
    ///
    /// # Errors
    /// If a parameter lies outside its range.
    pub fn build_at_sender(&self) -> Result<AnySenderLda, ConfigError> {
        self.parameters().build_at_sender()
    }

    /// Sets one parameter. [`LdaConfig::build`] checks its range, when all parameters that depend on each other are
    /// set. Settings of a hybrid's base schemes have the base's prefix: `spike.alpha`, see [`Info::bases`].
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
