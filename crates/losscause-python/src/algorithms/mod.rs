//! Algorithms that a user wrote in Python, as entries of the registry.
//!
//! A class with `on_arrival` and `judge` runs at receivers and at senders; one with `on_ack` and
//! `judge` runs at senders. Every flow has an object of its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use losscause::registry::{Info, Parameters};
use losscause::{AnyAlgorithm, ConfigError, End};
use losscause_study::Registry;
use pyo3::prelude::*;
use pyo3::types::PyDict;

mod failures;
mod instance;
mod views;

pub(crate) use failures::Failures;
use instance::Instance;
pub(crate) use views::{AckSample, Arrival, DeclaredLoss, Loss, numbers};

use crate::error::{Failure, about};
use crate::input::kind;

/// `base`, and the classes of `given` by their names. What their methods raise is kept in `failures`.
pub(crate) fn added(base: Registry, given: &Bound<'_, PyDict>, failures: &Failures) -> Result<Registry, Failure> {
    given.iter().try_fold(base, |registry, (name, class)| {
        Ok(registry.with(Factory::new(&name.extract::<String>()?, &class, failures)?)?)
    })
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
    /// Makes one object to see what it can do.
    fn new(name: &str, class: &Bound<'_, PyAny>, failures: &Failures) -> Result<Self, Failure> {
        let refused = |problem: String| {
            Failure::Python(about(format!("the algorithm \"{name}\": {problem}"), None, Some("algorithms")))
        };
        if !class.is_callable() {
            return Err(refused(format!("is {}, expected a class", kind(class))));
        }
        let object = class.call0()?;
        let has = |method| object.getattr(method).is_ok_and(|found| found.is_callable());
        let end = match (has(observes(End::Receiver)), has(observes(End::Sender))) {
            (true, false) => End::Receiver,
            (false, true) => End::Sender,
            (true, true) => return Err(refused("has on_arrival and on_ack, expected one of them".to_owned())),
            (false, false) => {
                return Err(refused("has neither on_arrival nor on_ack, expected one of these methods".to_owned()));
            }
        };
        if !has("judge") {
            return Err(refused("has no method judge, expected judge(self, loss)".to_owned()));
        }
        Ok(Self { info: info(name), class: Arc::new(class.clone().unbind()), end, failures: failures.clone() })
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
