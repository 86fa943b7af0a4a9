//! `always congestion` and `always wireless`: the two extremes.
//!
//! The first gives a transport that does not differentiate (M_c = 0, M_w = 100 %), the second one
//! that slows down for no loss (M_c = 100 %, M_w = 0).
//!
//! Source: Cen, Cosman & Voelker 2003, section III ("unaware TFRC") for the first; the second is a
//! bound for comparison.
//!
//! Parameters: none. Deviations: none.

use super::{AnyAlgorithm, CEN};
use crate::registry::{ConfigError, End, Info, Parameters};
use crate::verdict::Input;
use crate::{Algorithm, Judgement, Loss, Needs, Observation, Verdict};

/// The same verdict always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    verdict: Verdict,
}

impl Constant {
    /// Always answers `verdict`.
    pub const fn new(verdict: Verdict) -> Self {
        Self { verdict }
    }
}

static CONGESTION: Info =
    Info::new("always congestion", "every loss is congestion: a transport without differentiation")
        .described_in(CEN, "III")
        .with_aliases(&["always-congestion", "congestion", "none"])
        .with_operations((0, 0), (0, 0));

static WIRELESS: Info =
    Info::new("always wireless", "every loss is wireless: the other end of the scale")
        .described_in("no paper: a bound for comparison", "none")
        .with_aliases(&["always-wireless", "wireless"])
        .with_operations((0, 0), (0, 0));

static UNDECIDED: Info = Info::new("always undecided", "no loss is decided on");

/// The algorithm has no parameters but its verdict.
impl Parameters for Constant {
    fn info(&self) -> &'static Info {
        match self.verdict {
            Verdict::Congestion => &CONGESTION,
            Verdict::Wireless => &WIRELESS,
            Verdict::Undecided => &UNDECIDED,
        }
    }

    fn build(&self, _: End) -> Result<AnyAlgorithm, ConfigError> {
        Ok(AnyAlgorithm::Constant(*self))
    }
}

impl Algorithm for Constant {
    fn name(&self) -> &'static str {
        self.info().name
    }

    fn needs(&self) -> Needs {
        Needs::NONE
    }

    #[inline]
    fn observe(&mut self, _: &Observation) {}

    fn judge(&self, loss: &Loss) -> Judgement {
        if loss.revealed_by.is_none() {
            return Judgement::without(Input::Gap);
        }
        Judgement::stated(self.verdict, self.name(), "whatever was observed")
    }
}
