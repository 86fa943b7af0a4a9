//! The algorithm that a user names, with settings.

use losscause::LdaConfig;
use losscause::registry::{self, Value};
use losscause_study::Registry;
use losscause_study::error::unknown;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use crate::algorithms::{self, Failures};
use crate::error::{Failure, about};
use crate::input::kind;

/// The parameters of an algorithm: the published ones with `settings`.
pub(super) fn config(
    algorithm: &Bound<'_, PyAny>,
    settings: Option<&Bound<'_, PyDict>>,
    failures: &Failures,
) -> Result<LdaConfig, Failure> {
    let mut registry = Registry::of(registry::Registry::built_in());
    let name = match algorithm.cast::<PyString>() {
        Ok(name) => name.to_str()?.to_owned(),
        Err(_) if algorithm.is_callable() => {
            let name: String = match algorithm.getattr("__name__") {
                Ok(name) => name.extract()?,
                Err(_) => algorithm.get_type().name()?.to_string(),
            };
            let own = PyDict::new(algorithm.py());
            own.set_item(&name, algorithm)?;
            registry = algorithms::added(registry, &own, failures)?;
            name
        }
        Err(_) => {
            let problem = format!("algorithm: is {}, expected a name or a class", kind(algorithm));
            return Err(Failure::Python(about(problem, None, Some("algorithm"))));
        }
    };
    let known: Vec<&str> = registry.infos().map(|info| info.name).collect();
    let mut config = registry.find(&name).cloned().ok_or_else(|| {
        let problem = format!("the algorithm {}", unknown(&name, &known));
        Failure::Python(about(problem, None, Some("algorithm")))
    })?;
    for (key, value) in settings.into_iter().flatten() {
        set(&mut config, &key.extract::<String>()?, &value)?;
    }
    Ok(config)
}

fn set(config: &mut LdaConfig, key: &str, given: &Bound<'_, PyAny>) -> Result<(), Failure> {
    let info = config.info();
    if config.get(key).is_none() {
        let known: Vec<&str> = info.settings.iter().map(|setting| setting.key).collect();
        let problem = format!("{}: the setting {}", info.name, unknown(key, &known));
        return Err(Failure::Python(about(problem, None, Some(key))));
    }
    let text;
    let value = if let Ok(flag) = given.cast::<PyBool>() {
        Value::Flag(flag.is_true())
    } else if given.is_instance_of::<PyInt>() || given.is_instance_of::<PyFloat>() {
        let too_large = |_| {
            let problem = format!("{key}: is larger than any number of 64 bits");
            Failure::Python(about(problem, None, Some(key)))
        };
        Value::Number(given.extract().map_err(too_large)?)
    } else if let Ok(word) = given.cast::<PyString>() {
        text = word.to_str()?.to_owned();
        Value::Text(&text)
    } else {
        let problem = format!("{key}: is {}, expected a number, a text or a flag", kind(given));
        return Err(Failure::Python(about(problem, None, Some(key))));
    };
    Ok(config.set(key, value)?)
}
