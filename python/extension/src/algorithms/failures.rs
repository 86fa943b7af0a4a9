//! What a user's algorithm raises, kept until the run has stopped. The simulator's traits cannot
//! fail, so an exception requests the stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use losscause::Time;
use losscause_study::Stop;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::error::{about, is_ours};

/// The first exception of any algorithm. Copies share it.
#[derive(Clone, Default)]
pub(crate) struct Failures(Arc<Shared>);

#[derive(Default)]
struct Shared {
    is_any: AtomicBool,
    first: Mutex<Option<Raised>>,
    stop: Stop,
}

struct Raised {
    algorithm: &'static str,
    method: &'static str,
    at: Time,
    error: PyErr,
}

impl Failures {
    /// What the first exception stops.
    pub(crate) fn stop(&self) -> &Stop {
        &self.0.stop
    }

    /// Whether any method has raised. Then no other is called.
    pub(super) fn is_any(&self) -> bool {
        self.0.is_any.load(Ordering::Relaxed)
    }

    /// Keeps what `algorithm.method` raised at the time `at`, if it is the first, and stops the
    /// run.
    pub(super) fn keep(
        &self,
        algorithm: &'static str,
        method: &'static str,
        at: Time,
        error: PyErr,
    ) {
        let mut raised = Some(Raised { algorithm, method, at, error });
        {
            let mut first = self.0.first.lock().unwrap_or_else(PoisonError::into_inner);
            if first.is_none() {
                *first = raised.take();
            }
        }
        // Another one is dropped without the lock, because that may call Python.
        drop(raised);
        self.0.is_any.store(true, Ordering::Relaxed);
        self.0.stop.request();
    }

    /// The first exception, which is then forgotten: one of ours, caused by the user's, that names
    /// the place; `file`, if it is not empty, and `place` begin the sentence.
    pub(crate) fn take(&self, py: Python<'_>, file: &str, place: &str) -> Option<PyErr> {
        let raised = self.0.first.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        self.0.is_any.store(false, Ordering::Relaxed);
        let Raised { algorithm, method, at, error } = raised;
        // Ctrl-C and exit() stay what they are.
        if !error.is_instance_of::<PyException>(py) {
            return Some(error);
        }
        let said = error.value(py).to_string();
        let what = match is_ours(&error, py) {
            true => said,
            false => format!(
                "raised {}: {said}",
                error.get_type(py).name().map_or_else(|_| "an exception".into(), |n| n.to_string())
            ),
        };
        let at = at.as_secs_f64();
        let (of_file, file) =
            if file.is_empty() { (String::new(), None) } else { (format!("{file}: "), Some(file)) };
        let found =
            about(format!("{of_file}{place}at {at:.6} s: {algorithm}.{method} {what}"), file, None);
        found.set_cause(py, Some(error));
        Some(found)
    }
}
