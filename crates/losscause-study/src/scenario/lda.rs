//! Which algorithm a receiver or a TCP sender asks, with the scenario's settings of it.
//!
//! Names, settings and their ranges are those of `losscause::Algorithm`; nothing is repeated here.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};

use losscause::registry::Value;
use losscause::{Algorithm, AnyLda, AnySenderLda, Config, ConfigError};
use losscause_sim::{Accuracy, LdaSpec};

use super::reader::Reader;
use crate::InputError;
use crate::error::unknown;

/// The algorithm of a flow that names none.
pub(super) const DEFAULT: &str = "always congestion";

/// What a flow calls the oracle that is handed the true cause.
pub const OMNISCIENT: &str = "omniscient";

/// What a flow calls the oracle of limited accuracy; its settings are `[lda.labelled]` with `P_CC`, `P_WW`, `timeouts` and
/// `by_packet`.
pub const LABELLED: &str = "labelled";

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
    Algorithm::ALL.iter().map(|algorithm| algorithm.name()).chain([OMNISCIENT, LABELLED]).collect()
}

/// What makes an algorithm of its settings, for one of the two ends.
type Build<A> = fn(&Config) -> Result<A, ConfigError>;

impl LdaSettings {
    /// Holds every table against its algorithm, whether or not a flow uses it.
    pub(super) fn validate(&self, reader: &Reader) -> Result<(), InputError> {
        for title in self.0.keys() {
            if title.eq_ignore_ascii_case(LABELLED) {
                self.accuracy(reader)?;
                continue;
            }
            let Some(algorithm) = Algorithm::from_name(title) else {
                let known: Vec<&str> = names().into_iter().filter(|name| *name != OMNISCIENT).collect();
                return Err(reader.error(&format!("lda.{title}"), format!("the algorithm {}", unknown(title, &known))));
            };
            self.build(algorithm, reader, Config::build_at_sender)?;
        }
        Ok(())
    }

    /// The algorithm called `name`, which stands at `key`, for a receiver.
    pub(super) fn at_receiver(&self, name: &str, key: &str, reader: &Reader) -> Result<LdaSpec<AnyLda>, InputError> {
        self.spec(name, key, reader, Config::build)
    }

    /// The algorithm called `name`, which stands at `key`, for a TCP sender.
    pub(super) fn at_sender(
        &self,
        name: &str,
        key: &str,
        reader: &Reader,
    ) -> Result<LdaSpec<AnySenderLda>, InputError> {
        self.spec(name, key, reader, Config::build_at_sender)
    }

    fn spec<A>(&self, name: &str, key: &str, reader: &Reader, build: Build<A>) -> Result<LdaSpec<A>, InputError> {
        match Algorithm::from_name(name) {
            Some(algorithm) => self.build(algorithm, reader, build).map(LdaSpec::Algorithm),
            None if name.eq_ignore_ascii_case(OMNISCIENT) => Ok(LdaSpec::Omniscient),
            None if name.eq_ignore_ascii_case(LABELLED) => self.accuracy(reader).map(LdaSpec::Labelled),
            None => Err(reader.error(key, format!("the algorithm {}", unknown(name, &names())))),
        }
    }

    fn accuracy(&self, reader: &Reader) -> Result<Accuracy, InputError> {
        let mut accuracy = Accuracy::default();
        for (title, table) in self.0.iter().filter(|(title, _)| title.eq_ignore_ascii_case(LABELLED)) {
            for (key, value) in table {
                let is_share = |share: &f64| (0.0..=1.0).contains(share);
                match (key.as_str(), value) {
                    ("P_CC", LdaValue::Number(share)) if is_share(share) => accuracy.p_cc = *share,
                    ("P_WW", LdaValue::Number(share)) if is_share(share) => accuracy.p_ww = *share,
                    ("timeouts", LdaValue::Flag(timeouts)) => accuracy.timeouts = *timeouts,
                    ("by_packet", LdaValue::Flag(by_packet)) => accuracy.by_packet = *by_packet,
                    (key, _) => {
                        let problem = match key {
                            "P_CC" | "P_WW" => "expected a number from 0 to 1".to_owned(),
                            "timeouts" | "by_packet" => "expected true or false".to_owned(),
                            _ => unknown(key, &["P_CC", "P_WW", "timeouts", "by_packet"]),
                        };
                        return Err(reader.error(&format!("lda.{title}.{key}"), problem));
                    }
                }
            }
        }
        Ok(accuracy)
    }

    fn build<A>(&self, algorithm: Algorithm, reader: &Reader, build: Build<A>) -> Result<A, InputError> {
        let mut config = algorithm.config();
        for (prefix, base) in algorithm.bases() {
            for (title, table) in self.tables(*base) {
                set(&mut config, table, &format!("{prefix}."), &format!("lda.{title}."), reader)?;
            }
        }
        for (title, table) in self.tables(algorithm) {
            set(&mut config, table, "", &format!("lda.{title}."), reader)?;
        }
        build(&config).map_err(|error| reader.error(&format!("lda.{algorithm}"), error.to_string()))
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
