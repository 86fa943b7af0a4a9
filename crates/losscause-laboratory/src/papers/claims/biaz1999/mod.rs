//! The claims of Biaz and Vaidya (1999), by the part of the paper that makes them.
//!
//! The paper prints few numbers, and its plots are not available. Where it uses a word ("high",
//! "small", "similar"), the cut-off is the one the record of the paper assigns to it.

use super::measured::{Mean, Measured, Predicate};

mod accuracy;
mod throughput;

/// One predicate per checkable claim.
pub(super) const PREDICATES: &[&[(&str, Predicate)]] = &[accuracy::CLAIMS, throughput::CLAIMS];

/// Rates of the wired and the wireless link, kb/s.
type Rates = (i64, i64);

impl Measured<'_> {
    /// Share of the congestion losses that the rule calls congestion, at loss rates in percent.
    fn a_c(&self, (bw1, bw2): Rates, losses: (i64, i64)) -> Mean {
        self.accuracy("A_c", bw1, bw2, losses)
    }

    /// Share of the wireless losses that the rule calls wireless, at loss rates in percent.
    fn a_w(&self, (bw1, bw2): Rates, losses: (i64, i64)) -> Mean {
        self.accuracy("A_w", bw1, bw2, losses)
    }

    fn accuracy(&self, metric: &str, bw1: i64, bw2: i64, (r_c, r_w): (i64, i64)) -> Mean {
        let r_c = r_c as f64 / 100.0;
        let r_w = r_w as f64 / 100.0;
        let at =
            [("bw1", bw1.into()), ("bw2", bw2.into()), ("r_c", r_c.into()), ("r_w", r_w.into())];
        self.value(metric, "Biaz", "accuracy", &at)
    }

    /// Throughput of TCP-Aware over that of TCP-Reno, at wireless loss in percent.
    fn r_a(&self, rates: Rates, congestion: &str, r_w: i64) -> Mean {
        self.throughput("R_A", "TCP-Aware", rates, congestion, r_w)
    }

    /// Throughput of the ideal TCP-Reno over that of TCP-Reno, at wireless loss in percent.
    fn r_i(&self, rates: Rates, congestion: &str, r_w: i64) -> Mean {
        self.throughput("R_I", "Ideal TCP-Reno", rates, congestion, r_w)
    }

    fn throughput(
        &self,
        metric: &str,
        system: &str,
        (bw1, bw2): Rates,
        congestion: &str,
        r_w: i64,
    ) -> Mean {
        let r_w = r_w as f64 / 100.0;
        let at = [
            ("bw1", bw1.into()),
            ("bw2", bw2.into()),
            ("congestion", congestion.into()),
            ("r_w", r_w.into()),
        ];
        self.value(metric, system, "throughput", &at)
    }
}
