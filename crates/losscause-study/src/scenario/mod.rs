//! Scenario files: links, flows and what is measured, as data. `docs/scenario.md` explains the format.
//!
//! [`mod@format`] is the file key by key; numbers may be formulas ([`expression`]) and may be changed by a [`Setting`].
//! [`Scenario::experiment`] evaluates them and lays out the network.

use std::path::{Path, PathBuf};

use losscause::registry::Registry;
use toml::Table;

mod arrivals;
mod delay;
mod experiment;
pub mod expression;
pub mod fade;
mod fading;
pub mod format;
pub mod lda;
mod link;
pub mod protocol;
mod queue;
mod read;
mod reader;
mod setting;

pub use delay::delay_trace;
pub use experiment::Experiment;
pub use link::error_trace;
pub(crate) use read::{any_table as table, deserialize};
pub use setting::Setting;

use crate::InputError;
use format::Document;

/// A scenario file that has been read, with settings applied to it.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file, as the user named it: the first word of every error.
    file: String,
    /// Where the scenario's trace files are looked up.
    directory: PathBuf,
    /// The file's content with the settings applied.
    table: Table,
    document: Document,
    /// The algorithms that it may name.
    registry: Registry,
}

impl Scenario {
    /// Reads a scenario file. Its flows may run the algorithms of [`crate::registry`].
    ///
    /// # Errors
    /// The file cannot be read, is not TOML, has unknown keys, lacks some, or holds values of the wrong type.
    pub fn load(file: &Path) -> Result<Self, InputError> {
        Self::load_with(file, &crate::registry())
    }

    /// Reads a scenario file. Its flows may run the algorithms of `registry`.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn load_with(file: &Path, registry: &Registry) -> Result<Self, InputError> {
        Self::parse_with(&read::text(file)?, &file.display().to_string(), registry)
    }

    /// Reads a scenario from a text. `file_name` is what errors call it; trace files are looked up beside it.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn parse(text: &str, file_name: &str) -> Result<Self, InputError> {
        Self::parse_with(text, file_name, &crate::registry())
    }

    /// [`Scenario::parse`] for flows that may run the algorithms of `registry`.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn parse_with(text: &str, file_name: &str, registry: &Registry) -> Result<Self, InputError> {
        let table = read::table(text, file_name)?;
        let document = read::document(&table, file_name)?;
        let directory = Path::new(file_name).parent().unwrap_or(Path::new("")).to_owned();
        Ok(Self { file: file_name.to_owned(), directory, table, document, registry: registry.clone() })
    }

    /// The scenario changed by `settings`, in their order.
    ///
    /// # Errors
    /// A setting names what is not there, or gives a value of the wrong type.
    pub fn with(&self, settings: &[Setting]) -> Result<Self, InputError> {
        let mut table = self.table.clone();
        for setting in settings {
            setting.apply(&mut table)?;
        }
        let document = read::document(&table, &self.file)?;
        Ok(Self { table, document, ..self.clone() })
    }

    /// Evaluates every formula and lays out the network.
    ///
    /// # Errors
    /// A value is out of its range, a flow takes a link that does not exist or takes one twice, or a trace file cannot
    /// be used.
    pub fn experiment(&self) -> Result<Experiment, InputError> {
        experiment::build(&self.document, &self.file, &self.directory, &self.registry)
    }

    /// Whether both are the same file with the same keys and values, so that they make the same experiment.
    pub fn is_same(&self, other: &Self) -> bool {
        self.file == other.file && self.table == other.table
    }

    /// The file, as the user named it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The scenario, key by key.
    pub fn document(&self) -> &Document {
        &self.document
    }
}

/// The JSON schema of the scenario file, made from the types in [`mod@format`].
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Document).to_value()
}
