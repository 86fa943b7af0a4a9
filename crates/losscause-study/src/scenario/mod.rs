//! Scenario files: links, flows and what is measured, as data. `docs/scenario.md` explains the
//! format.
//!
//! [`mod@format`] is the file key by key. A number may be a formula ([`expression`]), and a
//! [`Setting`] may change it. [`Scenario::experiment`] evaluates the formulas and lays out the
//! network. A scenario, and the traces and patterns that it names, are read through a [`Context`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use losscause::LdaConfig;
use toml::{Table, Value};

mod arrivals;
mod delay;
mod disorder;
mod experiment;
pub mod expression;
pub mod fade;
mod fading;
pub mod format;
pub mod lda;
mod link;
mod patterns;
mod points;
mod probes;
pub mod protocol;
mod queue;
mod rate;
mod read;
mod reader;
mod setting;

pub use delay::delay_trace;
pub use experiment::Experiment;
pub use lda::{DEFAULT as NO_LDA, recommended as recommended_lda};
pub use link::error_trace;
pub use rate::{mahimahi_trace, rate_trace};
pub use read::{EXPECTED, Kind};
pub use setting::Setting;

use crate::context::Context;
use crate::error::{InputError, unknown};
use crate::files::{self, Watched};
use format::Document;
use patterns::Patterns;
use reader::Reader;

/// What a plain flow has of the one that it is beside.
const LIKE_ITS_MODEL: [&str; 8] = [
    "variant",
    "path",
    "return_path",
    "start_s",
    "start_spread_s",
    "packet_bytes",
    "header_bytes",
    "send_jitter_us",
];

/// A scenario that has been read, with settings applied to it.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file, as the user named it: the first word of every error.
    file: String,
    /// Relative names of trace files start here.
    directory: PathBuf,
    /// What it may name, and where its trace files are read from.
    context: Context,
    /// Patterns of packet errors that were read from there, shared with copies of this scenario.
    patterns: Arc<Patterns>,
    /// The file's content with the settings applied.
    table: Table,
    document: Document,
}

impl Scenario {
    /// Reads the scenario `file`. A relative name of a trace or pattern in it is relative to the
    /// scenario's directory.
    ///
    /// # Errors
    /// The file cannot be read, is not TOML, has unknown keys, lacks some, or holds values of the
    /// wrong type.
    pub fn load(file: &Path, context: &Context) -> Result<Self, InputError> {
        let text = files::text(context.files(), file, files::LARGEST_DOCUMENT, read::EXPECTED)?;
        Self::parse(&text, &file.display().to_string(), context)
    }

    /// Reads a scenario from a text. `file_name` is what errors call it; a relative name of a trace
    /// or pattern in it is relative to the directory of `file_name`.
    ///
    /// # Errors
    /// The text is not TOML, has unknown keys, lacks some, or holds values of the wrong type.
    pub fn parse(text: &str, file_name: &str, context: &Context) -> Result<Self, InputError> {
        let table = read::table(text, file_name)?;
        let document = read::document(&table, file_name)?;
        let directory = Path::new(file_name).parent().unwrap_or(Path::new("")).to_owned();
        Ok(Self {
            file: file_name.to_owned(),
            directory,
            context: context.clone(),
            patterns: Arc::default(),
            table,
            document,
        })
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

    /// The scenario with a further TCP flow that alone is measured: it always has data, runs no
    /// algorithm, and is otherwise like the first measured TCP flow of `base`, a scenario with other
    /// settings. None without such a flow, or if the settings change what the TCP of `base` is.
    pub fn with_plain_flow_of(&self, base: &Self) -> Option<Self> {
        let tcp_of = |scenario: &Self| {
            let mut tcp = scenario.table.get("tcp").and_then(Value::as_table).cloned();
            let variant = tcp.as_mut().and_then(|tcp| tcp.remove("variant"));
            (tcp.filter(|tcp| !tcp.is_empty()), variant)
        };
        let (tcp, variant) = tcp_of(base);
        let (own_tcp, own_variant) = tcp_of(self);
        if own_tcp != tcp || (variant.is_none() && own_variant.is_some()) {
            return None;
        }
        let mut flows = base.document.flow.iter();
        let place =
            flows.position(|flow| flow.protocol == format::Protocol::Tcp && flow.is_measured())?;
        let mut plain = base.table.get("flow")?.as_array()?.get(place)?.as_table()?.clone();
        plain.retain(|key, _| LIKE_ITS_MODEL.contains(&key));
        if let Some(variant) = variant {
            plain.entry("variant").or_insert(variant);
        }
        plain.insert("name".to_owned(), "plain-flow-beside".into());
        plain.insert("protocol".to_owned(), "tcp".into());

        let mut table = self.table.clone();
        let flows = table.get_mut("flow")?.as_array_mut()?;
        for flow in flows.iter_mut().filter_map(Value::as_table_mut) {
            flow.insert("measured".to_owned(), false.into());
        }
        flows.push(plain.into());
        let document = read::document(&table, &self.file).ok()?;
        Some(Self { table, document, ..self.clone() })
    }

    /// Evaluates every formula and lays out the network.
    ///
    /// # Errors
    /// A value is out of its range, a flow takes a link that does not exist or takes one twice, or
    /// a trace file cannot be used.
    pub fn experiment(&self) -> Result<Experiment, InputError> {
        experiment::build(&self.document, &self.reader())
    }

    fn reader(&self) -> Reader<'_> {
        let Self { file, directory, context, patterns, .. } = self;
        Reader { file, directory, context, patterns }
    }

