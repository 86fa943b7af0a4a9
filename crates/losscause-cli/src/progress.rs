//! Progress on standard error: a bar with the time left on a terminal, plain lines otherwise.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::notice;

/// Shows the progress of a long task.
pub(crate) struct Progress {
    what: String,
    total: usize,
    begun: Instant,
    latest: Option<String>,
    view: View,
}

enum View {
    Bar(ProgressBar),
    Lines { next: Instant },
}

/// A bar shows shares of the work in this many parts.
const BAR: u64 = 10_000;
const TEMPLATE: &str = "{bar:30} {elapsed}, {wide_msg}";

/// `120 of 500 runs done, 31 s left`; a dash for a time that is not known yet.
fn message(done: usize, total: usize, what: &str, left: Option<Duration>) -> String {
    let left = match left.map(|left| left.as_secs_f64().ceil()) {
        None => "–".to_owned(),
        Some(seconds) if seconds < 120.0 => format!("{seconds:.0} s"),
        Some(seconds) => format!("{:.0} min", seconds / 60.0),
    };
    format!("{done} of {total} {what} done, {left} left")
}

/// The time left after `elapsed` for this share of the work; none before there is a basis: a
/// hundredth of the work, and a second.
fn time_left(elapsed: Duration, share: f64) -> Option<Duration> {
    let has_basis = share >= 0.01 && elapsed >= Duration::from_secs(1);
    has_basis.then(|| elapsed.mul_f64((1.0 - share.min(1.0)) / share))
}

/// The time between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(5);

impl Progress {
    /// Starts a task of `total` steps; `what` names a step in the plural ("runs"). A task of none, such
    /// as to read less than a mebibyte, shows no bar.
    pub(crate) fn new(what: &str, total: usize) -> Self {
        let view = if total > 0 && io::stderr().is_terminal() && !notice::is_quiet() {
            let style = ProgressStyle::with_template(TEMPLATE)
                .expect("the template is a constant that a test renders");
            let bar =
                ProgressBar::new(BAR).with_style(style).with_message(message(0, total, what, None));
            bar.enable_steady_tick(Duration::from_millis(200));
            View::Bar(bar)
        } else {
            View::Lines { next: Instant::now() + LINE_EVERY }
        };
        Self { what: what.to_owned(), total, begun: Instant::now(), latest: None, view }
    }

    /// What was found last: shown with the progress from now on.
    pub(crate) fn found(&mut self, what: String) {
        self.latest = Some(what);
    }

    /// `done` of the steps, which take about the same time, are done.
    pub(crate) fn set(&mut self, done: usize) {
        self.set_weighed(done, done as f64 / self.total.max(1) as f64);
    }

    /// `done` of the steps are done, which are this share of the work, 0 to 1.
    pub(crate) fn set_weighed(&mut self, done: usize, share: f64) {
        let left = time_left(self.begun.elapsed(), share);
        let mut text = message(done, self.total, &self.what, left);
        if let Some(latest) = &self.latest {
            text = format!("{text}; {latest}");
        }
        match &mut self.view {
            View::Bar(bar) => {
                bar.set_position((share * BAR as f64) as u64);
                bar.set_message(text);
            }
            View::Lines { next } => {
                if Instant::now() >= *next {
                    *next = Instant::now() + LINE_EVERY;
                    notice::print(&text);
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
        (0..=2).for_each(|done| progress.set(done));
        progress.found("table2: 3 of 4 numbers within tolerance".to_owned());
        progress.set(3);
    }

    #[test]
    fn the_bar_template_is_well_formed() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }

    #[test]
    fn the_time_left_is_a_dash_without_a_basis_and_weighs_the_steps() {
        let seconds = Duration::from_secs;
        assert_eq!(time_left(seconds(5), 0.001), None);
        assert_eq!(time_left(Duration::from_millis(20), 0.5), None);
        // One of four steps that is three quarters of the work took 30 s: 10 s are left, not 90.
        assert_eq!(time_left(seconds(30), 0.75), Some(seconds(10)));
        assert_eq!(time_left(seconds(30), 1.0), Some(seconds(0)));
        assert_eq!(message(0, 4, "runs", None), "0 of 4 runs done, – left");
        assert_eq!(message(1, 4, "runs", Some(seconds(10))), "1 of 4 runs done, 10 s left");
        assert_eq!(message(1, 4, "runs", Some(seconds(600))), "1 of 4 runs done, 10 min left");
    }
}
