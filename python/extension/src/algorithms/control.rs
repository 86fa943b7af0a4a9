//! Congestion controls that a user wrote in Python: a class with `on_ack`, `on_loss` and
//! `on_timeout`.

use std::fmt;
use std::sync::Arc;

use losscause::{Span, Time};
use losscause_sim::tcp::{self, Answer, CongestionControl, OwnControl};
use pyo3::prelude::*;

use super::{Failures, deep_copy, info, word};
use crate::error::sentence;

/// A method of the class.
#[derive(Clone, Copy)]
enum Method {
    Open,
    Ack,
    DupAck,
    Mark,
    Loss,
    Timeout,
}

impl Method {
    const ALL: [Self; 6] =
        [Self::Open, Self::Ack, Self::DupAck, Self::Mark, Self::Loss, Self::Timeout];

    fn name(self) -> &'static str {
        match self {
            Self::Open => "on_open",
            Self::Ack => "on_ack",
            Self::DupAck => "on_dup_ack",
            Self::Mark => "on_mark",
            Self::Loss => "on_loss",
            Self::Timeout => "on_timeout",
        }
    }
}

/// The methods that a class of a congestion control has, beside its own.
pub(super) const NEEDED: [&str; 3] = ["on_ack", "on_loss", "on_timeout"];

/// The congestion control `name`, each of whose connections has an object of `class`.
///
/// What makes the objects is never freed, because a connection's settings are copied freely: some
/// bytes per call of a verb.
pub(super) fn own(name: &str, class: &Bound<'_, PyAny>, failures: &Failures) -> OwnControl {
    let name = info(name).name;
    let factory =
        Arc::new(Factory { name, class: class.clone().unbind(), failures: failures.clone() });
    let made = move |_: &tcp::Config| Control { factory: factory.clone(), object: None };
    OwnControl::new(name, "A congestion control written in Python.", Box::leak(Box::new(made)))
}

struct Factory {
    name: &'static str,
    class: Py<PyAny>,
    failures: Failures,
}

/// The congestion control of one connection. Its object is made when it is first needed.
struct Control {
    factory: Arc<Factory>,
    object: Option<Object>,
}

/// An object with its methods, looked up once.
struct Object {
    itself: Py<PyAny>,
    methods: [Option<Py<PyAny>>; Method::ALL.len()],
}

impl Object {
    fn new(itself: Bound<'_, PyAny>) -> PyResult<Self> {
        let mut methods = [const { None }; Method::ALL.len()];
        for method in Method::ALL {
            methods[method as usize] = itself.getattr_opt(method.name())?.map(Bound::unbind);
        }
        Ok(Self { itself: itself.unbind(), methods })
    }
}

impl Control {
    /// The method, if the object has it. None if something has raised.
    fn method(&mut self, py: Python<'_>, method: Method, at: Time) -> Option<Py<PyAny>> {
        let Factory { name, class, failures } = &*self.factory;
        if failures.is_any() {
            return None;
        }
        if self.object.is_none() {
            let made = class.call0(py).and_then(|made| Object::new(made.into_bound(py)));
            self.object = made.map_err(|error| failures.keep(name, "__init__", at, error)).ok();
        }
        self.object.as_ref()?.methods[method as usize].as_ref().map(|found| found.clone_ref(py))
    }

    /// Calls a method with the window and what `event` makes. Returns whether the window fell, or
    /// None if the object has no such method.
    fn call<E: for<'py> IntoPyObject<'py>>(
        &mut self,
        method: Method,
        at: Time,
        window: &mut tcp::Window,
        event: E,
    ) -> Option<Answer> {
        Python::attach(|py| {
            let called = self.method(py, method, at)?;
            let outcome = (|| {
                let view = Py::new(py, Window::from(&*window))?;
                called.call1(py, (view.clone_ref(py), event))?;
                let Window { cwnd, ssthresh, .. } = *view.borrow(py);
                checked("cwnd", cwnd)?;
                checked("ssthresh", ssthresh)?;
                let cut = cwnd < window.cwnd || ssthresh < window.ssthresh;
                (window.cwnd, window.ssthresh) = (cwnd, ssthresh);
                Ok(if cut { Answer::Cut } else { Answer::Kept })
            })();
            let Factory { name, failures, .. } = &*self.factory;
            outcome.map_err(|error| failures.keep(name, method.name(), at, error)).ok()
        })
    }
}

fn checked(key: &str, pkts: f64) -> PyResult<()> {
    if pkts.is_finite() && pkts >= 1.0 {
        return Ok(());
    }
    Err(sentence(format!("left window.{key} at {pkts}, expected a number of packets, at least 1")))
}

