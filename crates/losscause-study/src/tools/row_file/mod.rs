//! Files of rows: CSV, plain or compressed with gzip, or Parquet. The end of the file's name tells
//! which.
//!
//! Rows are written as they come, so that memory does not grow with them.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

#[cfg(not(feature = "parquet"))]
use crate::InputError;
use crate::RunError;
use crate::tools::atomic::AtomicFile;

#[cfg(feature = "parquet")]
pub(crate) mod parquet;

/// A column: its name, with the unit, and what its cells hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    name: String,
    #[cfg_attr(not(feature = "parquet"), allow(dead_code))] // Texts have no types.
    kind: Kind,
}

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words that often repeat.
    Word,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
}

impl Column {
    /// A column of words.
    pub fn words(name: &str) -> Self {
        Self { name: name.to_owned(), kind: Kind::Word }
    }

    /// A column of whole numbers.
    pub fn integers(name: &str) -> Self {
        Self { name: name.to_owned(), kind: Kind::Integer }
    }

    /// A column of numbers.
    pub fn numbers(name: &str) -> Self {
        Self { name: name.to_owned(), kind: Kind::Number }
    }
}

/// A cell of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell<'a> {
    /// Nothing.
    Empty,
    /// Of a column of words.
    Word(&'a str),
    /// Of a column of whole numbers.
    Integer(i64),
    /// Of a column of numbers.
    Number(f64),
}

impl<'a> Cell<'a> {
    /// A word; empty for none.
    pub fn word(word: Option<&'a str>) -> Self {
        word.map_or(Self::Empty, Self::Word)
    }

    /// A whole number; empty for none, or if it is larger than any count.
    pub fn integer(number: Option<u64>) -> Self {
        number.and_then(|number| i64::try_from(number).ok()).map_or(Self::Empty, Self::Integer)
    }

    /// A number with so many decimals; empty for none.
    pub fn number(number: Option<f64>, decimals: i32) -> Self {
        let scale = 10_f64.powi(decimals);
        number.map_or(Self::Empty, |number| Self::Number((number * scale).round() / scale))
    }
}

/// A file of rows that is being written.
#[derive(Debug)]
pub struct RowFile {
    out: Rows,
    /// The first failure of a write, reported at the end.
    failed: Option<io::Error>,
}

#[derive(Debug)]
enum Rows {
    Csv(Box<csv::Writer<Text>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Rows>),
}

impl RowFile {
    /// Starts a file that will be called `file`, by the end of its name: `.csv`, `.csv.gz` or
    /// `.parquet`. `-` is CSV on standard output.
    ///
    /// # Errors
    /// The file cannot be written, its extension is unknown, or this program cannot write its kind.
    pub fn create(file: &Path, columns: &[Column]) -> Result<Self, RunError> {
        let out = match Out::create(file)? {
            Out::Csv(mut writer) => {
                let header = columns.iter().map(|column| column.name.as_str());
                writer
                    .write_record(header)
                    .map_err(|error| writer.get_ref().failed(io_error(error)))?;
                Rows::Csv(writer)
            }
            #[cfg(feature = "parquet")]
            Out::Parquet(created) => {
                Rows::Parquet(Box::new(parquet::Rows::new(file, created, columns)?))
            }
        };
        Ok(Self { out, failed: None })
    }

