//! `KEY=VALUE`: one change of a scenario, from the command line, a sweep or a paper's item.

use std::fmt;

use toml::{Table, Value};

use super::expression::amount::{Amount, Unit};
use super::expression::{Names, Quantity};
use super::read;
use crate::error::unknown;
use crate::tools::toml_file::from_value;
use crate::{InputError, Limits};

/// One change: of a parameter (`N=4`), or of a dotted path that names links and flows
/// (`link.shared.rate_bps=1e6`, `flow.video.lda=Sift`, `tfrc.mode=rfc5348`). A table adds a link
/// or a flow (`flow.rival={ protocol = "tcp", path = ["shared"] }`).
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    key: String,
    value: Value,
}

impl Setting {
    /// A setting of `key` to `value`.
    pub fn new(key: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { key: key.into(), value: value.into() }
    }

    /// A setting of a key that a user wrote.
    ///
    /// # Errors
    /// The key has an empty part or more parts than any key of a scenario.
    pub fn checked(key: &str, value: impl Into<Value>) -> Result<Self, InputError> {
        let setting = Self::new(key, value);
        check_key(key, &setting.to_string())?;
        Ok(setting)
    }

    /// Reads `KEY=VALUE`. The value is read as TOML; if it is not TOML, it is a string without
    /// quotes.
    ///
    /// # Errors
    /// There is no `=`, or the key has an empty part or more parts than any key of a scenario.
    pub fn parse(text: &str) -> Result<Self, InputError> {
        let Some((key, value)) = text.split_once('=') else {
            let problem = "there is no \"=\", expected KEY=VALUE";
            return Err(InputError::option(format!("--set {text}"), problem));
        };
        let key = key.trim();
        let value = value.trim();
        check_key(key, text)?;
        let parsed =
            format!("value = {value}").parse::<Table>().ok().filter(|table| table.len() == 1);
        let value = parsed
            .and_then(|mut table| table.remove("value"))
            .unwrap_or_else(|| Value::String(value.to_owned()));
        Ok(Self { key: key.to_owned(), value })
    }

    /// The key: `N`, `link.shared.rate_bps`.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The value.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Changes `document`. Missing tables are created; an unknown key is refused later, when the
    /// document is read.
    pub(super) fn apply(&self, document: &mut Table) -> Result<(), InputError> {
        let problem = |problem: String| InputError::option(format!("--set {self}"), problem);
        let parts: Vec<&str> = self.key.split('.').collect();
        let [name] = parts.as_slice() else {
            return self.insert(document, &parts).map_err(problem);
        };
        if TOP_LEVEL.contains(name) {
            return self.insert(document, &parts).map_err(problem);
        }
        let empty = Table::new();
        let parameters = document.get("parameters").and_then(Value::as_table).unwrap_or(&empty);
        let known: Vec<&str> = parameters.keys().map(String::as_str).collect();
        if let Some((parameter, value)) = parameter(name, &self.value, parameters) {
            if let Some(found) =
                wrong_kind(parameter, &value, parameters).or_else(|| too_fast(&self.value, &value))
            {
                return Err(problem(found));
            }
            if let Some(found) = self.word(parameters).and_then(|_| self.elsewhere(document)) {
                let found = format!(
                    "the parameter \"{name}\" is a number, expected a number or a formula (did you mean --set '{found}'?)"
                );
                return Err(problem(found));
            }
            let setting = Self::new(parameter, value);
            return setting.insert(document, &["parameters", parameter]).map_err(problem);
        }
        let known = [known, TOP_LEVEL.to_vec()].concat();
        Err(problem(match self.elsewhere(document) {
            Some(meant) => format!(
                "the parameter \"{name}\" is unknown (did you mean --set '{meant}'?), expected one of {}",
                known.join(", ")
            ),
            None => format!("the parameter {}", unknown(name, &known)),
        }))
    }

    /// The value, if it is a word and none of the parameters.
    fn word(&self, parameters: &Table) -> Option<&str> {
        let word = self.value.as_str()?;
        let is_word = word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        (is_word && !parameters.contains_key(word)).then_some(word)
    }

