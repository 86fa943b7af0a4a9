//! A congestion control of another crate.

use core::fmt;

use super::{Cloneable, CongestionControl};
use crate::tcp::config::Config;

/// A congestion control of another crate: its name, and what makes one for a connection.
#[derive(Clone, Copy)]
pub struct OwnControl {
    name: &'static str,
    summary: &'static str,
    factory: &'static dyn Factory,
}

/// What makes the control of a connection.
trait Factory: Send + Sync {
    fn build(&self, config: &Config) -> Box<dyn Cloneable>;
}

impl<C: CongestionControl + Clone + 'static, F: Fn(&Config) -> C + Send + Sync> Factory for F {
    fn build(&self, config: &Config) -> Box<dyn Cloneable> {
        Box::new(self(config))
    }
}

impl OwnControl {
    /// The control `name`, which `factory` makes for each connection from its settings. `summary`
    /// says in one sentence what it does.
    ///
    /// The factory lives as long as the program, because a [`Config`] is copied freely: a `fn`, or
    /// a closure without captures behind `&`.
    pub const fn new<C: CongestionControl + Clone + 'static>(
        name: &'static str,
        summary: &'static str,
        factory: &'static (impl Fn(&Config) -> C + Send + Sync),
    ) -> Self {
        Self { name, summary, factory }
    }

    /// The name in scenarios.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What it does, in one sentence.
    pub const fn summary(&self) -> &'static str {
        self.summary
    }

    pub(crate) fn build(&self, config: &Config) -> Box<dyn Cloneable> {
        self.factory.build(config)
    }
}

/// Two are the same if they have the same name; a [`Registry`](crate::tcp::Registry) has each name
/// once.
impl PartialEq for OwnControl {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for OwnControl {}

impl fmt::Debug for OwnControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnControl({:?})", self.name)
    }
}
