//! What a refusal looks like.

use std::process::Output;

/// Exit status 2, nothing on standard output, one sentence.
pub(crate) fn refuses(output: &Output, sentence: &str) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(output.stdout.is_empty());
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains(sentence), "{error} has no \"{sentence}\"");
}
