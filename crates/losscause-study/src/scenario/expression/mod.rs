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
    /// An unknown name, or a result that is not finite. The text is the second half of an error sentence.
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

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Name(String),
    Negated(Box<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Function {
    Min,
    Max,
    Floor,
    Ceil,
    Round,
    If,
}

impl Formula {
    /// Parses a formula.
    ///
    /// # Errors
    /// What was found and what was expected. The text is the second half of an error sentence.
    pub fn parse(source: &str) -> Result<Self, String> {
        if source.len() > MAX_LENGTH {
            return Err(format!("is {} bytes long, expected a formula of at most {MAX_LENGTH}", source.len()));
        }
        let mut parser = Parser { source, at: 0, depth: 0 };
        let root = parser.formula()?;
        parser.skip_blanks();
        match parser.rest().chars().next() {
            None => Ok(Self { source: source.to_owned(), root }),
            Some(_) => Err(parser.unexpected("an operator or the end")),
        }
    }

    /// Its value.
    ///
    /// # Errors
    /// An unknown name, or a result that is not finite. The text is the second half of an error sentence.
    pub fn evaluate(&self, names: &Names) -> Result<f64, String> {
        let value = self.root.evaluate(names).map_err(|problem| format!("in \"{}\", {problem}", self.source))?;
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

impl Node {
    fn takes(&self, name: &str) -> bool {
        match self {
            Self::Number(_) => false,
            Self::Name(own) => own == name,
            Self::Negated(node) => node.takes(name),
            Self::Binary(_, left, right) => left.takes(name) || right.takes(name),
            Self::Call(_, arguments) => arguments.iter().any(|argument| argument.takes(name)),
        }
    }

    fn evaluate(&self, names: &Names) -> Result<f64, String> {
        Ok(match self {
            Self::Number(number) => *number,
            Self::Name(name) => names.value(name).ok_or_else(|| {
                let known: Vec<&str> = names.0.iter().map(|(known, _)| known.as_str()).collect();
                crate::error::unknown(name, &known)
            })?,
            Self::Negated(node) => -node.evaluate(names)?,
            Self::Binary(operator, left, right) => operator.apply(left.evaluate(names)?, right.evaluate(names)?),
            Self::Call(Function::If, arguments) => {
                let [condition, yes, no] = arguments.as_slice() else { unreachable!("the parser counts arguments") };
                if condition.evaluate(names)? == 0.0 { no.evaluate(names)? } else { yes.evaluate(names)? }
            }
            Self::Call(function, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(argument.evaluate(names)?);
                }
                function.apply(&values)
            }
        })
    }
}

impl Operator {
    fn apply(self, left: f64, right: f64) -> f64 {
        let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
        match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
            Self::Equal => truth(left == right),
            Self::NotEqual => truth(left != right),
            Self::Less => truth(left < right),
            Self::LessOrEqual => truth(left <= right),
            Self::Greater => truth(left > right),
            Self::GreaterOrEqual => truth(left >= right),
        }
    }
}

impl Function {
    const ALL: [(&'static str, Self); 6] = [
        ("min", Self::Min),
        ("max", Self::Max),
        ("floor", Self::Floor),
        ("ceil", Self::Ceil),
        ("round", Self::Round),
        ("if", Self::If),
    ];

    /// Fewest and most arguments.
    fn arity(self) -> (usize, usize) {
        match self {
            Self::Min | Self::Max => (1, usize::MAX),
            Self::Floor | Self::Ceil | Self::Round => (1, 1),
            Self::If => (3, 3),
        }
    }

    fn apply(self, values: &[f64]) -> f64 {
        match self {
            Self::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
            Self::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Self::Floor => values[0].floor(),
            Self::Ceil => values[0].ceil(),
            Self::Round => values[0].round(),
            Self::If => unreachable!("evaluated lazily by its caller"),
        }
    }
}

/// Deepest nesting of a formula, so that a hostile file cannot exhaust the stack.
const MAX_DEPTH: u32 = 64;

/// Longest formula, bytes: a long sum makes a deep tree.
const MAX_LENGTH: usize = 1000;

struct Parser<'a> {
    source: &'a str,
    at: usize,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn formula(&mut self) -> Result<Node, String> {
        let left = self.sum()?;
        let operators = [
            ("==", Operator::Equal),
            ("!=", Operator::NotEqual),
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("<", Operator::Less),
            (">", Operator::Greater),
        ];
        match self.one_of(&operators) {
            Some(operator) => Ok(Node::Binary(operator, Box::new(left), Box::new(self.sum()?))),
            None => Ok(left),
        }
    }

    fn sum(&mut self) -> Result<Node, String> {
        let mut node = self.product()?;
        while let Some(operator) = self.one_of(&[("+", Operator::Add), ("-", Operator::Subtract)]) {
            node = Node::Binary(operator, Box::new(node), Box::new(self.product()?));
        }
        Ok(node)
    }

    fn product(&mut self) -> Result<Node, String> {
        let mut node = self.factor()?;
        while let Some(operator) = self.one_of(&[("*", Operator::Multiply), ("/", Operator::Divide)]) {
            node = Node::Binary(operator, Box::new(node), Box::new(self.factor()?));
        }
        Ok(node)
    }

    fn factor(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("nests deeper than {MAX_DEPTH} levels, expected a simpler formula"));
        }
        let node = self.factor_inner();
        self.depth -= 1;
        node
    }

    fn factor_inner(&mut self) -> Result<Node, String> {
        if self.eat("-") {
            return Ok(Node::Negated(Box::new(self.factor()?)));
        }
        if self.eat("(") {
            let node = self.formula()?;
            return if self.eat(")") { Ok(node) } else { Err(self.unexpected("\")\"")) };
        }
        self.skip_blanks();
        let rest = self.rest();
        match rest.chars().next() {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                let name = &rest[..end];
                self.at += end;
                if self.eat("(") { self.call(name) } else { Ok(Node::Name(name.to_owned())) }
            }
            _ => Err(self.unexpected("a number, a name or \"(\"")),
        }
    }

    fn number(&mut self) -> Result<Node, String> {
        let rest = self.rest();
        let mut previous = ' ';
        let end = rest
            .find(|c: char| {
                let exponent_sign = (c == '-' || c == '+') && matches!(previous, 'e' | 'E');
                previous = c;
                !(c.is_ascii_alphanumeric() || c == '.' || exponent_sign)
            })
            .unwrap_or(rest.len());
        let text = &rest[..end];
        self.at += end;
        text.parse().map(Node::Number).map_err(|_| format!("\"{text}\" in \"{}\" is not a number", self.source))
    }

    fn call(&mut self, name: &str) -> Result<Node, String> {
        let Some((_, function)) = Function::ALL.iter().find(|(known, _)| *known == name) else {
            return Err(format!("function {}", crate::error::unknown(name, &Function::ALL.map(|(known, _)| known))));
        };
        let mut arguments = vec![self.formula()?];
        while self.eat(",") {
            arguments.push(self.formula()?);
        }
        if !self.eat(")") {
            return Err(self.unexpected("\",\" or \")\""));
        }
        let (fewest, most) = function.arity();
        if (fewest..=most).contains(&arguments.len()) {
            Ok(Node::Call(*function, arguments))
        } else {
            Err(format!("{name}() in \"{}\" has {} arguments, expected {fewest}", self.source, arguments.len()))
        }
    }

    fn one_of(&mut self, operators: &[(&str, Operator)]) -> Option<Operator> {
        operators.iter().find(|(text, _)| self.eat(text)).map(|(_, operator)| *operator)
    }

    fn eat(&mut self, text: &str) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn unexpected(&self, expected: &str) -> String {
        match self.rest().chars().next() {
            None => format!("\"{}\" ends too early, expected {expected}", self.source),
            Some(c) => {
                let column = self.source[..self.at].chars().count() + 1;
                format!("\"{c}\" at character {column} of \"{}\" is out of place, expected {expected}", self.source)
            }
        }
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
        assert_eq!(value("max(1, 2").unwrap_err(), "\"max(1, 2\" ends too early, expected \",\" or \")\"");
        assert_eq!(
            value("rate_bsp * 2").unwrap_err(),
            "in \"rate_bsp * 2\", \"rate_bsp\" is unknown (did you mean \"rate_bps\"?), expected one of N, rate_bps"
        );
        assert_eq!(value("1 / 0").unwrap_err(), "\"1 / 0\" is inf, expected a finite number");
        assert_eq!(value("floor(1, 2)").unwrap_err(), "floor() in \"floor(1, 2)\" has 2 arguments, expected 1");
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
    fn a_sum_of_a_million_terms_is_refused_instead_of_exhausting_the_stack() {
        let million = format!("1{}", "+1".repeat(1_000_000));
        assert_eq!(value(&million).unwrap_err(), "is 2000001 bytes long, expected a formula of at most 1000",);
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
