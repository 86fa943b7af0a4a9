//! CSV files that appear whole or not at all.

use std::path::Path;

use serde::Serialize;

use crate::RunError;
use crate::atomic::AtomicFile;

/// `rows`, whose field names are the header, as text.
pub fn text(rows: impl IntoIterator<Item = impl Serialize>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).expect("rows hold texts and numbers");
    }
    text_of(writer)
}

/// `records` of texts below a `header` that is known only when the program runs; all have the header's length.
pub fn text_of_records(header: Vec<String>, records: impl IntoIterator<Item = Vec<String>>) -> String {
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
    write_all(file, rows.into_iter(), csv::Writer::serialize)
}

/// Writes `records` of texts below a `header` that is known only when the program runs; all have the header's length.
///
/// # Errors
/// The file cannot be written.
pub fn write_records(
    file: &Path,
    header: Vec<String>,
    records: impl IntoIterator<Item = Vec<String>>,
) -> Result<(), RunError> {
    write_all(file, std::iter::once(header).chain(records), csv::Writer::write_record)
}

fn write_all<T>(
    file: &Path,
    rows: impl Iterator<Item = T>,
    write: impl Fn(&mut csv::Writer<AtomicFile>, T) -> csv::Result<()>,
) -> Result<(), RunError> {
    let mut writer = csv::Writer::from_writer(AtomicFile::create(file)?);
    for row in rows {
        if let Err(error) = write(&mut writer, row) {
            return Err(writer.get_ref().failed(error.into()));
        }
    }
    if let Err(reason) = writer.flush() {
        return Err(writer.get_ref().failed(reason));
    }
    writer.into_inner().expect("after a flush nothing is left to write").finish()
}