    /// The same setting with a key below a flow, a link or a table, if `document` can be read with it
    /// and without it: `lda=Sift` may mean `flow.video.lda=Sift`, and `queue=codel` may mean
    /// `link.shared.queue={ kind = "codel" }`.
    fn elsewhere(&self, document: &Table) -> Option<Self> {
        let is_read = |document: &Table| read::document(document, "").is_ok();
        if !is_read(document) {
            return None;
        }
        let of_list = |list: &str| {
            let elements = document.get(list).and_then(Value::as_array);
            let names = elements.into_iter().flatten().filter_map(|one| one.get("name")?.as_str());
            names.map(|name| format!("{list}.{name}")).collect::<Vec<_>>()
        };
        let tables = ["tcp", "tfrc", "measure"].map(str::to_owned);
        let places = of_list("flow").into_iter().chain(tables).chain(of_list("link"));
        let of_kind = self.value.as_str().map(|word| {
            Value::Table(Table::from_iter([("kind".to_owned(), Value::String(word.to_owned()))]))
        });
        let values = [Some(self.value.clone()), of_kind];
        places
            .flat_map(|place| {
                let key = format!("{place}.{}", self.key);
                values.iter().flatten().map(move |value| Self::new(key.clone(), value.clone()))
            })
            .find(|setting| {
                let mut changed = document.clone();
                let parts: Vec<&str> = setting.key.split('.').collect();
                setting.insert(&mut changed, &parts).is_ok() && is_read(&changed)
            })
    }

    fn insert(&self, table: &mut Table, parts: &[&str]) -> Result<(), String> {
        let [first, rest @ ..] = parts else { unreachable!("a key has at least one part") };
        if rest.is_empty() {
            table.insert((*first).to_owned(), self.value.clone());
            return Ok(());
        }
        match table.entry(*first).or_insert_with(|| Value::Table(Table::new())) {
            Value::Table(inner) => self.insert(inner, rest),
            Value::Array(elements) => {
                let [name, rest @ ..] = rest else { unreachable!("checked above") };
                if rest.is_empty() {
                    return self.add(elements, first, name);
                }
                let named = |element: &Value| {
                    element.get("name").and_then(Value::as_str).map(str::to_owned)
                };
                let names: Vec<String> = elements.iter().filter_map(named).collect();
                match elements.iter_mut().find(|element| named(element).as_deref() == Some(*name)) {
                    Some(Value::Table(inner)) => self.insert(inner, rest),
                    _ => Err(format!(
                        "the {first} {}",
                        unknown(name, &names.iter().map(String::as_str).collect::<Vec<_>>())
                    )),
                }
            }
            _ => Err(format!(
                "\"{first}\" holds a plain value, expected a key without \".{}\"",
                rest.join(".")
            )),
        }
    }

    /// Adds a link or a flow, called `name`, behind the others.
    fn add(&self, elements: &mut Vec<Value>, what: &str, name: &str) -> Result<(), String> {
        let is_there = elements
            .iter()
            .any(|element| element.get("name").and_then(Value::as_str) == Some(name));
        let Value::Table(added) = &self.value else {
            return Err(format!(
                "stops at a {what}, expected {what}.{name}.KEY, or a table that adds a {what}"
            ));
        };
        if is_there {
            return Err(format!(
                "the {what} \"{name}\" exists, expected {what}.{name}.KEY or a new name"
            ));
        }
        if added.contains_key("name") {
            return Err(format!("has a name of its own, expected \"{name}\" in the key alone"));
        }
        let mut added = added.clone();
        added.insert("name".to_owned(), Value::String(name.to_owned()));
        elements.push(Value::Table(added));
        Ok(())
    }
}

/// The parameter that `name` is, and `value` as it is set. The name may have a suffix that gives the
/// unit (`rtt_ms` sets `rtt`); without one, a plain number has the unit of the number that it
/// replaces.
fn parameter<'a>(name: &'a str, value: &Value, parameters: &Table) -> Option<(&'a str, Value)> {
    if parameters.contains_key(name) {
        let unit = if Unit::split(name).is_some() { "" } else { unit_of(name, parameters) };
        return Some((name, with_unit(value, unit)));
    }
    let (base, unit) = Unit::split(name).filter(|(base, _)| parameters.contains_key(*base))?;
    Some((base, with_unit(value, unit.name)))
}

