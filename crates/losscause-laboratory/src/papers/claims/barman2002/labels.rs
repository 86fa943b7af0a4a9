//! How NewReno-FF labels losses: section 6.2.

use super::{FF, Mean};
use crate::papers::claims::measured::{Measured, Predicate, all, close};

const HOMOGENEOUS: [&str; 2] = ["config1-homog", "config2-homog"];
const MIXED: [&str; 2] = ["config1-mixed", "config2-mixed"];

fn p_cc(m: &Measured<'_>, cfg: &str) -> Mean {
    m.of("P_CC", FF, cfg)
}

fn p_ww(m: &Measured<'_>, cfg: &str) -> Mean {
    m.of("P_WW", FF, cfg)
}

pub(super) const CLAIMS: &[(&str, Predicate)] = &[
    ("labels-low", |m| {
        all(HOMOGENEOUS.into_iter().chain(MIXED), |cfg| {
            Ok(p_cc(m, cfg)? < 0.5 && p_ww(m, cfg)? < 0.9)
        })
    }),
    ("labels-config1", |m| {
        Ok(close(p_cc(m, "config1-homog")?, 0.0, 0.1)
            && close(p_ww(m, "config1-homog")?, 0.84, 0.1)
            && close(p_cc(m, "config1-mixed")?, 0.0, 0.1)
            && close(p_ww(m, "config1-mixed")?, 0.61, 0.15))
    }),
    ("labels-config2", |m| {
        Ok(close(p_cc(m, "config2-homog")?, 0.32, 0.15)
            && close(p_ww(m, "config2-homog")?, 0.65, 0.15)
            && close(p_cc(m, "config2-mixed")?, 0.42, 0.15)
            && close(p_ww(m, "config2-mixed")?, 0.63, 0.15))
    }),
    ("labels-congestion-raises-PCC", |m| {
        Ok(p_cc(m, "config2-homog")? > p_cc(m, "config1-homog")?
            && p_cc(m, "config2-mixed")? > p_cc(m, "config1-mixed")?)
    }),
    ("labels-mixed-vs-homog", |m| {
        Ok(p_ww(m, "config1-mixed")? < p_ww(m, "config1-homog")?
            && p_ww(m, "config2-mixed")? < p_ww(m, "config2-homog")?
            && p_cc(m, "config2-mixed")? > p_cc(m, "config2-homog")?)
    }),
    ("PWC", |m| {
        let p_wc = |cfg| m.of("P_WC", FF, cfg);
        Ok(close(p_wc("config2-homog")?, 0.68, 0.15)
            && close(p_wc("config2-mixed")?, 0.58, 0.15)
            && p_wc("config2-homog")? > 0.5)
    }),
    ("beta-effective-lower", |m| {
        Ok(0.5 * (p_cc(m, "config2-homog")? + 1.0 - p_ww(m, "config2-homog")?) < 0.5)
    }),
];
