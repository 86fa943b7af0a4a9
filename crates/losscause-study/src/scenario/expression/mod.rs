//! Numbers that may be written as formulas: `"max(floor(rate_bps / 60e3), 6)"`.
//!
//! Grammar, loosest first:
//!
//! ```text
//! formula    = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]     1 if it holds, else 0
//! sum        = product { ("+" | "-") product }
//! product    = factor { ("*" | "/") factor }
//! factor     = "-" factor | number [unit] | name | function "(" formula { "," formula } ")" | "(" formula ")"
//! function   = "min" | "max" | "floor" | "ceil" | "round" | "if"       if(condition, then, else)
//! ```
//!
//! A number may have a unit (`20 Mb/s`, `600ms`, `0.5%`, `20M`). Products and quotients of such numbers
//! keep track of it; a key takes what has its unit, or a plain number.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};

pub(crate) mod amount;
mod parser;
mod tree;

use amount::{Amount, Unit};
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
        let amount = self.amount(names)?;
        let value = amount.in_unit(Unit::of_key(""))?;
        if value.is_finite() { Ok(value) } else { Err(self.not_finite(amount)) }
    }

    /// The value with its dimension; it may be infinite or no number.
    ///
    /// # Errors
    /// An unknown name, or operands of different kinds. The text is the second half of an error
    /// sentence.
    pub(crate) fn amount(&self, names: &Names) -> Result<Amount, String> {
        match self {
            Self::Number(number) => Ok(Amount::plain(*number)),
            Self::Formula(formula) => formula.amount(names),
        }
    }

    /// The value of the parameter `name`: a plain number in the unit of the name's suffix, or, if
    /// the name has none, with its dimension.
    ///
    /// # Errors
    /// As [`Self::amount`], or the value is not finite or has another unit than the name.
    pub(crate) fn parameter(&self, name: &str, names: &Names) -> Result<Amount, String> {
        let mut amount = self.amount(names)?;
        if let Some((_, unit)) = Unit::split(name) {
            amount = Amount::plain(amount.in_unit(unit)?);
        }
        if amount.is_finite() { Ok(amount) } else { Err(self.not_finite(amount)) }
    }

    /// The second half of an error sentence about a value that is not finite.
    pub(crate) fn not_finite(&self, amount: Amount) -> String {
        match self {
            Self::Number(number) => format!("is {number}, expected a finite number"),
            Self::Formula(formula) => {
                format!("\"{formula}\" is {}, expected a finite number", amount.number)
            }
        }
    }

    /// Whether the value depends on no name.
    pub(crate) fn is_constant(&self) -> bool {
        match self {
            Self::Number(_) => true,
            Self::Formula(formula) => formula.root.is_constant(),
        }
    }

    /// Whether it uses `name`.
    pub(crate) fn takes(&self, name: &str) -> bool {
        matches!(self, Self::Formula(formula) if formula.takes(name))
    }

    /// The unit of a value that is a number with a unit and nothing else.
    pub(crate) fn unit(&self) -> Option<&'static Unit> {
        let Self::Formula(Formula { source, root: Node::Number(amount) }) = self else {
            return None;
        };
        let unit = source.trim_start_matches(|c: char| !c.is_alphabetic()).trim();
        Unit::named(unit).ok().filter(|_| amount.has_unit())
    }
}

impl From<f64> for Quantity {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

/// The names a formula may use, with their values.
#[derive(Clone, Debug, Default)]
pub struct Names(Vec<(String, Amount)>);

impl Names {
    /// Defines a name; a later definition replaces an earlier one.
    #[must_use]
    pub fn with(self, name: &str, value: f64) -> Self {
        self.with_amount(name, Amount::plain(value))
    }

    /// Defines a name for a value that may have a unit.
    #[must_use]
    pub(crate) fn with_amount(mut self, name: &str, value: Amount) -> Self {
        self.0.push((name.to_owned(), value));
        self
    }