/// The amount that `value` is, if it takes no other names than those of constant parameters.
fn amount_of(name: &str, value: &Value, parameters: &Table) -> Option<Amount> {
    let read = |value: &Value, name: &str, names: &Names| {
        from_value::<Quantity>(value).ok()?.parameter(name, names).ok()
    };
    let constants = parameters
        .iter()
        .filter_map(|(name, value)| Some((name, read(value, name, &Names::default())?)));
    let names =
        constants.fold(Names::default(), |names, (name, amount)| names.with_amount(name, amount));
    read(value, name, &names)
}

/// The unit of the number that the parameter `name` is; empty if it has none.
fn unit_of(name: &str, parameters: &Table) -> &'static str {
    let value = &parameters[name];
    let unit = from_value::<Quantity>(value).ok().and_then(|quantity| quantity.unit());
    let unit = unit.or_else(|| Some(amount_of(name, value, parameters)?.base_unit()));
    unit.map_or("", |unit| unit.name)
}

/// What is wrong if the parameter `name` is, say, a time and `value` a size.
fn wrong_kind(name: &str, value: &Value, parameters: &Table) -> Option<String> {
    let old = &parameters[name];
    let [old_amount, new_amount] =
        [old, value].map(|value| amount_of(name, value, parameters).filter(|a| a.has_unit()));
    let (expected, found) = (old_amount?.kind(), new_amount?.kind());
    (expected != found)
        .then(|| format!("is {found}, expected {expected}: the scenario has {name} = {old}"))
}

/// A faster link is not typed as a plain number, bits per second.
const FASTEST_PLAIN_BPS: f64 = 1e10;

/// What is wrong if a plain number makes an absurd rate in the unit of the number that it replaces.
fn too_fast(plain: &Value, value: &Value) -> Option<String> {
    let number = plain.as_float().or_else(|| Some(plain.as_integer()? as f64))?;
    let rate = amount_of("", value, &Table::new()).filter(|amount| amount.has_unit())?;
    let bps = rate.in_unit(Unit::BPS).ok()?;
    let meant_bps = if number < 1e6 { number * 1e3 } else { number };
    let Value::String(text) = value else { return None };
    (bps > FASTEST_PLAIN_BPS).then(|| {
        format!(
            "would be {}, in the scenario's unit (did you mean {} Mb/s?), expected a unit behind so large a number",
            text.replace(".0 ", " "),
            meant_bps / 1e6
        )
    })
}

/// A plain number, or one with a bare k, M or G, with `unit` behind it; anything else as it is.
fn with_unit(value: &Value, unit: &str) -> Value {
    if unit.is_empty() {
        return value.clone();
    }
    match value {
        Value::Integer(number) => format!("{number} {unit}").into(),
        Value::Float(number) => format!("{number:?} {unit}").into(),
        Value::String(text) if text.ends_with(['k', 'M', 'G']) => {
            let number = text[..text.len() - 1].trim().parse::<f64>();
            match Unit::named(unit).ok().and_then(Unit::of_prefix).filter(|_| number.is_ok()) {
                Some(base) => format!("{text}{base}").into(),
                None => value.clone(),
            }
        }
        _ => value.clone(),
    }
}

/// Refuses a key that no scenario can have; `text` is the setting as its user wrote it.
fn check_key(key: &str, text: &str) -> Result<(), InputError> {
    let problem = |problem: String| Err(InputError::option(format!("--set {text}"), problem));
    if key.split('.').any(str::is_empty) {
        return problem(
            "a part of the key is empty, expected a name or names joined by dots".to_owned(),
        );
    }
    if key.split('.').count() > Limits::KEY_PARTS {
        return problem(format!(
            "the key has more than {} parts, expected a key of a scenario",
            Limits::KEY_PARTS
        ));
    }
    Ok(())
}

