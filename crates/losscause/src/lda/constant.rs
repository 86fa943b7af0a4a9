//! `always congestion` and `always wireless`: the two extremes.
//!
//! The first gives a transport that does not differentiate (M_c = 0, M_w = 100 %), the second one that slows down for
//! no loss (M_c = 100 %, M_w = 0).
//!
//! Source: Cen, Cosman & Voelker 2003, section III ("unaware TFRC") for the first; the second is a bound for
//! comparison.
//!
//! Parameters: none. Deviations: none.

use super::{Lda, Needs};
use crate::{Arrival, Judgement, Loss, Reason, Verdict};

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

impl Lda for Constant {
    fn name(&self) -> &'static str {
        match self.verdict {
            Verdict::Congestion => "always congestion",
            Verdict::Wireless => "always wireless",
            Verdict::Undecided => "always undecided",
        }
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    #[inline]
    fn on_arrival(&mut self, _arrival: &Arrival) {}

    fn judge(&self, _loss: &Loss) -> Judgement {
        Judgement { verdict: self.verdict, reason: Reason::Unconditional }
    }
}
