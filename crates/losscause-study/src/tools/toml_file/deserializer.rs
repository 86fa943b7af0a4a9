//! From a TOML value to a type, with errors that know the path of keys.
//!
//! Everything here that has a type parameter is compiled once for each type of every file: what
//! needs none is a function of its own.

use std::fmt::{self, Display};

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, MapAccess,
};
use serde::de::{SeqAccess, Unexpected, VariantAccess, Visitor};
use serde::forward_to_deserialize_any;
use toml::{Table, Value};

/// A value does not fit its type.
#[derive(Debug)]
pub struct Error(Box<Misfit>);

#[derive(Debug)]
struct Misfit {
    message: String,
    /// The keys and elements from the misfit outwards.
    path: Vec<String>,
}

impl Error {
    /// The misfit is within the entry `key` of a table.
    fn below(mut self, key: &str) -> Self {
        self.0.path.push(key.to_owned());
        self
    }

    /// The misfit is within an element of a list, which goes by its name, or else by its place.
    fn within(self, element: &Value, index: usize) -> Self {
        match element.get("name").and_then(Value::as_str) {
            Some(name) => self.below(name),
            None => self.below(&(index + 1).to_string()),
        }
    }

    /// The keys and elements from the root to the misfit.
    pub(super) fn path(&self) -> Vec<&str> {
        self.0.path.iter().rev().map(String::as_str).collect()
    }
}

/// The message, in serde's words and without the path.
impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

impl serde::de::Error for Error {
    fn custom<T: Display>(message: T) -> Self {
        Self(Box::new(Misfit { message: message.to_string(), path: Vec::new() }))
    }
}

/// A table as a `T`.
pub(super) fn table<T: DeserializeOwned>(table: &Table) -> Result<T, Error> {
    T::deserialize(MapAccessDeserializer::new(Entries::of(table)))
}

/// A value as a `T`.
///
/// # Errors
/// A key is unknown or missing, or a value has the wrong type.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    T::deserialize(Node(value))
}

/// A value of the file.
#[derive(Clone, Copy)]
struct Node<'de>(&'de Value);

impl<'de> Node<'de> {
    /// The value is none of those that a type takes.
    fn misfit(self, expected: &dyn Expected) -> Error {
        let text;
        let found = match self.0 {
            Value::String(text) => Unexpected::Str(text),
            Value::Integer(number) => Unexpected::Signed(*number),
            Value::Float(number) => Unexpected::Float(*number),
            Value::Boolean(flag) => Unexpected::Bool(*flag),
            Value::Datetime(time) => {
                text = time.to_string();
                Unexpected::Str(&text)
            }
            Value::Array(_) => Unexpected::Seq,
            Value::Table(_) => Unexpected::Map,
        };
        Error::invalid_type(found, expected)
    }

    /// The variant of an enum that the value names, with its content if it has one.
    fn variant(self) -> Result<Variant<'de>, Error> {
        match self.0 {
            Value::String(name) => Ok(Variant { name, content: None }),
            Value::Table(table) => {
                let mut entries = table.iter();
                match (entries.next(), entries.next()) {
                    (Some((name, content)), None) => Ok(Variant { name, content: Some(content) }),
                    (None, _) => Err(Error::custom("wanted exactly 1 element, found 0 elements")),
                    (Some(_), Some(_)) => {
                        Err(Error::custom("wanted exactly 1 element, more than 1 element"))
                    }
                }
            }
            _ => Err(Error::invalid_type(Unexpected::UnitVariant, &"string only")),
        }
    }
}

/// Methods that read what another reads.
macro_rules! as_in {
    ($($method:ident: $($same:ident)+;)+) => {$($(
        fn $same<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.$method(visitor)
        }
    )+)+};
}

