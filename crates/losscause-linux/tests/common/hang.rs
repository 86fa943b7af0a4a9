//! Ends a test that hangs, with a sentence. What a test waits for must happen, however slow the
//! machine is; when it happens is no part of any claim, because a machine that is busy with other
//! work takes its time.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::process::{Child, ExitStatus, Output};
use std::thread;
use std::time::{Duration, Instant};

/// All that is waited for takes seconds on an idle machine. A run that a test stops is planned to
/// take far longer than this, so that one which goes on to its planned end hangs.
const HANGS_AFTER: Duration = Duration::from_secs(180);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until `look` finds something.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < HANGS_AFTER, "the test hangs: it waits until {what}");
        thread::sleep(PAUSE);
    }
}

/// Waits until `is_so` is true.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    wait_for(what, || is_so().then_some(()));
}

/// Waits for the end of a program, which may print no more than a pipe holds.
pub(crate) fn status(program: &str, child: &mut Child) -> ExitStatus {
    wait_for(&format!("{program} ends"), || child.try_wait().unwrap())
}

/// Waits for the end of a program, and returns what it has printed.
pub(crate) fn output(program: &str, mut child: Child) -> Output {
    status(program, &mut child);
    child.wait_with_output().unwrap()
}

/// Runs something that may hang.
pub(crate) fn within<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let running = thread::spawn(run);
    wait_until(what, || running.is_finished());
    running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
