//! An algorithm of another crate as it stands: its settings are the fields of its struct, by serde.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde::ser::{Impossible, SerializeStruct};
use serde::{Deserializer, Serialize, Serializer};

use super::{Choice, ConfigError, End, Field, Info, Parameters, RegistryError, Setting};
use crate::{Algorithm, AnyAlgorithm};

/// An algorithm that serde makes of its settings.
///
/// A program that takes algorithms of its users adds each in the same way:
///
/// ```
/// use losscause::registry::{Registry, RegistryError, WithSettings};
///
/// fn add<A: WithSettings>(registry: Registry, algorithm: A) -> Result<Registry, RegistryError> {
///     let name = algorithm.name();
///     let registry = registry.with_own(algorithm)?;
///     assert!(registry.find(name).is_some());
///     Ok(registry)
/// }
/// ```
pub trait WithSettings:
    Algorithm + Serialize + DeserializeOwned + Clone + Send + Sync + 'static
{
}

impl<A: Algorithm + Serialize + DeserializeOwned + Clone + Send + Sync + 'static> WithSettings
    for A
{
}

/// The parameters of an algorithm of type `A`.
pub(super) struct Own<A> {
    info: &'static Info,
    settings: Vec<(&'static str, Stored)>,
    algorithm: PhantomData<fn() -> A>,
}

/// A setting's value.
#[derive(Clone)]
enum Stored {
    Number(f64),
    Count(u32),
    Flag(bool),
    Word(Word),
}

/// A variant of an enum without fields.
#[derive(Clone)]
struct Word {
    word: &'static str,
    choices: &'static [&'static str],
}

impl<A: WithSettings> Own<A> {
    /// The settings of `algorithm`, which are its published ones.
    ///
    /// # Errors
    /// If a field is neither a number, nor a flag, nor an enum without fields.
    pub(super) fn new(algorithm: &A) -> Result<Self, RegistryError> {
        let name = algorithm.name();
        let mut settings = Vec::new();
        algorithm.serialize(Reader { settings: &mut settings, field: None }).map_err(
            |problem| match problem {
                Problem::NoSetting(field) => RegistryError::NoSetting { algorithm: name, field },
                _ => RegistryError::NoStruct { algorithm: name },
            },
        )?;
        for place in 0..settings.len() {
            if let Stored::Word(word) = settings[place].1.clone() {
                let choices = choices::<A>(&settings, place);
                settings[place].1 = Stored::Word(Word { choices, ..word });
            }
        }
        let info = Box::leak(Box::new(describe(name, &settings)));
        Ok(Self { info, settings, algorithm: PhantomData })
    }
}

/// The description of an algorithm with these settings. Registries describe an algorithm once, and
/// for ever.
fn describe(name: &'static str, settings: &[(&'static str, Stored)]) -> Info {
    let described =
        settings.iter().map(|(key, stored)| Setting::new(key, leaked(stored.meaning())));
    let settings: &'static [Setting] = Box::leak(described.collect());
    let info = Info::new(name, "an algorithm of another crate").with_settings(settings);
    if !name.contains(' ') {
        return info;
    }
    let aliases: Box<[&'static str]> = Box::new([leaked(name.replace(' ', "-"))]);
    info.with_aliases(Box::leak(aliases))
}

fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// The words that the enum at `place` may be. Its deserialization names them when it is given
/// another.
fn choices<A: WithSettings>(
    settings: &[(&'static str, Stored)],
    place: usize,
) -> &'static [&'static str] {
    let mut settings = settings.to_owned();
    settings[place].1 = Stored::Word(Word { word: "", choices: &[] });
    match A::deserialize(Values(&settings)) {
        Err(Problem::Choices(choices)) => choices,
        _ => &[],
    }
}

impl Stored {
    fn meaning(&self) -> String {
        match self {
            Self::Number(number) => format!("a number; {number} unless set"),
            Self::Count(number) => format!("a whole number; {number} unless set"),
            Self::Flag(flag) => format!("true or false; {flag} unless set"),
            Self::Word(word) => format!("{}; {} unless set", word.choices.join(", "), word.word),
        }
    }
}

impl Choice for Word {
    fn select(&mut self, name: &str) -> bool {
        let Some(word) = self.choices.iter().find(|choice| **choice == name) else { return false };
        self.word = word;
        true
    }

    fn selected(&self) -> &'static str {
        self.word
    }

    fn names(&self) -> &'static [&'static str] {
        self.choices
    }
}

impl<A> Clone for Own<A> {
    fn clone(&self) -> Self {
        Self { settings: self.settings.clone(), ..*self }
    }
}

