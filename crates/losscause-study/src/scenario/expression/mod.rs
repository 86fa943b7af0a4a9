//! Numbers that may be written as formulas: `"max(floor(rate_bps / 60e3), 6)"`.
//!
//! Grammar, loosest first:
//!
//! ```text
//! formula    = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]     1 if it holds, else 0
//! sum        = product { ("+" | "-") product }
//! product    = factor { ("*" | "/") factor }
//! factor     = "-" factor | number | name | function "(" formula { "," formula } ")" | "(" formula ")"
//! function   = "min" | "max" | "floor" | "ceil" | "round" | "if"       if(condition, then, else)
//! ```

use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};

mod parser;
mod tree;

use tree::Node;

/// A number, written out or as a formula over names.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// A number.
    Number(f64),
    /// A formula in quotes.
    Formula(Formula),
}

impl Quantity {
    /// The value, with these names defined.
    ///
    /// # Errors
    /// An unknown name, or a result that is not finite. The text is the second half of an error
    /// sentence.
    pub fn evaluate(&self, names: &Names) -> Result<f64, String> {
        match self {
            Self::Number(number) if number.is_finite() => Ok(*number),
            Self::Number(number) => Err(format!("is {number}, expected a finite number")),
            Self::Formula(formula) => formula.evaluate(names),
        }
    }
}

impl From<f64> for Quantity {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

/// The names a formula may use, with their values.
#[derive(Clone, Debug, Default)]
pub struct Names(Vec<(String, f64)>);

impl Names {
    /// Defines a name; a later definition replaces an earlier one.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.0.push((name.to_owned(), value));
        self
    }

    fn value(&self, name: &str) -> Option<f64> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

/// A parsed formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    source: String,
    root: Node,
}

impl Formula {
    /// Parses a formula.
    ///
    /// # Errors
    /// What was found and what was expected. The text is the second half of an error sentence.
    pub fn parse(source: &str) -> Result<Self, String> {
        Ok(Self { source: source.to_owned(), root: parser::parse(source)? })
    }

    /// The formula's value.
    ///
    /// # Errors
    /// An unknown name, or a result that is not finite. The text is the second half of an error
    /// sentence.
    pub fn evaluate(&self, names: &Names) -> Result<f64, String> {
        let value = self
            .root
            .evaluate(names)
            .map_err(|problem| format!("in \"{}\", {problem}", self.source))?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(format!("\"{}\" is {value}, expected a finite number", self.source))
        }
    }

    /// Whether the formula uses `name`.
    pub fn takes(&self, name: &str) -> bool {
        self.root.takes(name)
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct QuantityVisitor;
        impl Visitor<'_> for QuantityVisitor {
            type Value = Quantity;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a formula in quotes")
            }
            fn visit_i64<E>(self, number: i64) -> Result<Quantity, E> {
                Ok(Quantity::Number(number as f64))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Quantity, E> {
                Ok(Quantity::Number(number as f64))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Quantity, E> {
                Ok(Quantity::Number(number))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Quantity, E> {
                Formula::parse(text).map(Quantity::Formula).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(QuantityVisitor)
    }
}

impl<'de> Deserialize<'de> for Formula {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Quantity {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Quantity".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A number, or a formula in quotes: numbers, names, + - * / ( ), comparisons, min, max, floor, ceil, round, if(condition, then, else).",
            "type": ["number", "string"]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(source: &str) -> Result<f64, String> {
        Formula::parse(source)?.evaluate(&Names::default().with("N", 4.0).with("rate_bps", 520e3))
    }

    #[test]
    fn formulas_follow_the_usual_precedence() {
        assert_eq!(value("1 + 2 * 3 - 8 / 4"), Ok(5.0));
        assert_eq!(value("-(1 + 2) * 3"), Ok(-9.0));
        assert_eq!(value("2 - 3 - 4"), Ok(-5.0));
        assert_eq!(value("1.5e-1*1E2"), Ok(15.0));
    }

    #[test]
    fn the_papers_own_formulas_give_their_values() {
        assert_eq!(value("max(N, 2) * 130e3"), Ok(520e3));
        assert_eq!(value("max(floor(rate_bps / 60e3), 6)"), Ok(8.0));
        assert_eq!(value("if(N == 1, 800e3, 1600e3)"), Ok(1600e3));
    }

    #[test]
    fn a_formula_tells_which_names_it_takes() {
        let formula = Formula::parse("if(N > 1, -eta / max(l, 2), 3)").unwrap();
        let taken = ["N", "eta", "l", "max", "e"].map(|name| formula.takes(name));
        assert_eq!(taken, [true, true, true, false, false]);
        assert_eq!(formula.to_string(), "if(N > 1, -eta / max(l, 2), 3)");
    }

    #[test]
    fn the_branch_not_taken_is_not_evaluated() {
        assert_eq!(value("if(N > 1, N, missing)"), Ok(4.0));
    }

    #[test]
    fn errors_say_where_and_what_was_expected() {
        assert_eq!(
            value("1 + * 2").unwrap_err(),
            "\"*\" at character 5 of \"1 + * 2\" is out of place, expected a number, a name or \"(\""
        );
        assert_eq!(
            value("max(1, 2").unwrap_err(),
            "\"max(1, 2\" ends too early, expected \",\" or \")\""
        );
        assert_eq!(
            value("rate_bsp * 2").unwrap_err(),
            "in \"rate_bsp * 2\", \"rate_bsp\" is unknown (did you mean \"rate_bps\"?), expected one of N, rate_bps"
        );
        assert_eq!(value("1 / 0").unwrap_err(), "\"1 / 0\" is inf, expected a finite number");
        assert_eq!(
            value("floor(1, 2)").unwrap_err(),
            "floor() in \"floor(1, 2)\" has 2 arguments, expected 1"
        );
        assert_eq!(value("1x").unwrap_err(), "\"1x\" in \"1x\" is not a number");
        assert!(value("").unwrap_err().contains("ends too early"));
        assert!(value("1 2").unwrap_err().contains("an operator or the end"));
        assert!(value("mni(1, 2)").unwrap_err().contains("did you mean \"min\"?"));
    }

    #[test]
    fn deep_nesting_is_refused_instead_of_exhausting_the_stack() {
        assert!(value(&"(".repeat(500)).unwrap_err().contains("nests deeper"));
        assert!(value(&"-".repeat(500)).unwrap_err().contains("nests deeper"));
    }

    #[test]
    fn a_sum_of_a_million_terms_is_refused_and_spares_the_stack() {
        let million = format!("1{}", "+1".repeat(1_000_000));
        assert_eq!(
            value(&million).unwrap_err(),
            "is 2000001 bytes long, expected a formula of at most 1000",
        );
        assert_eq!(value(&format!("1{}", "+1".repeat(499))), Ok(500.0));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(source in ".{0,60}") {
            let _ = value(&source);
        }

        #[test]
        fn printed_numbers_are_read_back(number in 0.0_f64..1e12) {
            proptest::prop_assert_eq!(value(&format!("{number:?}")), Ok(number));
        }
    }
}
