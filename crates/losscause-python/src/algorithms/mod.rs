//! Algorithms that a user wrote in Python, as entries of the registry.
//!
//! A class has `observe` and `judge`, and may have `on_loss` and `needs`. Every flow has an object of its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use losscause::registry::{Info, Parameters, Registry};
use losscause::{AnyAlgorithm, ConfigError, End, Needs};
use losscause_study::error::unknown;
use pyo3::prelude::*;
use pyo3::types::PyDict;

mod failures;
mod instance;
mod views;

pub(crate) use failures::Failures;
use instance::Instance;
pub(crate) use views::{Loss, Observation, numbers};

use crate::error::{Failure, about};
use crate::input::kind;

/// `base`, and the classes of `given` by their names. What their methods raise is kept in `failures`.
pub(crate) fn added(base: Registry, given: &Bound<'_, PyDict>, failures: &Failures) -> Result<Registry, Failure> {
    given.iter().try_fold(base, |registry, (name, class)| {
        Ok(registry.with(Factory::new(&name.extract::<String>()?, &class, failures)?)?)
    })
}

/// What makes the objects of one algorithm: a class, or anything else that can be called without arguments.
#[derive(Clone)]
struct Factory {
    info: &'static Info,
    class: Arc<Py<PyAny>>,
    needs: Needs,
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
        if !has("observe") {
            let renamed = ["on_arrival", "on_ack"].into_iter().find(|method| has(method));
            let problem = renamed.map_or_else(
                || "has no method observe, expected observe(self, observation)".to_owned(),
                |method| format!("has {method}, which is observe(self, observation) now"),
            );
            return Err(refused(problem));
        }
        if !has("judge") {
            return Err(refused("has no method judge, expected judge(self, loss)".to_owned()));
        }
        let needs = needs(&object).map_err(refused)?;
        Ok(Self { info: info(name), class: Arc::new(class.clone().unbind()), needs, failures: failures.clone() })
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
    let named: Vec<String> =
        named.extract().map_err(|_| format!("needs: is {}, expected a list of {}", kind(&named), NAMES.join(", ")))?;
    named.iter().try_fold(Needs::NONE, |needs, name| match name.as_str() {
        "delay" => Ok(needs.with_delay()),
        "spacing" => Ok(needs.with_spacing()),
        "gap_size" => Ok(needs.with_gap_size()),
        "acks" => Ok(needs.with_acks()),
        "cwnd" => Ok(needs.with_cwnd()),
        other => Err(format!("needs: the input {}", unknown(other, &NAMES))),
    })
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
