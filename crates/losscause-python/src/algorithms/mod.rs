//! Algorithms and congestion controls that a user wrote in Python, as entries of the registry.
//!
//! A class with `on_arrival` and `judge` runs at receivers and at senders; one with `on_ack` and
//! `judge` runs at senders. One without `judge`, but with `on_timeout`, is a congestion control. Every flow has an object
//! of its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use losscause::registry::{Info, Parameters};
use losscause::{AnyAlgorithm, ConfigError, End};
use losscause_study::Registry;
use pyo3::prelude::*;
use pyo3::types::PyDict;

mod control;
mod failures;
mod instance;
mod views;

pub(crate) use control::{AckEvent, LossEvent, TimeoutEvent, Window};
pub(crate) use failures::Failures;
use instance::Instance;
pub(crate) use views::{AckSample, Arrival, DeclaredLoss, Loss, numbers};

use crate::error::{Failure, about};
use crate::input::kind;

/// `base`, and the classes of `given` by their names. What their methods raise is kept in `failures`.
pub(crate) fn added(base: Registry, given: &Bound<'_, PyDict>, failures: &Failures) -> Result<Registry, Failure> {
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
        Ok(Self { name, class, object: class.call0()? })
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
            Some(missing) => {
                Err(refused(self.name, &format!("has on_timeout but no method {missing}, expected all of a TCP")))
            }
        }
    }
}

fn refused(name: &str, problem: &str) -> Failure {
    Failure::Python(about(format!("the algorithm \"{name}\": {problem}"), None, Some("algorithms")))
}

/// The method with which an algorithm takes in what it observes, by the end for which it is written.
fn observes(end: End) -> &'static str {
    match end {
        End::Receiver => "on_arrival",
        End::Sender => "on_ack",
    }
}

/// What makes the objects of one algorithm: a class, or anything else that can be called without arguments.
#[derive(Clone)]
struct Factory {
    info: &'static Info,
    class: Arc<Py<PyAny>>,
    end: End,
    failures: Failures,
}

impl Factory {
    fn new(made: &Made<'_, '_>, failures: &Failures) -> Result<Self, Failure> {
        let name = made.name;
        let end = match (made.has(observes(End::Receiver)), made.has(observes(End::Sender))) {
            (true, false) => End::Receiver,
            (false, true) => End::Sender,
            (true, true) => return Err(refused(name, "has on_arrival and on_ack, expected one of them")),
            (false, false) => {
                return Err(refused(name, "has neither on_arrival nor on_ack, expected one of these methods"));
            }
        };
        if !made.has("judge") {
            return Err(refused(name, "has no method judge, expected judge(self, loss)"));
        }
        let class = Arc::new(made.class.clone().unbind());
        Ok(Self { info: info(name), class, end, failures: failures.clone() })
    }
}

impl Parameters for Factory {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn build(&self, end: End) -> Result<AnyAlgorithm, ConfigError> {
        if self.end == End::Sender {
            end.must_be_sender(self.info)?;
        }
        Ok(AnyAlgorithm::boxed(Instance::of(self)))
    }
}

/// The description of an algorithm of that name. The registry keeps names for ever, so each is made once.
fn info(name: &str) -> &'static Info {
    static MADE: Mutex<BTreeMap<String, &'static Info>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(name.to_owned()).or_insert_with(|| {
        let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
        Box::leak(Box::new(Info::new(name, "an algorithm written in Python").described_in("none", "none")))
    })
}
