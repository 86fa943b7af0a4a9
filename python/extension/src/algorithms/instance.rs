//! One object of a user's class: the state of the algorithm of one flow.

use std::sync::OnceLock;

use losscause::{Algorithm, Input, Judgement, Needs, Time, Verdict};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::{Factory, Loss, Observation, deep_copy};
use crate::error::sentence;
use crate::input::kind;

/// An algorithm in Python. Its object is made when it is first needed; none if that failed.
pub(super) struct Instance {
    factory: Factory,
    object: OnceLock<Option<Object>>,
}

/// An object with its methods, looked up once.
struct Object {
    itself: Py<PyAny>,
    observe: Py<PyAny>,
    judge: Py<PyAny>,
    /// Which it may have or not.
    on_loss: Option<Py<PyAny>>,
}

impl Instance {
    pub(super) fn of(factory: &Factory) -> Self {
        Self { factory: factory.clone(), object: OnceLock::new() }
    }

    /// Calls a method, unless one has raised before; none if it raises now.
    fn call<R>(
        &self,
        method: &'static str,
        at: Time,
        call: impl FnOnce(Python<'_>, &Object) -> PyResult<R>,
    ) -> Option<R> {
        let Factory { failures, info, .. } = &self.factory;
        if failures.is_any() {
            return None;
        }
        Python::attach(|py| {
            let object = self.object.get_or_init(|| {
                let made =
                    self.factory.class.call0(py).and_then(|made| Object::new(made.into_bound(py)));
                made.map_err(|error| failures.keep(info.name, "__init__", at, error)).ok()
            });
            call(py, object.as_ref()?)
                .map_err(|error| failures.keep(info.name, method, at, error))
                .ok()
        })
    }
}

impl Object {
    fn new(itself: Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self {
            observe: itself.getattr(intern!(itself.py(), "observe"))?.unbind(),
            judge: itself.getattr(intern!(itself.py(), "judge"))?.unbind(),
            on_loss: itself.getattr_opt(intern!(itself.py(), "on_loss"))?.map(Bound::unbind),
            itself: itself.unbind(),
        })
    }
}

impl Clone for Instance {
    /// The copy of a run under way has a deep copy of the object.
    fn clone(&self) -> Self {
        let copy = Self::of(&self.factory);
        if let Some(Some(object)) = self.object.get() {
            Python::attach(|py| {
                let copied = deep_copy(py, &object.itself).and_then(Object::new);
                let Factory { failures, info, .. } = &self.factory;
                let kept = copied
                    .map_err(|error| failures.keep(info.name, "__deepcopy__", Time::ZERO, error));
                let _ = copy.object.set(kept.ok());
            });
        }
        copy
    }
}

impl Algorithm for Instance {
    fn name(&self) -> &'static str {
        self.factory.info.name
    }

    /// What is missing, and not needed, is None in Python.
    fn needs(&self) -> Needs {
        self.factory.needs
    }

    fn observe(&mut self, observation: &losscause::Observation) {
        // An acknowledgement that shows no newer arrival is for those alone that look at
        // acknowledgements.
        if !observation.is_arrival() && !self.factory.needs.acks {
            return;
        }
        self.call("observe", observation.at, |py, object| {
            object.observe.call1(py, (Observation::from(observation),))
        });
    }

    fn on_loss(&mut self, loss: &losscause::Loss) {
        self.call("on_loss", loss.at, |py, object| match &object.on_loss {
            Some(method) => method.call1(py, (Loss::of(loss, py)?,)).map(|_| ()),
            None => Ok(()),
        });
    }

    fn judge(&self, loss: &losscause::Loss) -> Judgement {
        if loss.revealed_by.is_none() && !self.factory.needs.acks {
            return Judgement::without(Input::Gap);
        }
        let answer = self.call("judge", loss.at, |py, object| {
            let answer = object.judge.call1(py, (Loss::of(loss, py)?,))?;
            verdict(answer.bind(py))
        });
        let verdict = answer.unwrap_or(Verdict::Undecided);
        Judgement::stated(verdict, self.factory.info.name, "no reason given")
    }
}

/// The verdict that a text names.
fn verdict(answer: &Bound<'_, PyAny>) -> PyResult<Verdict> {
    const EXPECTED: &str = "expected \"congestion\", \"wireless\" or \"undecided\"";
    let Ok(text) = answer.cast::<PyString>() else {
        return Err(sentence(format!("returned what is {}, {EXPECTED}", kind(answer))));
    };
    match text.to_str()? {
        "congestion" => Ok(Verdict::Congestion),
        "wireless" => Ok(Verdict::Wireless),
        "undecided" => Ok(Verdict::Undecided),
        other => Err(sentence(format!("returned \"{other}\", {EXPECTED}"))),
    }
}
