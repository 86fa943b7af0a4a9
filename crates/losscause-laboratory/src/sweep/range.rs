//! A range of numbers as the values of an axis.

use losscause_study::scenario::expression::{Names, Quantity};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use toml::Value;

/// `range = { from = 1e6, to = 1e8, steps = 5, scale = "log" }`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Range {
    /// One end: a number, or one with a percent sign or a bare k, M or G in quotes.
    #[serde(deserialize_with = "end")]
    pub(super) from: f64,
    /// The other end; may be the smaller one.
    #[serde(deserialize_with = "end")]
    pub(super) to: f64,
    /// In a grid: how many values, both ends among them; at least 2.
    pub(super) steps: Option<u32>,
    /// How the values are spaced (default: linear).
    #[serde(default)]
    pub(super) scale: Scale,
    /// Whether the values are rounded to whole numbers (default: false).
    #[serde(default)]
    pub(super) integer: bool,
}

/// Reads an end of a range. Its values are plain numbers, which have the unit of the number that
/// they replace.
fn end<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let quantity = Quantity::deserialize(deserializer)?;
    quantity.evaluate(&Names::default()).map_err(D::Error::custom)
}

/// How the values of a range are spaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Scale {
    /// Equal differences.
    #[default]
    Linear,
    /// Equal ratios; both ends are above zero.
    Log,
}

impl Range {
    /// What is wrong with it: the key below `range`, and the problem.
    pub(super) fn problem(&self) -> Option<(&'static str, String)> {
        for (key, end) in [("from", self.from), ("to", self.to)] {
            if self.scale == Scale::Log && end <= 0.0 {
                return Some((
                    key,
                    format!("is {end}, expected a number above 0 on a logarithmic scale"),
                ));
            }
            if self.integer && end.fract() != 0.0 {
                return Some((
                    key,
                    format!("is {end}, expected a whole number, because integer = true"),
                ));
            }
        }
        (self.from == self.to)
            .then(|| ("to", format!("is {}, the same as from; expected another number", self.to)))
    }

    /// The value at `share` of the way from one end to the other, 0 to 1. It is rounded, so that
    /// tables print the number that was used: to six significant digits, and to more where the ends
    /// differ by little. The ends are exact.
    pub(super) fn at(&self, share: f64) -> Value {
        let between = match self.scale {
            Scale::Linear => self.from + share * (self.to - self.from),
            // Those of `libm` are the same on every machine.
            Scale::Log => {
                let from = libm::log(self.from);
                let to = libm::log(self.to);
                libm::exp(from + share * (to - from))
            }
        };
        match share {
            0.0 => self.value(self.from),
            1.0 => self.value(self.to),
            _ if self.integer => self.value(between),
            _ => self.value(self.rounded(between)),
        }
    }

    /// The value at a draw from [0, 1). Whole numbers are equally likely, the ends too, on a linear
    /// scale.
    pub(super) fn draw(&self, uniform: f64) -> Value {
        if !self.integer || self.scale == Scale::Log {
            return self.at(uniform);
        }
        let low = self.from.min(self.to);
        let high = self.from.max(self.to);
        self.value((low + (uniform * (high - low + 1.0)).floor()).min(high))
    }

    /// `steps` values, both ends among them.
    pub(super) fn values(&self, steps: u32) -> Vec<Value> {
        let last = f64::from(steps - 1);
        (0..steps).map(|step| self.at(f64::from(step) / last)).collect()
    }

    /// A number between the ends with few digits, still between them.
    fn rounded(&self, between: f64) -> f64 {
        let low = self.from.min(self.to);
        let high = self.from.max(self.to);
        let narrow =
            libm::log10(low.abs().max(high.abs()) / (high - low)).floor().clamp(0.0, 11.0) as usize;
        let digits = 5 + narrow;
        format!("{between:.digits$e}").parse().unwrap_or(between).clamp(low, high)
    }

    fn value(&self, number: f64) -> Value {
        if self.integer { Value::Integer(number.round() as i64) } else { Value::Float(number) }
    }
}

#[cfg(test)]
mod tests {
    use losscause_study::tools::toml_file;
    use proptest::prelude::*;

    use super::*;

    fn range(text: &str) -> Range {
        toml_file::from_text(text, "").unwrap()
    }

    fn floats(values: &[Value]) -> Vec<f64> {
        values.iter().map(|value| value.as_float().unwrap()).collect()
    }

    #[test]
    fn steps_are_equal_differences_or_ratios_between_exact_ends() {
        let linear = range("from = 0.1\nto = 0.3").values(3);
        assert_eq!(floats(&linear), [0.1, 0.2, 0.3]);
        let percent = range("from = \"10%\"\nto = \"30%\"").values(3);
        assert_eq!(percent, linear);
        let log = range("from = 1e6\nto = 1e8\nscale = \"log\"").values(5);
        assert_eq!(floats(&log), [1e6, 3.162_28e6, 1e7, 3.162_28e7, 1e8]);
        let down = range("from = 8\nto = 1\ninteger = true\nscale = \"log\"").values(4);
        assert_eq!(down, [8, 4, 2, 1].map(Value::Integer));
    }

    #[test]
    fn ends_that_differ_by_little_have_values_between_them() {
        let narrow = range("from = 1234567\nto = 1234569").values(5);
        assert_eq!(
            floats(&narrow),
            [1_234_567.0, 1_234_567.5, 1_234_568.0, 1_234_568.5, 1_234_569.0]
        );
    }

    proptest! {
        #[test]
        fn no_value_leaves_the_range(a in -1e9_f64..1e9, width in 1e-6_f64..1e9, share in 0.0_f64..1.0, is_log: bool) {
            let from = if is_log { a.abs() + 1e-6 } else { a };
            let scale = if is_log { Scale::Log } else { Scale::Linear };
            let range = Range { from, to: from + width, steps: None, scale, integer: false };
            prop_assume!(range.problem().is_none());
            let value = range.draw(share).as_float().unwrap();
            prop_assert!((range.from..=range.to).contains(&value), "{value}");
        }
    }

    #[test]
    fn every_whole_number_is_drawn_from_an_equal_part_of_the_draws() {
        let dice = range("from = 1\nto = 6\ninteger = true");
        let drawn: Vec<i64> =
            (0..12).map(|k| dice.draw(f64::from(k) / 12.0).as_integer().unwrap()).collect();
        assert_eq!(drawn, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
    }

    #[test]
    fn a_range_that_has_no_values_is_refused() {
        let problem =
            |text: &str| range(text).problem().map(|(key, problem)| format!("{key} {problem}"));
        assert_eq!(
            problem("from = 1\nto = 1").unwrap(),
            "to is 1, the same as from; expected another number"
        );
        for end in ["nan", "inf"] {
            let error =
                toml_file::from_text::<Range>(&format!("from = {end}\nto = 1"), "").unwrap_err();
            assert!(error.to_string().contains("expected a finite number"), "{error}");
        }
        let log = problem("from = 0\nto = 1\nscale = \"log\"").unwrap();
        assert_eq!(log, "from is 0, expected a number above 0 on a logarithmic scale");
        let whole = problem("from = 1\nto = 2.5\ninteger = true").unwrap();
        assert_eq!(whole, "to is 2.5, expected a whole number, because integer = true");
        assert_eq!(problem("from = 1\nto = 2"), None);
    }
}
