//! The congestion controls of Linux's machine by the response that a configuration names: its own
//! Reno, CUBIC and BBR, in whole packets, and those of other crates.

use super::bbr::Bbr;
use super::clock::Clock;
use super::cubic::Cubic;
use super::reno::Reno;
use crate::tcp::config::Config;
use crate::tcp::control::{Cloneable, ResponseScheme};

impl ResponseScheme {
    /// Whether Linux's machine has it here.
    pub(crate) const fn is_linux(&self) -> bool {
        matches!(self, Self::Aimd | Self::Cubic | Self::Bbr | Self::Own(_))
    }

    /// The control of a connection with this configuration. [`ResponseScheme::is_linux`] is true.
    pub(crate) fn build_linux(self, config: &Config) -> Box<dyn Cloneable> {
        match self {
            Self::Cubic => {
                let clock = Clock::new(config.quirks.tick, config.quirks.tick_offset);
                Box::new(Cubic::new(clock, config.pacing))
            }
            Self::Bbr => Box::new(Bbr::new(config)),
            Self::Own(own) => own.build(config),
            _ => Box::new(Reno::default()),
        }
    }
}