    /// The algorithms that its flows name, each once, with the parameters that they have here.
    ///
    /// # Errors
    /// A setting does not fit its algorithm.
    pub fn algorithms(&self) -> Result<Vec<LdaConfig>, InputError> {
        let mut found: Vec<LdaConfig> = Vec::new();
        for name in self.document.flow.iter().filter_map(|flow| flow.lda.as_deref()) {
            // An experiment refuses the name of an algorithm that does not exist.
            let Some(published) = self.context.registry().find(name) else { continue };
            let config = self.document.lda.config(published, &self.reader())?;
            if found.iter().all(|other| other.info().name != config.info().name) {
                found.push(config);
            }
        }
        Ok(found)
    }

    /// The full name of the algorithm that flows here may name `lda`, in any case or by an alias.
    ///
    /// # Errors
    /// There is none; the error names the nearest.
    pub fn algorithm_named(&self, lda: &str) -> Result<&'static str, InputError> {
        let registry = self.context.registry();
        registry.find(lda).map(|config| config.info().name).ok_or_else(|| {
            let known: Vec<&str> = registry.infos().map(|info| info.name).collect();
            InputError::option(
                format!("--lda {lda}"),
                format!("the algorithm {}", unknown(lda, &known)),
            )
        })
    }

    /// [`Scenario::experiment`] that also measures delays, unless the scenario says `measure.delays
    /// = false`.
    ///
    /// # Errors
    /// As [`Scenario::experiment`].
    pub fn experiment_with_delays(&self) -> Result<Experiment, InputError> {
        let delays = self.document.measure.delays != Some(false);
        Ok(Experiment { delays, ..self.experiment()? })
    }

    /// Whether both are the same file with the same keys and values, so that they make the same
    /// experiment.
    pub fn is_same(&self, other: &Self) -> bool {
        self.file == other.file && self.table == other.table
    }

    /// The file's content with the settings applied, without comments.
    pub fn text(&self) -> String {
        self.table.to_string()
    }

    /// The same scenario, and what tells the files that it reads from now on.
    pub fn watched(self) -> (Self, Watched) {
        let watched = Watched::new(Arc::clone(self.context.files()));
        let context = self.context.with_files(watched.clone());
        (Self { context, patterns: Arc::default(), ..self }, watched)
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

/// The JSON schema of the scenario file. It is generated from the types in [`mod@format`]: `cargo
/// run -p losscause-study --features schema --example schema scenario`.
pub const SCHEMA: &str = include_str!("../../schema/scenario.schema.json");

/// [`SCHEMA`], generated from the types.
#[cfg(feature = "schema")]
pub fn generated_schema() -> serde_json::Value {
    schemars::schema_for!(Document).to_value()
}
