//! Rows as a Parquet file: words as dictionaries, compressed with Zstandard, written in batches.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::{Cell, Column, Kind};
use crate::RunError;
use crate::tools::atomic::AtomicFile;

/// Rows per batch: limits the memory.
pub(crate) const BATCH: usize = 65_536;

/// Rows on their way to a file.
#[derive(Debug)]
pub(crate) struct Rows {
    schema: SchemaRef,
    builders: Vec<Builder>,
    waiting: usize,
    /// The file's name, for messages.
    file: String,
    writer: ArrowWriter<AtomicFile>,
}

enum Builder {
    Word(StringDictionaryBuilder<Int32Type>),
    Integer(Int64Builder),
    Number(Float64Builder),
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Word(_) => "Word",
            Self::Integer(_) => "Integer",
            Self::Number(_) => "Number",
        })
    }
}

/// How all Parquet files are written.
pub(crate) fn properties() -> WriterProperties {
    WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build()
}

/// Keeps the system's message, such as that of a full disk.
pub(crate) fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source),
        },
        error => io::Error::other(error),
    }
}

impl Rows {
    pub(super) fn new(name: &Path, file: AtomicFile, columns: &[Column]) -> Result<Self, RunError> {
        let word = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let field = |column: &Column| {
            let kind = match column.kind {
                Kind::Word => word.clone(),
                Kind::Integer => DataType::Int64,
                Kind::Number => DataType::Float64,
            };
            Field::new(&column.name, kind, true)
        };
        let schema: SchemaRef =
            Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let file_name = name.display().to_string();
        let unwritable =
            |error| RunError::Unwritable { file: file_name.clone(), reason: io_error(error) };
        let writer =
            ArrowWriter::try_new(file, schema.clone(), Some(properties())).map_err(unwritable)?;
        let builders = columns.iter().map(|column| Builder::new(column.kind)).collect();
        Ok(Self { schema, builders, waiting: 0, file: file_name, writer })
    }

    pub(super) fn write(&mut self, row: &[Cell<'_>]) -> io::Result<()> {
        self.builders.iter_mut().zip(row).for_each(|(builder, cell)| builder.append(cell));
        self.waiting += 1;
        if self.waiting == BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.waiting = 0;
        let columns = self.builders.iter_mut().map(Builder::finish).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(io::Error::other)?;
        self.writer.write(&batch).map_err(io_error)
    }

    pub(super) fn into_file(mut self, failed: Option<io::Error>) -> Result<AtomicFile, RunError> {
        let flushed = failed.map_or_else(|| self.flush(), Err);
        let file = self.file;
        let whole = flushed.and_then(|()| self.writer.into_inner().map_err(io_error));
        whole.map_err(|reason| RunError::Unwritable { file, reason })
    }
}

impl Builder {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Word => Self::Word(StringDictionaryBuilder::new()),
            Kind::Integer => Self::Integer(Int64Builder::new()),
            Kind::Number => Self::Number(Float64Builder::new()),
        }
    }

    /// Adds a cell; one of another kind than the column's is empty.
    fn append(&mut self, cell: &Cell<'_>) {
        match (self, cell) {
            (Self::Word(words), Cell::Word(word)) => words.append_value(word),
            (Self::Word(words), _) => words.append_null(),
            (Self::Integer(numbers), Cell::Integer(number)) => numbers.append_value(*number),
            (Self::Integer(numbers), _) => numbers.append_null(),
            (Self::Number(numbers), Cell::Number(number)) => numbers.append_value(*number),
            (Self::Number(numbers), _) => numbers.append_null(),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Word(words) => Arc::new(words.finish()),
            Self::Integer(numbers) => Arc::new(numbers.finish()),
            Self::Number(numbers) => Arc::new(numbers.finish()),
        }
    }
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;
    use crate::tools::row_file::RowFile;

    #[test]
    fn every_row_arrives_with_its_values_and_its_gaps() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("rows.parquet");
        let columns =
            vec![Column::words("end"), Column::integers("seq"), Column::numbers("trip_ms")];
        let mut rows = RowFile::create(&file, &columns).unwrap();
        // More than one batch.
        let count = BATCH as u64 + 10;
        for n in 0..count {
            rows.write(&[
                Cell::Word("sender"),
                Cell::integer((n % 2 == 0).then_some(n)),
                Cell::Number(n as f64 / 4.0),
            ]);
        }
        rows.finish().unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(file).unwrap()).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), count as i64);
        for (n, row) in (0_i64..).zip(reader.get_row_iter(None).unwrap()) {
            let row = row.unwrap();
            assert_eq!(row.get_string(0).unwrap(), "sender");
            assert_eq!(row.get_long(1).ok(), (n % 2 == 0).then_some(n));
            assert_eq!(row.get_double(2).unwrap(), n as f64 / 4.0);
        }
    }
}
