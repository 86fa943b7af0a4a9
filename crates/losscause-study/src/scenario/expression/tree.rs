//! A formula as a tree, and its value.

use super::Names;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Number(f64),
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

    pub(super) fn evaluate(&self, names: &Names) -> Result<f64, String> {
        Ok(match self {
            Self::Number(number) => *number,
            Self::Name(name) => names.value(name).ok_or_else(|| {
                let known: Vec<&str> = names.0.iter().map(|(known, _)| known.as_str()).collect();
                crate::error::unknown(name, &known)
            })?,
            Self::Negated(node) => -node.evaluate(names)?,
            Self::Binary(operator, left, right) => {
                operator.apply(left.evaluate(names)?, right.evaluate(names)?)
            }
            Self::Call(Function::If, arguments) => {
                let [condition, yes, no] = arguments.as_slice() else {
                    unreachable!("the parser counts arguments")
                };
                if condition.evaluate(names)? == 0.0 {
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
