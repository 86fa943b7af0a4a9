//! The claims of Koo, Mun and Choo (2007), by the part of the paper that makes them.
//!
//! Where the paper prints a number, the predicate compares the mean with it; where it uses a word
//! ("almost identical", "constantly"), the cut-off is the one the record of the paper assigns to
//! it.

use super::measured::{Mean, Measured, Predicate};

mod goodput;
mod sharing;

/// One predicate per checkable claim.
pub(super) const PREDICATES: &[&[(&str, Predicate)]] =
    &[goodput::SINGLE, goodput::BACKGROUND, sharing::CLAIMS];

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::claims::tests::{holds, item};
    use crate::papers::record::Item;

    const RATES: [f64; 6] = [0.001, 0.01, 0.02, 0.03, 0.04, 0.05];

    /// Goodput of `system` at every error rate: `low` up to 4 %, `high` at 5 %.
    fn goodput(system: &str, scenario: &str, low: f64, high: f64) -> Vec<Item> {
        let one = |p: f64| {
            let value = if p == 0.05 { high } else { low };
            item("koo2007", "goodput", system, scenario, &[("loss", p.into())], Some(value))
        };
        RATES.map(one).to_vec()
    }

    #[test]
    fn a_gain_of_three_percent_is_above_zero_and_at_most_seven() {
        let with = |over_nr: f64| {
            let gain = |over: &str, value: f64| {
                item(
                    "koo2007",
                    "gain",
                    VT,
                    "single",
                    &[("over", over.into()), ("loss", 0.01.into())],
                    Some(value),
                )
            };
            [gain(NR, over_nr), gain(RENO, 21.0)]
        };
        let answers =
            [-0.5, 0.0, 0.1, 7.0, 7.1].map(|gain| holds("koo2007", "gain-1pct", &with(gain)));
        assert_eq!(answers, [false, false, true, true, false].map(Some));
    }

    #[test]
    fn the_gains_at_two_percent_have_the_tolerance_of_scoring() {
        let with = |over_nr: f64, over_reno: f64| {
            [(NR, over_nr), (RENO, over_reno)].map(|(over, value)| {
                let at = [("over", over.into()), ("loss", 0.02.into())];
                item("koo2007", "gain", VT, "single", &at, Some(value))
            })
        };
        let answers = [(8.0, 62.0), (7.9, 54.0), (14.0, 46.0), (14.1, 54.0), (11.0, 62.2)];
        let answers = answers.map(|(nr, reno)| holds("koo2007", "gain-2pct", &with(nr, reno)));
        assert_eq!(answers, [true, false, true, false, false].map(Some));
    }

    #[test]
    fn far_ahead_means_a_tenth_more_than_the_next_best() {
        let with = |jersey: f64| {
            let others = [VT, NR, RENO].map(|s| goodput(s, "single", 100.0, 100.0)).concat();
            [others, goodput(JERSEY, "single", 100.0, jersey)].concat()
        };
        let answers =
            [111.0, 110.0].map(|jersey| holds("koo2007", "NJ-ahead-at-high-loss", &with(jersey)));
        assert_eq!(answers, [Some(true), Some(false)]);
    }

    #[test]
    fn clearly_above_means_a_twentieth_more() {
        let with = |vt| {
            [goodput(VT, "background", vt, vt), goodput(JERSEY, "background", 100.0, 100.0)]
                .concat()
        };
        assert_eq!(
            [106.0, 105.0].map(|vt| holds("koo2007", "bg-NJ", &with(vt))),
            [Some(true), Some(false)]
        );
    }

    #[test]
    fn nearly_constant_means_a_quarter_between_the_extremes() {
        let with = |low, without| {
            let single = goodput(VT, "single", without, without);
            [goodput(VT, "background", low, 100.0), single].concat()
        };
        // Between error rates, then between the runs with and without background traffic.
        assert_eq!(
            [(125.0, 110.0), (126.0, 110.0), (110.0, 125.0), (110.0, 126.0)]
                .map(|(low, without)| holds("koo2007", "bg-VT-constant", &with(low, without))),
            [true, false, true, false].map(Some)
        );
    }
}
