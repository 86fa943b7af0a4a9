//! Algorithms and congestion controls that a user wrote in Python, as entries of the registry.
//!
//! A class has `observe` and `judge`, and may have `on_loss` and `needs`. One without `judge`, but
//! with `on_timeout`, is a congestion control. Every flow has an object of its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use losscause::registry::{Info, Parameters};
use losscause::{AnyAlgorithm, ConfigError, End, Needs, Verdict};
use losscause_study::Registry;
use losscause_study::error::unknown;
use pyo3::prelude::*;
use pyo3::types::PyDict;

mod control;
mod failures;
mod instance;
mod views;

pub(crate) use control::{AckEvent, LossEvent, TimeoutEvent, Window};
pub(crate) use failures::Failures;
use instance::Instance;
pub(crate) use views::{Loss, Observation, numbers};

use crate::error::{Failure, about};
use crate::input::kind;

/// `base`, and the classes of `given` by their names. What their methods raise is kept in
/// `failures`.
pub(crate) fn added(
    base: Registry,
    given: &Bound<'_, PyDict>,
    failures: &Failures,
) -> Result<Registry, Failure> {
    given.iter().try_fold(base, |registry, (name, class)| {
        let name: String = name.extract()?;
        let made = Made::of(&name, &class)?;
        Ok(match made.is_control()? {
            true => registry.with_tcp(control::own(&name, &class, failures))?,
            false => registry.with(Factory::new(&made, failures)?)?,
        })
    })
}

/// A class, and one object of it that shows what it can do.
struct Made<'a, 'py> {
    name: &'a str,
    class: &'a Bound<'py, PyAny>,
    object: Bound<'py, PyAny>,
}

impl<'a, 'py> Made<'a, 'py> {
    fn of(name: &'a str, class: &'a Bound<'py, PyAny>) -> Result<Self, Failure> {
        if !class.is_callable() {
            return Err(refused(name, &format!("is {}, expected a class", kind(class))));
        }
        let object = class.call0().map_err(|cause| {
            let py = class.py();
            let problem = format!("cannot be made without arguments: {}", cause.value(py));
            let error =
                about(format!("the algorithm \"{name}\": {problem}"), None, Some("algorithms"));
            error.set_cause(py, Some(cause));
            error
        })?;
        Ok(Self { name, class, object })
    }

    fn has(&self, method: &str) -> bool {
        self.object.getattr(method).is_ok_and(|found| found.is_callable())
    }

    /// Whether it is a congestion control. Refuses one that lacks a method.
    fn is_control(&self) -> Result<bool, Failure> {
        if !self.has("on_timeout") || self.has("judge") {
            return Ok(false);
        }
        match control::NEEDED.iter().find(|method| !self.has(method)) {
            None => Ok(true),
            Some(missing) => Err(refused(
                self.name,
                &format!("has on_timeout but no method {missing}, expected all of a TCP"),
            )),
        }
    }
}

fn refused(name: &str, problem: &str) -> Failure {
    Failure::Python(about(format!("the algorithm \"{name}\": {problem}"), None, Some("algorithms")))
}

/// What makes the objects of one algorithm: a class, or anything else that can be called without
/// arguments.
#[derive(Clone)]
struct Factory {
    info: &'static Info,
    class: Arc<Py<PyAny>>,
    needs: Needs,
    failures: Failures,
}

impl Factory {
    fn new(made: &Made<'_, '_>, failures: &Failures) -> Result<Self, Failure> {
        let name = made.name;
        if !made.has("observe") {
            let renamed = ["on_arrival", "on_ack"].into_iter().find(|method| made.has(method));
            let problem = renamed.map_or_else(
                || "has no method observe, expected observe(self, observation)".to_owned(),
                |method| format!("has {method}, which is observe(self, observation) now"),
            );
            return Err(refused(name, &problem));
        }
        if !made.has("judge") {
            return Err(refused(name, "has no method judge, expected judge(self, loss)"));
        }
        let needs = needs(&made.object).map_err(|problem| refused(name, &problem))?;
        let class = Arc::new(made.class.clone().unbind());
        Ok(Self { info: info(name), class, needs, failures: failures.clone() })
    }
}

impl Parameters for Factory {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn build(&self, end: End) -> Result<AnyAlgorithm, ConfigError> {
        if self.needs.acks {
            end.must_be_sender(self.info)?;
        }
        Ok(AnyAlgorithm::boxed(Instance::of(self)))
    }
}

/// The inputs that an object names in `needs`; none if it names none. The error says what is wrong.
fn needs(object: &Bound<'_, PyAny>) -> Result<Needs, String> {
    const NAMES: [&str; 5] = ["delay", "spacing", "gap_size", "acks", "cwnd"];
    let Ok(named) = object.getattr("needs") else { return Ok(Needs::NONE) };
    let named: Vec<String> = named.extract().map_err(|_| {
        format!("needs: is {}, expected a list of {}", kind(&named), NAMES.join(", "))
    })?;
    named.iter().try_fold(Needs::NONE, |needs, name| match name.as_str() {
        "delay" => Ok(needs.with_delay()),
        "spacing" => Ok(needs.with_spacing()),
        "gap_size" => Ok(needs.with_gap_size()),
        "acks" => Ok(needs.with_acks()),
        "cwnd" => Ok(needs.with_cwnd()),
        other => Err(format!("needs: the input {}", unknown(other, &NAMES))),
    })
}

/// A copy of a user's object that shares nothing with it.
fn deep_copy<'py>(py: Python<'py>, object: &Py<PyAny>) -> PyResult<Bound<'py, PyAny>> {
    py.import("copy")?.call_method1("deepcopy", (object,))
}

/// The word for a verdict in Python.
pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Congestion => "congestion",
        Verdict::Wireless => "wireless",
        Verdict::Undecided => "undecided",
    }
}

/// The description of an algorithm of that name. The registry keeps names for ever, so each is made
/// once.
fn info(name: &str) -> &'static Info {
    static MADE: Mutex<BTreeMap<String, &'static Info>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(name.to_owned()).or_insert_with(|| {
        let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
        Box::leak(Box::new(
            Info::new(name, "an algorithm written in Python").described_in("none", "none"),
        ))
    })
}
