//! The trace as a Parquet file: the columns of the CSV, words as dictionaries, compressed with
//! Zstandard.

use std::io::{self, Write};

use parquet::arrow::ArrowWriter;

use super::batch;
use crate::run::TraceRow;
use crate::tools::row_file::parquet::{BATCH, io_error, properties};

pub(super) fn write<'a>(
    rows: impl Iterator<Item = TraceRow<'a>>,
    out: &mut (impl Write + Send),
) -> io::Result<()> {
    let mut rows = rows.peekable();
    let first = batch(rows.by_ref().take(BATCH)).map_err(io::Error::other)?;
    let mut writer =
        ArrowWriter::try_new(out, first.schema(), Some(properties())).map_err(io_error)?;
    writer.write(&first).map_err(io_error)?;
    while rows.peek().is_some() {
        writer
            .write(&batch(rows.by_ref().take(BATCH)).map_err(io::Error::other)?)
            .map_err(io_error)?;
    }
    writer.close().map_err(io_error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    #[test]
    fn every_row_arrives_with_its_values_and_its_gaps() {
        let row = |n: i64| TraceRow {
            time_ns: n,
            event: "queue-drop",
            flow: "video.1",
            link: (n % 2 == 0).then_some("radio"),
            packet: Some("data"),
            seq: Some(n as u64),
            bytes: Some(762),
            queue_packets: Some(5),
            queue_bytes: Some(3810),
            cause: Some("congestion"),
            ..TraceRow::default()
        };
        // More than one batch.
        let count = BATCH as i64 + 10;
        let mut file = tempfile::tempfile().unwrap();
        write((0..count).map(row), &mut file).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), count);
        for (n, row) in (0..).zip(reader.get_row_iter(None).unwrap()) {
            let row = row.unwrap();
            assert_eq!(row.get_long(0).unwrap(), n);
            assert_eq!(row.get_string(1).unwrap(), "queue-drop");
            assert_eq!(row.get_string(3).is_ok(), n % 2 == 0);
            assert!(row.get_string(12).is_err());
        }
    }

    #[test]
    fn a_run_without_events_gives_a_file_without_rows() {
        let mut file = tempfile::tempfile().unwrap();
        write(std::iter::empty(), &mut file).unwrap();
        assert_eq!(
            SerializedFileReader::new(file).unwrap().metadata().file_metadata().num_rows(),
            0
        );
    }
}
