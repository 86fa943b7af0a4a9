//! The algorithms by name: what a scenario file or a command line chooses from.
//!
//! [`Parameters`] are what an algorithm can be set to. They know its name, source and settings
//! ([`Info`]) and build it, for a receiver or a sender. Each algorithm implements them beside its
//! code. [`BuiltIn`] names those of this crate; `Registry` (feature `alloc`) holds them and those
//! of other crates. A program looks names up in the registry that it is given, and has no list of
//! its own.
//!
//! ```
//! use losscause::registry::{
//!     BuiltIn, ConfigError, End, LdaConfig, Operations, Origin, UnknownAlgorithm, Value,
//! };
//!
//! assert_eq!("zbss".parse::<BuiltIn>(), Err(UnknownAlgorithm));
//! let zbs: BuiltIn = "ZBS".parse().unwrap();
//! let mut config: LdaConfig = zbs.config();
//! assert_eq!(config.info().origin, Origin::Published);
//! assert!(matches!(config.info().operations, Some(Operations { additions_after_loss: 1.., .. })));
//!
//! // Settings of a base scheme have its prefix.
//! config.set("spike.alpha", Value::Number(0.4))?;
//! assert_eq!(config.get("spike.alpha"), Some(Value::Number(0.4)));
//! match config.set("alpha", Value::Number(0.4)) {
//!     Err(ConfigError::UnknownSetting { algorithm }) => assert_eq!(algorithm.name, "ZBS"),
//!     other => panic!("{other:?}"),
//! }
//! // A range is checked when the algorithm is built.
//! config.set("t_avg_gain", Value::Number(2.0))?;
//! assert!(matches!(config.build(End::Receiver), Err(ConfigError::OutOfRange { .. })));
//! # Ok::<(), ConfigError>(())
//! ```

mod choice;
mod error;
mod info;
#[cfg(feature = "alloc")]
mod open;
#[cfg(all(feature = "alloc", feature = "serde"))]
mod own;
mod parameters;

use core::fmt;
use core::str::FromStr;

pub use crate::lda::{BuiltIn, LdaConfig};
pub use choice::{Choice, Field, choice};
pub use error::{ConfigError, check, check_order};
pub use info::{Info, Operations, Origin, Setting};
#[cfg(feature = "alloc")]
pub use open::{Registry, RegistryError};
#[cfg(all(feature = "alloc", feature = "serde"))]
pub use own::WithSettings;
pub use parameters::{End, Parameters, Value};

impl BuiltIn {
    /// The published name.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Name, aliases, source and settings.
    pub fn info(self) -> &'static Info {
        self.config().info()
    }

    /// Finds an algorithm by its name or an alias, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|algorithm| algorithm.info().answers_to(name))
    }
}

impl fmt::Display for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for BuiltIn {
    type Err = UnknownAlgorithm;
    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        Self::from_name(name).ok_or(UnknownAlgorithm)
    }
}

/// There is no algorithm of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm;

impl core::error::Error for UnknownAlgorithm {}

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no such loss differentiation algorithm; there are ")?;
        for (i, algorithm) in BuiltIn::ALL.iter().enumerate() {
            write!(f, "{}{algorithm}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