/// Top-level keys that are not tables.
const TOP_LEVEL: [&str; 7] =
    ["title", "source", "duration_s", "packet_bytes", "header_bytes", "budget", "send_jitter_us"];

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::String(text) => write!(f, "{}={text}", self.key),
            value => write!(f, "{}={value}", self.key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(document: &str, setting: &str) -> Result<Table, String> {
        let mut table: Table = document.parse().unwrap();
        let setting = Setting::parse(setting).map_err(|error| error.to_string())?;
        setting.apply(&mut table).map_err(|error| error.to_string())?;
        Ok(table)
    }

    const DOCUMENT: &str = r#"
        duration_s = 10
        [parameters]
        N = 1
        [[link]]
        name = "shared"
        rate_bps = 1
        [[flow]]
        name = "video"
    "#;

    #[test]
    fn a_bare_name_is_a_parameter_or_a_key_of_the_top_level() {
        assert_eq!(applied(DOCUMENT, "N=4").unwrap()["parameters"]["N"], Value::Integer(4));
        assert_eq!(applied(DOCUMENT, "duration_s=4.5").unwrap()["duration_s"], Value::Float(4.5));
        assert_eq!(
            applied(DOCUMENT, "packet_bytes=762").unwrap()["packet_bytes"],
            Value::Integer(762)
        );
        assert_eq!(
            applied(DOCUMENT, "duration=4").unwrap_err(),
            "--set duration=4: the parameter \"duration\" is unknown (did you mean \"duration_s\"?), \
             expected one of N, title, source, duration_s, packet_bytes, header_bytes, budget, \
             send_jitter_us"
        );
    }

    #[test]
    fn a_key_of_a_flow_or_a_link_is_told_with_its_place() {
        let document = r#"
            title = "t"
            duration_s = 10
            [parameters]
            queue = 1
            [[link]]
            name = "shared"
            rate_bps = 1
            delay_ms = 1
            queue_packets = "queue"
            [[flow]]
            name = "video"
            protocol = "tcp"
            path = ["shared"]
        "#;
        let known =
            "queue, title, source, duration_s, packet_bytes, header_bytes, budget, send_jitter_us";
        assert_eq!(
            applied(document, "lda=Sift").unwrap_err(),
            format!(
                "--set lda=Sift: the parameter \"lda\" is unknown (did you mean --set 'flow.video.lda=Sift'?), expected one of {known}"
            )
        );
        assert_eq!(
            applied(document, "mode=linux").unwrap_err(),
            format!(
                "--set mode=linux: the parameter \"mode\" is unknown (did you mean --set 'tcp.mode=linux'?), expected one of {known}"
            )
        );
        assert_eq!(
            applied(document, "queue=codel").unwrap_err(),
            "--set queue=codel: the parameter \"queue\" is a number, expected a number or a formula \
             (did you mean --set 'link.shared.queue={ kind = \"codel\" }'?)"
        );
        // No queue is called so: the formula is refused when it is evaluated.
        assert_eq!(
            applied(document, "queue=codl").unwrap()["parameters"]["queue"],
            Value::String("codl".into())
        );
        let unknown = applied(document, "colour=red").unwrap_err();
        assert!(
            unknown.starts_with(
                "--set colour=red: the parameter \"colour\" is unknown, expected one of queue,"
            ),
            "{unknown}"
        );
    }

    const WITH_UNITS: &str = r#"
        [parameters]
        rate = "20 Mb/s"
        rtt = "40ms"
        queue = "rtt / 2"
        think_s = 3
    "#;

    #[test]
    fn a_plain_number_has_the_unit_of_the_number_that_it_replaces() {
        let set = |setting: &str, name: &str| {
            applied(WITH_UNITS, setting).unwrap()["parameters"][name].clone()
        };
        assert_eq!(set("rate=5", "rate"), Value::String("5 Mb/s".into()));
        assert_eq!(set("rate=5M", "rate"), Value::String("5Mb/s".into()));
        assert_eq!(set("rate=500 kb/s", "rate"), Value::String("500 kb/s".into()));
        assert_eq!(set("rtt=0.5", "rtt"), Value::String("0.5 ms".into()));
        assert_eq!(set("queue=0.1", "queue"), Value::String("0.1 s".into()));
        assert_eq!(set("queue=2 * rtt", "queue"), Value::String("2 * rtt".into()));
        assert_eq!(set("think_s=4", "think_s"), Value::Integer(4));
    }

    #[test]
    fn a_value_of_another_kind_or_an_absurd_rate_is_refused_with_what_was_meant() {
        let refusal = |setting: &str| applied(WITH_UNITS, setting).unwrap_err();
        assert_eq!(
            refusal("queue=64kB"),
            "--set queue=64kB: is an amount of data, expected a time: the scenario has queue = \"rtt / 2\""
        );
        for (setting, absurd) in [("rate=20e6", "20000000"), ("rate=20000", "20000")] {
            let found = refusal(setting);
            assert!(
                found.contains(&format!(
                    "would be {absurd} Mb/s, in the scenario's unit (did you mean 20 Mb/s?)"
                )),
                "{found}"
            );
        }
        assert!(applied(WITH_UNITS, "rate=10000").is_ok(), "10 Gb/s");
        assert!(applied(WITH_UNITS, "rate=20000M").is_ok(), "with a unit");
    }

    #[test]
    fn a_suffix_of_a_parameter_gives_its_unit() {
        let set = |setting: &str, name: &str| {
            applied(WITH_UNITS, setting).unwrap()["parameters"][name].clone()
        };
        assert_eq!(set("rate_bps=20e6", "rate"), Value::String("20000000.0 b/s".into()));
        assert_eq!(set("rtt_ms=600", "rtt"), Value::String("600 ms".into()));
        assert_eq!(set("rtt_ms=0.6s", "rtt"), Value::String("0.6s".into()));
        assert!(applied(WITH_UNITS, "delay_ms=1").unwrap_err().contains("\"delay_ms\" is unknown"));
    }

    #[test]
    fn links_and_flows_go_by_their_name_and_strings_need_no_quotes() {
        assert_eq!(
            applied(DOCUMENT, "link.shared.rate_bps=1e6").unwrap()["link"][0]["rate_bps"],
            Value::Float(1e6)
        );
        let formula = applied(DOCUMENT, "link.shared.rate_bps = max(N, 2) * 130e3").unwrap();
        assert_eq!(formula["link"][0]["rate_bps"], Value::String("max(N, 2) * 130e3".into()));
        assert_eq!(
            applied(DOCUMENT, "flow.video.lda=Spike").unwrap()["flow"][0]["lda"],
            Value::String("Spike".into())
        );
        assert_eq!(
            applied(DOCUMENT, "tfrc.mode=ns2").unwrap()["tfrc"]["mode"],
            Value::String("ns2".into())
        );
    }

    #[test]
    fn a_table_adds_a_flow_or_a_link_under_a_new_name() {
        let added =
            applied(DOCUMENT, "flow.rival={ protocol = \"tcp\", path = [\"shared\"] }").unwrap();
        let rival = &added["flow"][1];
        assert_eq!(
            (rival["name"].as_str(), rival["protocol"].as_str()),
            (Some("rival"), Some("tcp"))
        );
        assert_eq!(
            applied(DOCUMENT, "link.far={ rate_bps = 2 }").unwrap()["link"][1]["rate_bps"],
            Value::Integer(2)
        );
        assert_eq!(
            applied(DOCUMENT, "flow.video={ protocol = \"tcp\" }").unwrap_err(),
            "--set flow.video={ protocol = \"tcp\" }: the flow \"video\" exists, expected flow.video.KEY or a new name"
        );
        assert!(
            applied(DOCUMENT, "flow.rival={ name = \"other\" }")
                .unwrap_err()
                .contains("in the key alone")
        );
    }

    #[test]
    fn what_cannot_be_set_is_told_in_one_sentence() {
        assert_eq!(
            applied(DOCUMENT, "link.shard.rate_bps=1").unwrap_err(),
            "--set link.shard.rate_bps=1: the link \"shard\" is unknown (did you mean \"shared\"?), expected \"shared\""
        );
        assert_eq!(
            applied(DOCUMENT, "N").unwrap_err(),
            "--set N: there is no \"=\", expected KEY=VALUE"
        );
        assert!(applied(DOCUMENT, "link..x=1").unwrap_err().contains("a part of the key is empty"));
        let deep = format!("lda{}=1", ".a".repeat(1_000_000));
        assert!(
            applied(DOCUMENT, &deep)
                .unwrap_err()
                .ends_with("the key has more than 16 parts, expected a key of a scenario")
        );
        assert_eq!(Setting::checked("N", 4), Ok(Setting::new("N", 4)));
        assert!(
            Setting::checked("link..x", 1)
                .unwrap_err()
                .to_string()
                .starts_with("--set link..x=1: a part of the key")
        );
        assert!(
            applied(DOCUMENT, "link.shared=1").unwrap_err().contains("expected link.shared.KEY")
        );
        assert!(applied(DOCUMENT, "duration_s.x=1").unwrap_err().contains("holds a plain value"));
    }
}
