//! The controller below: the stack's own NewReno or CUBIC, unchanged. quinn and noq, which comes from
//! it, have the same ones, so each adapter compiles this file for the crate that it calls `proto`.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

use losscause::safeguard::Watch;

use super::proto::congestion::{
    Controller, ControllerMetrics, Cubic, CubicConfig, NewReno, NewRenoConfig,
};
use crate::Error;

/// Which of the stack's controllers decides about the window, apart from the losses that it does not
/// hear of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Base {
    /// Its NewReno.
    NewReno(Arc<NewRenoConfig>),
    /// Its CUBIC, which is its default.
    Cubic(Arc<CubicConfig>),
}

impl Base {
    /// The names, as [`Base::from_str`] takes them.
    pub const NAMES: [&'static str; 2] = ["newreno", "cubic"];

    /// NewReno with the stack's defaults.
    pub fn new_reno() -> Self {
        NewRenoConfig::default().into()
    }

    /// CUBIC with the stack's defaults.
    pub fn cubic() -> Self {
        CubicConfig::default().into()
    }

    /// The base controller's name.
    pub fn name(&self) -> &'static str {
        match self {
            Base::NewReno(_) => Self::NAMES[0],
            Base::Cubic(_) => Self::NAMES[1],
        }
    }

    pub(crate) fn build(&self, now: Instant, mtu: u16) -> BaseController {
        match self {
            Base::NewReno(config) => {
                BaseController::NewReno(NewReno::new(config.clone(), now, mtu))
            }
            Base::Cubic(config) => BaseController::Cubic(Cubic::new(config.clone(), now, mtu)),
        }
    }
}

impl From<NewRenoConfig> for Base {
    fn from(config: NewRenoConfig) -> Self {
        Base::NewReno(Arc::new(config))
    }
}

impl From<CubicConfig> for Base {
    fn from(config: CubicConfig) -> Self {
        Base::Cubic(Arc::new(config))
    }
}

impl FromStr for Base {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "newreno" => Ok(Self::new_reno()),
            "cubic" => Ok(Self::cubic()),
            _ => Err(Error::UnknownBase { name: name.into(), known: &Self::NAMES }),
        }
    }
}

/// One of the stack's controllers, without a pointer.
#[derive(Clone, Debug)]
pub(crate) enum BaseController {
    NewReno(NewReno),
    Cubic(Cubic),
}

/// Does the same with whichever controller it is.
macro_rules! each {
    ($base:expr, $controller:ident => $body:expr) => {
        match $base {
            BaseController::NewReno($controller) => $body,
            BaseController::Cubic($controller) => $body,
        }
    };
}

pub(super) use each;

impl BaseController {
    pub(crate) fn on_mtu_update(&mut self, mtu: u16) {
        each!(self, base => base.on_mtu_update(mtu));
    }

    #[inline]
    pub(crate) fn window(&self) -> u64 {
        each!(self, base => base.window())
    }

    pub(crate) fn metrics(&self) -> ControllerMetrics {
        each!(self, base => base.metrics())
    }

    pub(crate) fn initial_window(&self) -> u64 {
        each!(self, base => base.initial_window())
    }

    /// Whether its window is below the slow start threshold.
    fn in_slow_start(&self) -> bool {
        self.metrics().ssthresh.is_some_and(|ssthresh| self.window() < ssthresh)
    }
}

impl crate::Base for BaseController {
    fn window(&self) -> u64 {
        BaseController::window(self)
    }

    /// The stack's defaults. The factor of its NewReno can be set, but not read.
    fn kept_1024(&self) -> Option<u32> {
        Some(match self {
            BaseController::NewReno(_) => Watch::HALF,
            BaseController::Cubic(_) => Watch::CUBIC,
        })
    }

    fn rewound(&self, before: Self) -> Option<Self> {
        Some(before)
    }

    fn without_reduction(&self, before: Self) -> Option<Self> {
        (!before.in_slow_start()).then_some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_found_by_its_name_and_an_unknown_one_lists_them() {
        for name in Base::NAMES {
            assert_eq!(name.parse::<Base>().unwrap().name(), name);
        }
        assert_eq!(
            "bbr".parse::<Base>().unwrap_err().to_string(),
            "there is no base controller \"bbr\"; there are newreno, cubic"
        );
    }
}
