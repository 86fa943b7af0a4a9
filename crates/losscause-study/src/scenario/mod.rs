//! Scenario files: links, flows and what is measured, as data. `docs/scenario.md` explains the format.

use std::path::{Path, PathBuf};

use toml::Table;

mod expression;
pub mod format;
pub mod protocol;
mod setting;

pub use expression::{Formula, Names, Quantity};
pub use setting::Setting;

use crate::InputError;
use format::Document;

/// A scenario file that has been read, with the settings applied to it.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file, as the user named it: the first word of every error.
    file: String,
    /// Where the scenario's trace files are looked up.
    directory: PathBuf,
    /// The file's content with the settings applied.
    table: Table,
    document: Document,
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// The file cannot be read, is not TOML, has unknown keys, lacks some, or holds values of the wrong type.
    pub fn load(file: &Path) -> Result<Self, InputError> {
        let _ = file;
        unimplemented!()
    }

    /// Reads a scenario from a text. `file_name` is what errors call it; its directory is where trace files are looked up.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn parse(text: &str, file_name: &str) -> Result<Self, InputError> {
        let _ = (text, file_name);
        unimplemented!()
    }

    /// The scenario changed by `settings`, in their order.
    ///
    /// # Errors
    /// A setting names what is not there, or gives a value that the scenario cannot have.
    pub fn with(&self, settings: &[Setting]) -> Result<Self, InputError> {
        let _ = settings;
        unimplemented!()
    }

    /// Evaluates every formula and lays out the network.
    ///
    /// # Errors
    /// A value is out of its range, a flow takes a link that does not exist or takes one twice, or a trace file cannot be used.
    pub fn experiment(&self) -> Result<Experiment, InputError> {
        unimplemented!()
    }

    /// What the scenario is, in a few words.
    pub fn title(&self) -> &str {
        &self.document.title
    }

    /// Where it comes from, if it says so.
    pub fn source(&self) -> Option<&str> {
        self.document.source.as_deref()
    }
}

/// The JSON schema of the scenario file.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Document).to_value()
}

/// A network ready to run, with the window in which it is measured. Cheap to share between threads.
#[derive(Clone, Debug)]
pub struct Experiment {}

impl Experiment {
    /// The parameters and their values, by name.
    pub fn parameters(&self) -> &[(String, f64)] {
        &[]
    }
}
