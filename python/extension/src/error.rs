//! The one exception: the library's own sentence, with the file and the key that it is about.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use losscause::ConfigError;
use losscause_study::tools::plain;
use losscause_study::{InputError, RegistryError, RunError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pyo3::create_exception!(
    losscause,
    Error,
    PyValueError,
    "The input cannot be used, or a run failed: a ValueError. The message is one sentence; `file` and `key` say what it \
     is about, or are None."
);

/// What a function of the module fails with.
pub(crate) enum Failure {
    /// The library's error.
    Run(RunError),
    /// An exception that is passed on, such as that of Ctrl-C.
    Python(PyErr),
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Run(error) => from_run(&error),
            Failure::Python(error) => error,
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Self::Run(error.into())
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Self {
        Self::Python(sentence(error.to_string()))
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let key = match error {
            ConfigError::WrongKind { key, .. }
            | ConfigError::UnknownChoice { key, .. }
            | ConfigError::OutOfRange { key, .. }
            | ConfigError::WrongOrder { smaller: key, .. } => Some(key),
            _ => None,
        };
        Self::Python(about(error.to_string(), None, key))
    }
}

/// An exception about no file and no key.
pub(crate) fn sentence(text: impl Into<String>) -> PyErr {
    about(text.into(), None, None)
}

/// An exception about a file, a key, or both.
pub(crate) fn about(text: String, file: Option<&str>, key: Option<&str>) -> PyErr {
    Python::attach(|py| {
        let error = Error::new_err(plain::sentence(&text));
        let value = error.value(py);
        let set = |name, of: Option<&str>| of.map_or(Ok(()), |of| value.setattr(name, of));
        match set("file", file).and_then(|()| set("key", key)) {
            Ok(()) => error,
            Err(other) => other,
        }
    })
}

/// Does `work`. A panic in it, which is a mistake of this package, becomes an exception: the
/// interpreter's own for a panic is no `Exception`, and a program does not expect it.
pub(crate) fn caught<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    // What the panic has left half done is dropped with it.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(unexpected(&*panic)))
}

/// The exception for a panic.
pub(crate) fn unexpected(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let what = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason");
    sentence(format!("losscause ended unexpectedly, which is a mistake of its own: {what}"))
}

/// Whether `value` is an exception of this module already.
pub(crate) fn is_ours(error: &PyErr, py: Python<'_>) -> bool {
    error.get_type(py).is_subclass(&py.get_type::<Error>()).unwrap_or(false)
}

fn from_run(error: &RunError) -> PyErr {
    let text = error.to_string();
    match error {
        RunError::Input(
            InputError::File { file, .. }
            | InputError::Syntax { file, .. }
            | InputError::NotBuilt { what: file, .. },
        )
        | RunError::Unwritable { file, .. }
        | RunError::Unsupported { file, .. } => about(text, Some(file), None),
        RunError::Input(InputError::Key { file, key, .. }) => about(text, Some(file), Some(key)),
        RunError::Input(InputError::Option { option, .. }) => {
            // The options of the command line are arguments here, and its verbs are functions.
            if option.starts_with("losscause ") {
                return sentence(text.split_once(": ").map_or(&*text, |(_, problem)| problem));
            }
            let text = text.strip_prefix("--set ").or(text.strip_prefix("--")).unwrap_or(&text);
            about(text.to_owned(), None, Some(key_of(option)))
        }
        _ => sentence(text),
    }
}

/// The key of an option: of `--set N=4` it is `N`, of `--jobs 0` it is `jobs`.
fn key_of(option: &str) -> &str {
    match option.strip_prefix("--set ") {
        Some(setting) => setting.split('=').next().unwrap_or(setting),
        None => option.trim_start_matches('-').split(' ').next().unwrap_or(option),
    }
}
