//! Parameters of an item: the number of flows, the loss level, an averaging factor.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Parameters by the name the paper's record gives them, in alphabetical order.
pub type Parameters = BTreeMap<String, Value>;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// A count: flows, packets.
    Integer(i64),
    /// A quantity in the unit its name or the paper gives.
    Number(f64),
    /// A name: the loss level "high".
    Text(String),
}

impl Value {
    /// Whether both stand for the same value. Numbers are compared as numbers (4 is 4.0), to nine
    /// digits.
    pub fn same(&self, other: &Self) -> bool {
        match (self.as_number(), other.as_number()) {
            (Some(a), Some(b)) => (a - b).abs() <= (1e-9 * a.abs().max(b.abs())).max(1e-12),
            _ => self == other,
        }
    }

    /// The parameter's value, if it is a number.
    pub fn as_number(&self) -> Option<f64> {
        match *self {
            Value::Integer(i) => Some(i as f64),
            Value::Number(x) => Some(x),
            Value::Flag(_) | Value::Text(_) => None,
        }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Integer(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Number(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Text(value.to_owned())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(v) => v.fmt(f),
            Value::Integer(v) => v.fmt(f),
            Value::Number(v) => v.fmt(f),
            Value::Text(v) => v.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_flows_are_four_flows_whether_written_as_integer_or_not() {
        assert!(Value::from(4).same(&Value::from(4.0)));
        assert!(!Value::from(4).same(&Value::from(4.001)));
        assert!(!Value::from(4).same(&Value::from("4")));
        assert!(Value::from("high").same(&Value::from("high")));
    }
}
