//! Bars for notebooks.

use losscause_report::Bar;
use pyo3::prelude::*;

/// Horizontal bars with their intervals as HTML. Each has its name, its value, and the half-width of
/// the value's interval.
#[pyfunction]
pub(crate) fn bars(title: &str, values: Vec<Bar>) -> String {
    losscause_report::bars_html(title, &values)
}
