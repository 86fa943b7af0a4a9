//! The claims of Barman and Matta (2002), by what they are about.
//!
//! Where the paper prints a number, the predicate compares the mean with it; where it uses a word
//! ("competitive", "small"), the cut-off is the one the record of the paper assigns to it.

use super::measured::{Measured, Predicate, Unmeasured, ratio};
use crate::papers::record::Value;

mod accuracy;
mod compatibility;
mod labels;
mod model;
mod tables;

/// One predicate per checkable claim.
pub(super) const PREDICATES: &[&[(&str, Predicate)]] =
    &[tables::CLAIMS, accuracy::CLAIMS, labels::CLAIMS, compatibility::CLAIMS, model::CLAIMS];

/// All flows are of one system.
const BOTH: [&str; 2] = ["config1-homog", "config2-homog"];
/// The accuracies at which NewReno-LL is run.
const GRID: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];

const NEWRENO: &str = "NewReno";
const FF: &str = "NewReno-FF";
const WESTWOOD: &str = "Westwood";

type Mean = Result<f64, Unmeasured>;

impl Measured<'_> {
    /// `metric` of a system without parameters, or at those of its configuration (NewReno-FF).
    fn of(&self, metric: &str, system: &str, scenario: &str) -> Mean {
        self.value(metric, system, scenario, &[])
    }

    /// `metric` of NewReno-LL with these accuracies.
    fn ll(&self, metric: &str, scenario: &str, p_cc: f64, p_ww: f64) -> Mean {
        self.value(
            metric,
            "NewReno-LL",
            scenario,
            &[("P_CC", Value::from(p_cc)), ("P_WW", Value::from(p_ww))],
        )
    }

    /// The highest goodput of NewReno-LL over all accuracies.
    fn best_ll(&self, scenario: &str) -> Mean {
        let mut best = f64::NEG_INFINITY;
        for p_cc in GRID {
            for p_ww in GRID {
                best = best.max(self.ll("goodput", scenario, p_cc, p_ww)?);
            }
        }
        Ok(best)
    }

    /// Goodput of `system` over that of NewReno.
    fn gain(&self, system: &str, scenario: &str) -> Mean {
        Ok(ratio(self.of("goodput", system, scenario)?, self.of("goodput", NEWRENO, scenario)?))
    }
}
