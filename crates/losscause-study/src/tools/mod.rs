//! Tools of the command and of the laboratory: files, numbers as text. They are no part of the
//! public API and may change with any release.

#[cfg(feature = "atomic-files")]
pub mod atomic;
#[cfg(feature = "csv-files")]
pub mod csv_file;
pub mod figures;
pub mod plain;
#[cfg(feature = "trace-files")]
pub mod row_file;
pub mod table;
pub mod toml_file;
