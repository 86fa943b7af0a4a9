//! The loss differentiation algorithm of a flow, with the scenario's settings.
//!
//! The registry defines the names, the settings and their ranges.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};

use losscause::lda::BuiltIn;
use losscause::registry::{Info, Registry, Value};
use losscause::{AnyAlgorithm, End, LdaConfig};

use super::reader::Reader;
use crate::InputError;
use crate::error::unknown;

/// The algorithm of a flow that names none.
pub const DEFAULT: &str = "always congestion";

/// The algorithm that every text names which says how to set one ([`BuiltIn::RECOMMENDED`]).
pub fn recommended() -> &'static str {
    BuiltIn::RECOMMENDED.info().name
}

/// Settings of the algorithms, by the algorithm's name. What is set for a base scheme
/// (`[lda.Spike]`) holds inside a hybrid as well, unless the hybrid sets it itself
/// (`[lda.ZBS.spike]`).
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LdaSettings(BTreeMap<String, BTreeMap<String, LdaValue>>);

/// A setting's value.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(untagged))]
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

impl LdaSettings {
    /// Checks every table against its algorithm, even if no flow uses it.
    pub(super) fn validate(&self, reader: &Reader) -> Result<(), InputError> {
        for title in self.0.keys() {
            self.build(find(title, &format!("lda.{title}"), reader)?, reader, End::Sender)?;
        }
        Ok(())
    }

    /// The algorithm `name`, the value of `key`, for this end.
    pub(super) fn at(
        &self,
        end: End,
        name: &str,
        key: &str,
        reader: &Reader,
    ) -> Result<AnyAlgorithm, InputError> {
        self.build(find(name, key, reader)?, reader, end)
    }

    /// The algorithm `published` with the settings of this scenario.
    fn build(
        &self,
        published: &LdaConfig,
        reader: &Reader,
        end: End,
    ) -> Result<AnyAlgorithm, InputError> {
        let config = self.config(published, reader)?;
        config.build(end).map_err(|error| {
            reader.error(&format!("lda.{}", published.info().name), error.to_string())
        })
    }

    /// The parameters `published` with the settings of their base schemes' tables, then of their
    /// own.
    pub(super) fn config(
        &self,
        published: &LdaConfig,
        reader: &Reader,
    ) -> Result<LdaConfig, InputError> {
        let algorithm = published.info();
        let mut config = published.clone();
        for (prefix, base) in algorithm.bases {
            for (title, table) in self.tables(base, reader.context.registry()) {
                set(&mut config, table, &format!("{prefix}."), &format!("lda.{title}."), reader)?;
            }
        }
        for (title, table) in self.tables(algorithm, reader.context.registry()) {
            set(&mut config, table, "", &format!("lda.{title}."), reader)?;
        }
        Ok(config)
    }

    /// The tables of an algorithm. The file may use several names of the same algorithm.
    fn tables(
        &self,
        of: &Info,
        registry: &Registry,
    ) -> impl Iterator<Item = (&String, &BTreeMap<String, LdaValue>)> {
        let is_its =
            |title: &str| registry.find(title).is_some_and(|found| found.info().name == of.name);
        self.0.iter().filter(move |(title, _)| is_its(title))
    }
}

/// The published parameters of the algorithm `name`, the value of `key`.
fn find<'a>(name: &str, key: &str, reader: &Reader<'a>) -> Result<&'a LdaConfig, InputError> {
    reader.context.registry().find(name).ok_or_else(|| {
        let known: Vec<&str> = reader.context.registry().infos().map(|info| info.name).collect();
        reader.error(key, format!("the algorithm {}", unknown(name, &known)))
    })
}

/// Copies a table's settings into `config`. `prefix` precedes their keys there, `path` in the file.
fn set(
    config: &mut LdaConfig,
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
