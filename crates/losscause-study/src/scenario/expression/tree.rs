//! A formula as a tree, and its value.

use super::Names;
use super::amount::Amount;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Number(Amount),
    Name(String),
    Negated(Box<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operator {
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
pub(super) enum Function {
    Min,
    Max,
    Floor,
    Ceil,
    Round,
    If,
}

impl Node {
    pub(super) fn takes(&self, name: &str) -> bool {
        match self {
            Self::Number(_) => false,
            Self::Name(own) => own == name,
            Self::Negated(node) => node.takes(name),
            Self::Binary(_, left, right) => left.takes(name) || right.takes(name),
            Self::Call(_, arguments) => arguments.iter().any(|argument| argument.takes(name)),
        }
    }

    /// Whether the value depends on no name.
    pub(super) fn is_constant(&self) -> bool {
        match self {
            Self::Number(_) => true,
            Self::Name(_) => false,
            Self::Negated(node) => node.is_constant(),
            Self::Binary(_, left, right) => left.is_constant() && right.is_constant(),
            Self::Call(_, arguments) => arguments.iter().all(Self::is_constant),
        }
    }

    pub(super) fn evaluate(&self, names: &Names) -> Result<Amount, String> {
        Ok(match self {
            Self::Number(number) => *number,
            Self::Name(name) => match names.value(name) {
                Some(value) => value,
                None => not_a_number(name).ok_or_else(|| {
                    let known: Vec<&str> =
                        names.0.iter().map(|(known, _)| known.as_str()).collect();
                    crate::error::unknown(name, &known)
                })?,
            },
            Self::Negated(node) => {
                let value = node.evaluate(names)?;
                Amount { number: -value.number, ..value }
            }
            Self::Binary(operator, left, right) => {
                operator.apply(left.evaluate(names)?, right.evaluate(names)?)?
            }
            Self::Call(Function::If, arguments) => {
                let [condition, yes, no] = arguments.as_slice() else {
                    unreachable!("the parser counts arguments")
                };
                if condition.evaluate(names)?.number == 0.0 {
                    no.evaluate(names)?
                } else {
                    yes.evaluate(names)?
                }
            }
            Self::Call(function, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(argument.evaluate(names)?);
                }
                function.apply(&values)?
            }
        })
    }
}

/// `nan` and `inf`, which TOML has as numbers, in other spellings.
fn not_a_number(name: &str) -> Option<Amount> {
    match name.to_ascii_lowercase().as_str() {
        "nan" => Some(Amount::plain(f64::NAN)),
        "inf" | "infinity" => Some(Amount::plain(f64::INFINITY)),
        _ => None,
    }
}

impl Operator {
    fn apply(self, left: Amount, right: Amount) -> Result<Amount, String> {
        match self {
            Self::Multiply => return Ok(left.times(right)),
            Self::Divide => return Ok(left.over(right)),
            _ => same_dimension([left, right])?,
        }
        let dimension = left.dimension;
        let left = left.number;
        let right = right.number;
        let truth = |holds: bool| Amount::plain(if holds { 1.0 } else { 0.0 });
        Ok(match self {
            Self::Multiply | Self::Divide => unreachable!("returned above"),
            Self::Add => Amount { number: left + right, dimension },
            Self::Subtract => Amount { number: left - right, dimension },
            Self::Equal => truth(left == right),
            Self::NotEqual => truth(left != right),
            Self::Less => truth(left < right),
            Self::LessOrEqual => truth(left <= right),
            Self::Greater => truth(left > right),
            Self::GreaterOrEqual => truth(left >= right),
        })
    }
}

/// Only amounts of the same kind can be added and compared.
fn same_dimension(amounts: [Amount; 2]) -> Result<(), String> {
    let [left, right] = amounts.map(|amount| amount.dimension);
    if left == right {
        return Ok(());
    }
    Err(format!("{} meets {}, expected the same kind", left.article(), right.article()))
}

impl Function {
    pub(super) const ALL: [(&'static str, Self); 6] = [
        ("min", Self::Min),
        ("max", Self::Max),
        ("floor", Self::Floor),
        ("ceil", Self::Ceil),
        ("round", Self::Round),
        ("if", Self::If),
    ];

    /// Fewest and most arguments.
    pub(super) fn arity(self) -> (usize, usize) {
        match self {
            Self::Min | Self::Max => (1, usize::MAX),
            Self::Floor | Self::Ceil | Self::Round => (1, 1),
            Self::If => (3, 3),
        }
    }

    fn apply(self, values: &[Amount]) -> Result<Amount, String> {
        let [first, others @ ..] = values else { unreachable!("the parser counts arguments") };
        others.iter().try_for_each(|other| same_dimension([*first, *other]))?;
        let numbers = values.iter().map(|value| value.number);
        let number = match self {
            Self::Min => numbers.fold(f64::INFINITY, f64::min),
            Self::Max => numbers.fold(f64::NEG_INFINITY, f64::max),
            Self::Floor | Self::Ceil | Self::Round if first.has_unit() => {
                return Err(format!(
                    "{} is rounded, expected a plain number",
                    first.dimension.article()
                ));
            }
            Self::Floor => first.number.floor(),
            Self::Ceil => first.number.ceil(),
            Self::Round => first.number.round(),
            Self::If => unreachable!("evaluated lazily by its caller"),
        };
        Ok(Amount { number, ..*first })
    }
}
