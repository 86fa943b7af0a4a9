//! From a formula's text to its tree, by recursive descent.

use super::amount::{Amount, Unit};
use super::tree::{Function, Node, Operator};
use crate::Limits;

/// Longest formula, bytes: a long sum makes a deep tree.
const MAX_LENGTH: usize = 1000;

/// The tree of a formula.
pub(super) fn parse(source: &str) -> Result<Node, String> {
    if source.len() > MAX_LENGTH {
        return Err(format!(
            "is {} bytes long, expected a formula of at most {MAX_LENGTH}",
            source.len()
        ));
    }
    let mut parser = Parser { source, at: 0, depth: 0 };
    let root = parser.formula()?;
    parser.skip_blanks();
    if parser.rest().is_empty() {
        Ok(root)
    } else {
        Err(parser.unexpected("an operator or the end"))
    }
}

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
        while let Some(operator) =
            self.one_of(&[("*", Operator::Multiply), ("/", Operator::Divide)])
        {
            node = Node::Binary(operator, Box::new(node), Box::new(self.factor()?));
        }
        Ok(node)
    }

    fn factor(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > Limits::NESTING {
            return Err(format!(
                "nests deeper than {} levels, expected a simpler formula",
                Limits::NESTING
            ));
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
                let end = rest
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(rest.len());
                let name = &rest[..end];
                self.at += end;
                if self.eat("(") { self.call(name) } else { Ok(Node::Name(name.to_owned())) }
            }
            _ => Err(self.unexpected("a number, a name or \"(\"")),
        }
    }

    fn number(&mut self) -> Result<Node, String> {
        let rest = self.rest();
        let end = number_end(rest);
        let text = &rest[..end];
        self.at += end;
        let number: f64 = text
            .parse()
            .map_err(|_| format!("\"{text}\" in \"{}\" is not a number", self.source))?;
        Ok(Node::Number(match self.unit() {
            "" => Amount::plain(number),
            name => {
                let unit = Unit::named(name)
                    .map_err(|problem| format!("\"{}\": {problem}", self.source))?;
                Amount::of(number, unit)
            }
        }))
    }

    /// The unit behind a number: letters, "/s" behind them, or "%". Empty without one.
    fn unit(&mut self) -> &'a str {
        let before = self.at;
        self.skip_blanks();
        let rest = self.rest();
        let letters = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let per_second = rest[letters..].strip_prefix("/s").is_some_and(|behind| {
            !behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '(')
        });
        let end = match rest.chars().next() {
            Some('%') => 1,
            Some(c) if c.is_alphabetic() => letters + if per_second { 2 } else { 0 },
            _ => 0,
        };
        self.at = if end == 0 { before } else { self.at + end };
        &rest[..end]
    }

    fn call(&mut self, name: &str) -> Result<Node, String> {
        let Some((_, function)) = Function::ALL.iter().find(|(known, _)| *known == name) else {
            return Err(format!(
                "function {}",
                crate::error::unknown(name, &Function::ALL.map(|(known, _)| known))
            ));
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
            Err(format!(
                "{name}() in \"{}\" has {} arguments, expected {fewest}",
                self.source,
                arguments.len()
            ))
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
                format!(
                    "\"{c}\" at character {column} of \"{}\" is out of place, expected {expected}",
                    self.source
                )
            }
        }
    }
}

/// Where the number that begins `text` ends: digits, a point, an exponent.
fn number_end(text: &str) -> usize {
    let digits = |from: usize| {
        let rest = &text[from..];
        from + rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
    };
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    end
}
