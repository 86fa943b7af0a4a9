//! The congestion controls of Linux's machine by the response that a configuration names: its own
//! Reno and CUBIC, in whole packets, and those of other crates.

use super::clock::Clock;
use super::cubic::Cubic;
use super::reno::Reno;
use crate::tcp::config::Config;
use crate::tcp::control::{Cloneable, ResponseScheme};

impl ResponseScheme {
    /// Whether Linux's machine has it here.
    pub(crate) const fn is_linux(&self) -> bool {
        matches!(self, Self::Aimd | Self::Cubic | Self::Own(_))
    }

    /// The control of a connection with this configuration. [`ResponseScheme::is_linux`] is true.
    pub(crate) fn build_linux(self, config: &Config) -> Box<dyn Cloneable> {
        match self {
            Self::Cubic => {
                Box::new(Cubic::new(Clock::new(config.quirks.tick, config.quirks.tick_offset)))
            }
            Self::Own(own) => own.build(config),
            _ => Box::new(Reno::default()),
        }
    }
}
