//! What NewReno-LL gains by its accuracies: figures 5 and 6, section 6.2.

use super::{BOTH, FF, NEWRENO};
use crate::papers::claims::measured::{Predicate, all};

const ONE: &str = "config1-homog";
const TWO: &str = "config2-homog";

pub(super) const CLAIMS: &[(&str, Predicate)] = &[
    ("PL-not-optimal", |m| {
        all(BOTH, |cfg| {
            let perfect = m.ll("goodput", cfg, 1.0, 1.0)?;
            Ok(m.best_ll(cfg)? > perfect && m.of("goodput", FF, cfg)? > perfect)
        })
    }),
    ("LL-best-point-1", |m| Ok(m.ll("goodput", ONE, 1.0, 0.6)? >= 0.97 * m.best_ll(ONE)?)),
    ("LL-best-point-2", |m| Ok(m.ll("goodput", TWO, 1.0, 0.8)? >= 0.97 * m.best_ll(TWO)?)),
    ("LL-best-shape", |m| {
        all(BOTH, |cfg| {
            let mut best = f64::NEG_INFINITY;
            for p_ww in [0.4, 0.6, 0.8, 1.0] {
                best = best.max(m.ll("goodput", cfg, 1.0, p_ww)?);
            }
            Ok(best >= 0.97 * m.best_ll(cfg)?)
        })
    }),
    ("LL-worst-shape", |m| {
        all(BOTH, |cfg| Ok(m.ll("goodput", cfg, 0.0, 1.0)? < 0.25 * m.of("goodput", NEWRENO, cfg)?))
    }),
    ("LL-collapse-config1", |m| {
        Ok(m.ll("goodput", ONE, 0.0, 1.0)? < 1.0 && m.ll("throughput", ONE, 0.0, 1.0)? < 1.0)
    }),
    ("LL-knee-1", |m| Ok(m.ll("goodput", ONE, 1.0, 1.0)? < m.ll("goodput", ONE, 1.0, 0.8)?)),
    ("LL-knee-2", |m| {
        all([0.0, 0.2, 0.4], |p_cc| {
            Ok(m.ll("goodput", TWO, p_cc, 1.0)? < m.ll("goodput", TWO, p_cc, 0.6)?)
        })
    }),
    ("LL-throughput-max-at-PL", |m| {
        all(BOTH, |cfg| Ok(m.ll("throughput", cfg, 1.0, 1.0)? > m.of("throughput", FF, cfg)?))
    }),
    ("PL-overhead-large", |m| {
        Ok(m.ll("overhead", ONE, 1.0, 1.0)? >= 0.0995 && m.ll("overhead", TWO, 1.0, 1.0)? >= 0.178)
    }),
    ("LL-fairness-extremes", |m| {
        Ok(m.ll("fairness", TWO, 0.4, 1.0)? < 0.5 && m.ll("fairness", TWO, 1.0, 0.2)? > 0.5)
    }),
];
