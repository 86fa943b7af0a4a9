//! What `losscause watch` says of the transfers whose captures are analysed: the stack
//! `watched-captures`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use losscause::diagnosis::Diagnosis;
use losscause_laboratory::stack::{Attempt, Stack};
use losscause_linux::watch::{Filter, Watch, WatchError};
use losscause_study::{Experiment, Metric, RunError, Stop};

use super::captures;
use super::ends::PORT;
use crate::captures::stack::{of_diagnoses, said};
use crate::captures::{CaptureStack, Scored, Told};
use crate::live::LiveError;

/// The captures of the kernel's transfers, and a watch of each. Beside the metrics of
/// `kernel-captures` it has `watch.right`, `watch.wrong` and so on, and `watch.behind`: flows whose
/// cause the analysis names and the watch does not, percent.
pub(crate) struct WatchedStack(CaptureStack);

/// How often the watch looks whether the transfer is over.
const PAUSE: Duration = Duration::from_millis(100);

impl WatchedStack {
    /// Looks whether this machine allows the runs.
    ///
    /// # Errors
    /// It lacks root or TUN.
    pub(crate) fn open() -> Result<Self, RunError> {
        Ok(Self(captures::stack()?))
    }

    fn metrics_of(&self, made: Option<(&Experiment, &Scored, Option<Diagnosis>)>) -> Vec<Metric> {
        let mut metrics =
            self.0.metrics_of(made.map(|(experiment, scored, _)| (experiment, scored)));
        let flow = made.and_then(|(experiment, scored, diagnosis)| {
            let told = scored.sender.diagnoses.first()?;
            let watched = Told { diagnosis, ..told.clone() };
            Some((said(experiment, told), said(experiment, &watched)))
        });
        let watched: Vec<_> = flow.iter().map(|(_, watched)| watched.clone()).collect();
        metrics.extend(of_diagnoses("watch.", &watched));
        let is_behind = flow.map(|(analysed, watched)| analysed.is_right() && !watched.is_right());
        let behind = is_behind.map(|is_behind| if is_behind { 100.0 } else { 0.0 });
        metrics.push(Metric::new("watch.behind".to_owned(), "percent", behind));
        metrics
    }
}

impl Stack for WatchedStack {
    fn identity(&self) -> String {
        self.0.identity()
    }

    fn metrics(&self, _: &Experiment) -> Result<Vec<Metric>, RunError> {
        Ok(self.metrics_of(None))
    }

    fn run(&self, experiment: &Experiment, seed: u64, stop: &Stop) -> Result<Attempt, RunError> {
        let over = &AtomicBool::new(false);
        let (attempt, watched) = thread::scope(|scope| {
            let (ready, begun) = channel();
            let watching = scope.spawn(move || watch(over, &ready));
            // A watch that fails hangs up; its own error says why.
            let attempt = begun.recv().ok().map(|()| self.0.attempt(experiment, seed, stop));
            over.store(true, Ordering::Relaxed);
            (attempt, watching.join())
        });
        let watched = watched.map_err(|_| LiveError::Thread)?.map_err(|error| RunError::Stack {
            problem: error.to_string(),
            is_bad_input: error.is_bad_input(),
        })?;
        Ok(match attempt.ok_or(LiveError::Thread)?? {
            Ok(scored) => Attempt::Made(self.metrics_of(Some((experiment, &scored, watched)))),
            Err(why) => Attempt::Spoiled(why),
        })
    }

    /// Only one process can watch, and it sees all connections.
    fn is_alone(&self) -> bool {
        true
    }
}

/// Watches until the transfer is over. What is said of the connection that carried most.
fn watch(over: &AtomicBool, ready: &Sender<()>) -> Result<Option<Diagnosis>, WatchError> {
    let mut filter = Filter::default();
    filter.add(&format!("port={PORT}"))?;
    let mut watch = Watch::begin(&filter)?;
    // The other end waits for this.
    let _ = ready.send(());
    while !over.load(Ordering::Relaxed) {
        watch.collect(PAUSE)?;
    }
    let snapshot = watch.last_snapshot()?;
    let own = snapshot.connections.iter().max_by_key(|report| report.acked_bytes);
    Ok(own.and_then(|report| report.diagnosis.as_ref()).map(|found| found.diagnosis))
}
