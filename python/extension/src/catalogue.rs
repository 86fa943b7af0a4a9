//! What the registry knows by name.

use losscause_laboratory::catalogue;
use pyo3::prelude::*;

use crate::error::caught;
use crate::simulate::json;

/// The JSON list of algorithms that `losscause list algorithms --format json` has.
#[pyfunction]
pub(crate) fn algorithms() -> PyResult<String> {
    caught(|| json(&catalogue::algorithms(&losscause_study::registry())))
}
