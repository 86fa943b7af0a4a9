//! The extension module `losscause._losscause` of the Python package.
//!
//! ```text
//! input       a scenario and settings, as Python gives them     → study's types
//! algorithms  classes of the user                               → entries of the registry
//! work        runs without the interpreter's lock               → Ctrl-C, progress
//! simulate …  one function per verb of the command line         → the JSON that the command prints
//! plan        the cells of a sweep                              → numbers, for an engine in Python
//! command     the whole command line                            → its exit status
//! catalogue   what the registry knows by name                → rows
//! classifier  packets, one by one or in columns                 → verdicts
//! rows        objects of a result's JSON                        → columns
//! bars        bars for notebooks                            → HTML
//! arrow       tables and arrays of other packages               → columns, and back
//! values      cells of tables                                   → objects of Python
//! ```
//!
//! It converts and forwards. What a user of Python sees beyond that, such as results as mappings,
//! is Python (`python/losscause/`).

#![deny(unsafe_code)]

mod algorithms;
mod analyze;
mod arrow;
mod bars;
mod catalogue;
mod classifier;
mod columns;
mod command;
mod compare;
mod error;
mod input;
mod plan;
mod reproduce;
mod rows;
mod simulate;
mod sweep;
mod values;
mod work;

/// The module, as Python imports it.
#[pyo3::pymodule]
mod _losscause {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::algorithms::{AckEvent, Loss, LossEvent, Observation, TimeoutEvent, Window};
    #[pymodule_export]
    use super::analyze::analyze;
    #[pymodule_export]
    use super::arrow::{Table, restored};
    #[pymodule_export]
    use super::bars::bars;
    #[pymodule_export]
    use super::catalogue::algorithms;
    #[pymodule_export]
    use super::classifier::{Classifier, Judgement};
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::compare::compare;
    #[pymodule_export]
    use super::error::Error;
    #[pymodule_export]
    use super::plan::{Directory, Plan};
    #[pymodule_export]
    use super::reproduce::{drawn, reproduce};
    #[pymodule_export]
    use super::rows::rows;
    #[pymodule_export]
    use super::simulate::simulate;
    #[pymodule_export]
    use super::sweep::sweep;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        losscause_cli::state_commit();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        // An error without a file or a key has none.
        let error = module.getattr("Error")?;
        error.setattr("file", module.py().None())?;
        error.setattr("key", module.py().None())
    }
}
