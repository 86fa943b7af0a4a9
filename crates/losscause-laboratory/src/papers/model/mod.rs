//! The papers' formulas: values that follow from an item's parameters without a run (`kind =
//! "model"` in items.toml).
//!
//! Each file has one formula or family. `FORMULAS` maps a paper's system and metric to a formula.

use crate::papers::record::{Parameters, Value};
use losscause_study::error::unknown;

pub mod fluid;
pub mod friendliness;
pub mod phase;
pub mod square_root;

/// Computes a value from an item's parameters, in the unit of the paper's metric.
pub type Formula = fn(&Inputs<'_>) -> Result<f64, String>;

/// The formula for each system and metric, both by the paper's names.
const FORMULAS: &[(&str, &str, Formula)] = &[
    // Barman 2002, section 6.2.
    ("AIMD-friendliness", "alpha_friendly", friendliness::alpha),
    ("AIMD-friendliness", "beta", friendliness::effective_beta),
    // Barman 2002, section 4 and figure 3.
    ("NewReno-LL-fluid", "fluid_rate", fluid::steady_rate),
    ("phase-plot", "window.NewReno", phase::newreno),
    ("phase-plot", "window.NewReno-FF", phase::flip_flop),
    // Biaz 1999, section 4.3.1.
    ("sqrt-model", "R_I", square_root::ideal_over_reno),
];

/// The parameters that a formula is given.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a>(&'a Parameters);

impl<'a> Inputs<'a> {
    /// The parameters of an item.
    pub fn new(parameters: &'a Parameters) -> Self {
        Self(parameters)
    }

    /// A parameter that is a number from `least` to `most`.
    ///
    /// # Errors
    /// It is missing, no number, or outside.
    pub fn number(&self, name: &str, least: f64, most: f64) -> Result<f64, String> {
        let value = match self.0.get(name) {
            Some(Value::Integer(whole)) => *whole as f64,
            Some(Value::Number(number)) => *number,
            Some(other) => return Err(format!("{name} is \"{other}\", expected a number")),
            None => return Err(format!("{name} is missing, expected it for the formula")),
        };
        if (least..=most).contains(&value) {
            Ok(value)
        } else {
            Err(format!("{name} is {value}, expected {least} to {most}"))
        }
    }

    /// A parameter that is a probability.
    ///
    /// # Errors
    /// It is missing, no number, or outside of 0 to 1.
    pub fn probability(&self, name: &str) -> Result<f64, String> {
        self.number(name, 0.0, 1.0)
    }
}

/// The value of `metric` for the model that a paper calls `system`.
///
/// # Errors
/// There is no such formula, or it cannot use the parameters.
pub fn value(system: &str, metric: &str, parameters: &Parameters) -> Result<f64, String> {
    let formula = FORMULAS.iter().find(|(of, name, _)| *of == system && *name == metric);
    let Some((_, _, formula)) = formula else {
        let known: Vec<String> =
            FORMULAS.iter().map(|(system, metric, _)| format!("{system} {metric}")).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        return Err(format!("the formula {}", unknown(&format!("{system} {metric}"), &known)));
    };
    let value = formula(&Inputs::new(parameters))?;
    value
        .is_finite()
        .then_some(value)
        .ok_or_else(|| format!("the formula of {metric} has no value there"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(values: &[(&str, f64)]) -> Parameters {
        values.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect()
    }

    #[test]
    fn a_half_is_as_friendly_as_a_packet_per_round_trip() {
        assert_eq!(
            value("AIMD-friendliness", "alpha_friendly", &parameters(&[("beta", 0.5)])),
            Ok(1.0)
        );
    }

    #[test]
    fn what_a_formula_cannot_use_is_told() {
        let alpha =
            |beta| value("AIMD-friendliness", "alpha_friendly", &parameters(&[("beta", beta)]));
        assert_eq!(alpha(1.5).unwrap_err(), "beta is 1.5, expected 0 to 1");
        assert_eq!(
            value("sqrt-model", "R_I", &parameters(&[("r_c", 0.01)])).unwrap_err(),
            "r_w is missing, expected it for the formula"
        );
        let error = value("sqrt-model", "R_J", &parameters(&[])).unwrap_err();
        assert!(
            error.starts_with(
                "the formula \"sqrt-model R_J\" is unknown (did you mean \"sqrt-model R_I\"?)"
            ),
            "{error}"
        );
    }
}
