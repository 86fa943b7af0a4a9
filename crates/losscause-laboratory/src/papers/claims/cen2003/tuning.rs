//! Section III: how the constants of mBiaz and Spike were chosen.

use crate::papers::claims::measured::{Predicate, close};

pub(super) const CLAIMS: &[(&str, Predicate)] = &[
    ("tune-mBiaz", |m| {
        let at = |metric: &str, upper: f64| {
            m.value(metric, "mBiaz", "tune-mBiaz", &[("upper", upper.into()), ("N", 4.into())])
        };
        Ok(at("M_c", 1.25)? <= at("M_c", 1.8)? && at("M_w", 1.25)? < at("M_w", 1.1)?)
    }),
    ("tune-Spike-alpha-high", |m| {
        let at = |metric: &str, alpha: f64, beta: f64| {
            m.value(
                metric,
                "Spike",
                "tune-Spike",
                &[("alpha", alpha.into()), ("beta", beta.into())],
            )
        };
        Ok(at("M_c", 0.7, 0.5)? >= at("M_c", 0.3, 0.1)?
            && at("M_w", 0.7, 0.5)? <= at("M_w", 0.3, 0.1)?)
    }),
    ("tune-Spike-limits", |m| {
        let at = |metric: &str, alpha: f64, beta: f64| {
            m.value(
                metric,
                "Spike",
                "tune-Spike",
                &[("alpha", alpha.into()), ("beta", beta.into())],
            )
        };
        Ok(close(at("M_c", 1.0, 0.5)?, 100.0, 0.5)
            && close(at("M_w", 1.0, 0.5)?, 0.0, 0.5)
            && at("M_c", 0.0, 0.0)? < 5.0
            && at("M_w", 0.0, 0.0)? > 95.0)
    }),
];
