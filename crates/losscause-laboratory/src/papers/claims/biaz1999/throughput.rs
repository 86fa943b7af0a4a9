//! Section 4: what TCP-Reno gains by the rule, and by knowing the truth.

use super::Rates;
use crate::papers::claims::measured::{Predicate, all, close, count, max, mean};

/// Wired rates of the figures, kb/s.
const WIRED: [i64; 5] = [64, 256, 1024, 2048, 8192];
/// Those at which the wireless links of 1 Mb/s are no faster than the wired one.
const FAST: [i64; 3] = [1024, 2048, 8192];

pub(super) const CLAIMS: &[(&str, Predicate)] = &[
    ("R-below-formula", |m| all(WIRED, |bw1| Ok(m.r_i((bw1, 256), "light", 1)? < 1.41))),
    ("R_I-256-small", |m| {
        all(points(&[256], &["light", "mild", "heavy"]), |(rates, level)| {
            Ok(m.r_i(rates, level, 1)? < 1.05)
        })
    }),
    ("aware-like-ideal", |m| {
        all(plotted(), |(rates, level)| {
            let ideal = m.r_i(rates, level, 1)?;
            Ok(close(m.r_a(rates, level, 1)?, ideal, 0.1 * ideal))
        })
    }),
    ("aware-above-ideal", |m| {
        Ok(count(
            plotted(),
            |(rates, level)| Ok(m.r_a(rates, level, 1)? > m.r_i(rates, level, 1)?),
        )? >= 2)
    }),
    ("aware-below-ideal-high-rw", |m| {
        let points =
            FAST.iter().flat_map(|&bw1| ["light", "mild"].map(|level| ((bw1, 1024), level)));
        Ok(count(points, |(rates, level)| {
            Ok(m.r_a(rates, level, 5)? < 0.95 * m.r_i(rates, level, 5)?)
        })? >= 2)
    }),
    ("heavy-no-gain", |m| {
        all(points(&[256, 1024], &["heavy"]), |(rates, level)| {
            Ok(max(&[m.r_a(rates, level, 1)?, m.r_i(rates, level, 1)?]) < 1.1)
        })
    }),
    ("light-mild-marginal", |m| {
        Ok(mean(points(&[256], &["light", "mild"]), |(rates, level)| m.r_i(rates, level, 1))?
            < 1.15)
    }),
    ("gain-falls-with-congestion", |m| {
        let gain = |level| mean(FAST, |bw1| m.r_i((bw1, 1024), level, 1));
        Ok(gain("mild")? >= gain("heavy")?)
    }),
    ("light-like-mild", |m| {
        all(points(&[256, 1024], &["light"]), |(rates, light)| {
            Ok(close(m.r_i(rates, light, 1)?, m.r_i(rates, "mild", 1)?, 0.3))
        })
    }),
    ("bdp-limits", |m| Ok(m.r_i((1024, 256), "mild", 1)? < m.r_i((1024, 1024), "mild", 1)?)),
    ("reno-poor", |m| {
        let reno = |r_w| m.throughput("throughput", "TCP-Reno", (8192, 1024), "light", r_w);
        Ok(reno(5)? < reno(1)?)
    }),
];

/// The points of figures 10 and 11.
fn plotted() -> Vec<(Rates, &'static str)> {
    points(&[256, 1024], &["mild", "heavy"])
}

fn points(wireless: &[i64], levels: &[&'static str]) -> Vec<(Rates, &'static str)> {
    let rates = WIRED.iter().flat_map(|&bw1| wireless.iter().map(move |&bw2| (bw1, bw2)));
    rates.flat_map(|rates| levels.iter().map(move |&level| (rates, level))).collect()
}
