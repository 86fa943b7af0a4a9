//! Sections 4.1 and 4.2: goodput without and with background traffic. Figures 4 and 6.

use super::{ALL, JERSEY, NR, RENO, VT};
use crate::papers::claims::measured::{
    Predicate, all, approx, close, decreasing, each, increasing, max, min, ratio,
};

/// Error rates of both figures.
const RATES: [f64; 6] = [0.001, 0.01, 0.02, 0.03, 0.04, 0.05];
/// The clearly lossy ones.
const LOSSY: [f64; 5] = [0.01, 0.02, 0.03, 0.04, 0.05];

const T: &str = "single";
const B: &str = "background";

pub(super) const SINGLE: &[(&str, Predicate)] = &[
    ("VT-gt-NR-Reno", |m| {
        all(RATES, |p| {
            Ok(m.goodput(VT, T, p)? > max(&[m.goodput(NR, T, p)?, m.goodput(RENO, T, p)?]))
        })
    }),
    ("order", |m| {
        all(LOSSY, |p| {
            let nr = m.goodput(NR, T, p)?;
            Ok(m.goodput(VT, T, p)? > nr && nr > m.goodput(RENO, T, p)?)
        })
    }),
    ("gain-1pct", |m| {
        let over_nr = m.gain_over(NR, T, 0.01)?;
        Ok(0.0 < over_nr && over_nr <= 7.0 && close(m.gain_over(RENO, T, 0.01)?, 21.0, 8.0))
    }),
    ("gain-2pct", |m| {
        // The tolerance of scoring: 15 %, at least 3 points.
        Ok(close(m.gain_over(NR, T, 0.02)?, 11.0, 3.0)
            && close(m.gain_over(RENO, T, 0.02)?, 54.0, 8.1))
    }),
    ("gain-max-NR", |m| Ok(close(max(&each(RATES, |p| m.gain_over(NR, T, p))?), 41.0, 12.0))),
    ("gain-max-Reno", |m| Ok(close(max(&each(RATES, |p| m.gain_over(RENO, T, p))?), 118.0, 35.0))),
    ("gain-grows", |m| {
        Ok(increasing(&each(LOSSY, |p| m.gain_over(RENO, T, p))?, 0.1)
            && m.gain_over(NR, T, 0.02)? > m.gain_over(NR, T, 0.01)?)
    }),
    ("equal-to-NJ", |m| {
        all([0.001, 0.01, 0.02, 0.03], |p| {
            Ok(approx(m.goodput(VT, T, p)?, m.goodput(JERSEY, T, p)?, 0.1))
        })
    }),
    ("equal-to-NJ-at-4pct", |m| {
        Ok(approx(m.goodput(VT, T, 0.04)?, m.goodput(JERSEY, T, 0.04)?, 0.1))
    }),
    ("NJ-ahead-at-high-loss", |m| {
        Ok(m.goodput(JERSEY, T, 0.05)?
            > 1.1 * max(&each([VT, NR, RENO], |s| m.goodput(s, T, 0.05))?))
    }),
    ("goodput-falls-with-loss", |m| {
        all([RENO, NR], |s| Ok(decreasing(&each(RATES, |p| m.goodput(s, T, p))?, 0.02)))
    }),
    ("NR-no-discrimination", |m| Ok(m.goodput(NR, T, 0.05)? < m.goodput(NR, T, 0.01)?)),
    ("realistic-loss", |m| {
        all([0.01, 0.02], |p| Ok(approx(m.goodput(VT, T, p)?, m.goodput(JERSEY, T, p)?, 0.05)))
    }),
];

pub(super) const BACKGROUND: &[(&str, Predicate)] = &[
    ("bg-gain", |m| {
        let gains = each(RATES, |p| m.gain_over(NR, B, p))?;
        Ok(min(&gains) > 0.0 && close(min(&gains), 6.0, 5.0) && close(max(&gains), 24.0, 10.0))
    }),
    ("bg-NJ", |m| all(RATES, |p| Ok(m.goodput(VT, B, p)? > 1.05 * m.goodput(JERSEY, B, p)?))),
    ("bg-Reno-worst", |m| {
        all(RATES, |p| Ok(m.goodput(RENO, B, p)? <= min(&each(ALL, |s| m.goodput(s, B, p))?)))
    }),
    ("bg-NJ-drop", |m| {
        all(RATES, |p| {
            let with = ratio(m.goodput(JERSEY, B, p)?, m.goodput(VT, B, p)?);
            Ok(with < ratio(m.goodput(JERSEY, T, p)?, m.goodput(VT, T, p)?))
        })
    }),
    ("bg-VT-constant", |m| {
        // "Regardless of wireless link error rates or background traffic": with and without it.
        let mut goodputs = each(RATES, |p| m.goodput(VT, B, p))?;
        let falls = ratio(max(&goodputs), min(&goodputs)) > 1.25;
        if falls {
            return Ok(false);
        }
        goodputs.extend(each(RATES, |p| m.goodput(VT, T, p))?);
        Ok(ratio(max(&goodputs), min(&goodputs)) <= 1.25)
    }),
];
