//! Values of every kind, and what is said of those that do not fit.

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
    assert_eq!(read::<BTreeMap<String, f64>>("a = 3").unwrap()["a"].to_bits(), 3.0_f64.to_bits());
    assert_eq!(read::<BTreeMap<String, f32>>("a = 3").unwrap()["a"].to_bits(), 3.0_f32.to_bits());
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
    assert_eq!(nested, ("a/2/2/up".into(), "invalid type: integer `1`, expected a boolean".into()));
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
        ("\"pont\"", "unknown variant `pont`, expected one of `point`, `circle`, `box`, `ring`"),
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
    assert_eq!((path, message), (at.clone(), "unknown field `packet`, expected `packets`".into()));
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