impl<A: WithSettings> Parameters for Own<A> {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        let (_, stored) = self.settings.iter_mut().find(|(own, _)| *own == key)?;
        Some(match stored {
            Stored::Number(number) => Field::Number(number),
            Stored::Count(number) => Field::Count(number),
            Stored::Flag(flag) => Field::Flag(flag),
            Stored::Word(word) => Field::Choice(word),
        })
    }

    fn build(&self, end: End) -> Result<AnyAlgorithm, ConfigError> {
        let algorithm =
            A::deserialize(Values(&self.settings)).map_err(|problem| match problem {
                Problem::Value(error) => error,
                _ => ConfigError::WrongKind {
                    key: self.info.name,
                    expected: "a struct whose fields serde both writes and reads",
                },
            })?;
        if algorithm.needs().acks {
            end.must_be_sender(self.info)?;
        }
        algorithm.check()?;
        Ok(AnyAlgorithm::boxed(algorithm))
    }
}

/// Why settings cannot be read from a struct, or a struct be made of them.
#[derive(Debug)]
enum Problem {
    /// The field with this name is no setting.
    NoSetting(&'static str),
    /// A word is none of these.
    Choices(&'static [&'static str]),
    /// A value does not fit its field.
    Value(ConfigError),
    /// The struct's own code says so.
    Other,
}

impl core::error::Error for Problem {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl serde::ser::Error for Problem {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Other
    }
}

impl serde::de::Error for Problem {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Other
    }

    fn unknown_variant(_: &str, choices: &'static [&'static str]) -> Self {
        Self::Choices(choices)
    }
}

/// Reads the fields of a struct.
struct Reader<'a> {
    settings: &'a mut Vec<(&'static str, Stored)>,
    /// The field being read; none for the struct itself.
    field: Option<&'static str>,
}

impl Reader<'_> {
    fn keep(self, stored: Stored) -> Result<(), Problem> {
        let Some(field) = self.field else { return Err(Problem::Other) };
        self.settings.push((field, stored));
        Ok(())
    }

    fn refuse<T>(&self) -> Result<T, Problem> {
        Err(self.field.map_or(Problem::Other, Problem::NoSetting))
    }
}

impl SerializeStruct for Reader<'_> {
    type Ok = ();
    type Error = Problem;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        field: &'static str,
        value: &T,
    ) -> Result<(), Problem> {
        value.serialize(Reader { settings: self.settings, field: Some(field) })
    }

    fn end(self) -> Result<(), Problem> {
        Ok(())
    }
}

/// Methods of a [`Reader`] that keep a number.
macro_rules! numbers {
    ($($method:ident $kind:ty)*) => {
        $(fn $method(self, number: $kind) -> Result<(), Problem> {
            self.serialize_f64(number.into())
        })*
    };
}

/// Methods of a [`Reader`] that keep a whole number that is not negative.
macro_rules! counts {
    ($($method:ident $kind:ty)*) => {
        $(fn $method(self, number: $kind) -> Result<(), Problem> {
            match u32::try_from(number) {
                Ok(number) => self.keep(Stored::Count(number)),
                Err(_) => self.refuse(),
            }
        })*
    };
}

/// Methods of a [`Reader`] that refuse what is no setting.
macro_rules! refused {
    ($($method:ident($($argument:ty),*) -> $result:ty;)*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<$result, Problem> {
            self.refuse()
        })*
    };
}

type Never = Impossible<(), Problem>;

impl<'a> Serializer for Reader<'a> {
    type Ok = ();
    type Error = Problem;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Reader<'a>;
    type SerializeStructVariant = Never;

    numbers! { serialize_f32 f32 serialize_i8 i8 serialize_i16 i16 serialize_i32 i32 }
    counts! { serialize_u8 u8 serialize_u16 u16 serialize_u32 u32 serialize_u64 u64 }

    fn serialize_f64(self, number: f64) -> Result<(), Problem> {
        self.keep(Stored::Number(number))
    }

    fn serialize_i64(self, number: i64) -> Result<(), Problem> {
        self.serialize_f64(number as f64)
    }

