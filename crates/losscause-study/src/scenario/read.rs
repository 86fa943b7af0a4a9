//! From a text to a [`Document`]. Errors name the file, the key and what was expected.

use serde::de::DeserializeOwned;
use serde_path_to_error::{Path as KeyPath, Segment};
use toml::{Table, Value};

use super::format::Document;
use super::protocol;
use crate::error::{InputError, unknown};

/// What an error says was expected in place of a file that is no scenario.
pub const EXPECTED: &str = "a scenario file in TOML (losscause docs scenario)";

/// The keys and values of a scenario's text.
pub(super) fn table(text: &str, file: &str) -> Result<Table, InputError> {
    any_table(text, file, EXPECTED)
}

/// The keys and values of a TOML text; `expected` describes it in errors.
pub fn any_table(text: &str, file: &str, expected: &'static str) -> Result<Table, InputError> {
    if text.trim().is_empty() {
        return Err(InputError::File { file: file.into(), problem: "is empty".into(), expected });
    }
    text.parse().map_err(|error: toml::de::Error| InputError::Syntax {
        file: file.to_owned(),
        line: error.span().map_or(1, |span| text.as_bytes()[..span.start].iter().filter(|&&b| b == b'\n').count() + 1),
        problem: one_line(error.message()),
    })
}

/// The keys and values as a scenario.
pub(super) fn document(table: &Table, file: &str) -> Result<Document, InputError> {
    deserialize(table, file)
}

/// The keys and values as a `T`.
pub fn deserialize<T: DeserializeOwned>(table: &Table, file: &str) -> Result<T, InputError> {
    let root = Value::Table(table.clone());
    serde_path_to_error::deserialize(root).map_err(|error| {
        let (key, problem) = explained(key(error.path(), table), &one_line(error.inner().message()), protocol::MOVED);
        InputError::Key { file: file.to_owned(), key, problem }
    })
}

