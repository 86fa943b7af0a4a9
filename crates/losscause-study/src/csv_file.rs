//! CSV files that appear whole or not at all.

use std::path::Path;

use serde::Serialize;

use crate::RunError;
use crate::atomic::AtomicFile;

/// Writes `rows`, whose field names are the header, to `file`.
///
/// # Errors
/// The file cannot be written.
pub fn write(file: &Path, rows: impl IntoIterator<Item = impl Serialize>) -> Result<(), RunError> {
    let mut writer = csv::Writer::from_writer(AtomicFile::create(file)?);
    for row in rows {
        if let Err(error) = writer.serialize(row) {
            return Err(writer.get_ref().failed(error.into()));
        }
    }
    if let Err(reason) = writer.flush() {
        return Err(writer.get_ref().failed(reason));
    }
    writer.into_inner().expect("after a flush nothing is left to write").finish()
}
