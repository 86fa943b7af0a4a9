//! Whether a command printed what a page shows. `…` is the only exception, and readers see it: on a
//! line of its own it stands for any lines, within a line for any text.

use serde_json::Value;

/// The sign for what a page leaves out.
const LEFT_OUT: char = '…';

/// Compares text line by line, spaces at the end of a line aside.
///
/// # Errors
/// A sentence that names the first line that was not printed in its place.
pub(super) fn compare(shown: &str, printed: &str) -> Result<(), String> {
    let lines = |text: &str| -> Vec<String> {
        let lines: Vec<String> = text.lines().map(|line| line.trim_end().to_owned()).collect();
        let is_empty = |line: &&String| line.is_empty();
        let first = lines.iter().take_while(is_empty).count();
        let last = lines.iter().rev().take_while(is_empty).count();
        lines[first.min(lines.len() - last)..lines.len() - last].to_vec()
    };
    let shown = lines(shown);
    let printed = lines(printed);
    let left_out = LEFT_OUT.to_string();
    let runs: Vec<&[String]> = shown.split(|line| *line == left_out).collect();
    let mut at = 0;
    for (index, run) in runs.iter().enumerate() {
        let rest = &printed[at..];
        let begins = match (index == 0, index + 1 == runs.len()) {
            (true, true) if rest.len() > run.len() && mismatch(run, rest).is_none() => {
                return Err(format!("it also prints `{}`", rest[run.len()]));
            }
            (true, _) => Some(0),
            (false, true) => rest.len().checked_sub(run.len()),
            (false, false) => (0..rest.len()).find(|&from| mismatch(run, &rest[from..]).is_none()),
        };
        let missing = match begins {
            Some(from) => mismatch(run, &rest[from..]),
            None => run.first(),
        };
        if let Some(line) = missing {
            return Err(format!("it does not print `{line}` there"));
        }
        at += begins.unwrap_or(0) + run.len();
    }
    Ok(())
}

/// The first line of `run` with which `printed` does not begin.
fn mismatch<'a>(run: &'a [String], printed: &[String]) -> Option<&'a String> {
    run.iter()
        .enumerate()
        .find(|(index, line)| !printed.get(*index).is_some_and(|p| fits(line, p)))
        .map(|(_, line)| line)
}

/// Whether `printed` is the line or word `shown`, in which `…` stands for any text.
fn fits(shown: &str, printed: &str) -> bool {
    let Some((first, rest)) = shown.split_once(LEFT_OUT) else { return shown == printed };
    let Some(mut left) = printed.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = rest.split(LEFT_OUT).collect();
    let last = pieces.pop().unwrap_or_default();
    for piece in pieces {
        let Some(at) = left.find(piece) else { return false };
        left = &left[at + piece.len()..];
    }
    left.ends_with(last)
}

/// Compares JSON: every key and element shown is there with this value. Keys may be left out, and
/// elements at the end of an array that shows some.
///
/// # Errors
/// A sentence that names the place of the first difference.
pub(super) fn compare_json(shown: &Value, printed: &Value) -> Result<(), String> {
    differs("", shown, printed).map_or(Ok(()), Err)
}

fn differs(place: &str, shown: &Value, printed: &Value) -> Option<String> {
    let is_not = || Some(format!("{place} is {printed}, not {shown}"));
    match (shown, printed) {
        (Value::Object(shown), Value::Object(printed)) => shown.iter().find_map(|(key, value)| {
            let place = format!("{place}.{key}");
            match printed.get(key) {
                None => Some(format!("{place} is not printed")),
                Some(printed) => differs(&place, value, printed),
            }
        }),
        (Value::Array(shown), Value::Array(printed)) => {
            if printed.len() < shown.len() || shown.is_empty() != printed.is_empty() {
                return is_not();
            }
            let mut pairs = shown.iter().zip(printed).enumerate();
            pairs.find_map(|(index, (shown, printed))| {
                differs(&format!("{place}[{index}]"), shown, printed)
            })
        }
        (Value::String(shown), Value::String(printed)) if fits(shown, printed) => None,
        _ if shown == printed => None,
        _ => is_not(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_shown_is_all_that_is_printed_but_for_ellipses() {
        assert_eq!(compare("a\nb\n", "a  \nb\n\n"), Ok(()));
        assert_eq!(compare("a\n", "a\nb\n"), Err("it also prints `b`".into()));
        assert_eq!(compare("b\n", "a\nb\n"), Err("it does not print `b` there".into()));
        assert_eq!(compare("a\n…\n", "a\nb\nc\n"), Ok(()));
        assert_eq!(compare("…\nc\n", "a\nb\nc\n"), Ok(()));
        assert_eq!(compare("…\nb\n", "a\nb\nc\n"), Err("it does not print `b` there".into()));
        assert_eq!(compare("a\n…\nc\nd\n…\nf\n", "a\nb\nc\nd\ne\nf\n"), Ok(()));
        assert_eq!(
            compare("a\n…\nc\nd\n…\n", "a\nc\ne\nd\n"),
            Err("it does not print `c` there".into())
        );
        assert_eq!(compare("…\n", "a\n"), Ok(()));
        assert_eq!(compare("a\n", ""), Err("it does not print `a` there".into()));
    }

    #[test]
    fn within_a_line_an_ellipsis_stands_for_any_text() {
        assert!(fits("measured in … s on … cores", "measured in 12.5 s on 2 cores"));
        assert!(!fits("measured in … s", "measured in 12.5 ms"));
        assert!(!fits("… s", "12 s or so") && fits("a…", "a") && !fits("a", "a…"));
    }

    #[test]
    fn json_may_leave_out_keys_and_later_elements_and_nothing_else() {
        let printed = json!({ "a": 1.5, "b": [{ "c": 1, "d": 2 }, 3], "e": [], "f": "one two" });
        for shown in [json!({ "a": 1.5, "b": [{ "d": 2 }], "e": [] }), json!({ "f": "one …" })] {
            assert_eq!(compare_json(&shown, &printed), Ok(()));
        }
        let wrong = |shown| compare_json(&shown, &printed).unwrap_err();
        assert_eq!(wrong(json!({ "b": [{ "d": 3 }] })), ".b[0].d is 2, not 3");
        assert_eq!(wrong(json!({ "g": null })), ".g is not printed");
        assert_eq!(wrong(json!({ "b": [] })), ".b is [{\"c\":1,\"d\":2},3], not []");
    }
}