impl CongestionControl for Control {
    fn name(&self) -> &'static str {
        self.factory.name
    }

    fn on_open(&mut self, window: &mut tcp::Window, initial_pkts: u32) {
        window.restart(initial_pkts);
        self.call(Method::Open, Time::ZERO, window, initial_pkts);
    }

    fn on_ack(&mut self, window: &mut tcp::Window, acked: &tcp::AckEvent) {
        self.call(Method::Ack, acked.at, window, AckEvent::from(acked));
    }

    fn on_dup_ack(&mut self, now: Time) {
        Python::attach(|py| {
            let Some(called) = self.method(py, Method::DupAck, now) else { return };
            let Factory { name, failures, .. } = &*self.factory;
            if let Err(error) = called.call1(py, (now.as_nanos(),)) {
                failures.keep(name, Method::DupAck.name(), now, error);
            }
        });
    }

    fn on_mark(&mut self, window: &mut tcp::Window, loss: &tcp::LossEvent) -> Answer {
        let answer = self.call(Method::Mark, loss.at, window, LossEvent::from(loss));
        answer.unwrap_or_else(|| self.on_loss(window, loss))
    }

    fn on_loss(&mut self, window: &mut tcp::Window, loss: &tcp::LossEvent) -> Answer {
        self.call(Method::Loss, loss.at, window, LossEvent::from(loss)).unwrap_or(Answer::Kept)
    }

    fn on_timeout(&mut self, window: &mut tcp::Window, timeout: &tcp::TimeoutEvent) {
        self.call(Method::Timeout, timeout.at, window, TimeoutEvent::from(timeout));
    }
}

impl Clone for Control {
    /// The copy of a run under way has a deep copy of the object.
    fn clone(&self) -> Self {
        let object = self.object.as_ref().and_then(|object| {
            Python::attach(|py| {
                let copied = deep_copy(py, &object.itself).and_then(Object::new);
                let Factory { name, failures, .. } = &*self.factory;
                copied.map_err(|error| failures.keep(name, "__deepcopy__", Time::ZERO, error)).ok()
            })
        });
        Self { factory: self.factory.clone(), object }
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("name", &self.factory.name).finish_non_exhaustive()
    }
}

/// The congestion window of a connection, packets, which a control sets.
#[pyclass(module = "losscause")]
#[derive(Clone, Copy)]
pub(crate) struct Window {
    /// The congestion window; finite, at least 1.
    #[pyo3(get, set)]
    cwnd: f64,
    /// The slow start threshold; finite, at least 1.
    #[pyo3(get, set)]
    ssthresh: f64,
    /// The receiver's window.
    #[pyo3(get)]
    max_pkts: u32,
}

#[pymethods]
impl Window {
    #[new]
    fn new(cwnd: f64, ssthresh: f64, max_pkts: u32) -> Self {
        Self { cwnd, ssthresh, max_pkts }
    }

    /// Of `flight_pkts` in flight, how many may still be in the network: at most the window.
    fn in_network(&self, flight_pkts: u64) -> u64 {
        let Self { cwnd, ssthresh, max_pkts } = *self;
        tcp::Window { cwnd, ssthresh, max_pkts }.in_network(flight_pkts)
    }

    fn __repr__(&self) -> String {
        format!("Window({}, {}, {})", self.cwnd, self.ssthresh, self.max_pkts)
    }
}

impl From<&tcp::Window> for Window {
    fn from(window: &tcp::Window) -> Self {
        Self { cwnd: window.cwnd, ssthresh: window.ssthresh, max_pkts: window.max_pkts }
    }
}

/// An ACK of new data, as a congestion control sees it.
#[pyclass(frozen, get_all, module = "losscause")]
pub(crate) struct AckEvent {
    /// When it arrived, nanoseconds.
    at_ns: i64,
    /// Packets that it acknowledges for the first time.
    newly_acked_pkts: u64,
    /// The round-trip time that it measures, nanoseconds, if it measures one.
    rtt_ns: Option<i64>,
    /// The smoothed round-trip time, nanoseconds, if known.
    srtt_ns: Option<i64>,
    /// Every packet below is acknowledged.
    una: u64,
    /// The next packet in sequence.
    next: u64,
    /// Whether the window may grow.
    may_grow: bool,
}

impl From<&tcp::AckEvent> for AckEvent {
    fn from(acked: &tcp::AckEvent) -> Self {
        Self {
            at_ns: acked.at.as_nanos(),
            newly_acked_pkts: acked.newly_acked_pkts,
            rtt_ns: acked.rtt.map(Span::as_nanos),
            srtt_ns: acked.srtt.map(Span::as_nanos),
            una: acked.una,
            next: acked.next,
            may_grow: acked.growth.is_due(),
        }
    }
}

/// A loss that a congestion control answers.
#[pyclass(frozen, get_all, module = "losscause")]
pub(crate) struct LossEvent {
    /// When it was detected, nanoseconds.
    at_ns: i64,
    /// Packets sent and not acknowledged.
    flight_pkts: u64,
    /// Why the packet was lost: "congestion", "wireless" or "undecided".
    verdict: &'static str,
}

impl From<&tcp::LossEvent> for LossEvent {
    fn from(loss: &tcp::LossEvent) -> Self {
        Self {
            at_ns: loss.at.as_nanos(),
            flight_pkts: loss.flight_pkts,
            verdict: word(loss.verdict),
        }
    }
}

/// The retransmission timer expired.
#[pyclass(frozen, get_all, module = "losscause")]
pub(crate) struct TimeoutEvent {
    /// When, nanoseconds.
    at_ns: i64,
    /// Packets in flight.
    flight_pkts: u64,
    /// Whether it follows another one for the same data, so that ssthresh stays.
    again: bool,
}

impl From<&tcp::TimeoutEvent> for TimeoutEvent {
    fn from(timeout: &tcp::TimeoutEvent) -> Self {
        Self {
            at_ns: timeout.at.as_nanos(),
            flight_pkts: timeout.flight_pkts,
            again: timeout.again,
        }
    }
}
