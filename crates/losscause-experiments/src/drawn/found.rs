//! What an experiment has found, for terminals, pages and scripts.

use losscause_report::map::MapPage;
use losscause_study::tools::table::{Cell, Table};
use serde::Serialize;

/// What an experiment has found. Its JSON has every value.
pub trait Found: Serialize {
    /// The name of the file with [`Shown::csv`].
    const CSV: &'static str;

    /// The same for people. A page ends with the command that gave it.
    fn shown(&self, command: &str) -> Shown;
}

/// What people read of it.
pub struct Shown {
    /// The answer, then tables and what to know when reading them.
    pub text: Vec<Part>,
    /// The page.
    pub page: MapPage,
    /// A row for each of the smallest parts.
    pub csv: String,
}

/// A part of a text.
pub enum Part {
    /// Sentences.
    Text(String),
    /// A table, below its title if it has one.
    Table(Table),
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A share of wrong answers in whole percent, shaded.
pub(crate) fn in_short(share: Option<f64>) -> Cell {
    share.map_or_else(
        || "–".into(),
        |share| Cell::from(format!("{:.0}", 100.0 * share)).wrong(share),
    )
}

/// The last line of the page that a command makes.
pub(crate) fn footnote(command: &str) -> String {
    format!("losscause reproduce {command}: the same program gives the same page.")
}
