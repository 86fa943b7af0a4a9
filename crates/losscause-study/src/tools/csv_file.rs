//! CSV files that appear whole or not at all.

use std::io;
use std::path::Path;

use serde::Serialize;

use crate::RunError;
use crate::tools::atomic::AtomicFile;

/// `rows`, whose field names are the header, as text.
pub fn text(rows: impl IntoIterator<Item = impl Serialize>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).expect("rows hold texts and numbers");
    }
    text_of(writer)
}

/// `records` of texts below a `header` that is known only when the program runs; all have the
/// header's length.
pub fn text_of_records(
    header: Vec<String>,
    records: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in std::iter::once(header).chain(records) {
        writer.write_record(record).expect("all records have the header's length");
    }
    text_of(writer)
}

fn text_of(writer: csv::Writer<Vec<u8>>) -> String {
    let bytes = writer.into_inner().expect("a vector takes everything");
    String::from_utf8(bytes).expect("only text was written")
}

/// Writes `rows`, whose field names are the header, to `file`.
///
/// # Errors
/// The file cannot be written.
pub fn write(file: &Path, rows: impl IntoIterator<Item = impl Serialize>) -> Result<(), RunError> {
    whole(file, rows)?.finish()
}

/// As [`write()`], but the file has no name yet.
///
/// # Errors
/// The file cannot be written.
pub fn whole(
    file: &Path,
    rows: impl IntoIterator<Item = impl Serialize>,
) -> Result<AtomicFile, RunError> {
    let mut file = Rows::begin(file)?;
    for row in rows {
        file.0.serialize(row).map_err(|error| file.failed(error.into()))?;
    }
    file.into_file()
}

/// A file of records below a header that is known only when the program runs, written one by one.
pub struct Rows(csv::Writer<AtomicFile>);

impl Rows {
    /// Begins a file that will be called `file`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(file: &Path, header: Vec<String>) -> Result<Self, RunError> {
        let mut rows = Self::begin(file)?;
        rows.add(header)?;
        Ok(rows)
    }

    fn begin(file: &Path) -> Result<Self, RunError> {
        Ok(Self(csv::Writer::from_writer(AtomicFile::create(file)?)))
    }

    /// Writes a record, which has the header's length.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, record: Vec<String>) -> Result<(), RunError> {
        self.0.write_record(record).map_err(|error| self.failed(error.into()))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> Result<(), RunError> {
        self.into_file()?.finish()
    }

    /// The whole file, without its name yet.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn into_file(mut self) -> Result<AtomicFile, RunError> {
        self.0.flush().map_err(|reason| self.failed(reason))?;
        Ok(self.0.into_inner().expect("after a flush nothing is left to write"))
    }

    fn failed(&self, reason: io::Error) -> RunError {
        self.0.get_ref().failed(reason)
    }
}