/// A method names the kinds of values that its types take: no code is made for the others, and the
/// errors are the same.
impl<'de> Deserializer<'de> for Node<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::String(text) => visitor.visit_str(text),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Boolean(flag) => visitor.visit_bool(*flag),
            Value::Datetime(time) => visitor.visit_str(&time.to_string()),
            Value::Array(array) => elements(array, visitor),
            Value::Table(table) => visitor.visit_map(Entries::of(table)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Boolean(flag) => visitor.visit_bool(*flag),
            _ => Err(self.misfit(&visitor)),
        }
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Integer(number) => visitor.visit_i64(*number),
            _ => Err(self.misfit(&visitor)),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Float(number) => visitor.visit_f64(*number),
            _ => self.deserialize_i64(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::String(text) => visitor.visit_str(text),
            Value::Datetime(time) => visitor.visit_str(&time.to_string()),
            _ => Err(self.misfit(&visitor)),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(array) => elements(array, visitor),
            _ => Err(self.misfit(&visitor)),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Table(table) => visitor.visit_map(Entries::of(table)),
            _ => Err(self.misfit(&visitor)),
        }
    }

    /// A list has the fields in their order.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(array) => elements(array, visitor),
            _ => self.deserialize_map(visitor),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(self.variant()?)
    }

    /// A key that is there has a value.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    as_in! {
        deserialize_i64: deserialize_i8 deserialize_i16 deserialize_i32
            deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64;
        deserialize_f64: deserialize_f32;
        deserialize_str: deserialize_string;
    }

    forward_to_deserialize_any! { char bytes byte_buf unit unit_struct tuple_struct identifier }
}

/// The elements of a list, all of which the visitor has to take.
fn elements<'de, V: Visitor<'de>>(array: &'de [Value], visitor: V) -> Result<V::Value, Error> {
    let mut elements = Elements { array, next: 0 };
    let value = visitor.visit_seq(&mut elements)?;
    match elements.next < array.len() {
        true => Err(Error::invalid_length(array.len(), &"fewer elements in array")),
        false => Ok(value),
    }
}

/// The elements of a list, one after the other.
struct Elements<'de> {
    array: &'de [Value],
    next: usize,
}

impl<'de> SeqAccess<'de> for Elements<'de> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        let index = self.next;
        let Some(element) = self.array.get(index) else { return Ok(None) };
        self.next += 1;
        match seed.deserialize(Node(element)) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(error.within(element, index)),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.array.len() - self.next)
    }
}

/// The entries of a table, one after the other.
struct Entries<'de> {
    left: toml::map::Iter<'de, String, Value>,
    /// The entry whose key was read last.
    read: Option<(&'de str, &'de Value)>,
}

impl<'de> Entries<'de> {
    fn of(table: &'de Table) -> Self {
        Self { left: table.iter(), read: None }
    }

