//! Progress on standard error: a bar with the time left on a terminal, plain lines otherwise.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Shows the progress of a long task.
pub(crate) struct Progress {
    what: String,
    total: usize,
    view: View,
}

enum View {
    Bar(ProgressBar),
    Lines { next: Instant },
}

/// The time between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(5);

impl Progress {
    /// Starts a task of `total` steps; `what` names a step in the plural ("runs").
    pub(crate) fn new(what: &str, total: usize) -> Self {
        let view = if io::stderr().is_terminal() {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}, {elapsed} gone, {eta} left")
                .expect("the template is a constant that a test renders");
            let bar = ProgressBar::new(total as u64).with_style(style).with_message(what.to_owned());
            bar.enable_steady_tick(Duration::from_millis(200));
            View::Bar(bar)
        } else {
            View::Lines { next: Instant::now() + LINE_EVERY }
        };
        Self { what: what.to_owned(), total, view }
    }

    /// `done` of the steps are done.
    pub(crate) fn set(&mut self, done: usize) {
        match &mut self.view {
            View::Bar(bar) => bar.set_position(done as u64),
            View::Lines { next } => {
                if Instant::now() >= *next {
                    *next = Instant::now() + LINE_EVERY;
                    // Progress is optional: a closed standard error must not end the work.
                    let _ = writeln!(io::stderr(), "{done} of {} {} done", self.total, self.what);
                }
            }
        }
    }

    /// Hides the bar while `write` writes to the terminal.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.view {
            View::Bar(bar) => bar.suspend(write),
            View::Lines { .. } => write(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let View::Bar(bar) = &self.view {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_accepts_every_step_without_a_terminal() {
        let mut progress = Progress::new("runs", 3);
        (0..=3).for_each(|done| progress.set(done));
    }

    #[test]
    fn the_bar_template_is_well_formed() {
        assert!(ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}, {elapsed} gone, {eta} left").is_ok());
    }
}