    /// Adds a row with a cell per column. A failure is reported by [`RowFile::finish`].
    pub fn write(&mut self, row: &[Cell<'_>]) {
        if self.failed.is_none() {
            self.failed = match &mut self.out {
                Rows::Csv(writer) => writer.serialize(row).map_err(io_error).err(),
                #[cfg(feature = "parquet")]
                Rows::Parquet(rows) => rows.write(row).err(),
            };
        }
    }

    /// Gives the file its final name.
    ///
    /// # Errors
    /// The disk is full, or an earlier write failed.
    pub fn finish(self) -> Result<(), RunError> {
        self.into_file()?.map_or(Ok(()), AtomicFile::finish)
    }

    /// The whole file, without its name yet; none if the rows went to standard output.
    ///
    /// # Errors
    /// The disk is full, or an earlier write failed.
    pub fn into_file(self) -> Result<Option<AtomicFile>, RunError> {
        match self.out {
            Rows::Csv(writer) => whole_csv(*writer, self.failed),
            #[cfg(feature = "parquet")]
            Rows::Parquet(rows) => rows.into_file(self.failed).map(Some),
        }
    }
}

/// The kinds of files, selected by the extension of the file's name.
#[derive(Debug)]
pub(crate) enum Out {
    /// CSV, written line by line.
    Csv(Box<csv::Writer<Text>>),
    #[cfg(feature = "parquet")]
    Parquet(AtomicFile),
}

impl Out {
    /// As [`RowFile::create`], without a header.
    pub(crate) fn create(file: &Path) -> Result<Self, RunError> {
        let unsupported = |problem: &str| RunError::Unsupported {
            file: file.display().to_string(),
            problem: problem.into(),
        };
        Ok(match file.extension().and_then(|end| end.to_str()) {
            _ if file == Path::new("-") => {
                Self::Csv(Box::new(csv::Writer::from_writer(Text::Standard(io::stdout()))))
            }
            Some("csv") => Self::Csv(Box::new(Text::create(file, false)?)),
            Some("gz")
                if file
                    .file_stem()
                    .is_some_and(|stem| Path::new(stem).extension() == Some("csv".as_ref())) =>
            {
                Self::Csv(Box::new(Text::create(file, true)?))
            }
            #[cfg(feature = "parquet")]
            Some("parquet") => Self::Parquet(AtomicFile::create(file)?),
            #[cfg(not(feature = "parquet"))]
            Some("parquet") => {
                return Err(InputError::NotBuilt {
                    what: file.display().to_string(),
                    feature: "parquet",
                }
                .into());
            }
            _ => {
                return Err(unsupported(
                    "has an unknown extension, expected a name that ends in .csv, .csv.gz or .parquet",
                ));
            }
        })
    }
}

/// Ends a CSV file.
pub(crate) fn finish_csv(
    writer: csv::Writer<Text>,
    failed: Option<io::Error>,
) -> Result<(), RunError> {
    whole_csv(writer, failed)?.map_or(Ok(()), AtomicFile::finish)
}

/// The whole CSV file, without its name yet; none if it went to standard output.
fn whole_csv(
    mut writer: csv::Writer<Text>,
    failed: Option<io::Error>,
) -> Result<Option<AtomicFile>, RunError> {
    if let Some(reason) = failed.or_else(|| writer.flush().err()) {
        return Err(writer.get_ref().failed(reason));
    }
    writer.into_inner().expect("after a flush nothing is left to write").into_file()
}

/// The system's error, with its kind: a reader that closes a pipe early is not a failure.
pub(crate) fn io_error(error: csv::Error) -> io::Error {
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(reason) => reason,
        _ => io::Error::other(text),
    }
}

/// Where the lines of a CSV go.
#[derive(Debug)]
pub(crate) enum Text {
    File(AtomicFile),
    Compressed(Box<GzEncoder<AtomicFile>>),
    Standard(io::Stdout),
}

impl Text {
    fn create(file: &Path, is_compressed: bool) -> Result<csv::Writer<Self>, RunError> {
        let created = AtomicFile::create(file)?;
        Ok(csv::Writer::from_writer(if is_compressed {
            Self::Compressed(Box::new(GzEncoder::new(created, Compression::default())))
        } else {
            Self::File(created)
        }))
    }

    fn failed(&self, reason: io::Error) -> RunError {
        match self {
            Self::File(file) => file.failed(reason),
            Self::Compressed(encoder) => encoder.get_ref().failed(reason),
            Self::Standard(_) => {
                RunError::Unwritable { file: "standard output".to_owned(), reason }
            }
        }
    }

    fn into_file(self) -> Result<Option<AtomicFile>, RunError> {
        match self {
            Self::File(file) => Ok(Some(file)),
            Self::Compressed(mut encoder) => match encoder.try_finish() {
                Ok(()) => Ok(Some(encoder.finish().expect("the end was written"))),
                Err(reason) => Err(encoder.get_ref().failed(reason)),
            },
            Self::Standard(mut out) => match out.flush() {
                Ok(()) => Ok(None),
                Err(reason) => {
                    Err(RunError::Unwritable { file: "standard output".to_owned(), reason })
                }
            },
        }
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Compressed(encoder) => encoder.write(bytes),
            Self::Standard(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Compressed(encoder) => encoder.flush(),
            Self::Standard(out) => out.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn columns() -> Vec<Column> {
        vec![Column::words("end"), Column::integers("seq"), Column::numbers("trip_ms")]
    }

    #[test]
    fn rows_are_alike_plain_and_compressed_and_empty_cells_nothing() {
        let place = tempfile::tempdir().unwrap();
        for name in ["rows.csv", "rows.csv.gz"] {
            let mut file = RowFile::create(&place.path().join(name), &columns()).unwrap();
            file.write(&[
                Cell::word(Some("a, b")),
                Cell::integer(Some(7)),
                Cell::number(Some(1.23456), 3),
            ]);
            file.write(&[Cell::word(None), Cell::integer(Some(u64::MAX)), Cell::number(None, 3)]);
            file.finish().unwrap();
        }
        let plain = std::fs::read_to_string(place.path().join("rows.csv")).unwrap();
        assert_eq!(plain, "end,seq,trip_ms\n\"a, b\",7,1.235\n,,\n");
        let mut unpacked = String::new();
        let packed = std::fs::File::open(place.path().join("rows.csv.gz")).unwrap();
        flate2::read::GzDecoder::new(packed).read_to_string(&mut unpacked).unwrap();
        assert_eq!(unpacked, plain);
    }

    #[test]
    fn an_unknown_end_is_refused() {
        let error = RowFile::create(Path::new("rows.txt"), &columns()).unwrap_err().to_string();
        assert!(
            error.contains("expected a name that ends in .csv, .csv.gz or .parquet"),
            "{error}"
        );
    }
}