    /// The next key.
    fn advance(&mut self) -> Option<&'de str> {
        let (key, value) = self.left.next()?;
        self.read = Some((key, value));
        Some(key)
    }

    /// The entry whose value is read.
    fn entry(&self) -> Result<(&'de str, &'de Value), Error> {
        self.read.ok_or_else(|| Error::custom("value is missing"))
    }
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        let Some(key) = self.advance() else { return Ok(None) };
        match seed.deserialize(StrDeserializer::<Error>::new(key)) {
            Ok(key) => Ok(Some(key)),
            Err(error) => Err(error.below(key)),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let (key, value) = self.entry()?;
        seed.deserialize(Node(value)).map_err(|error| error.below(key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

/// A variant of an enum: `"name"`, or `{ name = content }`.
struct Variant<'de> {
    name: &'de str,
    content: Option<&'de Value>,
}

impl<'de> Variant<'de> {
    /// The content of a variant that has some.
    fn content(&self, expected: &str) -> Result<Node<'de>, Error> {
        self.content
            .map(Node)
            .ok_or_else(|| Error::invalid_type(Unexpected::UnitVariant, &expected))
    }
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Error> {
        Ok((seed.deserialize(StrDeserializer::<Error>::new(self.name))?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Error;

    /// A variant without content may have an empty one.
    fn unit_variant(self) -> Result<(), Error> {
        match self.content {
            None => Ok(()),
            Some(Value::Table(table)) if table.is_empty() => Ok(()),
            Some(Value::Array(array)) if array.is_empty() => Ok(()),
            Some(Value::Table(_)) => Err(Error::custom("expected empty table")),
            Some(Value::Array(_)) => Err(Error::custom("expected empty array")),
            Some(other) => {
                Err(Error::custom(format!("expected table, found {}", other.type_str())))
            }
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(self.content("newtype variant")?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        self.content("tuple variant")?.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.content("struct variant")?.deserialize_struct("", fields, visitor)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde::de::IgnoredAny;

    use super::*;

    fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
        table(&text.parse().unwrap())
    }

    /// The path and the message.
    fn misfit<T: DeserializeOwned>(text: &str) -> (String, String) {
        let error = read::<T>(text).map(|_| ()).unwrap_err();
        (error.path().join("/"), error.to_string())
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Network {
        name: Option<String>,
        #[serde(default)]
        link: Vec<Link>,
        #[serde(default)]
        limits: BTreeMap<String, Limits>,
    }

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields, default)]
    struct Link {
        name: String,
        rate: f64,
        packets: u8,
        up: bool,
        ends: Option<(i32, i32)>,
        mode: Mode,
        queue: Queue,
        size: Size,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Limits {
        from: f64,
        to: f64,
    }

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(rename_all = "kebab-case")]
    enum Mode {
        #[default]
        Full,
        HalfDuplex,
    }

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
    enum Queue {
        #[default]
        Endless,
        Tail {
            packets: u32,
        },
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(untagged)]
    enum Size {
        Whole(i64),
        Part(f64),
        Named(String),
    }

    impl Default for Size {
        fn default() -> Self {
            Self::Whole(0)
        }
    }

    /// An enum with every form of content.
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "kebab-case")]
    enum Shape {
        Point,
        Circle(f64),
        Box(f64, f64),
        Ring { inner: f64, outer: f64 },
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Metres(f64);

    #[test]
    fn every_kind_of_value_is_read() {
        let text = r#"
            name = "net"
            [[link]]
            name = "a"
            rate = 1.5
            packets = 255
            up = true
            ends = [-1, 2]
            mode = "half-duplex"
            queue = { kind = "tail", packets = 3 }
            size = 0.5
            [[link]]
            size = "large"
            [limits.delay]
            from = -inf
            to = 1e3
        "#;
        let first = Link {
            name: "a".into(),
            rate: 1.5,
            packets: 255,
            up: true,
            ends: Some((-1, 2)),
            mode: Mode::HalfDuplex,
            queue: Queue::Tail { packets: 3 },
            size: Size::Part(0.5),
        };
        let second = Link { size: Size::Named("large".into()), ..Link::default() };
        let delay = Limits { from: f64::NEG_INFINITY, to: 1000.0 };
        let expected = Network {
            name: Some("net".into()),
            link: vec![first, second],
            limits: [("delay".into(), delay)].into(),
        };
        assert_eq!(read::<Network>(text).unwrap(), expected);
        let nothing = Network { name: None, link: Vec::new(), limits: BTreeMap::new() };
        assert_eq!(read::<Network>("").unwrap(), nothing);
    }

    #[test]
    fn a_whole_number_is_a_number_and_a_number_is_no_whole_number() {
        assert_eq!(
            read::<BTreeMap<String, f64>>("a = 3").unwrap()["a"].to_bits(),
            3.0_f64.to_bits()
        );
        assert_eq!(
            read::<BTreeMap<String, f32>>("a = 3").unwrap()["a"].to_bits(),
            3.0_f32.to_bits()
        );
        assert_eq!(
            misfit::<BTreeMap<String, u64>>("a = 3.0"),
            ("a".into(), "invalid type: floating point `3.0`, expected u64".into())
        );
        assert_eq!(
            misfit::<BTreeMap<String, u64>>("a = -3"),
            ("a".into(), "invalid value: integer `-3`, expected u64".into())
        );
        assert_eq!(
            misfit::<BTreeMap<String, u8>>("a = 256"),
            ("a".into(), "invalid value: integer `256`, expected u8".into())
        );
        let ends =
            read::<BTreeMap<String, i64>>(&format!("a = {}\nb = {}", i64::MIN, i64::MAX)).unwrap();
        assert_eq!(ends.into_values().collect::<Vec<_>>(), [i64::MIN, i64::MAX]);
    }

    #[test]
    fn a_time_is_read_as_its_text() {
        let times = "a = 1979-05-27T07:32:00Z\nb = 07:32:00";
        let texts = read::<BTreeMap<String, String>>(times).unwrap();
        assert_eq!(texts.into_values().collect::<Vec<_>>(), ["1979-05-27T07:32:00Z", "07:32:00"]);
        let values = read::<BTreeMap<String, Value>>(times).unwrap();
        assert_eq!(values["b"], Value::String("07:32:00".into()));
        let (path, message) = misfit::<BTreeMap<String, f64>>("a = 07:32:00");
        assert_eq!(
            (path.as_str(), message.as_str()),
            ("a", "invalid type: string \"07:32:00\", expected f64")
        );
    }

    #[test]
    fn a_value_is_read_as_it_is() {
        let text = "a = [1, 2.5, true, \"t\", { b = [] }]\n[c]\nd = { e = -1 }";
        assert_eq!(Value::Table(read::<Table>(text).unwrap()), Value::Table(text.parse().unwrap()));
        read::<BTreeMap<String, IgnoredAny>>(text).unwrap();
        let value = Value::Array(vec![Value::Integer(1), Value::Float(0.5)]);
        assert_eq!(from_value::<Vec<f64>>(&value).unwrap(), [1.0, 0.5]);
        assert_eq!(from_value::<Metres>(&Value::Integer(1)).unwrap(), Metres(1.0));
    }

    #[test]
    fn a_struct_may_be_a_list_of_its_fields() {
        let limits = read::<BTreeMap<String, Limits>>("a = [1, 2]").unwrap();
        assert_eq!(limits["a"], Limits { from: 1.0, to: 2.0 });
        assert_eq!(
            misfit::<BTreeMap<String, Limits>>("a = [1]"),
            ("a".into(), "invalid length 1, expected struct Limits with 2 elements".into())
        );
        assert_eq!(
            misfit::<BTreeMap<String, Limits>>("a = [1, 2, 3]"),
            ("a".into(), "invalid length 3, expected fewer elements in array".into())
        );
    }

    #[test]
    fn the_path_names_tables_by_key_and_elements_by_name_or_place() {
        let rate = "invalid type: string \"fast\", expected f64";
        let of = |text: &str| misfit::<Network>(text);
        assert_eq!(
            of("[[link]]\n[[link]]\nname = \"b\"\nrate = \"fast\""),
            ("link/b/rate".into(), rate.into())
        );
        assert_eq!(of("[[link]]\n[[link]]\nrate = \"fast\""), ("link/2/rate".into(), rate.into()));
        assert_eq!(
            of("[limits.delay]\nfrom = 1\nto = \"fast\""),
            ("limits/delay/to".into(), rate.into())
        );
        assert_eq!(
            of("[[link]]\nends = [1, true]"),
            ("link/1/ends/2".into(), "invalid type: boolean `true`, expected i32".into())
        );
        let nested = misfit::<BTreeMap<String, Vec<Vec<Link>>>>("a = [[{}], [{}, { up = 1 }]]");
        assert_eq!(
            nested,
            ("a/2/2/up".into(), "invalid type: integer `1`, expected a boolean".into())
        );
    }

    #[test]
    fn unknown_and_missing_keys_are_at_their_table() {
        let (path, message) = misfit::<Network>("[[link]]\nname = \"b\"\nrat = 1");
        assert_eq!(path, "link/b/rat");
        assert!(
            message.starts_with("unknown field `rat`, expected one of `name`, `rate`"),
            "{message}"
        );
        assert_eq!(
            misfit::<Network>("limits.a.from = 1"),
            ("limits/a".into(), "missing field `to`".into())
        );
        assert_eq!(misfit::<Limits>("from = 1"), (String::new(), "missing field `to`".into()));
    }

    #[test]
    fn every_kind_of_value_is_named_where_another_is_expected() {
        let found = |value: &str| misfit::<BTreeMap<String, Vec<u8>>>(&format!("a = {value}")).1;
        for (value, name) in [
            ("\"t\"", "string \"t\""),
            ("1", "integer `1`"),
            ("1.5", "floating point `1.5`"),
            ("true", "boolean `true`"),
            ("{}", "map"),
            ("07:32:00", "string \"07:32:00\""),
        ] {
            assert_eq!(found(value), format!("invalid type: {name}, expected a sequence"));
        }
    }

    #[test]
    fn variants_are_words_or_tables_of_one_entry() {
        let shape = |value: &str| {
            read::<BTreeMap<String, Shape>>(&format!("a = {value}")).map(|mut all| all.remove("a"))
        };
        for (text, expected) in [
            ("\"point\"", Shape::Point),
            ("{ point = {} }", Shape::Point),
            ("{ point = [] }", Shape::Point),
            ("{ circle = 1 }", Shape::Circle(1.0)),
            ("{ box = [1, 2] }", Shape::Box(1.0, 2.0)),
            ("{ ring = { inner = 1, outer = 2 } }", Shape::Ring { inner: 1.0, outer: 2.0 }),
        ] {
            assert_eq!(shape(text).unwrap(), Some(expected));
        }
        for (text, expected) in [
            (
                "\"pont\"",
                "unknown variant `pont`, expected one of `point`, `circle`, `box`, `ring`",
            ),
            (
                "{ pont = 1 }",
                "unknown variant `pont`, expected one of `point`, `circle`, `box`, `ring`",
            ),
            ("{}", "wanted exactly 1 element, found 0 elements"),
            ("{ circle = 1, point = {} }", "wanted exactly 1 element, more than 1 element"),
            ("3", "invalid type: unit variant, expected string only"),
            ("\"circle\"", "invalid type: unit variant, expected newtype variant"),
            ("{ point = 1 }", "expected table, found integer"),
            ("{ point = [1] }", "expected empty array"),
            ("{ point = { b = 1 } }", "expected empty table"),
        ] {
            let error = shape(text).unwrap_err();
            assert_eq!((error.path(), error.to_string()), (vec!["a"], expected.to_owned()));
        }
    }

    #[test]
    fn tagged_enums_are_told_with_the_path_of_their_table() {
        let queue = |entries: &str| {
            misfit::<Network>(&format!("[[link]]\nname = \"b\"\nqueue = {{ {entries} }}"))
        };
        let at = "link/b/queue".to_owned();
        assert_eq!(queue("packets = 1"), (at.clone(), "missing field `kind`".into()));
        assert_eq!(queue("kind = \"tail\""), (at.clone(), "missing field `packets`".into()));
        let (path, message) = queue("kind = \"tail\", packet = 1");
        assert_eq!(
            (path, message),
            (at.clone(), "unknown field `packet`, expected `packets`".into())
        );
        let wrong = queue("kind = \"tail\", packets = \"x\"");
        assert_eq!(wrong, (at, "invalid type: string \"x\", expected u32".into()));
        let variant = "unknown variant `head`, expected `endless` or `tail`";
        assert_eq!(queue("kind = \"head\""), ("link/b/queue/kind".into(), variant.into()));
        let (path, message) = misfit::<Network>("[[link]]\nsize = []");
        assert_eq!(path, "link/1/size");
        assert_eq!(message, "data did not match any variant of untagged enum Size");
    }

    #[test]
    fn a_key_may_be_any_name_of_a_type() {
        #[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
        #[serde(try_from = "String")]
        struct Count(u32);
        impl TryFrom<String> for Count {
            type Error = std::num::ParseIntError;
            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse().map(Self)
            }
        }
        #[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
        #[serde(rename_all = "kebab-case")]
        enum Side {
            Left,
            Right,
        }
        assert_eq!(read::<BTreeMap<Count, u8>>("4 = 1").unwrap(), [(Count(4), 1)].into());
        assert_eq!(read::<BTreeMap<Side, u8>>("right = 1").unwrap(), [(Side::Right, 1)].into());
        assert_eq!(
            misfit::<BTreeMap<Count, u8>>("four = 1"),
            ("four".into(), "invalid digit found in string".into())
        );
        assert_eq!(misfit::<BTreeMap<Side, u8>>("up = 1").0, "up");
    }
}
