//! Sections 4.3 and 4.4: flows of one scheme, and WestwoodVT beside Reno. Table 2 and figure 9.

use super::{ALL, RENO, VT};
use crate::papers::claims::measured::{Predicate, all, each, min};

/// Error rates of Table 2 but for the highest.
const LOW: [f64; 4] = [0.0, 0.001, 0.005, 0.01];
const HIGH: f64 = 0.05;

pub(super) const CLAIMS: &[(&str, Predicate)] = &[
    ("fairness-high", |m| {
        all(ALL, |s| {
            Ok(m.fairness(s, HIGH)? >= 0.99 && all(LOW, |p| Ok(m.fairness(s, p)? >= 0.99))?)
        })
    }),
    ("fairness-falls-at-5pct", |m| {
        all(ALL, |s| Ok(m.fairness(s, HIGH)? <= min(&each(LOW, |p| m.fairness(s, p))?) + 0.001))
    }),
    ("friend-aggressive", |m| Ok(m.mixed(VT)? > m.mixed(RENO)?)),
    ("friend-no-starvation", |m| Ok(m.mixed(RENO)? > 0.3 * m.mixed(VT)?)),
];