    fn serialize_bool(self, flag: bool) -> Result<(), Problem> {
        self.keep(Stored::Flag(flag))
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        word: &'static str,
    ) -> Result<(), Problem> {
        self.keep(Stored::Word(Word { word, choices: &[] }))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Problem> {
        if self.field.is_some() { self.refuse() } else { Ok(self) }
    }

    /// An algorithm without settings.
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Problem> {
        if self.field.is_some() { self.refuse() } else { Ok(()) }
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Problem> {
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<(), Problem> {
        self.refuse()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Problem> {
        self.refuse()
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, _: &T) -> Result<(), Problem> {
        self.refuse()
    }

    refused! {
        serialize_char(char) -> ();
        serialize_str(&str) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_seq(Option<usize>) -> Never;
        serialize_tuple(usize) -> Never;
        serialize_tuple_struct(&'static str, usize) -> Never;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Never;
        serialize_map(Option<usize>) -> Never;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Never;
    }
}

/// The settings, of which serde makes the struct.
struct Values<'a>(&'a [(&'static str, Stored)]);

impl<'de> Deserializer<'de> for Values<'_> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let fields = self.0.iter().map(|(field, stored)| (*field, Given { field, stored }));
        visitor.visit_map(MapDeserializer::new(fields))
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit newtype_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The value of a field.
struct Given<'a> {
    field: &'static str,
    stored: &'a Stored,
}

impl<'de> IntoDeserializer<'de, Problem> for Given<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Methods of a [`Given`] for signed whole numbers.
macro_rules! whole {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
            match *self.stored {
                Stored::Number(number) if number as i64 as f64 == number => {
                    visitor.visit_i64(number as i64).map_err(|_: Problem| self.out_of_range(number))
                }
                Stored::Number(number) => Err(self.out_of_range(number)),
                _ => self.deserialize_any(visitor),
            }
        })*
    };
}

impl Given<'_> {
    fn out_of_range(&self, value: f64) -> Problem {
        Problem::Value(ConfigError::OutOfRange {
            key: self.field,
            value,
            expected: "a whole number in its range",
        })
    }
}

impl<'de> Deserializer<'de> for Given<'_> {
    type Error = Problem;

    whole! { deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match *self.stored {
            Stored::Number(number) => visitor.visit_f64(number),
            Stored::Count(number) => {
                visitor.visit_u32(number).map_err(|_: Problem| self.out_of_range(f64::from(number)))
            }
            Stored::Flag(flag) => visitor.visit_bool(flag),
            Stored::Word(Word { word, .. }) => visitor.visit_str(word),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        match *self.stored {
            Stored::Word(Word { word, .. }) => visitor.visit_enum(word.into_deserializer()),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::registry::{Registry, Value, check};
    use crate::{Judgement, LdaConfig, Loss, Needs, Observation, Span, Verdict};
    use serde::Deserialize;
    use std::string::ToString;

    #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Side {
        Above,
        FarBelow,
    }

    /// One setting of every kind.
    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
    struct Kinds {
        level: f64,
        shift: i8,
        few: u8,
        within: Span,
        strict: bool,
        side: Side,
        #[serde(skip)]
        state: Option<Span>,
    }

    const KINDS: Kinds = Kinds {
        level: 0.5,
        shift: -3,
        few: 4,
        within: Span::from_nanos(7),
        strict: true,
        side: Side::FarBelow,
        state: None,
    };

    impl Algorithm for Kinds {
        fn name(&self) -> &'static str {
            "all kinds"
        }
        fn needs(&self) -> Needs {
            Needs::NONE
        }
        fn check(&self) -> Result<(), ConfigError> {
            check("level", self.level, |level| level <= 1.0, "a number up to 1")
        }
        fn observe(&mut self, _: &Observation) {}
        fn judge(&self, _: &Loss) -> Judgement {
            Judgement::stated(Verdict::Wireless, "all kinds", "whatever was observed")
        }
    }

    fn entry() -> LdaConfig {
        let registry = Registry::built_in().with_own(KINDS).expect("valid");
        registry.find("all-kinds").expect("by its name with a hyphen").clone()
    }

    #[test]
    fn settings_are_the_fields_with_their_values() {
        let entry = entry();
        let of = |key| entry.get(key).expect("a setting");
        let numbers = ["level", "shift", "few", "within"].map(of);
        assert_eq!(numbers, [0.5, -3.0, 4.0, 7.0].map(Value::Number));
        assert_eq!([of("strict"), of("side")], [Value::Flag(true), Value::Text("far-below")]);
        assert_eq!(entry.get("state"), None, "skipped");
        let meanings: Vec<&str> =
            entry.info().settings.iter().map(|setting| setting.meaning).collect();
        assert_eq!(meanings[0], "a number; 0.5 unless set");
        assert_eq!(meanings[2], "a whole number; 4 unless set");
        assert_eq!(
            meanings[4..],
            ["true or false; true unless set", "above, far-below; far-below unless set"]
        );
    }

    #[test]
    fn what_is_set_reaches_the_algorithm() {
        let mut entry = entry();
        for (key, value) in [
            ("level", Value::Number(0.25)),
            ("shift", Value::Number(9.0)),
            ("few", Value::Number(255.0)),
            ("within", Value::Number(-8.0)),
            ("strict", Value::Flag(false)),
            ("side", Value::Text("above")),
        ] {
            entry.set(key, value).expect("valid");
        }
        let built = entry.build(End::Receiver).expect("valid");
        let set = Kinds {
            level: 0.25,
            shift: 9,
            few: 255,
            within: Span::from_nanos(-8),
            strict: false,
            side: Side::Above,
            state: None,
        };
        assert_eq!(built.downcast_ref::<Kinds>(), Some(&set));
    }

    #[test]
    fn wrong_settings_are_refused_in_one_sentence() {
        let refused = |key, value| {
            let mut entry = entry();
            let outcome =
                entry.set(key, value).and_then(|()| entry.build(End::Receiver).map(|_| ()));
            outcome.expect_err("wrong").to_string()
        };
        for (key, value, expected) in [
            ("level", Value::Number(1.5), "level is 1.5 but must be a number up to 1"),
            ("level", Value::Flag(true), "level must be a number"),
            ("shift", Value::Number(0.5), "shift is 0.5 but must be a whole number in its range"),
            ("shift", Value::Number(200.0), "shift is 200 but must be a whole number in its range"),
            ("few", Value::Number(256.0), "few is 256 but must be a whole number in its range"),
            ("few", Value::Number(-1.0), "few is -1 but must be a whole number from 0 to 2^32 - 1"),
            ("strict", Value::Number(1.0), "strict must be true or false"),
            ("side", Value::Text("below"), "side must be one of \"above\", \"far-below\""),
            (
                "state",
                Value::Number(1.0),
                "all kinds has no such setting; it has level, shift, few, within, strict, side",
            ),
        ] {
            assert_eq!(refused(key, value), expected);
        }
    }

    #[derive(Clone, Serialize, Deserialize)]
    struct Unskipped {
        state: Option<u32>,
    }

    #[derive(Clone, Serialize, Deserialize)]
    struct Plain;

    #[derive(Clone, Serialize, Deserialize)]
    struct Pair(f64, f64);

    #[derive(Clone, Serialize, Deserialize)]
    struct OneWay {
        #[serde(skip_serializing)]
        #[allow(dead_code, reason = "only serde would set it")]
        level: f64,
    }

    macro_rules! acked {
        ($($kind:ident)*) => {
            $(impl Algorithm for $kind {
                fn name(&self) -> &'static str {
                    "acked"
                }
                fn needs(&self) -> Needs {
                    Needs::NONE.with_acks()
                }
                fn observe(&mut self, _: &Observation) {}
                fn judge(&self, _: &Loss) -> Judgement {
                    Judgement::stated(Verdict::Wireless, "acked", "whatever was observed")
                }
            })*
        };
    }

    acked! { Unskipped Plain Pair OneWay }

    #[test]
    fn a_field_that_is_no_setting_is_refused_by_its_name() {
        let refused = Registry::built_in().with_own(Unskipped { state: None }).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the algorithm \"acked\": the field state is no setting (a number, a flag, or an enum without fields); \
             #[serde(skip)] makes it part of the state"
        );
    }

    #[test]
    fn a_type_that_is_not_made_of_its_fields_is_refused() {
        let Err(no_struct) = Registry::built_in().with_own(Pair(1.0, 2.0)) else {
            panic!("two numbers without names")
        };
        assert_eq!(
            no_struct.to_string(),
            "the algorithm \"acked\" needs named fields: they are its settings"
        );
        let Err(one_way) = Registry::built_in().with_own(OneWay { level: 1.0 }) else {
            panic!("level is lost")
        };
        assert_eq!(
            one_way.to_string(),
            "the algorithm \"acked\" cannot be built with its published parameters: acked must be a struct whose \
             fields serde both writes and reads"
        );
    }

    #[test]
    fn one_without_settings_that_needs_acks_runs_at_senders() {
        let registry = Registry::built_in().with_own(Plain).expect("valid");
        let entry = registry.find("acked").expect("there");
        assert!(entry.info().settings.is_empty());
        assert!(entry.build(End::Sender).is_ok());
        assert_eq!(
            entry.build(End::Receiver).unwrap_err(),
            ConfigError::ForSenders { algorithm: "acked" }
        );
    }
}
