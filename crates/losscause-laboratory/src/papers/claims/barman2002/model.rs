//! The fluid model: section 4.

use super::Mean;
use crate::papers::claims::measured::{Measured, Predicate};
use crate::papers::record::Value;

/// Packets per second at the losses and the round-trip time that the record of the paper assigns.
fn rate(m: &Measured<'_>, p_cc: f64, p_ww: f64) -> Mean {
    let at = [("p_c", 0.01), ("p_w", 0.05), ("RTT", 0.1), ("P_CC", p_cc), ("P_WW", p_ww)];
    m.value(
        "fluid_rate",
        "NewReno-LL-fluid",
        "fluid",
        &at.map(|(name, value)| (name, Value::from(value))),
    )
}

pub(super) const CLAIMS: &[(&str, Predicate)] = &[
    ("fluid-PCC", |m| Ok(rate(m, 1.0, 0.5)? < rate(m, 0.5, 0.5)?)),
    ("fluid-PWW", |m| Ok(rate(m, 1.0, 0.9)? > rate(m, 1.0, 0.1)?)),
];
