//! Colour on a terminal. It is added to the finished text, whose widths are therefore counted
//! without it.
//!
//! Standard output is coloured if it is a terminal, unless `NO_COLOR` or `CLICOLOR=0` is set;
//! `CLICOLOR_FORCE` colours it anywhere. The colours only repeat what the text says.

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const WARNING: Style = AnsiColor::Yellow.on_default();

/// Whether standard output takes colour.
pub(crate) fn is_wanted() -> bool {
    AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// The text with its marks and warnings in colour.
pub(crate) fn coloured(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once(": ") {
        Some((head @ "warning", rest)) => format!("{}: {rest}", painted(WARNING, head)),
        _ => line.replace('✓', &painted(GOOD, "✓")).replace('✗', &painted(BAD, "✗")),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The word "losscause:" before an error, for standard error.
pub(crate) fn error_head() -> String {
    match AutoStream::choice(&std::io::stderr()) {
        ColorChoice::Never => "losscause:".to_owned(),
        _ => painted(BAD, "losscause:"),
    }
}

fn painted(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_warnings_are_coloured_and_nothing_else() {
        let text = "12.5 ✓  13 (✗)\nwarning: few losses\nplain: text";
        let expected = "12.5 \x1b[32m✓\x1b[0m  13 (\x1b[31m✗\x1b[0m)\n\x1b[33mwarning\x1b[0m: few losses\nplain: text";
        assert_eq!(coloured(text), expected);
        assert_eq!(
            anstream::adapter::strip_str(&coloured(text)).to_string(),
            text,
            "the text is the same"
        );
    }
}