    fn value(&self, name: &str) -> Option<Amount> {
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
        let value = self.amount(names)?.in_unit(Unit::of_key(""))?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(format!("\"{}\" is {value}, expected a finite number", self.source))
        }
    }

    fn amount(&self, names: &Names) -> Result<Amount, String> {
        self.root.evaluate(names).map_err(|problem| {
            // A formula of one name is quoted by the problem already.
            let quoted = format!("\"{}\"", self.source);
            if problem.starts_with(&quoted) { problem } else { format!("in {quoted}, {problem}") }
        })
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
            "description": "A number, or a formula in quotes: numbers with or without a unit (20 Mb/s, 600ms, 0.5%, 20M), names, + - * / ( ), comparisons, min, max, floor, ceil, round, if(condition, then, else).",
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
        assert_eq!(
            value("1x").unwrap_err(),
            "\"1x\": the unit \"x\" is unknown, expected one as in 20 Mb/s, 600 ms, 1500 B, 0.5 %"
        );
        assert!(value("").unwrap_err().contains("ends too early"));
        assert!(value("1 2").unwrap_err().contains("an operator or the end"));
        assert!(value("mni(1, 2)").unwrap_err().contains("did you mean \"min\"?"));
    }

    fn in_key(key: &str, source: &str) -> Result<f64, String> {
        let names = Names::default()
            .with_amount("rate", Formula::parse("20 Mb/s")?.amount(&Names::default())?)
            .with_amount("rtt", Formula::parse("600ms")?.amount(&Names::default())?);
        Formula::parse(source)?.amount(&names)?.in_unit(Unit::of_key(key))
    }

    #[test]
    fn a_number_with_a_unit_is_converted_to_the_unit_of_its_key() {
        for twenty in ["20M", "20 Mb/s", "20Mbit/s", "20Mbps", "2.5 MB/s", "2e4 kb/s"] {
            assert_eq!(in_key("link.l.rate_bps", twenty), Ok(20e6), "{twenty}");
        }
        assert_eq!(in_key("delay_ms", "0.6 s"), Ok(600.0));
        assert_eq!(in_key("duration_s", "2min"), Ok(120.0));
        assert_eq!(in_key("send_jitter_us", "1.5ms"), Ok(1500.0));
        assert_eq!(in_key("loss", "0.5%"), Ok(0.005));
        assert_eq!(in_key("queue_bytes", "1.5 kB"), Ok(1500.0));
        assert_eq!(in_key("queue_packets", "100 packets"), Ok(100.0));
    }

    #[test]
    fn products_and_quotients_keep_track_of_units() {
        // 20 Mb/s times 0.6 s are 12 Mb: 1.5 MB, 1000 packets of 1500 bytes.
        assert_eq!(in_key("queue_bytes", "rate * rtt"), Ok(1.5e6));
        assert_eq!(in_key("queue_packets", "max(1, round(rate * rtt / 1500 B))"), Ok(1000.0));
        assert_eq!(in_key("delay_ms", "rtt / 2"), Ok(300.0));
        assert_eq!(in_key("x", "if(rtt > 0.5 s, 2, 3)"), Ok(2.0));
    }

    #[test]
    fn another_kind_of_unit_is_refused_with_the_expected_one() {
        assert_eq!(
            in_key("link.l.rate_bps", "20 ms").unwrap_err(),
            "is a time, expected a rate, such as 20 Mb/s, or a plain number of b/s"
        );
        assert_eq!(in_key("loss", "rtt").unwrap_err(), "is a time, expected a plain number");
        assert_eq!(
            in_key("delay_ms", "rtt + 5").unwrap_err(),
            "in \"rtt + 5\", a time meets a plain number, expected the same kind"
        );
        assert_eq!(
            in_key("queue_packets", "round(rate * rtt)").unwrap_err(),
            "in \"round(rate * rtt)\", an amount of data is rounded, expected a plain number"
        );
        assert!(Formula::parse("20 Mbp").unwrap_err().contains("did you mean \"Mbps\"?"));
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
