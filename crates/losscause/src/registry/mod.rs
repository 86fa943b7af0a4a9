//! The algorithms by name: what a scenario file or a command line chooses from.
//!
//! [`Parameters`] are what an algorithm can be set to. They know its name, source and settings ([`Info`]) and build it,
//! for a receiver or a sender. Each algorithm implements them beside its code. [`BuiltIn`] names those of this crate;
//! `Registry` (feature `alloc`) holds them and those of other crates. A program looks names up in the registry that it is
//! given, and has no list of its own.

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
