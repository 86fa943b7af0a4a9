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
mod tests;
