//! Text of others, such as names of files, as a terminal or a page may show it: characters that act
//! instead of being shown are escaped.

use std::borrow::Cow;

/// Whether a character acts on what shows it: a control character, one that sets the direction of
/// text (Unicode's Bidi_Control), or one that ends a line or a paragraph.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with hidden characters as `\u{202e}`. Its lines and tabs stay.
///
/// ```
/// use losscause_study::tools::plain::plain;
///
/// assert_eq!(plain("a\u{1b}[2J\tb\n"), "a\\u{1b}[2J\tb\n");
/// ```
pub fn plain(text: &str) -> Cow<'_, str> {
    let acts = |c| is_hidden(c) && !matches!(c, '\n' | '\t');
    escaped(text, acts, |c| c.escape_default().collect())
}

/// The text on one line, with its middle left out if it is longer than 2,000 characters.
pub fn sentence(text: &str) -> String {
    let line = escaped(text, is_hidden, |c| c.escape_default().collect());
    let left_out = line.chars().count().saturating_sub(LONGEST);
    if left_out == 0 {
        return line.into_owned();
    }
    let [start, end] = [LONGEST / 2, LONGEST / 2 + left_out];
    let start = line.chars().take(start);
    start.chain(['…']).chain(line.chars().skip(end)).collect()
}

/// A longer sentence is shown in part, characters.
const LONGEST: usize = 2000;

/// The text of a JSON document, or a part that is whole characters, with hidden characters in its
/// strings as `\u202e`: for every reader of JSON the same.
pub fn json(text: &str) -> Cow<'_, str> {
    // Nearly all of a document.
    if text.is_ascii() && !text.contains('\u{7f}') {
        return text.into();
    }
    // JSON has no other place for them, and its strings have none below U+0020.
    let acts = |c| is_hidden(c) && c >= '\u{7f}';
    escaped(text, acts, |c| format!("\\u{:04x}", u32::from(c)))
}

fn escaped(
    text: &str,
    is_escaped: impl Fn(char) -> bool,
    escape: impl Fn(char) -> String,
) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return text.into();
    }
    let shown = |c: char| if is_escaped(c) { escape(c) } else { c.to_string() };
    text.chars().map(shown).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What acts: on a terminal (ESC, C1's CSI), on the direction of text, on lines.
    const HIDDEN: &str =
        "\u{7f}\u{9b}\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}";

    #[test]
    fn what_acts_is_escaped_and_all_else_stays() {
        let text = "naïve 🦀 שלום\t1\n";
        assert!(matches!(plain(text), Cow::Borrowed(same) if same == text));
        for c in HIDDEN.chars().chain(['\0', '\u{7}', '\r', '\u{1b}']) {
            let name = format!("a{c}b");
            let shown = format!("a{}b", c.escape_default());
            assert_eq!(plain(&name), shown);
            assert_eq!(sentence(&name), shown);
        }
        assert_eq!(sentence("a\n\tb"), "a\\n\\tb");
    }

    #[test]
    fn a_long_sentence_keeps_its_start_and_its_end() {
        let text = format!("start {} end", "ü".repeat(100_000));
        let shown = sentence(&text);
        assert_eq!(shown.chars().count(), LONGEST + 1);
        assert!(shown.starts_with("start ü") && shown.ends_with("ü end") && shown.contains("ü…ü"));
        let longest = "x".repeat(LONGEST);
        assert_eq!(sentence(&longest), longest);
    }

    #[test]
    fn escaped_json_is_read_as_before() {
        let text = serde_json::to_string(HIDDEN).unwrap();
        let shown = json(&text);
        assert!(!shown.contains(is_hidden), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), HIDDEN);
        assert!(matches!(json("{\n\t\"a\": 1\n}"), Cow::Borrowed(_)));
    }
}
