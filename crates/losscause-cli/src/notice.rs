//! What is told beside the results, on standard error: progress and a closing line. `--quiet`
//! silences it.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use losscause_study::tools::plain::plain;

static QUIET: AtomicBool = AtomicBool::new(false);

/// Whether nothing is told from now on.
pub(crate) fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether nothing is told.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Tells a line.
pub(crate) fn print(line: &str) {
    if !is_quiet() {
        told(line);
    }
}

/// Tells a line, also with `--quiet`.
pub(crate) fn told(line: &str) {
    // A closed standard error must not turn a success into a failure.
    let _ = writeln!(io::stderr(), "{}", plain(line));
}
