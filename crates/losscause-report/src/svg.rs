//! Lines of SVG and their texts.

use std::fmt::Write;

/// Adds a line.
pub(super) fn line(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("a string takes every text");
}

/// A text that cannot break a drawing or a page.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_the_drawing() {
        assert_eq!(escape("a<b & \"c\""), "a&lt;b &amp; &quot;c&quot;");
    }
}
