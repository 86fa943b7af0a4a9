//! The command `losscause`, as the package installs it: the same as that of Rust.

use std::ffi::OsString;

use pyo3::prelude::*;

use crate::error::caught;

/// Runs the command with these arguments, the program's name first, and returns its exit status.
/// Ctrl-C ends the process as it ends the command. `itself` are the words that start the command in
/// another process.
#[pyfunction]
pub(crate) fn command(
    py: Python<'_>,
    arguments: Vec<OsString>,
    itself: Vec<OsString>,
) -> PyResult<u8> {
    losscause_cli::state_itself(itself);
    caught(|| Ok(py.detach(|| losscause_cli::status_of(arguments, Ok(losscause_cli::registry())))))
}
