//! The parts of a page that hold commands, output and examples. Enough of Markdown for our own
//! pages.

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// The part's first line, from 1; of a span, that of its paragraph.
    pub(crate) line: usize,
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

/// What kind of code it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Between fences, with the words after the first one: "toml fragment"; and the line of text
    /// before it.
    Fenced { language: String, before: String },
    /// Indented by four spaces.
    Indented,
    /// Within a sentence, between backquotes.
    Span,
}

/// The code of a page in its order; spans come at the end of their paragraph.
pub(crate) fn parts(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut paragraph = String::new();
    let mut last_text = String::new();
    let mut lines = page.lines().enumerate().map(|(index, line)| (index + 1, line)).peekable();
    while let Some((line, text)) = lines.next() {
        if let Some(language) = text.strip_prefix("```") {
            spans(&mut paragraph, line, &mut parts);
            let mut code = String::new();
            for (_, text) in lines.by_ref().take_while(|(_, text)| *text != "```") {
                code += text;
                code.push('\n');
            }
            let before = std::mem::take(&mut last_text);
            parts.push(Part {
                line,
                kind: Kind::Fenced { language: language.to_owned(), before },
                text: code,
            });
        } else if let (Some(first), true) = (text.strip_prefix("    "), paragraph.is_empty()) {
            let mut code = format!("{first}\n");
            while let Some((_, more)) = lines.next_if(|(_, text)| text.starts_with("    ")) {
                code += &more[4..];
                code.push('\n');
            }
            parts.push(Part { line, kind: Kind::Indented, text: code });
        } else if text.trim().is_empty() {
            spans(&mut paragraph, line, &mut parts);
        } else {
            last_text = text.to_owned();
            paragraph += text;
            paragraph.push('\n');
        }
    }
    spans(&mut paragraph, page.lines().count() + 1, &mut parts);
    parts
}

/// Adds the spans of `paragraph`, which ends before `end`, and empties it.
fn spans(paragraph: &mut String, end: usize, parts: &mut Vec<Part>) {
    let line = end.saturating_sub(paragraph.lines().count());
    for span in paragraph.split('`').skip(1).step_by(2) {
        let text = span.split_whitespace().collect::<Vec<_>>().join(" ");
        parts.push(Part { line, kind: Kind::Span, text });
    }
    paragraph.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_fenced_and_indented_code_and_spans_over_line_ends() {
        let page = "Save it as `x.toml`:\n\n```toml fragment\na = 1\n```\n\n    losscause list\n    two\n\nRun `losscause\n  \
                    sweep a`, or `b`.\n";
        let found: Vec<(usize, String, String)> = parts(page)
            .into_iter()
            .map(|part| (part.line, format!("{:?}", part.kind), part.text))
            .collect();
        let fenced = "Fenced { language: \"toml fragment\", before: \"Save it as `x.toml`:\" }";
        let expected = [
            (1, "Span", "x.toml"),
            (3, fenced, "a = 1\n"),
            (7, "Indented", "losscause list\ntwo\n"),
            (10, "Span", "losscause sweep a"),
            (10, "Span", "b"),
        ];
        assert_eq!(
            found,
            expected.map(|(line, kind, text)| (line, kind.to_owned(), text.to_owned()))
        );
    }
}