/// The path as `--set` takes it: elements of arrays go by their name.
fn key(path: &KeyPath, table: &Table) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut here: Option<&Value> = None;
    for segment in path {
        match segment {
            Segment::Map { key } => {
                here = if parts.is_empty() { table.get(key) } else { here.and_then(|value| value.get(key)) };
                parts.push(key.clone());
            }
            Segment::Seq { index } => {
                here = here.and_then(|value| value.get(*index));
                let name = here.and_then(|value| value.get("name")).and_then(Value::as_str);
                parts.push(name.map_or_else(|| (index + 1).to_string(), str::to_owned));
            }
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    parts.join(".")
}

/// The key and the second half of the error sentence, from serde's `message`. serde words its messages in fixed forms,
/// which the tests below check. `moved` lists keys of earlier versions of the format with their new places.
fn explained(key: String, message: &str, moved: &[&[(&str, &str)]]) -> (String, String) {
    let below = |field: &str| if key.is_empty() { field.to_owned() } else { format!("{key}.{field}") };
    // serde puts names in backticks.
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if let (true, [field, known @ ..]) = (message.starts_with("unknown field"), quoted.as_slice()) {
        let parent = match key.strip_suffix(field) {
            Some(parent) if parent.is_empty() || parent.ends_with('.') => parent.to_owned(),
            _ => below(""),
        };
        let key = format!("{parent}{field}");
        let problem = match moved.iter().copied().flatten().find(|(old, _)| *old == key) {
            Some((_, new)) => format!("has moved, expected {new} instead"),
            None => format!("the key {}", unknown(field, known)),
        };
        return (key, problem);
    }
    if let (true, [variant, known @ ..]) = (message.starts_with("unknown variant"), quoted.as_slice()) {
        return (key, unknown(variant, known));
    }
    if let (true, [field]) = (message.starts_with("missing field"), quoted.as_slice()) {
        return (below(field), "is missing, expected a value".to_owned());
    }
    let message = in_words(message);
    let problem = ["invalid type: ", "invalid value: "].iter().find_map(|form| message.strip_prefix(form));
    (key, problem.map_or_else(|| message.clone(), |problem| format!("is {}", problem.replace('`', ""))))
}

/// serde's message with the words of TOML in place of the names of Rust types.
pub(crate) fn in_words(message: &str) -> String {
    let Some((found, expected)) = message.split_once(", expected ") else { return message.to_owned() };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "string only" | "variant identifier" => "a word in quotes",
        "a sequence" => "a list in [ ]",
        "a map" => "a table: { KEY = VALUE }",
        other if ["struct ", "internally tagged enum "].iter().any(|rust| other.starts_with(rust)) => {
            "a table: { KEY = VALUE }"
        }
        other if other.starts_with("enum ") => "a word in quotes",
        other => other,
    };
    let found = match found.strip_prefix("invalid type: ") {
        Some("sequence") => "invalid type: a list".to_owned(),
        Some("map") => "invalid type: a table".to_owned(),
        Some("unit variant") => "invalid type: no word".to_owned(),
        _ => found.to_owned(),
    };
    format!("{found}, expected {expected}")
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let result = table(text, "x.toml").and_then(|table| document(&table, "x.toml"));
        result.map(|_| ()).unwrap_err().to_string()
    }

    const LINK: &str = "[[link]]\nname = \"shared\"\ndelay_ms = 1\n";

    #[test]
    fn an_unknown_key_is_named_with_its_path_and_the_nearest_known_one() {
        let expected = "x.toml: link.shared.rate_bsp: the key \"rate_bsp\" is unknown (did you mean \"rate_bps\"?), \
                        expected one of name, per_flow, rate_bps";
        let found = error(&format!("title = \"t\"\nduration_s = 1\n{LINK}rate_bsp = 3"));
        assert!(found.starts_with(expected), "{found}");
        let found = error("title = \"t\"\nduraton_s = 1");
        assert!(
            found.starts_with("x.toml: duraton_s: the key \"duraton_s\" is unknown (did you mean \"duration_s\"?)")
        );
        let found = error("title = \"t\"\nduration_s = 1\n[tfrc]\nmoed = 1");
        assert!(found.starts_with("x.toml: tfrc.moed: the key \"moed\" is unknown"), "{found}");
    }

    #[test]
    fn a_key_that_has_moved_names_its_new_place() {
        let message = "unknown field `tick`, expected one of `mode`, `quirks`";
        let moved: &[&[(&str, &str)]] = &[&[("tfrc.tock", "tfrc.a.b")], &[("tcp.tick", "tcp.quirks.tick_ms")]];
        let found = explained("tcp.tick".into(), message, moved);
        assert_eq!(found, ("tcp.tick".into(), "has moved, expected tcp.quirks.tick_ms instead".into()));
        let (_, elsewhere) = explained("tfrc.tick".into(), message, moved);
        assert!(elsewhere.starts_with("the key \"tick\" is unknown"), "{elsewhere}");
    }

    #[test]
    fn an_unknown_key_of_a_channel_is_named() {
        let link = format!("title = \"t\"\nduration_s = 1\n{LINK}rate_bps = 3\n");
        assert_eq!(
            error(&format!("{link}channel = {{ kind = \"bernoulli\", los = 0.1 }}")),
            "x.toml: link.shared.channel.los: the key \"los\" is unknown (did you mean \"loss\"?), expected \"loss\""
        );
        assert_eq!(
            error(&format!("{link}channel = {{ kind = \"bernouli\", loss = 0.1 }}")),
            "x.toml: link.shared.channel.kind: \"bernouli\" is unknown (did you mean \"bernoulli\"?), expected one of \
             perfect, bernoulli, gilbert-elliott, fading, trace"
        );
        assert_eq!(
            error(&format!("{link}channel = {{ kind = \"bernoulli\" }}")),
            "x.toml: link.shared.channel.loss: is missing, expected a value"
        );
        assert_eq!(
            error(&format!("{link}channel = {{ kind = \"bernoulli\", loss = \"1 +\" }}")),
            "x.toml: link.shared.channel: \"1 +\" ends too early, expected a number, a name or \"(\""
        );
    }

    #[test]
    fn missing_keys_and_wrong_types_are_named() {
        assert_eq!(error("title = \"t\""), "x.toml: duration_s: is missing, expected a value");
        assert_eq!(
            error(&format!("title = \"t\"\nduration_s = 1\n{LINK}")),
            "x.toml: link.shared.rate_bps: is missing, expected a value"
        );
        assert_eq!(
            error("title = \"t\"\nduration_s = true"),
            "x.toml: duration_s: is boolean true, expected a number or a formula in quotes"
        );
        assert_eq!(
            error(&format!("title = \"t\"\nduration_s = 1\n{LINK}rate_bps = \"2 *\"")),
            "x.toml: link.shared.rate_bps: \"2 *\" ends too early, expected a number, a name or \"(\""
        );
        let bottleneck = "title = \"t\"\nduration_s = 1\n[measure]\nbottleneck";
        assert_eq!(
            error(&format!("{bottleneck} = 3")),
            "x.toml: measure.bottleneck: is integer 3, expected a link's name, or a list of { link, when }"
        );
        assert!(error(&format!("{bottleneck} = [{{ link = \"a\", wen = 1 }}]")).contains("did you mean \"when\"?"));
    }

    #[test]
    fn no_message_names_a_type_of_the_program() {
        let at = |rest: &str| error(&format!("title = \"t\"\nduration_s = 1\n{rest}"));
        let link = |rest: &str| at(&format!("{LINK}rate_bps = 1e6\n{rest}"));
        let flow = |rest: &str| at(&format!("[[flow]]\nname = \"f\"\n{rest}"));
        let table = "expected a table: { KEY = VALUE }";
        assert_eq!(at("link = 3"), "x.toml: link: is integer 3, expected a list in [ ]");
        assert_eq!(at("link = [3]"), format!("x.toml: link.1: is integer 3, {table}"));
        assert_eq!(at("tcp = 3"), format!("x.toml: tcp: is integer 3, {table}"));
        assert_eq!(at("parameters = 3"), format!("x.toml: parameters: is integer 3, {table}"));
        assert_eq!(at("measure = { delays = 3 }"), "x.toml: measure.delays: is integer 3, expected true or false");
        assert_eq!(at("tcp = { mode = 3 }"), "x.toml: tcp.mode: is no word, expected a word in quotes");
        assert_eq!(link("channel = \"x\""), format!("x.toml: link.shared.channel: is string \"x\", {table}"));
        assert_eq!(
            link("channel = { kind = 3 }"),
            "x.toml: link.shared.channel.kind: is integer 3, expected a word in quotes"
        );
        assert_eq!(flow("protocol = \"tfrc\"\npath = 3"), "x.toml: flow.f.path: is integer 3, expected a list in [ ]");
        assert_eq!(
            flow("protocol = \"tfrc\"\npath = [\"r\"]\nlda = []"),
            "x.toml: flow.f.lda: is a list, expected a word in quotes"
        );
    }

    #[test]
    fn text_that_is_not_toml_is_told_with_its_line() {
        let found = error("title = \"t\"\nduration_s = = 3\n");
        assert!(found.starts_with("x.toml, line 2: "), "{found}");
        assert!(!found.contains('\n'));
        assert_eq!(error(" \n"), "x.toml: is empty, expected a scenario file in TOML (losscause docs scenario)");
    }
}
