//! Which algorithm a receiver asks, with the scenario's settings of it.
//!
//! Names, settings and their ranges are those of `losscause::Algorithm`; nothing is repeated here.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};

use losscause::registry::Value;
use losscause::{Algorithm, AnyLda, Config};
use losscause_sim::LdaSpec;

use super::reader::Reader;
use crate::InputError;
use crate::error::unknown;

/// The algorithm of a flow that names none.
pub(super) const DEFAULT: &str = "always congestion";

/// What a flow calls the oracle that is handed the true cause.
pub const OMNISCIENT: &str = "omniscient";

/// Settings of the algorithms, by the algorithm's name. What is set for a base scheme (`[lda.Spike]`) holds inside a
/// hybrid as well, unless the hybrid sets it itself (`[lda.ZBS.spike]`).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct LdaSettings(BTreeMap<String, BTreeMap<String, LdaValue>>);

/// A setting's value.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum LdaValue {
    /// A number, whole or not.
    Number(f64),
    /// A word.
    Text(String),
    /// True or false.
    Flag(bool),
    /// Settings of a hybrid's base scheme.
    Base(BTreeMap<String, LdaValue>),
}

/// The names that a flow's `lda` may have.
pub fn names() -> Vec<&'static str> {
    Algorithm::ALL.iter().map(|algorithm| algorithm.name()).chain([OMNISCIENT]).collect()
}

impl LdaSettings {
    /// Holds every table against its algorithm, whether or not a flow uses it.
    pub(super) fn validate(&self, reader: &Reader) -> Result<(), InputError> {
        for title in self.0.keys() {
            let Some(algorithm) = Algorithm::from_name(title) else {
                let known = Algorithm::ALL.map(Algorithm::name);
                return Err(reader.error(&format!("lda.{title}"), format!("the algorithm {}", unknown(title, &known))));
            };
            self.build(algorithm, reader)?;
        }
        Ok(())
    }

    /// The algorithm called `name`, which stands at `key`.
    pub(super) fn spec(&self, name: &str, key: &str, reader: &Reader) -> Result<LdaSpec, InputError> {
        let algorithm = Algorithm::from_name(name);
        if algorithm.is_none() && !name.eq_ignore_ascii_case(OMNISCIENT) {
            return Err(reader.error(key, format!("the algorithm {}", unknown(name, &names()))));
        }
        algorithm.map_or(Ok(LdaSpec::Omniscient), |algorithm| self.build(algorithm, reader).map(LdaSpec::Algorithm))
    }

    fn build(&self, algorithm: Algorithm, reader: &Reader) -> Result<AnyLda, InputError> {
        let mut config = algorithm.config();
        for (prefix, base) in algorithm.bases() {
            for (title, table) in self.tables(*base) {
                set(&mut config, table, &format!("{prefix}."), &format!("lda.{title}."), reader)?;
            }
        }
        for (title, table) in self.tables(algorithm) {
            set(&mut config, table, "", &format!("lda.{title}."), reader)?;
        }
        config.build().map_err(|error| reader.error(&format!("lda.{algorithm}"), error.to_string()))
    }

    /// The tables of an algorithm: one, unless the file calls it by several of its names.
    fn tables(&self, algorithm: Algorithm) -> impl Iterator<Item = (&String, &BTreeMap<String, LdaValue>)> {
        self.0.iter().filter(move |(title, _)| Algorithm::from_name(title) == Some(algorithm))
    }
}

/// Puts a table's settings into `config`, where they are called `prefix` and their key; the file calls them `path` and
/// their key.
fn set(
    config: &mut Config,
    table: &BTreeMap<String, LdaValue>,
    prefix: &str,
    path: &str,
    reader: &Reader,
) -> Result<(), InputError> {
    for (key, value) in table {
        let value = match value {
            LdaValue::Number(number) => Value::Number(*number),
            LdaValue::Text(text) => Value::Text(text),
            LdaValue::Flag(flag) => Value::Flag(*flag),
            LdaValue::Base(table) => {
                set(config, table, &format!("{prefix}{key}."), &format!("{path}{key}."), reader)?;
                continue;
            }
        };
        let outcome = config.set(&format!("{prefix}{key}"), value);
        outcome.map_err(|error| reader.error(&format!("{path}{key}"), error.to_string()))?;
    }
    Ok(())
}

impl<'de> Deserialize<'de> for LdaValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LdaValueVisitor;
        impl<'de> Visitor<'de> for LdaValueVisitor {
            type Value = LdaValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a word, true, false or a table")
            }
            fn visit_i64<E>(self, number: i64) -> Result<LdaValue, E> {
                Ok(LdaValue::Number(number as f64))
            }
            fn visit_f64<E>(self, number: f64) -> Result<LdaValue, E> {
                Ok(LdaValue::Number(number))
            }
            fn visit_bool<E>(self, flag: bool) -> Result<LdaValue, E> {
                Ok(LdaValue::Flag(flag))
            }
            fn visit_str<E>(self, text: &str) -> Result<LdaValue, E> {
                Ok(LdaValue::Text(text.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<LdaValue, A::Error> {
                BTreeMap::deserialize(MapAccessDeserializer::new(table)).map(LdaValue::Base)
            }
        }
        deserializer.deserialize_any(LdaValueVisitor)
    }
}
