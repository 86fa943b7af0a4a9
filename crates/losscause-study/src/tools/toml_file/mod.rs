//! Files in TOML: from a text to a type. Errors name the file, the key and what was expected.

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::error::{InputError, unknown};
use crate::tools::plain::is_hidden;

mod deserializer;

pub use deserializer::{Error, from_value};

/// Keys of earlier versions of a format, each with its new place.
pub(crate) type Moved = &'static [&'static [(&'static str, &'static str)]];

/// The keys and values of a TOML text; `expected` describes it in errors.
///
/// # Errors
/// The text is empty or not TOML.
pub fn table(text: &str, file: &str, expected: &'static str) -> Result<Table, InputError> {
    if text.trim().is_empty() {
        return Err(InputError::file(file, "is empty", expected));
    }
    // No TOML begins so.
    let language = match text.trim_start().as_bytes()[0] {
        b'{' => Some("JSON"),
        b'<' => Some("HTML or XML"),
        _ => None,
    };
    if let Some(language) = language {
        return Err(InputError::file(file, format!("is {language}"), expected));
    }
    parsed(text, file)
}

fn parsed(text: &str, file: &str) -> Result<Table, InputError> {
    text.parse().map_err(|error: toml::de::Error| InputError::Syntax {
        file: file.to_owned(),
        line: error.span().map_or(1, |span| {
            text.as_bytes()[..span.start].iter().filter(|&&b| b == b'\n').count() + 1
        }),
        problem: one_line(error.message()),
    })
}

/// The keys and values as a `T`.
///
/// # Errors
/// A key is unknown or missing, or a value has the wrong type.
pub fn from_table<T: DeserializeOwned>(table: &Table, file: &str) -> Result<T, InputError> {
    from_older_table(table, file, &[])
}

/// [`from_table`] of a format from which keys have `moved`.
pub(crate) fn from_older_table<T: DeserializeOwned>(
    table: &Table,
    file: &str,
    moved: Moved,
) -> Result<T, InputError> {
    refuse_hidden(table, &mut Vec::new(), file)?;
    deserializer::table(table).map_err(|error| in_file(&error, file, moved))
}

/// Refuses keys and texts with characters that would act on a terminal or a page that shows them.
fn refuse_hidden(table: &Table, path: &mut Vec<String>, file: &str) -> Result<(), InputError> {
    for (key, value) in table {
        path.push(key.clone());
        check_shown(key, path, file)?;
        refuse_hidden_in(value, path, file)?;
        path.pop();
    }
    Ok(())
}

fn refuse_hidden_in(value: &Value, path: &mut Vec<String>, file: &str) -> Result<(), InputError> {
    match value {
        Value::String(text) => check_shown(text, path, file),
        Value::Array(values) => {
            values.iter().try_for_each(|value| refuse_hidden_in(value, path, file))
        }
        Value::Table(table) => refuse_hidden(table, path, file),
        _ => Ok(()),
    }
}

fn check_shown(text: &str, path: &[String], file: &str) -> Result<(), InputError> {
    match text.chars().find(|c| is_hidden(*c) && !c.is_ascii_whitespace()) {
        Some(c) => Err(InputError::key(
            file,
            path.join("."),
            format!(
                "has U+{:04X}, which acts on what shows it, expected a text without it",
                u32::from(c)
            ),
        )),
        None => Ok(()),
    }
}

/// A TOML text as a `T`. An empty text has no keys.
///
/// # Errors
/// The text is not TOML; then as [`from_table`].
pub fn from_text<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, InputError> {
    from_table(&parsed(text, file)?, file)
}

/// The error sentence for `error` in `file`. Its key is as `--set` takes it: elements of lists go
/// by their name.
fn in_file(error: &Error, file: &str, moved: Moved) -> InputError {
    let (key, problem) = explained(error.path().join("."), &one_line(&error.to_string()), moved);
    InputError::key(file, key, problem)
}

/// The key and the second half of the error sentence, from serde's `message`. serde words its
/// messages in fixed forms, which the tests below check. `moved` lists keys of earlier versions of
/// the format with their new places.
fn explained(key: String, message: &str, moved: Moved) -> (String, String) {
    let below =
        |field: &str| if key.is_empty() { field.to_owned() } else { format!("{key}.{field}") };
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
    if let (true, [variant, known @ ..]) =
        (message.starts_with("unknown variant"), quoted.as_slice())
    {
        return (key, unknown(variant, known));
    }
    if let (true, [field]) = (message.starts_with("missing field"), quoted.as_slice()) {
        return (below(field), "is missing, expected a value".to_owned());
    }
    let message = in_words(message);
    let problem =
        ["invalid type: ", "invalid value: "].iter().find_map(|form| message.strip_prefix(form));
    (
        key,
        problem
            .map_or_else(|| message.clone(), |problem| format!("is {}", problem.replace('`', ""))),
    )
}

/// serde's message with the words of TOML in place of the names of Rust types.
fn in_words(message: &str) -> String {
    let Some((found, expected)) = message.split_once(", expected ") else {
        return message.to_owned();
    };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => {
            "a whole number"
        }
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "string only" | "variant identifier" => "a word in quotes",
        "a sequence" => "a list in [ ]",
        "a map" => "a table: { KEY = VALUE }",
        other
            if ["struct ", "internally tagged enum "]
                .iter()
                .any(|rust| other.starts_with(rust)) =>
        {
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

    #[test]
    fn a_text_that_acts_on_what_shows_it_is_refused_with_its_key() {
        let read = |text: &str| from_text::<Table>(text, "x.toml").map_err(|why| why.to_string());
        let problem = "which acts on what shows it, expected a text without it";
        for (text, place) in [
            ("a = \"x\\u001b[2J\"", "a: has U+001B"),
            ("[[a.b]]\nc = [1, [\"\u{202e}\"]]", "a.b.c: has U+202E"),
            ("\"a\\u0007\" = 1", "a\\u{7}: has U+0007"),
        ] {
            assert_eq!(read(text), Err(format!("x.toml: {place}, {problem}")));
        }
        assert!(read("a = \"two\\nlines,\\ta tab, naïve, שלום\"").is_ok());
    }

    #[test]
    fn a_key_that_has_moved_names_its_new_place() {
        let message = "unknown field `tick`, expected one of `mode`, `quirks`";
        let moved: Moved = &[&[("tfrc.tock", "tfrc.a.b")], &[("tcp.tick", "tcp.quirks.tick_ms")]];
        let found = explained("tcp.tick".into(), message, moved);
        assert_eq!(
            found,
            ("tcp.tick".into(), "has moved, expected tcp.quirks.tick_ms instead".into())
        );
        let (_, elsewhere) = explained("tfrc.tick".into(), message, moved);
        assert!(elsewhere.starts_with("the key \"tick\" is unknown"), "{elsewhere}");
    }
}
