//! The claims of Koo, Mun and Choo (2007), by the part of the paper that makes them.
//!
//! Where the paper prints a number, the predicate holds the mean against it; where it uses a word ("almost identical",
//! "constantly"), the cut-off is the one the record of the paper assigns to it.

use super::{Mean, Measured, Predicate};

mod goodput;
mod sharing;

/// One predicate per checkable claim.
pub const PREDICATES: &[&[(&str, Predicate)]] = &[goodput::SINGLE, goodput::BACKGROUND, sharing::CLAIMS];

const VT: &str = "WestwoodVT";
const NR: &str = "WestwoodNR";
const JERSEY: &str = "TCP New Jersey";
const RENO: &str = "TCP Reno";
const ALL: [&str; 4] = [VT, NR, JERSEY, RENO];

impl Measured<'_> {
    /// Goodput of system `s` in scenario `t` at wireless error rate `p`.
    fn goodput(&self, s: &str, t: &str, p: f64) -> Mean {
        self.value("goodput", s, t, &[("loss", p.into())])
    }

    /// What WestwoodVT gains over system `s`, percent.
    fn gain_over(&self, s: &str, t: &str, p: f64) -> Mean {
        self.value("gain", VT, t, &[("over", s.into()), ("loss", p.into())])
    }

    /// Jain's index among flows of system `s`.
    fn fairness(&self, s: &str, p: f64) -> Mean {
        self.value("fairness", s, "fairness", &[("loss", p.into())])
    }

    /// Mean throughput of the flows of system `s`, five of each.
    fn mixed(&self, s: &str) -> Mean {
        self.value("mean_throughput", s, "friendliness", &[("m", 5.into()), ("loss", 0.01.into())])
    }
}
