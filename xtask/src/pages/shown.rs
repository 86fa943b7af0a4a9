//! Whether a command printed what a page shows. `…` is the only exception, and readers see it: on a
//! line of its own it stands for any lines, within a line for any text.

use anyhow::{Context, Result, anyhow};
use serde_json::Value;
use snapbox::{Assert, IntoData, IntoJson};

/// Compares text line by line; spaces at the end of a line and empty lines around it do not count.
///
/// # Errors
/// The lines that differ.
pub(super) fn compare(shown: &str, printed: &str) -> Result<()> {
    let lines = |text: &str, put: fn(&str) -> String| -> String {
        let lines: Vec<String> = text.lines().map(|line| put(line.trim_end())).collect();
        lines.join("\n").trim_matches('\n').to_owned()
    };
    let any =
        |line: &str| if line == "…" { "...".to_owned() } else { line.replace('…', "[..]") };
    equal(lines(printed, str::to_owned).raw(), lines(shown, any).into_data())
}

/// Compares JSON: every key and element shown is there with this value. Keys may be left out, and
/// elements at the end of an array that shows some.
///
/// # Errors
/// The page shows no JSON, the command prints none, or the places that differ.
pub(super) fn compare_json(shown: &str, printed: &str) -> Result<()> {
    let shown = serde_json::from_str(shown).context("the page shows no JSON below it")?;
    let printed: Value = serde_json::from_str(printed).context("it prints no JSON")?;
    equal(printed.into_json(), with_any_rest(shown).into_json())
}

fn equal(printed: snapbox::Data, shown: snapbox::Data) -> Result<()> {
    let compared = Assert::new().try_eq(Some(&"what it prints"), printed, shown);
    compared.map_err(|difference| anyhow!("it prints something else\n{difference}"))
}

fn with_any_rest(shown: Value) -> Value {
    let rest = || Value::from("{...}");
    match shown {
        Value::Object(keys) => {
            let keys = keys.into_iter().map(|(key, value)| (key, with_any_rest(value)));
            keys.chain([("...".to_owned(), rest())]).collect()
        }
        Value::Array(all) if !all.is_empty() => {
            all.into_iter().map(with_any_rest).chain([rest()]).collect()
        }
        Value::String(text) => text.replace('…', "[..]").into(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_all_that_is_printed_but_for_ellipses() {
        let fits = |shown, printed| compare(shown, printed).is_ok();
        assert!(fits("a\nb\n", "a  \nb\n\n"));
        assert!(!fits("a\n", "a\nb\n") && !fits("b\n", "a\nb\n") && !fits("a\n", ""));
        assert!(fits("a\n…\n", "a\nb\nc\n") && fits("…\nc\n", "a\nb\nc\n"));
        assert!(!fits("…\nb\n", "a\nb\nc\n"));
        assert!(fits("a\n…\nc\nd\n…\nf\n", "a\nb\nc\nd\ne\nf\n"));
        assert!(!fits("a\n…\nc\nd\n…\n", "a\nc\ne\nd\n"));
        assert!(fits("…\n", "a\n"));
        assert!(fits("measured in … s on … cores", "measured in 12.5 s on 2 cores"));
        assert!(!fits("measured in … s", "measured in 12.5 ms"));
        assert!(!fits("… s", "12 s or so") && fits("a…", "a") && !fits("a", "a…"));
    }

    #[test]
    fn json_may_leave_out_keys_and_later_elements_and_nothing_else() {
        let printed = r#"{ "a": 1.5, "b": [{ "c": 1, "d": 2 }, 3], "e": [], "f": "one two" }"#;
        let fits = |shown| compare_json(shown, printed).is_ok();
        assert!(fits(r#"{ "a": 1.5, "b": [{ "d": 2 }], "e": [] }"#) && fits(r#"{ "f": "one …" }"#));
        assert!(!fits(r#"{ "b": [{ "d": 3 }] }"#) && !fits(r#"{ "g": null }"#));
        assert!(!fits(r#"{ "b": [] }"#) && !fits(r#"{ "f": "two …" }"#));
    }
}
