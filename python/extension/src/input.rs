//! Scenarios and settings, as Python gives them.

use std::path::{Path, PathBuf};

use losscause_laboratory::papers::record;
use losscause_study::{Context, Limits, Registry, Scenario, Setting};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use toml::{Table, Value};

use crate::error::{Failure, about};

/// What errors and results call a scenario that is a dictionary.
pub(crate) const DICTIONARY: &str = "dict";

/// Reads a scenario: a file's name or path, a paper's scenario such as `cen2003/WLH`, or a mapping
/// with the keys of a scenario file. The settings are applied to it.
pub(crate) fn scenario(
    given: &Bound<'_, PyAny>,
    settings: &[Setting],
    registry: &Registry,
) -> Result<Scenario, Failure> {
    let context = Context::new(registry.clone());
    let scenario = if given.cast::<PyMapping>().is_ok() {
        let text = table(given, "", 0)?.to_string();
        Scenario::parse(&text, DICTIONARY, &record::with_papers(&context))?
    } else {
        record::open_scenario(&path(given, "scenario")?, Path::new(""), &context)
            .map_err(|error| losscause_cli::named_in(error, false))?
    };
    Ok(scenario.with(settings)?)
}

/// A file's name or path; `what` names the argument.
pub(crate) fn path(given: &Bound<'_, PyAny>, what: &str) -> Result<PathBuf, Failure> {
    given.extract::<PathBuf>().map_err(|_| {
        let kind = kind(given);
        let expected = match what {
            "scenario" => "a name, a path or a dictionary",
            "sweep" => "a path or a dictionary",
            _ => "a path",
        };
        Failure::Python(about(format!("{what}: is {kind}, expected {expected}"), None, Some(what)))
    })
}

/// Settings by their keys: `{"N": 4, "link.shared.rate_bps": 1e6}`.
pub(crate) fn settings(given: &Bound<'_, PyDict>) -> Result<Vec<Setting>, Failure> {
    given
        .iter()
        .map(|(key, value)| {
            let key = name(&key, "")?;
            Ok(Setting::checked(&key, self::value(&value, &key, 0)?)?)
        })
        .collect()
}

/// A mapping as a table of TOML; `path` is its key, empty for the whole scenario, and `depth` how
/// many mappings and lists it is in.
pub(crate) fn table(given: &Bound<'_, PyAny>, path: &str, depth: u32) -> Result<Table, Failure> {
    let mapping = given.cast::<PyMapping>().map_err(PyErr::from)?;
    let entry = |item: Bound<'_, PyAny>| {
        let (key, value) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let key = name(&key, path)?;
        let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        Ok((key, self::value(&value, &below, depth + 1)?))
    };
    mapping.items()?.iter().map(entry).collect()
}

/// A value as TOML has it; `key` is its place, for errors, and `depth` as for [`table`].
fn value(given: &Bound<'_, PyAny>, key: &str, depth: u32) -> Result<Value, Failure> {
    // A dictionary may contain itself.
    if depth > Limits::NESTING {
        let key = key.split('.').next().unwrap_or(key);
        return Err(refused(key, format!("is nested more than {} deep", Limits::NESTING)));
    }
    // A bool is an int to Python. Numbers of NumPy are neither, but say that they can become one.
    if let Ok(flag) = given.cast::<PyBool>() {
        return Ok(Value::Boolean(flag.is_true()));
    }
    if let Ok(text) = given.cast::<PyString>() {
        let text = text.to_str().map_err(|_| {
            refused(key, format!("is {}, expected a text of whole characters", shown(given)))
        })?;
        return Ok(Value::String(text.to_owned()));
    }
    if given.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(given.extract()?));
    }
    if given.is_instance_of::<PyInt>() || given.hasattr("__index__")? {
        let too_large = || refused(key, format!("is {given}, expected a whole number below 2^63"));
        return Ok(Value::Integer(given.extract().map_err(|_| too_large())?));
    }
    if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
        let items = given.try_iter()?.map(|item| value(&item?, key, depth + 1));
        return Ok(Value::Array(items.collect::<Result<_, Failure>>()?));
    }
    if given.cast::<PyMapping>().is_ok() {
        return Ok(Value::Table(table(given, key, depth)?));
    }
    if given.hasattr("__float__")? {
        return Ok(Value::Float(given.extract()?));
    }
    let problem =
        format!("is {}, expected a number, a text, a flag, a list or a dictionary", kind(given));
    Err(refused(key, problem))
}

fn name(key: &Bound<'_, PyAny>, path: &str) -> Result<String, Failure> {
    key.extract()
        .map_err(|_| refused(path, format!("has {} for a key, expected a text", kind(key))))
}

/// An object as it is written in a program.
fn shown(object: &Bound<'_, PyAny>) -> String {
    object.call_method0("__repr__").map_or_else(
        |_| kind(object),
        |text| {
            text.call_method1("encode", ("ascii", "backslashreplace"))
                .and_then(|bytes| bytes.call_method1("decode", ("ascii",)))
                .map_or_else(|_| kind(object), |text| text.to_string())
        },
    )
}

fn refused(key: &str, problem: String) -> Failure {
    let subject = if key.is_empty() { DICTIONARY.to_owned() } else { key.to_owned() };
    Failure::Python(about(
        format!("{subject}: {problem}"),
        None,
        Some(key).filter(|key| !key.is_empty()),
    ))
}

/// "None", or the name of an object's type.
pub(crate) fn kind(object: &Bound<'_, PyAny>) -> String {
    if object.is_none() {
        return "None".to_owned();
    }
    let name =
        object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    format!("of type {name}")
}

/// A whole number from 0 to 2^63 - 1, the value of `key`.
#[inline]
pub(crate) fn whole(given: &Bound<'_, PyAny>, key: &str) -> PyResult<u64> {
    match given.extract::<i64>() {
        Ok(number) if number >= 0 => Ok(number as u64),
        _ => Err(not_whole(given, key)),
    }
}

#[cold]
fn not_whole(given: &Bound<'_, PyAny>, key: &str) -> PyErr {
    let is_number = given.is_instance_of::<PyInt>() || given.is_instance_of::<PyFloat>();
    let what = if is_number { given.to_string() } else { kind(given) };
    about(format!("{key}: is {what}, expected a whole number from 0 to 2^63 - 1"), None, Some(key))
}

/// A whole number from 1 to 2^32 - 1, the value of `key`.
pub(crate) fn count(given: &Bound<'_, PyAny>, key: &str) -> PyResult<u32> {
    match given.extract::<u32>() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(about(
            format!("{key}: is {given}, expected a whole number from 1 to 2^32 - 1"),
            None,
            Some(key),
        )),
    }
}
