//! The open registry: algorithms by name, those of other crates among them.

use alloc::vec::Vec;
use core::fmt;

use super::{BuiltIn, ConfigError, End, Info, LdaConfig, Parameters};
use crate::lda::BoxedParameters;

/// Algorithms by name, each with its published parameters.
///
/// Programs look names up here, so an algorithm of another crate runs wherever a built-in one does.
/// A built-in entry and one that is added are of the same kind: parameters that know their
/// algorithm and build it.
///
/// ```
/// # use losscause::lda::{AnyAlgorithm, Constant};
/// # use losscause::registry::{ConfigError, End, Info, Parameters, Registry};
/// # use losscause::Verdict;
/// #[derive(Clone)]
/// struct Optimist;
///
/// impl Parameters for Optimist {
///     fn info(&self) -> &'static Info {
///         const { &Info::new("optimist", "every loss is wireless") }
///     }
///     fn build(&self, _: End) -> Result<AnyAlgorithm, ConfigError> {
///         Ok(AnyAlgorithm::boxed(Constant::new(Verdict::Wireless)))
///     }
/// }
///
/// let registry = Registry::built_in().with(Optimist)?;
/// assert!(registry.find("Optimist").is_some_and(|entry| entry.build(End::Receiver).is_ok()));
/// assert_eq!(
///     registry.with(Optimist).unwrap_err().to_string(),
///     "the algorithm \"optimist\" is already there"
/// );
/// # Ok::<(), losscause::registry::RegistryError>(())
/// ```
#[derive(Clone)]
pub struct Registry {
    entries: Vec<LdaConfig>,
}

impl Registry {
    /// The algorithms of this crate.
    pub fn built_in() -> Self {
        Self { entries: BuiltIn::ALL.iter().map(|algorithm| algorithm.config()).collect() }
    }

    /// The registry with the algorithm of `parameters`, which are its published ones.
    ///
    /// # Errors
    /// If another algorithm answers to one of its names, a listed setting has no
    /// [`Parameters::field`], or the published parameters build it for neither end.
    pub fn with(
        mut self,
        parameters: impl Parameters + Clone + Send + Sync + 'static,
    ) -> Result<Self, RegistryError> {
        let entry = LdaConfig::Boxed(BoxedParameters::new(parameters));
        let info = entry.info();
        if let Some(name) = info.names().find(|name| self.find(name).is_some()) {
            return Err(RegistryError::NameTaken { name });
        }
        if let Some(setting) = info.settings.iter().find(|setting| entry.get(setting.key).is_none())
        {
            return Err(RegistryError::SettingWithoutField {
                algorithm: info.name,
                key: setting.key,
            });
        }
        if let Err(error) = entry.build(End::Sender) {
            return Err(RegistryError::Unbuildable { algorithm: info.name, error });
        }
        self.entries.push(entry);
        Ok(self)
    }

    /// The registry with `algorithm`, whose settings are its fields: numbers, flags, enums without
    /// fields. State is skipped, with `#[serde(skip)]`. The values given are the published ones;
    /// [`Algorithm::check`](crate::Algorithm::check) refuses others.
    ///
    /// ```
    /// use losscause::registry::{ConfigError, End, Registry, Value, check};
    /// use losscause::{Algorithm, Amount, Evidence, Judgement, Loss, Needs, Observation, Span};
    ///
    /// #[derive(Clone, serde::Serialize, serde::Deserialize)]
    /// struct Fast {
    ///     within_ms: f64,
    ///     #[serde(skip)]
    ///     delay: Option<Span>,
    /// }
    ///
    /// impl Algorithm for Fast {
    ///     fn name(&self) -> &'static str {
    ///         "fast"
    ///     }
    ///     fn needs(&self) -> Needs {
    ///         Needs::NONE.with_delay()
    ///     }
    ///     fn check(&self) -> Result<(), ConfigError> {
    ///         check("within_ms", self.within_ms, |ms| ms > 0.0, "a number above 0")
    ///     }
    ///     fn observe(&mut self, observation: &Observation) {
    ///         self.delay = observation.delay;
    ///     }
    ///     fn judge(&self, _: &Loss) -> Judgement {
    ///         let delay = self.delay.unwrap_or(Span::ZERO);
    ///         Evidence::new("fast", "delay", delay).wireless_below(Amount::millis(self.within_ms))
    ///     }
    /// }
    ///
    /// let registry = Registry::built_in().with_own(Fast { within_ms: 50.0, delay: None })?;
    /// let mut fast = registry.find("fast").expect("it was added").clone();
    /// fast.set("within_ms", Value::Number(0.0))?;
    /// let refused = fast.build(End::Receiver).unwrap_err();
    /// assert_eq!(refused.to_string(), "within_ms is 0 but must be a number above 0");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a field is no setting, or as for [`Registry::with`].
    #[cfg(feature = "serde")]
    #[allow(clippy::needless_pass_by_value, reason = "the registry takes it over")]
    pub fn with_own(self, algorithm: impl super::WithSettings) -> Result<Self, RegistryError> {
        let own = super::own::Own::new(&algorithm)?;
        self.with(own)
    }

    /// The published parameters of the algorithm that answers to `name`, in any case.
    pub fn find(&self, name: &str) -> Option<&LdaConfig> {
        self.entries.iter().find(|entry| entry.info().answers_to(name))
    }

    /// The published parameters of every algorithm, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &LdaConfig> {
        self.entries.iter()
    }

    /// What is known of every algorithm, in the same order.
    pub fn infos(&self) -> impl Iterator<Item = &'static Info> {
        self.entries.iter().map(LdaConfig::info)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.infos().map(|info| info.name)).finish()
    }
}

/// Why an algorithm cannot be added to a registry. `Display` is one sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RegistryError {
    /// Another algorithm answers to one of its names.
    NameTaken {
        /// The name that is taken.
        name: &'static str,
    },
    /// The algorithm lists a setting that its parameters do not have.
    SettingWithoutField {
        /// The algorithm.
        algorithm: &'static str,
        /// The setting.
        key: &'static str,
    },
    /// A field of the algorithm can be no setting.
    NoSetting {
        /// The algorithm.
        algorithm: &'static str,
        /// The field.
        field: &'static str,
    },
    /// The algorithm is no struct, or its fields have no names, so nothing names its settings.
    NoStruct {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// The algorithm cannot be built with its published parameters.
    Unbuildable {
        /// The algorithm.
        algorithm: &'static str,
        /// Why.
        error: ConfigError,
    },
}

impl core::error::Error for RegistryError {}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NameTaken { name } => write!(f, "the algorithm \"{name}\" is already there"),
            Self::SettingWithoutField { algorithm, key } => {
                write!(
                    f,
                    "the algorithm \"{algorithm}\" lists the setting {key}, which its parameters do not have"
                )
            }
            Self::NoSetting { algorithm, field } => {
                write!(
                    f,
                    "the algorithm \"{algorithm}\": the field {field} is no setting (a number, a flag, or an enum \
                     without fields); #[serde(skip)] makes it part of the state"
                )
            }
            Self::NoStruct { algorithm } => {
                write!(f, "the algorithm \"{algorithm}\" needs named fields: they are its settings")
            }
            Self::Unbuildable { algorithm, error } => {
                write!(
                    f,
                    "the algorithm \"{algorithm}\" cannot be built with its published parameters: {error}"
                )
            }
        }
    }
}
