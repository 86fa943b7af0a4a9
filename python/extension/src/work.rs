//! Runs without the interpreter's lock: Ctrl-C ends them, and a function in Python is told of their
//! progress.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use losscause_study::Stop;
use pyo3::prelude::*;

use crate::error::unexpected;

/// Time between two looks for signals.
const TICK: Duration = Duration::from_millis(50);

/// Looks after a run on the calling thread, without the lock: asks for signals and tells of
/// progress every [`TICK`].
pub(crate) struct Watch<'a> {
    stop: &'a Stop,
    tell: Option<Py<PyAny>>,
    last: Instant,
    raised: Option<PyErr>,
}

impl<'a> Watch<'a> {
    /// The run ends when `stop` is requested. `tell(done, all)` is called now and then.
    pub(crate) fn new(stop: &'a Stop, tell: Option<&Bound<'_, PyAny>>) -> Self {
        Self {
            stop,
            tell: tell.map(|tell| tell.clone().unbind()),
            last: Instant::now(),
            raised: None,
        }
    }

    /// Called by the run as often as it likes; `Break` ends it.
    pub(crate) fn look(&mut self, done: usize, all: usize) -> ControlFlow<()> {
        if self.last.elapsed() >= TICK {
            self.last = Instant::now();
            let told = Python::attach(|py| {
                look(py, self.tell.as_ref().map(|tell| tell.bind(py)), done, all)
            });
            self.raised = self.raised.take().or(told.err());
        }
        if self.raised.is_some() || self.stop.is_requested() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// What a signal or the function of progress raised.
    pub(crate) fn finish(self) -> PyResult<()> {
        self.raised.map_or(Ok(()), Err)
    }
}

/// How much of the work is done.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    done: AtomicUsize,
    all: AtomicUsize,
}

impl Progress {
    /// `done` of `all` parts are done.
    pub(crate) fn set(&self, done: usize, all: usize) {
        self.all.store(all, Ordering::Relaxed);
        self.done.store(done, Ordering::Relaxed);
    }
}

/// Does `work` on another thread while this one, without the lock, looks for signals and tells
/// `tell(done, all)` of the progress. A signal requests `stop`, on which the work should end soon.
pub(crate) fn elsewhere<T: Send>(
    py: Python<'_>,
    stop: &Stop,
    tell: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Progress) -> T + Send,
) -> PyResult<T> {
    let progress = Progress::default();
    thread::scope(|scope| {
        let (sender, mut receiver) = mpsc::channel();
        let worker = thread::Builder::new().spawn_scoped(scope, || {
            let sender = sender;
            // The receiver waits until the end.
            _ = sender.send(work(&progress));
        })?;
        let mut raised = None;
        loop {
            let waited;
            (receiver, waited) = py.detach(move || {
                let waited = receiver.recv_timeout(TICK);
                (receiver, waited)
            });
            match waited {
                Ok(result) => return raised.map_or(Ok(result), Err),
                // The sender is gone without a result: the work panicked.
                Err(RecvTimeoutError::Disconnected) => match py.detach(|| worker.join()) {
                    Err(panic) => return Err(unexpected(&*panic)),
                    Ok(()) => unreachable!("work that ends sends its result"),
                },
                Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
                Err(RecvTimeoutError::Timeout) => {
                    let done = progress.done.load(Ordering::Relaxed);
                    let all = progress.all.load(Ordering::Relaxed);
                    if let Err(error) = look(py, tell, done, all) {
                        raised = Some(error);
                        stop.request();
                    }
                }
            }
        }
    })
}

fn look(py: Python<'_>, tell: Option<&Bound<'_, PyAny>>, done: usize, all: usize) -> PyResult<()> {
    py.check_signals()?;
    tell.map_or(Ok(()), |tell| tell.call1((done, all)).map(|_| ()))
}
